//! `--scope agent:NAME`: the memory of a subagent, as the memory of the command.

use dormouse_agents::{AgentMemories, MemoryScope};
use dormouse_base::names;
use dormouse_memory::StoreScope;

use crate::args::MemoryScopeArgument;
use crate::message_catalog::msg;
use crate::wiring::agents;
use crate::wiring::exit::Failure;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

/// The world in which a scope is one of the usual ones: the memory of a subagent is there the only one.
pub(super) fn world_of_scope(
    scope: &MemoryScopeArgument,
    world: &World,
) -> Result<(World, StoreScope), Failure> {
    let scope = match scope {
        MemoryScopeArgument::User => StoreScope::User,
        MemoryScopeArgument::Project => StoreScope::Project,
        MemoryScopeArgument::Team => StoreScope::Team,
        MemoryScopeArgument::Repo => StoreScope::Repo,
        MemoryScopeArgument::Agent(name) => {
            return Ok((agent_world(name, world)?, StoreScope::Project));
        }
    };
    Ok((world.clone(), scope))
}

fn agent_world(name: &str, world: &World) -> Result<World, Failure> {
    let project = current_project()?;
    let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
    let (settings, switches) = (&in_force.settings, &in_force.switches);
    let memories = agents::memories(world, &project, settings, switches)?;
    let agents = agents::all(&in_force, world)?;
    let defined = agents.get(name).and_then(|agent| agent.memory);
    let Some(scope) = defined.or_else(|| kept(name, &memories)) else {
        let known: Vec<&str> = agents
            .all()
            .filter(|agent| agent.memory.is_some())
            .map(|agent| agent.name.as_str())
            .collect();
        let known = if known.is_empty() { msg!("row-none") } else { known.join(", ") };
        let failure = anyhow::anyhow!(msg!("memory-no-agent", name = name));
        return Err(Failure::usage(failure).hint(msg!("memory-no-agent-hint", agents = known)));
    };
    let folder = memories.directory(scope, name).to_string_lossy().into_owned();
    let environment = world.environment.clone();
    let environment = environment.with(&[(names::MEMORY_PATH_OVERRIDE, folder.as_str())]);
    Ok(World { environment, ..world.clone() })
}

/// The memory of an agent that is not defined any more.
fn kept(name: &str, memories: &AgentMemories) -> Option<MemoryScope> {
    let scopes = [MemoryScope::Project, MemoryScope::Local, MemoryScope::User];
    scopes.into_iter().find(|scope| memories.existing(*scope, name).is_some())
}
