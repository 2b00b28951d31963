//! Agents that plugins bring: called `plugin:name`, and without what would let them do more than the person was shown.

use dormouse_engine::plugins::Plugin;
use dormouse_engine::read_definition;
use serde_json::Value;

use super::fields::line_of_key;
use super::{AgentDefinition, AgentOrigin, AgentProblem, read_markdown};

/// Keys that have no effect in the file of a plugin's agent.
const NOT_FOR_PLUGINS: [&str; 3] = ["permissionMode", "mcpServers", "hooks"];

/// The agents of a plugin.
pub fn of_plugin(plugin: &Plugin, problems: &mut Vec<AgentProblem>) -> Vec<AgentDefinition> {
    let mut agents: Vec<AgentDefinition> = Vec::new();
    for path in &plugin.agents {
        let place = path.display().to_string();
        let text = match read_definition(path, Some(&plugin.root)) {
            Ok(text) => text.unwrap_or_default(),
            Err(problem) => {
                problems.push(AgentProblem { place, line: None, problem, loaded: false });
                continue;
            }
        };
        let origin = AgentOrigin::Plugin(plugin.name.to_string());
        let Some(agent) = read_markdown(path, &text, origin, problems) else { continue };
        let name = format!("{}:{}", plugin.name, agent.name);
        if agents.iter().any(|known| known.name == name) {
            let problem =
                format!("another file of the plugin has an agent called `{}`", agent.name);
            problems.push(AgentProblem {
                place,
                line: line_of_key(&text, "name"),
                problem,
                loaded: false,
            });
            continue;
        }
        for key in NOT_FOR_PLUGINS {
            if let Some(line) = line_of_key(&text, key) {
                let problem = format!("`{key}` has no effect in an agent of a plugin");
                problems.push(AgentProblem {
                    place: place.clone(),
                    line: Some(line),
                    problem,
                    loaded: true,
                });
            }
        }
        agents.push(AgentDefinition {
            name,
            mode: None,
            mcp_servers: Value::Null,
            hooks: Value::Null,
            ..agent
        });
    }
    agents
}
