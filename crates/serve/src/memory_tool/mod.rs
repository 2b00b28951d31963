//! The file commands of the Anthropic memory tool over a memory directory (R-16), with the answers and errors
//! that its documentation gives, so that an agent built on that tool can use the directory as it is.
//!
//! Invariants: `/memories` is one scope's directory and nothing else; every write goes through the store's
//! door; what is in quarantine is not there; the index can be seen and is kept by the program.
//! What the program adds to the head of a file (trust, source, times) is not shown, and lines are counted
//! without it.

mod edit;
mod path;
mod view;

use std::sync::Arc;

use dormouse_memory::{Scan, Scope};
use serde::Deserialize;
use serde_json::Value;

use crate::memories::Shelf;
use crate::{Client, Memories};
use path::{Spot, ToolPath};

/// What the tool's schema says, for those who list it.
pub(crate) const SCHEMA: &str = concat!(
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

/// The answer to a command: goes back to the model as it is, marked as an error where it is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The words.
    pub text: String,
    /// Whether the command failed.
    pub is_error: bool,
}

/// The tool, for one client.
pub struct MemoryTool {
    memories: Arc<Memories>,
    client: Client,
}

impl MemoryTool {
    /// The tool over these memories, for this client.
    pub fn new(memories: Arc<Memories>, client: Client) -> Self {
        Self { memories, client }
    }

    /// Carries out a command: the tool's input as it came.
    pub fn run(&self, input: &Value) -> ToolAnswer {
        match run(&self.memories, &self.client, input) {
            Ok(text) => ToolAnswer { text, is_error: false },
            Err(text) => ToolAnswer { text, is_error: true },
        }
    }
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

pub(crate) fn run(memories: &Memories, client: &Client, input: &Value) -> Result<String, String> {
    let command = Command::deserialize(input)
        .map_err(|error| format!("Error: the input does not fit the memory tool: {error}"))?;
    let directory = Directory::of(memories, client)?;
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

/// The directory as it is while a command runs.
struct Directory<'a> {
    shelf: &'a Shelf,
    client: &'a Client,
    scan: Scan,
}

impl<'a> Directory<'a> {
    /// The project's; where there is one for everything, that.
    fn of(memories: &'a Memories, client: &'a Client) -> Result<Self, String> {
        let shelf = memories.shelf(Scope::Project).map_err(|error| format!("Error: {error}"))?;
        let scan = shelf.scan().map_err(|error| format!("Error: {error}"))?;
        Ok(Self { shelf, client, scan })
    }

    /// What a path leads to; none if there is nothing.
    fn spot(&self, path: &ToolPath) -> Option<Spot> {
        path.spot(&self.scan, self.has_index())
    }

    fn has_index(&self) -> bool {
        self.shelf.store.index_text().is_ok_and(|text| !text.is_empty())
    }
}
