//! The tools that other agents have: their definitions, and how a call is read and answered.

mod read;
mod write;

use std::sync::Arc;

use dormouse_memory::{Scope, file_commands};
use rmcp::model::{JsonObject, Tool as Definition, ToolAnnotations};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Client, ClientMemories, MemoryRequestError, memory_tool};

/// What a call gives back: words for a model, and the same for a program.
pub(super) struct ToolAnswer {
    pub(super) text: String,
    pub(super) data: Option<Value>,
}

impl ToolAnswer {
    fn new(text: impl Into<String>, data: &impl Serialize) -> Result<Self, String> {
        let data = serde_json::to_value(data).map_err(|error| error.to_string())?;
        Ok(Self { text: text.into(), data: Some(data) })
    }
}

/// What a tool does to memory, as clients are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolKind {
    /// Nothing.
    Reads,
    /// It adds, each time.
    Adds,
    /// It replaces or removes; a second time it does nothing more.
    Replaces,
    /// It replaces or removes, each time something else.
    Alters,
}

type ToolFunction = fn(&ClientMemories, &Client, Value) -> Result<ToolAnswer, String>;

/// A tool.
pub(super) struct ServedTool {
    pub(super) name: &'static str,
    title: &'static str,
    about: &'static str,
    /// The JSON schema of its arguments.
    schema: &'static str,
    nature: ToolKind,
    run: ToolFunction,
}

impl ServedTool {
    pub(super) fn definition(&self) -> Definition {
        // The schemas are ours and a test reads each of them.
        let schema: JsonObject = serde_json::from_str(self.schema).unwrap_or_default();
        let hints = ToolAnnotations::from_raw(
            None,
            Some(self.nature == ToolKind::Reads),
            Some(matches!(self.nature, ToolKind::Replaces | ToolKind::Alters)),
            Some(matches!(self.nature, ToolKind::Reads | ToolKind::Replaces)),
            Some(false),
        );
        Definition::new(self.name, self.about, Arc::new(schema))
            .with_title(self.title)
            .with_annotations(hints)
    }

    pub(super) fn run(
        &self,
        memories: &ClientMemories,
        client: &Client,
        arguments: JsonObject,
    ) -> Result<ToolAnswer, String> {
        (self.run)(memories, client, Value::Object(arguments))
    }
}

fn arguments<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value)
        .map_err(|error| format!("the arguments do not fit the tool's schema: {error}"))
}

