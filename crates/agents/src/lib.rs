//! Agents below a conversation: what they are (`definition`), the tool that starts them (`agent_tool`), their
//! memory, and messages between them (`messages`).

#![forbid(unsafe_code)]

mod definition;
pub mod messages;

pub use definition::{
    AgentDefinition, AgentOrigin, AgentPlaces, AgentProblem, Agents, Isolation, MemoryScope,
    ModelChoice, ToolChoice, builtin, read_json, read_markdown,
};
