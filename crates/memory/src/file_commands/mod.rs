//! The file commands of the Anthropic memory tool over a memory directory (R-16), with the answers and errors
//! that its documentation gives, so that a model or an agent that knows that tool can use the directory as it is.
//!
//! Invariants: `/memories` is one scope's directory and nothing else; what a command changes, it changes through
//! the [`Hand`] of whoever runs it, in one change; what is in quarantine is not there; the index can be seen and
//! is kept by the program. What the program adds to the head of a file (trust, source, times) is not shown, and
//! lines are counted without it.

mod edit;
mod path;
mod view;

use serde::Deserialize;
use serde_json::Value;

use crate::names::MemoryFile;
use crate::scan::Scan;
use crate::store::{ChangeError, ChangePlan, Store};
use path::{CommandPath, ToolPath};

/// The name of the tool.
pub const NAME: &str = "memory";

/// The JSON schema of its arguments, for those who have to be told.
pub const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""command":{"type":"string","enum":["view","create","str_replace","insert","delete","rename"]},"#,
    r#""path":{"type":"string","description":"Under /memories; for every command but rename."},"#,
    r#""view_range":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2,"description":"For view: first and last line; -1 is the end."},"#,
    r#""file_text":{"type":"string","description":"For create."},"#,
    r#""old_str":{"type":"string","description":"For str_replace: text that occurs once."},"#,
    r#""new_str":{"type":"string","description":"For str_replace; left out, the text is removed."},"#,
    r#""insert_line":{"type":"integer","minimum":0,"description":"For insert: after this line; 0 is the beginning."},"#,
    r#""insert_text":{"type":"string","description":"For insert."},"#,
    r#""old_path":{"type":"string","description":"For rename."},"#,
    r#""new_path":{"type":"string","description":"For rename."}"#,
    r#"},"required":["command"],"additionalProperties":false}"#,
);

/// By whose hand the commands change something: their name, their sources, and whom they can ask.
pub trait Hand {
    /// Makes a change through the store's door. `words` is the text that it brings in.
    fn change(&self, words: &str, reason: &str, build: Build<'_>) -> Result<(), NotMade>;
}

/// What puts a change together.
pub type Build<'a> = &'a dyn Fn(&mut ChangePlan<'_>) -> Result<(), ChangeError>;

/// Why a change was not made. One that waits for the person is not made: the file is not what the agent thinks.
#[derive(Debug, thiserror::Error)]
pub enum NotMade {
    /// The store says no.
    #[error(transparent)]
    Refused(#[from] ChangeError),
    /// It waits for the person, or they do not want it.
    #[error("{0}")]
    Withheld(String),
}

#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
enum Command {
    View { path: String, view_range: Option<[i64; 2]> },
    Create { path: String, file_text: String },
    StrReplace { path: String, old_str: String, new_str: Option<String> },
    Insert { path: String, insert_line: i64, insert_text: String },
    Delete { path: String },
    Rename { old_path: String, new_path: String },
}

/// Carries out a command: the tool's input as it came, on what a scan of the store saw. What fails is told in
/// words as well.
pub fn run(
    store: &Store,
    mut scan: Scan,
    hand: &dyn Hand,
    input: &Value,
) -> Result<String, String> {
    let command = Command::deserialize(input)
        .map_err(|error| format!("Error: the input does not fit the memory tool: {error}"))?;
    scan.memories.retain(|memory| !memory.header.quarantined);
    let directory = Directory { store, hand, scan };
    match command {
        Command::View { path, view_range } => directory.view(&ToolPath::new(&path)?, view_range),
        Command::Create { path, file_text } => directory.create(&ToolPath::new(&path)?, &file_text),
        Command::StrReplace { path, old_str, new_str } => {
            directory.replace(&ToolPath::new(&path)?, &old_str, &new_str.unwrap_or_default())
        }
        Command::Insert { path, insert_line, insert_text } => {
            directory.insert(&ToolPath::new(&path)?, insert_line, &insert_text)
        }
        Command::Delete { path } => directory.delete(&ToolPath::new(&path)?),
        Command::Rename { old_path, new_path } => {
            directory.rename(&ToolPath::new(&old_path)?, &ToolPath::new(&new_path)?)
        }
    }
}

/// Whether a command only looks.
pub fn only_looks(input: &Value) -> bool {
    matches!(Command::deserialize(input), Ok(Command::View { .. }))
}

/// The memory that whoever runs a command has seen or written once it is done; none where it is about a folder,
/// or can not be read.
pub fn touched(input: &Value) -> Option<MemoryFile> {
    let path = match Command::deserialize(input).ok()? {
        Command::View { path, .. }
        | Command::Create { path, .. }
        | Command::StrReplace { path, .. }
        | Command::Insert { path, .. }
        | Command::Delete { path }
        | Command::Rename { new_path: path, .. } => path,
    };
    ToolPath::new(&path).ok()?.file().ok()
}

/// The directory as it is while a command runs.
struct Directory<'a> {
    store: &'a Store,
    hand: &'a dyn Hand,
    scan: Scan,
}

impl Directory<'_> {
    /// What a path leads to; none if there is nothing.
    fn spot(&self, path: &ToolPath) -> Option<CommandPath> {
        path.spot(&self.scan, self.has_index())
    }

    fn has_index(&self) -> bool {
        self.store.index_text().is_ok_and(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_command_is_about() {
        for (input, file, looks) in [
            (json!({"command": "view", "path": "/memories/a.md"}), Some("a.md"), true),
            (json!({"command": "view", "path": "/memories"}), None, true),
            (
                json!({"command": "create", "path": "/memories/b.txt", "file_text": ""}),
                Some("b.txt.md"),
                false,
            ),
            (
                json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/c.md"}),
                Some("c.md"),
                false,
            ),
            (json!({"command": "delete", "path": "/memories/../a.md"}), None, false),
            (json!({"command": "look"}), None, false),
        ] {
            let touched = touched(&input).map(|file| file.to_string());
            assert_eq!((touched.as_deref(), only_looks(&input)), (file, looks), "{input}");
        }
    }
}
