//! The hooks of a session: when they run around turns, and the notes they leave for the model.

use std::path::Path;
use std::sync::Arc;

use dormouse_base::{Dir, FileError, RelPath};
use dormouse_context::{Fragment, HookContext};
use dormouse_conversation::Block;
use dormouse_extensions::skills::SkillOwner;
use dormouse_hooks::{
    HookRunner, PromptExpansion, PromptSource, SessionEndReason, SessionSource, SetupTrigger,
};

use crate::config::{EngineConfig, Extensions};
use crate::event::{EngineEvent, TurnEnd, TurnReport};
use crate::event_sink::EventSink;
use crate::hook_model::EngineHookModel;
use crate::notice::EngineNotice;

/// The file in a session's own folder with the title that the user or a hook gave it.
pub const TITLE_FILE: &str = "title.txt";
/// How often in a row a hook may keep the model from stopping.
const MOST_CONTINUATIONS: u32 = 10;

/// The hooks of a session.
#[derive(Default)]
pub(crate) struct SessionHooks {
    runner: Option<Arc<HookRunner>>,
    /// The model that hooks ask.
    model: Option<Arc<EngineHookModel>>,
    /// Why the session began, until its start hooks have run.
    pending_start: Option<SessionSource>,
    /// What hooks want the model to read with the next prompt.
    notes: Vec<String>,
}

/// What a prompt calls with `/name`.
struct CalledByName<'p> {
    /// Its kind, as hooks are told.
    kind: &'static str,
    name: String,
    arguments: &'p str,
    /// Whose it is, as hooks are told.
    source: &'static str,
}

/// The skill, or else the prompt of an MCP server, that a prompt calls.
fn called<'p>(prompt: &'p str, extensions: &Extensions) -> Option<CalledByName<'p>> {
    if let Some((skill, arguments)) = extensions.skills.called(prompt) {
        let source = match skill.owner {
            SkillOwner::User => "user",
            SkillOwner::Project => "project",
            SkillOwner::Plugin => "plugin",
        };
        let (kind, name) = ("slash_command", skill.name.clone());
        return Some(CalledByName { kind, name, arguments, source });
    }
    let (called, arguments) = extensions.servers.as_ref()?.called_prompt(prompt)?;
    Some(CalledByName { kind: "mcp_prompt", name: called.name, arguments, source: "mcp" })
}

impl SessionHooks {
    pub(crate) fn new(
        hooks: Option<(Arc<HookRunner>, Arc<EngineHookModel>)>,
        source: SessionSource,
    ) -> Self {
        let (runner, model) = hooks.unzip();
        let pending_start = runner.is_some().then_some(source);
        Self { runner, model, pending_start, notes: Vec::new() }
    }

    pub(crate) fn model(&self) -> Option<&Arc<EngineHookModel>> {
        self.model.as_ref()
    }

    pub(crate) fn runner(&self) -> Option<&Arc<HookRunner>> {
        self.runner.as_ref()
    }

    /// The session was begun by `/clear`.
    pub(crate) fn begin_after_clear(&mut self) {
        self.pending_start = self.runner.is_some().then_some(SessionSource::Clear);
    }

    /// Why the session begins, once, for its start hooks.
    pub(crate) fn take_pending_start(&mut self) -> Option<(Arc<HookRunner>, SessionSource)> {
        self.runner.clone().zip(self.pending_start.take())
    }

    pub(crate) fn add_notes(&mut self, notes: impl IntoIterator<Item = String>) {
        self.notes.extend(notes);
    }

    /// The notes as a block, once.
    pub(crate) fn take_notes(&mut self) -> Option<Block> {
        notes_block(std::mem::take(&mut self.notes))
    }

    pub(crate) fn pass_on_notices(&self, sink: &mut EventSink<'_>) {
        let notices = self.runner.iter().flat_map(|runner| runner.take_notices());
        notices.for_each(|notice| sink(notice.into()));
    }

    /// Runs the hooks of a project's set-up.
    pub(crate) async fn set_up(&mut self, trigger: SetupTrigger, sink: &mut EventSink<'_>) {
        let Some(runner) = self.runner.clone() else { return };
        let verdict = runner.run_with_notices(runner.setup(trigger), sink).await;
        self.add_notes(verdict.notes);
    }

