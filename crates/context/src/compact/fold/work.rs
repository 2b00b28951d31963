//! What was done, as the calls and their results tell.

use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_conversation::known_tools::traits_of;
use dormouse_conversation::{Block, BlockKind, FileUse, Message, ToolUseId};
use serde::Deserialize;

use crate::compact::identifiers::{IdentifierKind, identifiers};
use crate::compact::texts::{first_line, result_texts};

/// Characters of a command or an error that are shown.
const LINE_CHARS: usize = 160;

/// A call, with how it ended.
struct Call<'a> {
    tool: &'a str,
    arguments: Arguments,
    outcome: Outcome,
}

/// How a call ended.
enum Outcome {
    /// No result is known.
    Open,
    Done,
    /// In words.
    Failed(String),
}

/// The arguments that tell what a call touches; tools of other agents name them alike.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Arguments {
    file_path: Option<String>,
    notebook_path: Option<String>,
    command: Option<String>,
}

/// All calls, in order.
pub(super) struct Work<'a> {
    calls: Vec<Call<'a>>,
}

impl<'a> Work<'a> {
    pub(super) fn of(messages: &'a [Arc<Message>]) -> Self {
        let mut work = Self { calls: Vec::new() };
        let mut open: BTreeMap<&ToolUseId, usize> = BTreeMap::new();
        for block in messages.iter().flat_map(|message| &message.blocks) {
            if let Some(call) = block.as_tool_use() {
                let arguments = serde_json::from_str(call.input.get()).unwrap_or_default();
                open.insert(call.id, work.calls.len());
                work.calls.push(Call { tool: call.name, arguments, outcome: Outcome::Open });
            } else if let BlockKind::ToolResult { id } = block.kind()
                && let Some(call) = open.remove(id).and_then(|place| work.calls.get_mut(place))
            {
                call.outcome = outcome(block);
            }
        }
        work
    }

    /// Each file once, with what was done to it; the latest first.
    pub(super) fn files(&self) -> Vec<String> {
        let mut files: BTreeMap<&str, (usize, Vec<&str>)> = BTreeMap::new();
        for (place, call) in self.calls.iter().enumerate() {
            let Some((path, verb)) = call.file() else { continue };
            let (last, verbs) = files.entry(path).or_default();
            *last = place;
            let failed = matches!(call.outcome, Outcome::Failed(_)).then_some("failed");
            for verb in [Some(verb), failed].into_iter().flatten() {
                if !verbs.contains(&verb) {
                    verbs.push(verb);
                }
            }
        }
        let mut files: Vec<(&str, (usize, Vec<&str>))> = files.into_iter().collect();
        files.sort_by_key(|(_, (last, _))| std::cmp::Reverse(*last));
        files.iter().map(|(path, (_, verbs))| format!("{path} ({})", verbs.join(", "))).collect()
    }

    /// Commands with their outcome, the latest first.
    pub(super) fn commands(&self) -> Vec<String> {
        let shown = |call: &Call<'_>| {
            let command = call.arguments.command.as_deref()?;
            let outcome = match &call.outcome {
                Outcome::Open => "no result",
                Outcome::Done => "done",
                Outcome::Failed(why) => why,
            };
            Some(format!("`{}`: {outcome}", first_line(command, LINE_CHARS)))
        };
        self.calls.iter().rev().filter_map(shown).collect()
    }

    /// Calls that failed and are no commands, the latest first.
    pub(super) fn failures(&self) -> Vec<String> {
        let shown = |call: &Call<'_>| match (&call.outcome, &call.arguments.command) {
            (Outcome::Failed(why), None) => Some(format!("{}: {why}", call.tool)),
            _ => None,
        };
        self.calls.iter().rev().filter_map(shown).collect()
    }
}

impl Call<'_> {
    /// The file it touches, and how.
    fn file(&self) -> Option<(&str, &'static str)> {
        let path =
            self.arguments.file_path.as_deref().or(self.arguments.notebook_path.as_deref())?;
        let verb = match traits_of(self.tool).file_use {
            Some(FileUse::Reads) => "read",
            Some(FileUse::Writes) => "written",
            Some(FileUse::Edits) => "edited",
            None => "used",
        };
        Some((path, verb))
    }
}

/// Done, or the exit code and the line that says why.
fn outcome(block: &Block) -> Outcome {
    let text = result_texts(block).join("\n");
    let code = exit_code(&text);
    if code.is_none() && !block.is_error() {
        return Outcome::Done;
    }
    let error = identifiers(&text)
        .into_iter()
        .find(|name| name.kind == IdentifierKind::Error)
        .map_or_else(|| first_line(&text, LINE_CHARS), |name| first_line(name.text, LINE_CHARS));
    Outcome::Failed(match code {
        Some(code) => format!("exit code {code}, {error}"),
        None => error.into_owned(),
    })
}

/// The exit code that is not 0, from the first or the last line: there agents write it.
fn exit_code(text: &str) -> Option<u32> {
    let text = text.trim();
    let code = |line: &str| -> Option<u32> {
        let line = line.trim().trim_matches(['[', ']']).to_ascii_lowercase();
        line.strip_prefix("exit code ")?.trim().parse().ok()
    };
    let last = text.rsplit('\n').next().and_then(code);
    last.or_else(|| text.split('\n').next().and_then(code)).filter(|code| *code != 0)
}
