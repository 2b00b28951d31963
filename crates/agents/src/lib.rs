//! Subagents: their definitions (`definition`), the Agent tool that starts them (`agent_tool`), their runs, their memory,
//! and messages between agents (`messages`).

#![forbid(unsafe_code)]

mod agent_list;
mod agent_tool;
mod definition;
mod execution;
mod fork_sequence;
mod format;
mod left_worktrees;
mod manual;
mod mcp_servers;
mod memory;
pub mod messages;
mod preparation;
mod preparation_error;
mod progress;
mod progress_output;
mod prompts;
mod registry;
mod resumption;
mod run_record;
mod runs;
mod spawner;
mod tool_access;
mod tool_input;
mod worktree;

pub use agent_tool::new_spawner;
pub use left_worktrees::{LeftWorktree, left_worktrees, remove_left_worktree};
pub use manual::MANUAL_PAGES;
pub use memory::{AgentMemories, AgentMemoryError};
pub use registry::{
    AgentListPosition, MessageRouting, ModelResolver, ModelUnavailableError, SubagentRegistry,
    SubagentSetup,
};
pub use runs::{RunActivity, RunStatus, SubagentRun, SubagentRuns};
pub use spawner::SubagentSpawner;
pub use worktree::WorktreeError;

pub use definition::{
    AgentDefinition, AgentDefinitions, AgentExtensions, AgentFolders, AgentModel,
    AgentModelOptions, AgentOrigin, AgentProblem, AgentSource, AgentTools, Isolation, MemoryScope,
    builtin_agents, parse_markdown_agent, parse_settings_agent, plugin_agents,
};
