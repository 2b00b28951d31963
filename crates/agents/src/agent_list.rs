//! The list of agents, as the model reads it.

use dormouse_conversation::PromptSize;
use dormouse_extensions::skills::lines_within;

use crate::{AgentDefinition, AgentDefinitions};

/// The list, in characters.
const MOST_CHARS: usize = 8_000;
/// The list of names, for a small window.
const MOST_SHORT_CHARS: usize = 600;
/// Of one description.
const ONE: usize = 400;

const INTRO: &str = "These can be started with the tool Agent, by name as `subagent_type`; without a name it starts a fork of this conversation.";

pub(crate) fn agent_list(agents: &AgentDefinitions, size: PromptSize) -> String {
    if size == PromptSize::Short {
        let names: Vec<String> = agents.all().map(|agent| agent.name.clone()).collect();
        return format!(
            "For the tool Agent: {}.",
            lines_within(&names, MOST_SHORT_CHARS).join(", ")
        );
    }
    let lines: Vec<String> = agents.all().map(line).collect();
    let kept = lines_within(&lines, MOST_CHARS);
    let more = match lines.len() - kept.len() {
        0 => String::new(),
        more => format!("\n[{more} more are not listed here for want of room]"),
    };
    format!("{INTRO}\n{}{more}", kept.join("\n"))
}

fn line(agent: &AgentDefinition) -> String {
    let described: String = agent.description.chars().take(ONE).collect();
    let cut = if described.len() < agent.description.len() { "…" } else { "" };
    let background = if agent.background { " (runs in the background)" } else { "" };
    format!("- {}: {described}{cut}{background}", agent.name)
}
