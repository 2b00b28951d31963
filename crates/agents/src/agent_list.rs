//! The list of agents for the model.

use dormouse_conversation::PromptSize;
use dormouse_extensions::skills::lines_within;

use crate::definition::{AgentDefinition, AgentDefinitions};

/// The limit of the list.
const MAX_CHARS: usize = 8_000;
/// The limit of the list of names for a small context window.
const MAX_SHORT_CHARS: usize = 600;
/// The limit of one description.
const MAX_DESCRIPTION_CHARS: usize = 400;

const INTRO: &str = "These can be started with the tool Agent, by name as `subagent_type`; without a name it starts a fork of this conversation.";

pub(crate) fn agent_list(agents: &AgentDefinitions, size: PromptSize) -> String {
    if size == PromptSize::Short {
        let names: Vec<String> = agents.all().map(|agent| agent.name.clone()).collect();
        return format!(
            "For the tool Agent: {}.",
            lines_within(&names, MAX_SHORT_CHARS).join(", ")
        );
    }
    let lines: Vec<String> = agents.all().map(line).collect();
    let kept = lines_within(&lines, MAX_CHARS);
    let more = match lines.len() - kept.len() {
        0 => String::new(),
        more => format!("\n[{more} more are not listed here for want of room]"),
    };
    format!("{INTRO}\n{}{more}", kept.join("\n"))
}

fn line(agent: &AgentDefinition) -> String {
    let described: String = agent.description.chars().take(MAX_DESCRIPTION_CHARS).collect();
    let cut = if described.len() < agent.description.len() { "…" } else { "" };
    let background = if agent.background { " (runs in the background)" } else { "" };
    format!("- {}: {described}{cut}{background}", agent.name)
}
