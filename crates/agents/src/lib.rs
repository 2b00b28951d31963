//! Agents below a conversation: what they are (`definition`), the tool that starts them (`agent_tool`), their
//! memory, and messages between them (`messages`).

#![forbid(unsafe_code)]

mod agency;
mod definition;
mod desk;
mod listing;
mod manual;
mod memory;
pub mod messages;
mod order;
mod prepare;
mod progress;
mod reach;
mod roster;
mod servers;
mod words;
mod work;
mod worktree;

pub use agency::{Agency, AgencySetup, ListIn, Models, Post};
pub use desk::Desk;
pub use memory::AgentMemories;
pub use roster::{AgentRun, Roster, RunStatus};

pub use definition::{
    AgentDefinition, AgentOrigin, AgentPlaces, AgentProblem, Agents, Isolation, MemoryScope,
    ModelChoice, ToolChoice, builtin, of_plugin, read_json, read_markdown,
};
