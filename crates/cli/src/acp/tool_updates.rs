//! A tool call as an editor shows it: title, kind, places in files, what it changed.

use std::path::Path;

use dormouse_conversation::known_tools::traits_of;
use dormouse_conversation::{CallLabel, FileUse};
use serde_json::Value;

use crate::interactive::tool_calls::label;

use super::protocol::{CallContent, CallKind, EditorUpdate, FilePlace, PlanStep, ShownCall};

/// A call that runs.
pub(super) fn described(id: &str, name: &str, input: &str, folder: &Path) -> ShownCall {
    let arguments: Value = serde_json::from_str(input).unwrap_or(Value::Null);
    let path = arguments.get("file_path").and_then(Value::as_str).map(|path| folder.join(path));
    let line = arguments.get("offset").and_then(Value::as_u64);
    ShownCall {
        tool_call_id: id.to_owned(),
        title: Some(label(name, input, folder)),
        kind: Some(kind(name)),
        locations: path.into_iter().map(|path| FilePlace { path, line }).collect(),
        raw_input: Some(arguments),
        ..ShownCall::default()
    }
}

fn kind(name: &str) -> CallKind {
    let traits = traits_of(name);
    match traits.label {
        CallLabel::Command => CallKind::Execute,
        CallLabel::File if traits.file_use.is_some_and(FileUse::changes) => CallKind::Edit,
        CallLabel::File => CallKind::Read,
        CallLabel::Search => CallKind::Search,
        CallLabel::Plan => CallKind::SwitchMode,
        CallLabel::Argument("url") => CallKind::Fetch,
        CallLabel::Subagent
        | CallLabel::Message
        | CallLabel::Argument(_)
        | CallLabel::Name
        | CallLabel::MemoryFile
        | CallLabel::Arguments => CallKind::Other,
    }
}

/// What a call has changed in its file, from its arguments.
pub(super) fn changed(input: &str, folder: &Path) -> Option<CallContent> {
    let arguments: Value = serde_json::from_str(input).ok()?;
    let text = |field: &str| arguments.get(field).and_then(Value::as_str).map(str::to_owned);
    let path = folder.join(text("file_path")?);
    let new = text("new_string").or_else(|| text("content")).or_else(|| text("new_source"))?;
    Some(diff(&path, text("old_string"), new))
}

/// The difference of two contents of a file.
pub(super) fn diff(path: &Path, before: Option<String>, after: String) -> CallContent {
    CallContent::Diff { path: path.to_owned(), old_text: before, new_text: after }
}

/// The to-do list of a call that has one.
pub(super) fn todo_plan(input: &str) -> Option<EditorUpdate> {
    let arguments: Value = serde_json::from_str(input).ok()?;
    let todos = arguments.get("todos")?.as_array()?;
    let entries = todos.iter().map(|todo| {
        let text = |field: &str| todo.get(field).and_then(Value::as_str).unwrap_or_default();
        PlanStep {
            content: text("content").to_owned(),
            priority: "medium",
            status: text("status").to_owned(),
        }
    });
    Some(EditorUpdate::Plan { entries: entries.collect() })
}
