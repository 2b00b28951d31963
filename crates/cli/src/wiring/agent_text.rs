//! Subagents in the user's language: the descriptions of built-in ones, and where others come from. The model reads the
//! descriptions in English.

use dormouse_agents::{AgentDefinition, AgentOrigin};

use crate::message_catalog::msg;

/// What an agent is for.
pub(crate) fn description_text(agent: &AgentDefinition) -> String {
    match (&agent.source.origin, agent.name.as_str()) {
        (AgentOrigin::BuiltIn, "general-purpose") => msg!("agent-general-purpose"),
        (AgentOrigin::BuiltIn, "explore") => msg!("agent-explore"),
        (AgentOrigin::BuiltIn, "plan") => msg!("agent-plan"),
        (AgentOrigin::BuiltIn, "guide") => msg!("agent-guide"),
        (AgentOrigin::BuiltIn, "statusline-setup") => msg!("agent-statusline-setup"),
        _ => agent.description.clone(),
    }
}

/// Where an agent comes from.
pub(crate) fn origin_text(origin: &AgentOrigin) -> String {
    match origin {
        AgentOrigin::BuiltIn => msg!("agent-origin-built-in"),
        AgentOrigin::Plugin(name) => msg!("agent-origin-plugin", name = name.as_str()),
        AgentOrigin::User => msg!("agent-origin-user"),
        AgentOrigin::Project => msg!("agent-origin-project"),
        AgentOrigin::CommandLine => msg!("agent-origin-command-line"),
        AgentOrigin::Managed => msg!("agent-origin-managed"),
    }
}

#[cfg(test)]
mod tests {
    use dormouse_agents::builtin_agents;

    use super::*;

    #[test]
    fn every_built_in_agent_is_described() {
        for agent in builtin_agents() {
            assert_eq!(description_text(&agent), agent.description);
            let other = AgentDefinition { description: "other".to_owned(), ..agent };
            assert_ne!(description_text(&other), "other", "{}", other.name);
            assert_eq!(origin_text(&other.source.origin), other.source.origin.to_string());
        }
    }
}
