//! Bash: runs a shell command and returns its output.
//!
//! Invariant: a call ends, with everything it started, when it times out or is cancelled; its result fits its limit and
//! says what is missing.

use std::borrow::Cow;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::Environment;
use dormouse_checkpoint::Checkpoints;
use dormouse_conversation::known_tools::BASH;
use dormouse_permissions::{
    Access, SAFE_GIT_ENVIRONMENT, ShellCommand, ShellVerdict, classify, commands,
};
use futures_util::future::{BoxFuture, ready};
use serde::Deserialize;
use serde_json::value::RawValue;

use dormouse_sandbox::{SandboxPolicy, command_prefix};

use crate::command_sandbox::SandboxedCommand;
use crate::exit_note::ExitNote;
use crate::output_file::{KeptOutput, OutputCollector};
use crate::printed::Printed;
use crate::process::{
    MODEL_KEYS, MergedProcess, PipeState, ProcessCommand, ProcessEnd, ProcessError,
};
use crate::shell_note::ShellNote;
use crate::{
    CallContext, CommandLimits, FileChangePreview, ResultLimit, TerminalCommand, TerminalRun, Tool,
    ToolClass, ToolError, ToolOutput, ToolSpec, parse_input,
};

/// The most characters that are shown of an answer.
const RESULT_CHARS: u32 = 30_000;
/// The most that an editor's terminal keeps of an output.
const TERMINAL_BYTES: usize = 4 * 1024 * 1024;

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""command":{"type":"string","description":"The command line."},"#,
    r#""timeout":{"type":"integer","minimum":1,"maximum":600000,"#,
    r#""description":"In milliseconds; 120000 when left out."},"#,
    r#""run_in_background":{"type":"boolean","#,
    r#""description":"Answer at once; no timeout."},"#,
    r#""description":{"type":"string","#,
    r#""description":"What it does, for the user."}"#,
    r#"},"required":["command"],"additionalProperties":false}"#,
);

const SHORT: &str = "Runs a bash command in the working directory and returns what it printed.";

const FULL: &str = "\
Runs a command with bash in the working directory and returns what it printed, standard output and \
standard error together, and its exit code when that is not 0.

- To look at files use Read, to find them Glob and Grep.
- `cd` and variables do not last from call to call: join steps that depend on each other with \
`&&`.
- There is no terminal and no input: use flags that make a program ask nothing (`--yes`, \
`--no-edit`, `--no-pager`).
- For a server, a watcher or a long build set `run_in_background` rather than `&`: the answer \
comes at once, with the id of a shell for BashOutput and KillShell.
- After `timeout` the command is ended, and what it had printed is returned.
- Output over 30000 characters goes to a file, whose path is returned.";

/// The tool. See the module.
#[derive(Debug, Clone, Copy)]
pub struct Bash;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    command: String,
    timeout: Option<u64>,
    #[serde(default)]
    run_in_background: bool,
    #[serde(rename = "description")]
    _description: Option<String>,
}

impl Input {
    fn checked(input: &RawValue, context: &CallContext) -> Result<(Self, Duration), ToolError> {
        let input: Self = parse_input(input)?;
        let timeout = input.timeout(context.commands.limits)?;
        if input.command.trim().is_empty() {
            return Err(ToolError::invalid("`command`: is empty"));
        }
        Ok((input, timeout))
    }

    fn timeout(&self, limits: CommandLimits) -> Result<Duration, ToolError> {
        let asked = self.timeout.map(Duration::from_millis);
        match asked.unwrap_or(limits.default) {
            timeout if !timeout.is_zero() && timeout <= limits.most => Ok(timeout),
            timeout => Err(ToolError::invalid(format!(
                "`timeout`: {} is not between 1 and {} milliseconds",
                timeout.as_millis(),
                limits.most.as_millis()
            ))),
        }
    }
}

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(BASH.name),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::Exclusive,
    limit: ResultLimit::Chars(RESULT_CHARS),
    traits: BASH.traits,
};

impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn class(&self, input: &RawValue) -> ToolClass {
        match parse_input::<Input>(input) {
            // Shells in the background are numbered as they start: those keep their order.
            Ok(input) if !input.run_in_background && only_reads(&input.command) => {
                ToolClass::ReadOnly
            }
            _ => SPEC.class,
        }
    }

    fn access(&self, input: &RawValue, _: &Path) -> Access {
        match parse_input::<Input>(input) {
            Ok(input) => Access::Runs(input.command),
            Err(_) => Access::Other,
        }
    }

    fn change<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Option<FileChangePreview>, ToolError>> {
        Box::pin(ready(Input::checked(input, context).map(|_| None)))
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(run(input, context))
    }
}

