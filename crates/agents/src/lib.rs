//! Subagents: their definitions (`definition`), the Agent tool that starts them (`spawner`), their runs, their memory,
//! and messages between agents (`messages`).

#![forbid(unsafe_code)]

mod agent_list;
mod definition;
mod execution;
mod format;
mod manual;
mod mcp_servers;
mod memory;
pub mod messages;
mod preparation;
mod progress;
mod registry;
mod runs;
mod spawner;
mod tool_access;
mod tool_input;
mod worktree;

pub use memory::AgentMemories;
pub use registry::{
    AgentListPosition, MessageRouting, ModelResolver, SubagentRegistry, SubagentSetup,
};
pub use runs::{RunStatus, SubagentRun, SubagentRuns};
pub use spawner::SubagentSpawner;

pub use definition::{
    AgentDefinition, AgentDefinitions, AgentFolders, AgentModel, AgentOrigin, AgentProblem,
    AgentTools, Isolation, MemoryScope, builtin_agents, parse_markdown_agent, parse_settings_agent,
    plugin_agents,
};
