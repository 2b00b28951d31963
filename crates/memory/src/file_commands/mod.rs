//! The file commands of the Anthropic memory tool on a memory directory (R-16), with the results and errors that its
//! documentation prescribes, so that a model or an agent that knows that tool can use the directory.
//!
//! Invariants: `/memories` is the directory of one scope. A command makes at most one change, through the caller's
//! [`CommandWriter`]. Quarantined memories are hidden. The index can be viewed, but only the program changes it.
//! Frontmatter that the program adds (trust, source, times) is not shown, and lines are counted without it.

mod command_writer;
mod directory;
mod edit;
mod error;
mod path;
mod view;

use serde::Deserialize;
use serde_json::Value;

use crate::names::MemoryFile;
use crate::scan::Scan;
use crate::store::Store;
pub use command_writer::{ChangeNotMade, CommandWriter, PlanBuilder};
use directory::CommandDirectory;
pub use error::MemoryCommandError;
use path::ToolPath;

/// Name of the tool.
pub const NAME: &str = "memory";

/// JSON schema of the arguments, for clients that do not know the tool.
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

/// Runs a command. `input` is the tool's input as received, `scan` a scan of the store.
pub fn run(
    store: &Store,
    mut scan: Scan,
    writer: &dyn CommandWriter,
    input: &Value,
) -> Result<String, MemoryCommandError> {
    let command = Command::deserialize(input).map_err(MemoryCommandError::Input)?;
    scan.memories.retain(|memory| !memory.header.quarantined);
    let directory = CommandDirectory { store, writer, scan };
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

/// Whether a command only reads.
pub fn only_reads(input: &Value) -> bool {
    matches!(Command::deserialize(input), Ok(Command::View { .. }))
}

/// The memory that a command shows or writes; `None` for a folder or an invalid path.
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
            assert_eq!((touched.as_deref(), only_reads(&input)), (file, looks), "{input}");
        }
    }
}