async fn run(given: &RawValue, context: &CallContext) -> Result<ToolOutput, ToolError> {
    let (input, timeout) = Input::checked(given, context)?;
    let mut sandboxed = SandboxedCommand::of(&input.command, context).await?;
    if input.run_in_background {
        return start_in_background(&input, sandboxed.as_ref(), context).await;
    }
    let mut ran = run_once(&input, timeout, context, sandboxed.as_mut()).await?;
    let mut notes = Vec::new();
    if let Some(sandboxed) = sandboxed {
        let ended = sandboxed.ended(ran.status()).await;
        notes = if ended.runs_again_outside(given, context).await {
            ran = run_once(&input, timeout, context, None).await?;
            ended.into_notes_outside()
        } else {
            ended.into_notes()
        };
    }
    conclude(&mut ran, timeout);
    for note in notes {
        ran.kept.note(note);
    }
    answer(ran.kept.finish(), ran.end)
}

/// A command that has ended, and what is kept of its output.
struct RanCommand {
    kept: OutputCollector,
    end: ProcessEnd,
    pipe: PipeState,
}

impl RanCommand {
    fn status(&self) -> Option<ExitStatus> {
        match self.end {
            ProcessEnd::Exited(status) => Some(status),
            ProcessEnd::TimedOut | ProcessEnd::Cancelled => None,
        }
    }
}

async fn start_in_background(
    input: &Input,
    sandboxed: Option<&SandboxedCommand<'_>>,
    context: &CallContext,
) -> Result<ToolOutput, ToolError> {
    let recorder = CommandRecorder::of(&input.command, context);
    recorder.before().await;
    let policy = sandboxed.map(SandboxedCommand::policy);
    let started = start(&input.command, policy, context).await.map_err(failed)?;
    recorder.goes_on();
    let id = context.commands.shells.add(&input.command, started, &context.redactor);
    Ok(ToolOutput::text(ShellNote::Started { id }.to_string()))
}

/// Runs the command to its end, or ends it.
async fn run_once(
    input: &Input,
    timeout: Duration,
    context: &CallContext,
    mut sandboxed: Option<&mut SandboxedCommand<'_>>,
) -> Result<RanCommand, ToolError> {
    let recorder = CommandRecorder::of(&input.command, context);
    recorder.before().await;
    if sandboxed.is_none()
        && let Some(ran) = run_in_terminal(&input.command, timeout, context).await
    {
        recorder.after().await;
        return Ok(ran);
    }
    let policy = sandboxed.as_ref().map(|sandboxed| sandboxed.policy());
    let started = start(&input.command, policy, context).await.map_err(failed)?;
    let mut kept = OutputCollector::new(context.overflow.clone());
    let mut printed = Printed::new(&context.redactor);
    let mut show = |text: &str| {
        kept.push(text);
        if let Some(sandboxed) = &mut sandboxed {
            sandboxed.printed(text);
        }
        if let Some(progress) = &context.progress {
            progress.printed(text);
        }
    };
    let take = |piece: &[u8]| show(&printed.push(piece));
    let run = started.run(take, timeout, &context.cancel).await;
    recorder.after().await;
    let (end, pipe) = run.map_err(failed)?;
    if pipe == PipeState::Held {
        recorder.goes_on();
    }
    show(&printed.finish());
    Ok(RanCommand { kept, end, pipe })
}

