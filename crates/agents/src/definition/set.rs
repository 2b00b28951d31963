//! The set of agent definitions from all sources.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{AgentDefinition, AgentOrigin, AgentProblem, AgentTools};

/// The agent definitions of a session, by name.
#[derive(Debug, Clone, Default)]
pub struct AgentDefinitions {
    by_name: BTreeMap<String, AgentDefinition>,
    problems: Vec<AgentProblem>,
}

impl AgentDefinitions {
    /// Combines definitions. Of two with the same name the one of higher rank is used; of equal rank, the later.
    pub fn of(mut definitions: Vec<AgentDefinition>, problems: Vec<AgentProblem>) -> Self {
        definitions.sort_by(|one, other| one.source.origin.cmp(&other.source.origin));
        let by_name = definitions.into_iter().map(|agent| (agent.name.clone(), agent)).collect();
        Self { by_name, problems }
    }

    /// Returns what the project's agents need trust for, as JSON: keys that run programs or extend permissions, and names
    /// that replace other agents. Trust holds for the whole file and its tools.
    pub fn trust_requests(definitions: &[AgentDefinition], others: &[AgentDefinition]) -> Value {
        let requests =
            definitions.iter().filter(|agent| agent.source.origin == AgentOrigin::Project);
        let requests = requests.filter_map(|agent| {
            let mut values: Map<String, Value> = agent
                .keys_needing_trust()
                .into_iter()
                .map(|key| (key.to_owned(), agent.value_of(key)))
                .collect();
            if let Some(other) = others.iter().find(|other| other.name == agent.name) {
                values.insert("in place of".to_owned(), other.source.origin.to_string().into());
            }
            if values.is_empty() {
                return None;
            }
            values.insert("tools".to_owned(), agent.value_of("tools"));
            values.insert("file".to_owned(), agent.source.digest.clone().into());
            Some((agent.name.clone(), Value::Object(values)))
        });
        let requests: Map<String, Value> = requests.collect();
        if requests.is_empty() { Value::Null } else { Value::Object(requests) }
    }

    /// Limits the definitions of an untrusted project: without keys that need trust, and without those that would replace
    /// another agent.
    pub fn restricted(
        definitions: Vec<AgentDefinition>,
        others: &[AgentDefinition],
    ) -> Vec<AgentDefinition> {
        let definitions = definitions.into_iter();
        definitions
            .filter(|agent| !others.iter().any(|other| other.name == agent.name))
            .map(AgentDefinition::restricted)
            .collect()
    }

    /// Returns the definition of that name.
    pub fn get(&self, name: &str) -> Option<&AgentDefinition> {
        self.by_name.get(name)
    }

    /// Returns all definitions in alphabetical order.
    pub fn all(&self) -> impl Iterator<Item = &AgentDefinition> {
        self.by_name.values()
    }

    /// Returns the problems found.
    pub fn problems(&self) -> &[AgentProblem] {
        &self.problems
    }
}

impl AgentDefinition {
    fn value_of(&self, key: &str) -> Value {
        match key {
            "hooks" => self.extensions.hooks.clone(),
            "mcpServers" => self.extensions.mcp_servers.clone(),
            "permissionMode" => self.mode.map_or(Value::Null, |mode| mode.name().into()),
            "tools" => match &self.tools {
                AgentTools::All => "all".into(),
                AgentTools::Only(tools) => tools.clone().into(),
            },
            "isolation" => "worktree".into(),
            "memory" => self.memory.map_or(Value::Null, |scope| scope.as_str().into()),
            _ => self.extensions.skills.clone().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{AgentExtensions, AgentSource, MemoryScope, builtin_agents};

    fn named(name: &str, origin: AgentOrigin) -> AgentDefinition {
        let agent = builtin_agents().remove(0);
        let source = AgentSource { origin, ..agent.source };
        AgentDefinition { name: name.into(), source, ..agent }
    }

    #[test]
    fn ranks() {
        use AgentOrigin::{BuiltIn, CommandLine, Managed, Project, User};
        let all = [Managed, Project, BuiltIn, AgentOrigin::Plugin("p".into()), CommandLine, User];
        for (at, highest) in [Managed, CommandLine, Project, User].into_iter().enumerate() {
            let mut there: Vec<_> =
                all.iter().filter(|&origin| *origin <= highest).cloned().collect();
            there.rotate_left(at % 2);
            let definitions = there.into_iter().map(|origin| named("x", origin)).collect();
            assert_eq!(
                AgentDefinitions::of(definitions, Vec::new()).get("x").unwrap().source.origin,
                highest
            );
        }
    }

    #[test]
    fn an_untrusted_project_is_restricted() {
        let requesting = AgentDefinition {
            memory: Some(MemoryScope::User),
            extensions: AgentExtensions {
                hooks: serde_json::json!({"Stop": []}),
                ..AgentExtensions::default()
            },
            mode: Some(dormouse_permissions::PermissionMode::Bypass),
            ..named("x", AgentOrigin::Project)
        };
        let requests = AgentDefinitions::trust_requests(std::slice::from_ref(&requesting), &[]);
        assert_eq!(requests["x"]["permissionMode"], "bypassPermissions");
        let plain = AgentDefinitions::restricted(vec![requesting], &[]).remove(0);
        assert_eq!((plain.memory, plain.mode, plain.extensions.hooks), (None, None, Value::Null));
        let own = [named("x", AgentOrigin::Project)];
        assert!(AgentDefinitions::trust_requests(&own, &[]).is_null());
        let others = [named("x", AgentOrigin::User)];
        assert_eq!(AgentDefinitions::trust_requests(&own, &others)["x"]["in place of"], "user");
        assert!(AgentDefinitions::restricted(own.to_vec(), &others).is_empty());
    }
}
