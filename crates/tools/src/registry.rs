//! The tools there are, in the order of their names, so that the prompt's bytes never depend on how
//! the set was put together.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_conversation::known_tools::{
    AGENT, BASH, EDIT, EXIT_PLAN, GLOB, GREP, KILL_SHELL, MEMORY_SAVE, MEMORY_SEARCH, MORE_TOOLS,
    NOTEBOOK_EDIT, READ, SEND_MESSAGE, TODO_WRITE, WRITE,
};
use dormouse_conversation::{PromptSize, ToolDefinition, ToolListing, ToolUse};

use crate::repair::repair;
use crate::{
    Bash, BashOutput, Edit, Glob, Grep, KillShell, MoreTools, NotebookEdit, Read,
    RepairedArguments, TodoWrite, Tool, WebFetch, Write, definition,
};

/// Tools that are not offered in a small window.
const LARGE_WINDOW_TOOLS: &[&str] = &[
    AGENT.name,
    EXIT_PLAN.name,
    KILL_SHELL.name,
    NOTEBOOK_EDIT.name,
    SEND_MESSAGE.name,
    TODO_WRITE.name,
];

/// The first tools in a small window, in this order: a small model prefers what it reads first.
const FIRST_TOOLS: &[&str] = &[
    READ.name,
    GREP.name,
    GLOB.name,
    EDIT.name,
    WRITE.name,
    BASH.name,
    MEMORY_SAVE.name,
    MEMORY_SEARCH.name,
];

/// Tools by name. Cheap to clone.
#[derive(Clone, Default)]
pub struct ToolSet {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    /// Tools whose definitions the model is told when it asks for them.
    announced: BTreeSet<String>,
}

impl ToolSet {
    /// The tools that come with the program.
    pub fn builtin() -> Self {
        let tools: [Arc<dyn Tool>; 11] = [
            Arc::new(Bash),
            Arc::new(BashOutput),
            Arc::new(Edit),
            Arc::new(Glob),
            Arc::new(Grep),
            Arc::new(KillShell),
            Arc::new(NotebookEdit),
            Arc::new(Read),
            Arc::new(TodoWrite),
            Arc::new(WebFetch),
            Arc::new(Write),
        ];
        Self::of(tools)
    }

    /// A set of these; of two with one name the later counts.
    pub fn of(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let tools = tools.into_iter().map(|tool| (tool.name().to_owned(), tool)).collect();
        Self { tools, announced: BTreeSet::new() }
    }

    /// The same with these besides.
    #[must_use]
    pub fn with(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(Self::of(tools).tools);
        self
    }

