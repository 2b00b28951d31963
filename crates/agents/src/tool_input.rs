//! The input of the Agent tool, and its description for the model.

use std::borrow::Cow;

use dormouse_conversation::known_tools::AGENT;
use dormouse_tools::{ResultLimit, ToolClass, ToolError, ToolSpec, parse_input};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::definition::Isolation;

pub(crate) const AGENT_TOOL: &str = AGENT.name;

/// The input of a call.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentToolInput {
    /// The task in a few words.
    pub(crate) description: String,
    /// The whole task.
    pub(crate) prompt: String,
    /// The name of an agent definition; absent for a fork.
    pub(crate) subagent_type: Option<String>,
    /// The name for messages.
    pub(crate) name: Option<String>,
    /// The model, if not that of the definition.
    pub(crate) model: Option<String>,
    #[serde(default)]
    pub(crate) run_in_background: bool,
    isolation: Option<String>,
    /// The id or name of an interrupted agent to go on with.
    resume: Option<String>,
}

impl AgentToolInput {
    pub(crate) fn parse(input: &RawValue) -> Result<Self, ToolError> {
        let parsed: Self = parse_input(input)?;
        if parsed.prompt.trim().is_empty() {
            return Err(ToolError::invalid("`prompt` is empty: an agent needs a task"));
        }
        if let Some(other) = parsed.isolation.as_deref().filter(|value| *value != "worktree") {
            return Err(ToolError::invalid(format!(
                "`isolation` can be `worktree`, not `{other}`"
            )));
        }
        Ok(parsed)
    }

    pub(crate) fn isolation(&self) -> Isolation {
        if self.isolation.is_some() { Isolation::Worktree } else { Isolation::None }
    }

    /// The interrupted agent to go on with.
    pub(crate) fn resumed(&self) -> Option<&str> {
        self.resume.as_deref().map(str::trim).filter(|name| !name.is_empty())
    }

    /// The name of the agent definition; `None` for a fork.
    pub(crate) fn agent(&self) -> Option<&str> {
        self.subagent_type.as_deref().map(str::trim).filter(|name| !name.is_empty())
    }
}

const FULL: &str = "\
Starts an agent: a second conversation that works on one task and reports back. Two kinds:

- A named agent (`subagent_type`) knows nothing of this conversation: write the task out as for a capable colleague who has just come in: what it is for, what you know and have ruled out, the files and lines, what exactly to do, what to leave alone, what to report.
- A fork (no `subagent_type`) has this whole conversation and shares its cache: it needs only the order. For work whose steps you do not need to see. A fork cannot fork.

Understand first, then give exact orders. Independent tasks go into one answer, as several calls: they run side by side. Do not do yourself what you have handed over. What runs in the background reports by a message: until then go on with something else or end your turn, and never guess what it found. The user does not see its answer: tell them what matters.";

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""description":{"type":"string","description":"Three to five words, for the user."},"#,
    r#""prompt":{"type":"string","description":"The task, whole."},"#,
    r#""subagent_type":{"type":"string","description":"Which agent; without it, a fork."},"#,
    r#""name":{"type":"string","description":"A name to send it messages by."},"#,
    r#""model":{"type":"string","description":"Not for forks."},"#,
    r#""run_in_background":{"type":"boolean","description":"The result comes as a message."},"#,
    r#""isolation":{"type":"string","enum":["worktree"],"description":"A git worktree of its own."},"#,
    r#""resume":{"type":"string","description":"The id of an interrupted agent."}"#,
    r#"},"required":["description","prompt"],"additionalProperties":false}"#,
);

/// Returns the tool specification, with the list of agents where the description contains it.
pub(crate) fn spec(list: Option<String>) -> ToolSpec {
    let full = match list {
        None => Cow::Borrowed(FULL),
        Some(list) => Cow::Owned(format!("{FULL}\n\n{list}")),
    };
    ToolSpec {
        name: Cow::Borrowed(AGENT_TOOL),
        full,
        short: Cow::Borrowed(
            "Starts an agent for one task: a named one with a fresh context, or a fork of this conversation.",
        ),
        schema: Cow::Borrowed(SCHEMA),
        class: ToolClass::Parallel,
        limit: ResultLimit::Chars(50_000),
        traits: AGENT.traits,
    }
}
