//! Agents of plugins: named `plugin:name`, without keys that would give them more access than the user was shown.

use dormouse_extensions::plugins::Plugin;
use dormouse_extensions::skills::read_definition;

use super::fields::line_of_key;
use super::{AgentDefinition, AgentExtensions, AgentOrigin, AgentProblem, parse_markdown_agent};

/// Keys without effect in agents of plugins.
const IGNORED_KEYS: [&str; 3] = ["permissionMode", "mcpServers", "hooks"];

/// Loads the agents of a plugin.
pub fn plugin_agents(plugin: &Plugin, problems: &mut Vec<AgentProblem>) -> Vec<AgentDefinition> {
    let mut agents: Vec<AgentDefinition> = Vec::new();
    for path in &plugin.agents {
        let place = path.display().to_string();
        let text = match read_definition(path, Some(&plugin.root)) {
            Ok(text) => text.unwrap_or_default(),
            Err(problem) => {
                problems.push(AgentProblem {
                    place,
                    line: None,
                    problem: problem.to_string(),
                    loaded: false,
                });
                continue;
            }
        };
        let origin = AgentOrigin::Plugin(plugin.name.to_string());
        let Some(agent) = parse_markdown_agent(path, &text, origin, problems) else { continue };
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
        for key in IGNORED_KEYS {
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
        let root = plugin.root.display().to_string();
        let prompt = agent.prompt.replace("${CLAUDE_PLUGIN_ROOT}", &root);
        agents.push(AgentDefinition {
            prompt,
            name,
            mode: None,
            extensions: AgentExtensions {
                skills: agent.extensions.skills,
                ..AgentExtensions::default()
            },
            ..agent
        });
    }
    agents
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dormouse_extensions::plugins::PluginName;
    use serde_json::Value;

    use super::*;

    fn plugin(root: &Path, files: &[&str]) -> Plugin {
        Plugin {
            name: PluginName::new("spell").unwrap(),
            version: None,
            description: None,
            root: root.to_owned(),
            data: root.join("data"),
            skills: Vec::new(),
            commands: Vec::new(),
            agents: files.iter().map(|file| root.join(file)).collect(),
            hooks: Vec::new(),
            servers: Vec::new(),
            ignored: Vec::new(),
            problems: Vec::new(),
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test lays out files by hand")]
    fn keys_without_effect_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let definition = "---\nname: reviewer\ndescription: Looks.\npermissionMode: bypassPermissions\nmcpServers:\n  x:\n    command: y\nhooks:\n  Stop: []\n---\nLook at ${CLAUDE_PLUGIN_ROOT}/x.\n";
        std::fs::write(folder.path().join("a.md"), definition).unwrap();
        std::fs::write(folder.path().join("b.md"), definition).unwrap();
        std::os::unix::fs::symlink("/etc/hosts", folder.path().join("c.md")).unwrap();
        let mut problems = Vec::new();
        let agents =
            plugin_agents(&plugin(folder.path(), &["a.md", "b.md", "c.md"]), &mut problems);
        let [agent] = &agents[..] else { panic!("{agents:?}") };
        assert_eq!((agent.name.as_str(), agent.mode), ("spell:reviewer", None));
        assert_eq!(agent.prompt, format!("Look at {}/x.", folder.path().display()));
        assert_eq!(
            (&agent.extensions.mcp_servers, &agent.extensions.hooks),
            (&Value::Null, &Value::Null)
        );
        let found: Vec<(Option<u64>, bool)> =
            problems.iter().map(|problem| (problem.line, problem.loaded)).collect();
        assert_eq!(
            found,
            [(Some(4), true), (Some(5), true), (Some(8), true), (Some(2), false), (None, false)]
        );
    }
}