    /// Runs the hooks for changes on disk since the last turn: settings, watched files, the working directory, which
    /// was `before` and is `folder` now.
    pub(crate) async fn look_at_files(
        &mut self,
        before: Option<&str>,
        folder: &str,
        sink: &mut EventSink<'_>,
    ) {
        let Some(runner) = self.runner.clone() else { return };
        runner.run_with_notices(runner.check_settings(), sink).await;
        runner.check_files();
        if let Some(before) = before.filter(|before| *before != folder) {
            let notes =
                runner.run_with_notices(runner.cwd_changed(before, Path::new(folder)), sink).await;
            self.add_notes(notes);
        }
    }

    /// Runs the hooks of a session's end. A session without a prompt has not begun for them either.
    pub(crate) async fn end(
        &self,
        reason: SessionEndReason,
        config: &EngineConfig,
        sink: &mut EventSink<'_>,
    ) {
        if let (Some(runner), None) = (&self.runner, &self.pending_start) {
            runner.run_with_notices(runner.session_end(reason), sink).await;
        } else if !config.is_subagent() {
            // Only its subagents had hooks.
            let background = &config.extensions.background_hooks;
            let usual = config.services.deadlines.end_hooks;
            if let Some(late) = background.finish(usual, None, async {}).await {
                sink(EngineEvent::Notice(late.into()));
            }
        }
    }

    /// Runs the hooks of a prompt. The reason not to send it, if a hook blocks it.
    pub(crate) async fn check_prompt(
        &mut self,
        prompt: &str,
        source: PromptSource,
        extensions: &Extensions,
        session: &Dir,
        sink: &mut EventSink<'_>,
    ) -> Option<String> {
        let runner = self.runner.clone()?;
        if let Some(CalledByName { kind, name, arguments, source }) = called(prompt, extensions) {
            let expansion = runner.prompt_expansion(PromptExpansion {
                expansion_type: kind,
                command_name: &name,
                command_args: arguments,
                command_source: source,
                prompt,
            });
            let verdict = runner.run_with_notices(expansion, sink).await;
            if let Some(why) = verdict.block.or(verdict.halt) {
                return Some(why);
            }
            self.add_notes(verdict.notes);
        }
        let verdict = runner.run_with_notices(runner.user_prompt(prompt, source), sink).await;
        write_title(session, verdict.title, sink);
        if let Some(why) = verdict.block.or(verdict.halt) {
            return Some(why);
        }
        self.add_notes(verdict.notes);
        None
    }

    /// Runs the hooks of a turn's end. The reason to continue, if a hook gives one.
    pub(crate) async fn check_stop(
        &mut self,
        report: &TurnReport,
        continuations: u32,
        sink: &mut EventSink<'_>,
    ) -> Option<String> {
        let runner = self.runner.clone()?;
        let verdict = match &report.end {
            TurnEnd::Completed => {
                let stopped = runner.stop(&report.answer, continuations > 0);
                runner.run_with_notices(stopped, sink).await
            }
            TurnEnd::Failed(error) => {
                runner.run_with_notices(runner.stop_failure(&error.to_string()), sink).await;
                return None;
            }
            _ => return None,
        };
        if let Some(why) = verdict.halt {
            sink(EngineEvent::Notice(EngineNotice::TurnEndedByHook { why }));
            return None;
        }
        self.add_notes(verdict.notes);
        let why = verdict.block?;
        if continuations >= MOST_CONTINUATIONS {
            let notice = EngineNotice::StopHookIgnored { times: MOST_CONTINUATIONS };
            sink(EngineEvent::Notice(notice));
            return None;
        }
        Some(why)
    }
}

/// A block with what hooks want the model to read; none without notes.
pub(crate) fn notes_block(notes: Vec<String>) -> Option<Block> {
    (!notes.is_empty()).then(|| HookContext { notes }.to_block())
}

/// Writes a session's title into its folder, on one line.
pub fn save_title(session: &Dir, title: &str) -> Result<(), FileError> {
    let line = title.split_whitespace().collect::<Vec<_>>().join(" ");
    session.replace(&title_file(), line.as_bytes())
}

#[expect(clippy::expect_used, reason = "a fixed plain name")]
fn title_file() -> RelPath {
    RelPath::new(TITLE_FILE).expect("a plain name")
}

/// Writes the title that a hook gave the session.
pub(crate) fn write_title(session: &Dir, title: Option<String>, sink: &mut EventSink<'_>) {
    let Some(title) = title.filter(|title| !title.trim().is_empty()) else { return };
    if let Err(problem) = save_title(session, &title) {
        let text = format!("The session's title could not be saved: {problem}");
        sink(EngineEvent::Notice(text.into()));
    }
}
