//! Memory for other agents: the MCP server that they talk to, the memory tool that some know, answers to their
//! hooks, and the lines in their configuration that bring all this about.
//!
//! Invariants: what is in quarantine is not there for them; whatever they change goes through
//! `Store::change` by the name of their client. Deliberately absent: the model, the terminal, arguments.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod hook;
pub mod mcp;
mod memories;
mod memory_tool;
pub mod setup;

pub use memories::{Client, ClientMemories, MemoryRequestError};
