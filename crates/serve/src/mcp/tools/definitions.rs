//! Names, descriptions and schemas of the tools.

use dormouse_memory::file_commands;

use super::call::{ServedTool, ToolAnswer, ToolKind};
use super::{read, write};
use crate::memory_tool;

/// The file commands of the Anthropic memory tool (R-16).
pub(in crate::mcp) static MEMORY_TOOL: ServedTool = ServedTool {
    name: file_commands::NAME,
    title: "Memory as files",
    about: "Looks at and changes this project's memory as files under /memories: view, create, str_replace, insert, \
        delete, rename. View /memories before you begin a task.",
    schema: file_commands::SCHEMA,
    kind: ToolKind::Alters,
    run: |memories, client, input| {
        Ok(ToolAnswer { text: memory_tool::run(memories, client, &input)?, data: None })
    },
};

/// All of them, in the order in which they are listed.
pub(in crate::mcp) static ALL: [ServedTool; 8] = [
    ServedTool {
        name: "memory_save",
        title: "Save a memory",
        about: "Saves a memory that outlasts this conversation: a markdown file and its line in the index, in one step. \
            `name` and `description` decide whether it is found later: say what it is about. For `feedback` and \
            `project` the content is the rule or fact, then **Why:**, then **How to apply:**. Look first whether a \
            memory of it exists, and change that one with memory_update. Secrets are refused. What concerns the \
            user (`user`, `feedback`) waits in their inbox until they accept it.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""name":{"type":"string","description":"A few words: what it is called."},"#,
            r#""description":{"type":"string","description":"One line: what it is about."},"#,
            r#""type":{"type":"string","enum":["user","feedback","project","reference"],"description":"About the user; how to work; what is going on; where to look."},"#,
            r#""content":{"type":"string","description":"The text, in markdown."},"#,
            r#""scope":{"type":"string","enum":["user","project","team"],"description":"For every project, for this one, or for everyone on it; by default as the type suggests."}"#,
            r#"},"required":["name","description","type","content"],"additionalProperties":false}"#,
        ),
        kind: ToolKind::Adds,
        run: write::save,
    },
    ServedTool {
        name: "memory_search",
        title: "Search memories",
        about: "Finds memories by their words, best first, with the beginning of each and a warning for old ones.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""query":{"type":"string","description":"A few words."},"#,
            r#""limit":{"type":"integer","minimum":1,"maximum":50,"description":"Default 5."},"#,
            r#""scope":{"type":"string","enum":["user","project","team","all"]}"#,
            r#"},"required":["query"],"additionalProperties":false}"#,
        ),
        kind: ToolKind::Reads,
        run: read::search,
    },
    ServedTool {
        name: "memory_recall",
        title: "Recall memories for a task",
        about: "Returns the memories that clearly match a task or question, in full, with their age: at most five, and none \
            rather than doubtful ones; and a line for each of up to three that may match. Call it with the user's own words when a task begins.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""query":{"type":"string","description":"The task or question, in the user's words."},"#,
            r#""limit":{"type":"integer","minimum":1,"maximum":5,"description":"Default 5."}"#,
            r#"},"required":["query"],"additionalProperties":false}"#,
        ),
        kind: ToolKind::Reads,
        run: read::recall,
    },
    ServedTool {
        name: "memory_list",
        title: "List memories",
        about: "Lists memories, newest first, a line each: type, scope, file, age, description.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""scope":{"type":"string","enum":["user","project","team","all"]},"#,
            r#""limit":{"type":"integer","minimum":1,"maximum":1000,"description":"Default 200."},"#,
            r#""offset":{"type":"integer","minimum":0,"description":"Number of memories to skip."}"#,
            r#"},"additionalProperties":false}"#,
        ),
        kind: ToolKind::Reads,
        run: read::list,
    },
    ServedTool {
        name: "memory_read",
        title: "Read a memory",
        about: "Returns one memory in full: its file with the frontmatter, and its age.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""name":{"type":"string","description":"Its file name, or its name."},"#,
            r#""scope":{"type":"string","enum":["user","project","team"]}"#,
            r#"},"required":["name"],"additionalProperties":false}"#,
        ),
        kind: ToolKind::Reads,
        run: read::read,
    },
    ServedTool {
        name: "memory_update",
        title: "Change a memory",
        about: "Changes a memory: the given fields replace the old ones, the others stay. The content is replaced as a whole, so \
            keep what is still valid in it. What the user wrote is not replaced at once: they review it first.",
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
        kind: ToolKind::Replaces,
        run: write::update,
    },
    ServedTool {
        name: "memory_delete",
        title: "Remove a memory",
        about: "Removes a memory that is wrong or no longer valid, and its line in the index. The user can restore it \
            for 30 days.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""name":{"type":"string","description":"Its file name, or its name."},"#,
            r#""scope":{"type":"string","enum":["user","project","team"]}"#,
            r#"},"required":["name"],"additionalProperties":false}"#,
        ),
        kind: ToolKind::Replaces,
        run: write::delete,
    },
    ServedTool {
        name: "memory_undo",
        title: "Undo a change",
        about: "Undoes a change that you made: the last one, or the one with this number. Only the user can undo the changes \
            of others.",
        schema: concat!(
            r#"{"type":"object","properties":{"#,
            r#""change":{"type":"integer","minimum":1,"description":"The number in the result of the change."},"#,
            r#""scope":{"type":"string","enum":["user","project","team","all"]}"#,
            r#"},"additionalProperties":false}"#,
        ),
        kind: ToolKind::Alters,
        run: write::undo,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

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
