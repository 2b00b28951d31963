//! The agent definitions of a project, and what they ask for beyond a prompt.

use dormouse_agents::{AgentDefinitions, AgentFolders, builtin_agents};
use dormouse_base::{Project, names};
use serde_json::Value;

use crate::wiring::exit::Failure;
use crate::wiring::world::World;

/// Where a project's agents are, what they want, and whether they get it.
#[derive(Debug, Clone)]
pub(crate) struct ProjectAgents {
    pub(super) folders: AgentFolders,
    /// What they wanted when the project was looked at.
    pub(super) wishes: Value,
}

impl ProjectAgents {
    pub(crate) fn look(world: &World, project: &Project) -> Result<Self, Failure> {
        let user_home = world.environment.path(names::USER_HOME);
        let folders = AgentFolders::new(&world.home()?, user_home.as_deref(), project);
        let mut others = builtin_agents();
        others.extend(folders.load_user_agents(&mut Vec::new()));
        let wishes = AgentDefinitions::trust_requests(
            &folders.load_project_agents(&mut Vec::new()),
            &others,
        );
        Ok(Self { folders, wishes })
    }

    pub(crate) fn wishes(&self) -> Value {
        self.wishes.clone()
    }
}
