//! Names, descriptions and schemas of the memory tools.

use std::borrow::Cow;

use dormouse_conversation::known_tools::{
    MEMORY_DELETE, MEMORY_FILES, MEMORY_LIST, MEMORY_LOG, MEMORY_SAVE, MEMORY_SEARCH,
};
use dormouse_memory::file_commands;
use dormouse_tools::{ResultLimit, ToolClass, ToolSpec};

pub(super) static SAVE: ToolSpec = ToolSpec {
    name: Cow::Borrowed(MEMORY_SAVE.name),
    full: Cow::Borrowed(
        "Saves a memory that outlasts this conversation, or changes one.\n\n\
         - `name` and `description` decide whether it is found later.\n\
         - `content` is markdown. For `feedback` and `project`: the rule or fact, then **Why:**, then **How to apply:**.\n\
         - To change a memory, give its file name as `file`; the text is replaced whole.\n\
         - Without `scope`, what concerns the user goes to `user`, the rest to `project`.\n\
         - `quotes` are for background tasks: the words that it rests on, verbatim.\n\
         - Secrets are refused. Replacing what the user wrote needs their confirmation.",
    ),
    short: Cow::Borrowed(
        "Remembers something about the user or their decisions, for later conversations.",
    ),
    schema: Cow::Borrowed(concat!(
        r#"{"type":"object","properties":{"#,
        r#""name":{"type":"string","description":"A few words."},"#,
        r#""description":{"type":"string","description":"One line: what it is about."},"#,
        r#""type":{"type":"string","enum":["user","feedback","project","reference"]},"#,
        r#""content":{"type":"string","description":"The text."},"#,
        r#""scope":{"type":"string","enum":["user","project","team"]},"#,
        r#""file":{"type":"string","description":"The memory to change."},"#,
        r#""quotes":{"type":"array","items":{"type":"string"},"description":"Verbatim."},"#,
        r#""supersedes":{"type":"array","items":{"type":"string"},"description":"File names of memories that it replaces, which are removed."}"#,
        r#"},"required":["name","description","type","content"],"additionalProperties":false}"#,
    )),
    class: ToolClass::Exclusive,
    limit: ResultLimit::OwnBound,
    traits: MEMORY_SAVE.traits,
};

pub(super) static DELETE: ToolSpec = ToolSpec {
    name: Cow::Borrowed(MEMORY_DELETE.name),
    full: Cow::Borrowed(
        "Removes a memory that is wrong or no longer holds, and its line in the index. The user can bring it back for 30 days.",
    ),
    short: Cow::Borrowed("Removes a memory."),
    schema: Cow::Borrowed(concat!(
        r#"{"type":"object","properties":{"#,
        r#""name":{"type":"string","description":"Its file name, or its name."},"#,
        r#""scope":{"type":"string","enum":["user","project","team"]},"#,
        r#""reason":{"type":"string","description":"Why it goes, in a few words."}"#,
        r#"},"required":["name"],"additionalProperties":false}"#,
    )),
    class: ToolClass::Exclusive,
    limit: ResultLimit::OwnBound,
    traits: MEMORY_DELETE.traits,
};

/// The description is for models without built-in knowledge of the tool; the others get its type alone.
pub(super) static FILES: ToolSpec = ToolSpec {
    name: Cow::Borrowed(MEMORY_FILES.name),
    full: Cow::Borrowed(
        "Looks at and changes this project's memory, which outlasts this conversation, as files under /memories.\n\n\
         - `view` lists a folder or shows a file with line numbers, `create` makes a file, `str_replace` and `insert` \
         change one, `rename` and `delete` take a file or a folder.\n\
         - A file begins with a head: `name`, `description` (it decides whether the memory is found later), `type`.\n\
         - Secrets are refused. What the user wrote is not replaced at once: they are asked.",
    ),
    short: Cow::Borrowed("Looks at and changes this project's memory as files under /memories."),
    schema: Cow::Borrowed(file_commands::SCHEMA),
    class: ToolClass::Exclusive,
    limit: ResultLimit::OwnBound,
    traits: MEMORY_FILES.traits,
};

pub(super) static SEARCH: ToolSpec = ToolSpec {
    name: Cow::Borrowed(MEMORY_SEARCH.name),
    full: Cow::Borrowed(
        "Finds memories by their words, best first, with the beginning of each and a warning where one is old. Read opens the whole file.",
    ),
    short: Cow::Borrowed("Finds memories by their words."),
    schema: Cow::Borrowed(concat!(
        r#"{"type":"object","properties":{"#,
        r#""query":{"type":"string","description":"A few words."},"#,
        r#""max_results":{"type":"integer","minimum":1,"maximum":20,"description":"5 when left out."},"#,
        r#""scope":{"type":"string","enum":["user","project","team","all"]}"#,
        r#"},"required":["query"],"additionalProperties":false}"#,
    )),
    class: ToolClass::ReadOnly,
    limit: ResultLimit::Chars(30_000),
    traits: MEMORY_SEARCH.traits,
};

pub(super) static LIST: ToolSpec = ToolSpec {
    name: Cow::Borrowed(MEMORY_LIST.name),
    full: Cow::Borrowed("Lists all memories, a line each: type, scope, file, age, description."),
    short: Cow::Borrowed("Lists all memories."),
    schema: Cow::Borrowed(concat!(
        r#"{"type":"object","properties":{"#,
        r#""scope":{"type":"string","enum":["user","project","team","all"]}"#,
        r#"},"additionalProperties":false}"#,
    )),
    class: ToolClass::ReadOnly,
    limit: ResultLimit::Chars(30_000),
    traits: MEMORY_LIST.traits,
};

pub(super) static LOG: ToolSpec = ToolSpec {
    name: Cow::Borrowed(MEMORY_LOG.name),
    full: Cow::Borrowed(
        "Adds a note to today's log, which outlasts this conversation. Memories are made of the log later.\n\n\
         - One thing a note, in a sentence or two: what is worth knowing in other conversations, and why.\n\
         - It is kept as it is: nothing in the log can be changed or removed. Correct a note by another one.\n\
         - `scope` is `user` for what concerns the user everywhere; without it the note is about this project.\n\
         - Secrets are refused.",
    ),
    short: Cow::Borrowed("Adds a note to today's log, for later conversations."),
    schema: Cow::Borrowed(concat!(
        r#"{"type":"object","properties":{"#,
        r#""note":{"type":"string","description":"A sentence or two."},"#,
        r#""scope":{"type":"string","enum":["user","project"]}"#,
        r#"},"required":["note"],"additionalProperties":false}"#,
    )),
    class: ToolClass::Exclusive,
    limit: ResultLimit::OwnBound,
    traits: MEMORY_LOG.traits,
};
