//! A tool call as an editor shows it: title, kind, places in files, what it changed.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{
    Diff, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, ToolCall, ToolCallContent,
    ToolCallLocation, ToolKind,
};
use dormouse_conversation::CallLabel;
use dormouse_conversation::known_tools::traits_of;
use serde_json::Value;

use crate::interactive::tool_calls::label;

/// A call that runs.
pub(super) fn described(id: &str, name: &str, input: &str, folder: &Path) -> ToolCall {
    let arguments: Value = serde_json::from_str(input).unwrap_or(Value::Null);
    let path = arguments.get("file_path").and_then(Value::as_str).map(|path| folder.join(path));
    let line =
        arguments.get("offset").and_then(Value::as_u64).and_then(|line| line.try_into().ok());
    let location = path.map(|path| ToolCallLocation::new(path).line(line));
    ToolCall::new(id.to_owned(), label(name, input, folder))
        .kind(kind(name, &arguments))
        .locations(location.into_iter().collect())
        .raw_input(arguments)
}

fn kind(name: &str, arguments: &Value) -> ToolKind {
    match traits_of(name).label {
        CallLabel::Command => ToolKind::Execute,
        CallLabel::File if changes_file(arguments) => ToolKind::Edit,
        CallLabel::File => ToolKind::Read,
        CallLabel::Search => ToolKind::Search,
        CallLabel::Plan => ToolKind::SwitchMode,
        CallLabel::Argument("url") => ToolKind::Fetch,
        CallLabel::Subagent
        | CallLabel::Message
        | CallLabel::Argument(_)
        | CallLabel::Name
        | CallLabel::MemoryFile
        | CallLabel::Arguments => ToolKind::Other,
    }
}

/// Whether a call with these arguments writes to its file.
fn changes_file(arguments: &Value) -> bool {
    arguments.get("new_string").is_some() || arguments.get("content").is_some()
}

/// What a call has changed in its file, from its arguments.
pub(super) fn changed(input: &str, folder: &Path) -> Option<ToolCallContent> {
    let arguments: Value = serde_json::from_str(input).ok()?;
    let text = |field: &str| arguments.get(field).and_then(Value::as_str).map(str::to_owned);
    let path = folder.join(text("file_path")?);
    let new = text("new_string").or_else(|| text("content"))?;
    Some(diff(&path, text("old_string"), new))
}

/// The difference of two contents of a file.
pub(super) fn diff(path: &Path, before: Option<String>, after: String) -> ToolCallContent {
    ToolCallContent::Diff(Diff::new(PathBuf::from(path), after).old_text(before))
}

/// The to-do list of a call that has one.
pub(super) fn todo_plan(input: &str) -> Option<Plan> {
    let arguments: Value = serde_json::from_str(input).ok()?;
    let todos = arguments.get("todos")?.as_array()?;
    let entries = todos.iter().map(|todo| {
        let text = |field: &str| todo.get(field).and_then(Value::as_str).unwrap_or_default();
        let status = match text("status") {
            "completed" => PlanEntryStatus::Completed,
            "in_progress" => PlanEntryStatus::InProgress,
            _ => PlanEntryStatus::Pending,
        };
        PlanEntry::new(text("content"), PlanEntryPriority::Medium, status)
    });
    Some(Plan::new(entries.collect()))
}
