//! The commands (`dormouse memory`, `dormouse doctor`, …): each depends on the wiring, none on another command.

mod agent_worktrees;
pub(crate) mod agents;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod dream;
pub(crate) mod hook;
pub(crate) mod hooks;
pub(crate) mod manual;
pub(crate) mod mcp;
pub(crate) mod mcp_servers;
pub(crate) mod memory;
pub(crate) mod permissions;
pub(crate) mod plugin;
pub(crate) mod profile;
pub(crate) mod rewind;
pub(crate) mod search;
pub(crate) mod send;
pub(crate) mod sessions;
pub(crate) mod setup;
pub(crate) mod stats;
pub(crate) mod team;
pub(crate) mod ui;
