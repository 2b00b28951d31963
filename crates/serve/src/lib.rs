//! Memory for other agents: an MCP server, the Anthropic memory tool, answers to their hooks, and the entries in their
//! configuration files.
//!
//! Invariants: memories in quarantine are not served; every change goes through `Store::change` in the name of the
//! client. Deliberately absent: the model, the terminal, arguments.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod connections;
pub mod hook;
mod loopback;
pub mod mcp;
mod memories;
mod memory_tool;
pub mod setup;

pub use connections::{ConnectionAdmission, ConnectionLimits, serve_connections};
pub use loopback::LoopbackGuard;
pub use memories::{Client, ClientMemories, MemoryRequestError};
