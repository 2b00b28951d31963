//! The list of agents for the model.

use dormouse_conversation::PromptSize;
use dormouse_extensions::skills::lines_within;

use crate::definition::{AgentDefinition, AgentDefinitions};
use crate::runs::SubagentRun;

/// The most interrupted runs that are listed.
const MAX_INTERRUPTED: usize = 20;
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

/// The runs that the program's end has interrupted, for the model.
pub(crate) fn interrupted_list(runs: &[SubagentRun]) -> String {
    let line = |run: &SubagentRun| {
        let (id, name) = (run.id, &run.name);
        format!("- {id}: `{name}` ({}): {}", run.agent_type, run.description)
    };
    let lines: Vec<String> = runs.iter().rev().take(MAX_INTERRUPTED).map(line).collect();
    format!(
        "The program ended while these were at work. What they have done is done, and their conversations are kept: if the work is still wanted, go on with one by the tool Agent, with its id as `resume` and what to do as `prompt`. A fork cannot go on: start another.\n{}",
        lines.join("\n")
    )
}

fn line(agent: &AgentDefinition) -> String {
    let described: String = agent.description.chars().take(MAX_DESCRIPTION_CHARS).collect();
    let cut = if described.len() < agent.description.len() { "…" } else { "" };
    let background = if agent.background { " (runs in the background)" } else { "" };
    format!("- {}: {described}{cut}{background}", agent.name)
}
