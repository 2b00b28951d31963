//! The list of agents, as the model reads it.

use dormouse_conversation::PromptSize;

use crate::{AgentDefinition, Agents};

/// The list, in characters.
const MOST_CHARS: usize = 8_000;
/// Of one description.
const ONE: usize = 400;

const INTRO: &str = "These can be started with the tool Agent, by name as `subagent_type`; without a name it starts a fork of this conversation.";

pub(crate) fn listing(agents: &Agents, size: PromptSize) -> String {
    if size == PromptSize::Short {
        let names: Vec<&str> = agents.all().map(|agent| agent.name.as_str()).collect();
        return format!("For the tool Agent: {}.", names.join(", "));
    }
    let lines: Vec<String> = agents.all().map(line).collect();
    let mut used = 0;
    let kept: Vec<&str> = lines
        .iter()
        .map(String::as_str)
        .take_while(|line| {
            used += line.chars().count() + 1;
            used <= MOST_CHARS
        })
        .collect();
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