/// A word for a scope; none or `all` is every one.
fn scope(word: Option<&str>) -> Result<Option<Scope>, String> {
    match word {
        None | Some("all") => Ok(None),
        Some(word) => Scope::from_word(word)
            .map(Some)
            .ok_or_else(|| format!("`scope`: `{word}` is not user, project, team or all")),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn said(error: MemoryRequestError) -> String {
    error.to_string()
}

/// The file commands of the Anthropic memory tool (R-16).
pub(super) static MEMORY_TOOL: ServedTool = ServedTool {
    name: file_commands::NAME,
    title: "Memory as files",
    about: "Looks at and changes this project's memory as files under /memories: view, create, str_replace, insert, \
        delete, rename. View /memories before you begin a task.",
    schema: file_commands::SCHEMA,
    nature: ToolKind::Alters,
    run: |memories, client, input| {
        memory_tool::run(memories, client, &input).map(|text| ToolAnswer { text, data: None })
    },
};

/// All of them, in the order in which they are listed.
pub(super) static ALL: [ServedTool; 8] = [
    ServedTool {
        name: "memory_save",
        title: "Save a memory",
        about: "Saves a memory that outlasts this conversation: a markdown file and its line in the index, in one step. \
            `name` and `description` decide whether it is found later: say what it is about. For `feedback` and \
            `project` the content is the rule or fact, then **Why:**, then **How to apply:**. Look first whether a \
            memory of it exists, and change that one with memory_update. Secrets are refused. What concerns the \
            person (`user`, `feedback`) waits in their inbox until they accept it.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""name":{"type":"string","description":"A few words: what it is called."},"#,
            r#""description":{"type":"string","description":"One line: what it is about."},"#,
            r#""type":{"type":"string","enum":["user","feedback","project","reference"],"description":"About the person; how to work; what is going on; where to look."},"#,
            r#""content":{"type":"string","description":"The text, in markdown."},"#,
            r#""scope":{"type":"string","enum":["user","project","team"],"description":"For every project, for this one, or for everybody on it. Left out: as the type suggests."}"#,
            r#"},"required":["name","description","type","content"],"additionalProperties":false}"#,
        ),
        nature: ToolKind::Adds,
        run: write::save,
    },
    ServedTool {
        name: "memory_search",
        title: "Search memories",
        about: "Finds memories by their words, best first, with the beginning of each and a warning where one is old.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""query":{"type":"string","description":"A few words."},"#,
            r#""limit":{"type":"integer","minimum":1,"maximum":50,"description":"5 when left out."},"#,
            r#""scope":{"type":"string","enum":["user","project","team","all"]}"#,
            r#"},"required":["query"],"additionalProperties":false}"#,
        ),
        nature: ToolKind::Reads,
        run: read::search,
    },
    ServedTool {
        name: "memory_recall",
        title: "Recall what bears on a task",
        about: "Gives the memories that surely bear on a task or question, whole, with their age: at most five, and none \
            rather than doubtful ones. Call it with the person's own words when a task begins.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""query":{"type":"string","description":"The task or question, in the person's words."},"#,
            r#""limit":{"type":"integer","minimum":1,"maximum":5,"description":"5 when left out."}"#,
            r#"},"required":["query"],"additionalProperties":false}"#,
        ),
        nature: ToolKind::Reads,
        run: read::recall,
    },
    ServedTool {
        name: "memory_list",
        title: "List memories",
        about: "Lists memories, newest first, a line each: type, scope, file, age, description.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""scope":{"type":"string","enum":["user","project","team","all"]},"#,
            r#""limit":{"type":"integer","minimum":1,"maximum":1000,"description":"200 when left out."},"#,
            r#""offset":{"type":"integer","minimum":0,"description":"How many to pass over."}"#,
            r#"},"additionalProperties":false}"#,
        ),
        nature: ToolKind::Reads,
        run: read::list,
    },
    ServedTool {
        name: "memory_read",
        title: "Read a memory",
        about: "Gives one memory whole: its file, frontmatter and all, and how old it is.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""name":{"type":"string","description":"Its file name, or its name."},"#,
            r#""scope":{"type":"string","enum":["user","project","team"]}"#,
            r#"},"required":["name"],"additionalProperties":false}"#,
        ),
        nature: ToolKind::Reads,
        run: read::read,
    },
    ServedTool {
        name: "memory_update",
        title: "Change a memory",
        about: "MemoryChanges a memory: what is given replaces what was there, the rest stays. The content is replaced whole, so \
            take over what still holds. What a person wrote is not replaced at once: they see it first.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""name":{"type":"string","description":"Its file name, or its name."},"#,
            r#""scope":{"type":"string","enum":["user","project","team"]},"#,
            r#""new_name":{"type":"string","description":"Another name; the file keeps its own."},"#,
            r#""description":{"type":"string"},"#,
            r#""type":{"type":"string","enum":["user","feedback","project","reference"]},"#,
            r#""content":{"type":"string","description":"The text, in markdown."}"#,
            r#"},"required":["name"],"additionalProperties":false}"#,
        ),
        nature: ToolKind::Replaces,
        run: write::update,
    },
    ServedTool {
        name: "memory_delete",
        title: "Remove a memory",
        about: "Removes a memory that is wrong or no longer holds, and its line in the index. The person can bring it back \
            for 30 days.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""name":{"type":"string","description":"Its file name, or its name."},"#,
            r#""scope":{"type":"string","enum":["user","project","team"]}"#,
            r#"},"required":["name"],"additionalProperties":false}"#,
        ),
        nature: ToolKind::Replaces,
        run: write::delete,
    },
    ServedTool {
        name: "memory_undo",
        title: "Undo a change",
        about: "Takes back a change that you made: the last one, or the one with this number. What others changed, only the \
            person undoes.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""change":{"type":"integer","minimum":1,"description":"The number that the change was answered with."},"#,
            r#""scope":{"type":"string","enum":["user","project","team","all"]}"#,
            r#"},"additionalProperties":false}"#,
        ),
        nature: ToolKind::Alters,
        run: write::undo,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_an_object_that_says_what_it_needs() {
        for tool in ALL.iter().chain([&MEMORY_TOOL]) {
            let schema: Value = serde_json::from_str(tool.schema).unwrap();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            for name in required {
                assert!(schema["properties"].get(name.as_str().unwrap()).is_some(), "{name}");
            }
        }
    }
}