    /// Removes the tools of MCP servers, and the one that calls them by name.
    #[must_use]
    pub fn without_mcp_tools(mut self) -> Self {
        self.tools.retain(|_, tool| !tool.spec().traits.is_mcp);
        self
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// The arguments of a call as its tool gets them: repaired where there is no doubt what was meant. Whoever looks at
    /// the arguments of a call takes them from here, so that all see the same.
    pub fn repaired<'a>(&self, call: ToolUse<'a>) -> RepairedArguments<'a> {
        match self.get(call.name) {
            Some(tool) => repair(&tool.spec().schema, call.input),
            None => RepairedArguments::unchanged(call.input),
        }
    }

    /// The file that a call is about.
    pub fn file_of(&self, call: ToolUse<'_>) -> Option<PathBuf> {
        self.get(call.name)?.file(&self.repaired(call).input)
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// The tools for a small window: without those that a small model seldom uses well, unless they are in `kept`.
    #[must_use]
    pub fn for_small_window(mut self, kept: &[String]) -> Self {
        self.tools
            .retain(|name, _| !LARGE_WINDOW_TOOLS.contains(&name.as_str()) || kept.contains(name));
        self
    }

    /// Announces the seldom needed tools by name, except those in `listed`: their definitions are left out, and
    /// [`MoreTools`] describes them and passes calls on to them.
    #[must_use]
    pub fn announcing_rare_tools(mut self, listed: &[&str]) -> Self {
        self.tools.remove(MORE_TOOLS.name);
        let rare = |tool: &&Arc<dyn Tool>| {
            tool.spec().traits.listing == ToolListing::ByName && !listed.contains(&tool.name())
        };
        let rare = Self::of(self.tools.values().filter(rare).cloned()).tools;
        self.announced = rare.keys().cloned().collect();
        if rare.is_empty() {
            return self;
        }
        self.with([Arc::new(MoreTools::new(rare)) as Arc<dyn Tool>])
    }

    /// All tools as the model is told of them, in the order of their names; in a small window those for files and
    /// commands first.
    pub fn definitions(&self, size: PromptSize) -> Vec<ToolDefinition> {
        let is_listed = |tool: &&Arc<dyn Tool>| !self.announced.contains(tool.name());
        let mut tools: Vec<_> = self.tools.values().filter(is_listed).collect();
        if size == PromptSize::Short {
            let place = |name: &str| FIRST_TOOLS.iter().position(|first| *first == name);
            // Stable: the others stay in the order of their names.
            tools.sort_by_key(|tool| place(tool.name()).unwrap_or(FIRST_TOOLS.len()));
        }
        tools.into_iter().map(|tool| definition(tool.as_ref(), size)).collect()
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn in_the_order_of_names() {
        let set = ToolSet::builtin();
        let expected = [
            "Bash",
            "BashOutput",
            "Edit",
            "Glob",
            "Grep",
            "KillShell",
            "NotebookEdit",
            "Read",
            "TodoWrite",
            "WebFetch",
            "Write",
        ];
        assert_eq!(set.names().collect::<Vec<_>>(), expected);
        let names: Vec<String> =
            set.definitions(PromptSize::Full).into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, expected);
        assert!(set.get("Read").is_some() && set.get("read").is_none());
    }

    #[test]
    fn a_small_window_has_fewer_tools_and_files_first() {
        let set = ToolSet::builtin().for_small_window(&["TodoWrite".to_owned()]);
        let names: Vec<String> =
            set.definitions(PromptSize::Short).into_iter().map(|tool| tool.name).collect();
        let expected = [
            "Read",
            "Grep",
            "Glob",
            "Edit",
            "Write",
            "Bash",
            "BashOutput",
            "TodoWrite",
            "WebFetch",
        ];
        assert_eq!(names, expected);
    }

    /// The permission crate knows no other crate, so it has the names that rules give a meaning as well.
    #[test]
    fn rules_and_tools_use_the_same_names() {
        use dormouse_conversation::known_tools::{
            BASH, EDIT, MCP_PREFIX, READ, WEB_FETCH, WEB_SEARCH,
        };
        use dormouse_permissions::{
            COMMAND_RULE, EDIT_RULE, HOST_RULE, MCP_TOOL_PREFIX, READ_RULE, SEARCH_RULE,
        };
        assert_eq!(
            [COMMAND_RULE, EDIT_RULE, READ_RULE, HOST_RULE, SEARCH_RULE, MCP_TOOL_PREFIX],
            [BASH.name, EDIT.name, READ.name, WEB_FETCH.name, WEB_SEARCH.name, MCP_PREFIX]
        );
    }

    #[test]
    fn every_schema_is_strict_and_explained() {
        for tool in ToolSet::builtin().definitions(PromptSize::Full) {
            let schema: Value = serde_json::from_str(tool.input_schema.get()).unwrap();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            let properties = schema["properties"].as_object().unwrap();
            for (name, property) in properties {
                assert!(property["description"].is_string(), "{}.{name}", tool.name);
            }
            for required in schema["required"].as_array().unwrap() {
                assert!(properties.contains_key(required.as_str().unwrap()), "{}", tool.name);
            }
        }
    }

    #[test]
    fn a_short_description_is_one_line() {
        let set = ToolSet::builtin();
        let full = set.definitions(PromptSize::Full);
        for short in &set.definitions(PromptSize::Short) {
            let full = full.iter().find(|full| full.name == short.name).unwrap();
            assert_eq!(short.description.lines().count(), 1, "{}", short.name);
            assert!(short.description.len() < full.description.len(), "{}", short.name);
        }
    }
}