/// Runs the command in a terminal of the editor; none where there is none to run it in.
async fn run_in_terminal(
    command: &str,
    timeout: Duration,
    context: &CallContext,
) -> Option<RanCommand> {
    let terminals = context.editor.terminals.as_ref()?;
    let call = context.progress.as_ref()?.call()?;
    let environment = environment_for(command, context);
    let environment = MODEL_KEYS.iter().fold(environment, |rest, name| rest.without(name));
    let command = TerminalCommand {
        call: call.to_owned(),
        program: "bash",
        arguments: vec!["-c".to_owned(), command.to_owned()],
        folder: context.folder.clone(),
        environment,
        timeout,
        output_bytes: TERMINAL_BYTES,
    };
    let TerminalRun { output, is_truncated, end } =
        terminals.run(command, context.cancel.clone()).await?;
    let mut kept = OutputCollector::new(context.overflow.clone());
    if is_truncated {
        kept.push(&format!("[the terminal kept the last {TERMINAL_BYTES} bytes: these]\n"));
    }
    let mut printed = Printed::new(&context.redactor);
    kept.push(&printed.push(output.as_bytes()));
    kept.push(&printed.finish());
    Some(RanCommand { kept, end: end.into(), pipe: PipeState::Closed })
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands over")]
fn failed(error: ProcessError) -> ToolError {
    ToolError::Failed { message: error.to_string() }
}

/// Records what a command changes, unless it is known to read only.
struct CommandRecorder(Option<Arc<Checkpoints>>);

impl CommandRecorder {
    fn of(command: &str, context: &CallContext) -> Self {
        let may_write = !only_reads(command);
        Self(context.checkpoints.clone().filter(|_| may_write))
    }

    async fn before(&self) {
        self.off_thread(Checkpoints::before_command).await;
    }

    async fn after(&self) {
        self.off_thread(Checkpoints::after_command).await;
    }

    /// A process of the command goes on after the call.
    fn goes_on(&self) {
        if let Some(checkpoints) = &self.0 {
            checkpoints.command_goes_on();
        }
    }

    /// Lists files where that may block.
    async fn off_thread(&self, work: fn(&Checkpoints)) {
        if let Some(checkpoints) = self.0.clone() {
            // A panic loses a checkpoint, not the command.
            let _panicked = tokio::task::spawn_blocking(move || work(&checkpoints)).await;
        }
    }
}

fn answer(kept: KeptOutput, ending: ProcessEnd) -> Result<ToolOutput, ToolError> {
    match (kept, ending) {
        (KeptOutput::Text(text), ProcessEnd::Exited(_)) => Ok(ToolOutput::text(text)),
        (KeptOutput::Text(message), ProcessEnd::TimedOut) => Err(ToolError::Failed { message }),
        (KeptOutput::Text(partial), ProcessEnd::Cancelled) => {
            Err(ToolError::Interrupted { partial })
        }
        (KeptOutput::File(spilled), _) => {
            let is_error = !matches!(ending, ProcessEnd::Exited(_));
            Ok(ToolOutput { is_error, ..ToolOutput::spilled(spilled) })
        }
    }
}

/// Starts a command with bash, or with `sh` if there is no bash.
async fn start(
    command: &str,
    sandbox: Option<&SandboxPolicy>,
    context: &CallContext,
) -> Result<MergedProcess, ProcessError> {
    let args = ["-c", command];
    let environment = environment_for(command, context);
    let start = ProcessCommand {
        program: "bash",
        args: &args,
        folder: &context.folder,
        environment: &environment,
        reaper: &context.commands.reaper,
        sandbox,
    };
    if let Some([program, flag, profile]) = sandbox.and_then(command_prefix) {
        let args = [&flag, &profile, "bash", "-c", command];
        let start = ProcessCommand { program: &program, args: &args, sandbox: None, ..start };
        return MergedProcess::start(start).await;
    }
    match MergedProcess::start(start).await {
        // The verdict that a command only reads holds for bash; another shell may run it differently.
        Err(ProcessError::NotFound { .. }) if !only_reads(command) => {
            MergedProcess::start(ProcessCommand { program: "sh", ..start }).await
        }
        started => started,
    }
}

fn only_reads(command: &str) -> bool {
    classify(command) == ShellVerdict::ReadOnly
}

/// Commands that were allowed because they only read must not run programs that a repository's settings name.
fn environment_for(command: &str, context: &CallContext) -> Environment {
    let environment = context.environment.clone();
    if guarded(command) {
        // Nor may bash read a startup file.
        environment.without("BASH_ENV").without("ENV").with(SAFE_GIT_ENVIRONMENT)
    } else {
        environment
    }
}

/// Whether git commands of this line were allowed because they only read: alone, or beside commands that a rule allows.
fn guarded(command: &str) -> bool {
    if only_reads(command) {
        return true;
    }
    let commands = commands(command).unwrap_or_default();
    let mut gits =
        commands.iter().filter(|command| command.words().next() == Some("git")).peekable();
    gits.peek().is_some() && gits.all(ShellCommand::is_read_only)
}

/// Appends notes to the output.
fn conclude(ran: &mut RanCommand, timeout: Duration) {
    let RanCommand { kept, end, pipe } = ran;
    match *end {
        ProcessEnd::Exited(status) => {
            if let Some(note) = ExitNote::of_failure(status) {
                kept.note(note.to_string());
            }
        }
        ProcessEnd::TimedOut => kept.note(format!(
            "[the command was still running after {} ms and was ended with everything it started; \
             give a longer `timeout`, do less at once, or set `run_in_background`]",
            timeout.as_millis()
        )),
        ProcessEnd::Cancelled => {}
    }
    if *pipe == PipeState::Held {
        kept.note(
            "[a process that the command started still runs; what it prints from now on is lost, \
             unless it goes to a file]",
        );
    }
    if kept.is_empty() && matches!(end, ProcessEnd::Exited(_)) {
        kept.note("[the command printed nothing]");
    }
}
