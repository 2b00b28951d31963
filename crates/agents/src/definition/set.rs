//! All agents there are, put together from where they come from.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{AgentDefinition, AgentOrigin, AgentProblem, AgentTools, mode_word};

/// The agents of a conversation, by name.
#[derive(Debug, Clone, Default)]
pub struct AgentDefinitions {
    by_name: BTreeMap<String, AgentDefinition>,
    problems: Vec<AgentProblem>,
}

impl AgentDefinitions {
    /// Puts definitions together: of two with one name the one that ranks higher counts, and of one rank the later.
    pub fn of(mut definitions: Vec<AgentDefinition>, problems: Vec<AgentProblem>) -> Self {
        definitions.sort_by(|one, other| one.source.origin.cmp(&other.source.origin));
        let by_name = definitions.into_iter().map(|agent| (agent.name.clone(), agent)).collect();
        Self { by_name, problems }
    }

    /// What the project's agents want that waits for trust: everything that could run or loosen something, and the names of
    /// others. Trusted is the whole file, with the tools that go with it.
    pub fn wishes(definitions: &[AgentDefinition], others: &[AgentDefinition]) -> Value {
        let wishes = definitions.iter().filter(|agent| agent.source.origin == AgentOrigin::Project);
        let wishes = wishes.filter_map(|agent| {
            let mut wants: Map<String, Value> = agent
                .withheld()
                .into_iter()
                .map(|key| (key.to_owned(), agent.wanted(key)))
                .collect();
            if let Some(other) = others.iter().find(|other| other.name == agent.name) {
                wants.insert("in place of".to_owned(), other.source.origin.to_string().into());
            }
            if wants.is_empty() {
                return None;
            }
            wants.insert("tools".to_owned(), agent.wanted("tools"));
            wants.insert("file".to_owned(), agent.source.digest.clone().into());
            Some((agent.name.clone(), Value::Object(wants)))
        });
        let wishes: Map<String, Value> = wishes.collect();
        if wishes.is_empty() { Value::Null } else { Value::Object(wishes) }
    }

    /// The same definitions as they count in a project that nobody has trusted: restricted, and without those that have
    /// the name of another.
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

    /// The agent of that name.
    pub fn get(&self, name: &str) -> Option<&AgentDefinition> {
        self.by_name.get(name)
    }

    /// All of them, in the order of their names.
    pub fn all(&self) -> impl Iterator<Item = &AgentDefinition> {
        self.by_name.values()
    }

    /// What could not be used.
    pub fn problems(&self) -> &[AgentProblem] {
        &self.problems
    }
}

impl AgentDefinition {
    fn wanted(&self, key: &str) -> Value {
        match key {
            "hooks" => self.extensions.hooks.clone(),
            "mcpServers" => self.extensions.mcp_servers.clone(),
            "permissionMode" => self.mode.map_or(Value::Null, |mode| mode_word(mode).into()),
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
    fn a_project_that_is_not_trusted_gets_a_prompt_and_no_more() {
        let wanting = AgentDefinition {
            memory: Some(MemoryScope::User),
            extensions: AgentExtensions {
                hooks: serde_json::json!({"Stop": []}),
                ..AgentExtensions::default()
            },
            mode: Some(dormouse_permissions::PermissionMode::Bypass),
            ..named("x", AgentOrigin::Project)
        };
        let wishes = AgentDefinitions::wishes(std::slice::from_ref(&wanting), &[]);
        assert_eq!(wishes["x"]["permissionMode"], "bypassPermissions");
        let plain = AgentDefinitions::restricted(vec![wanting], &[]).remove(0);
        assert_eq!((plain.memory, plain.mode, plain.extensions.hooks), (None, None, Value::Null));
        let own = [named("x", AgentOrigin::Project)];
        assert!(AgentDefinitions::wishes(&own, &[]).is_null());
        let others = [named("x", AgentOrigin::User)];
        assert_eq!(AgentDefinitions::wishes(&own, &others)["x"]["in place of"], "user");
        assert!(AgentDefinitions::restricted(own.to_vec(), &others).is_empty());
    }
}
