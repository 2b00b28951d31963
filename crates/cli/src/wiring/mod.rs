//! What commands, headless runs and the interactive mode share: environment, settings, session start, model
//! connection, output and errors. Nothing here depends on a command or on a mode.

pub(crate) mod agents;
pub(crate) mod background_tasks;
pub(crate) mod connect;
pub(crate) mod crash;
pub(crate) mod embedder;
pub(crate) mod exit;
pub(crate) mod input;
pub(crate) mod instructions;
pub(crate) mod layers;
pub(crate) mod mcp_servers;
pub(crate) mod memory_places;
pub(crate) mod memory_policy;
pub(crate) mod memory_session;
pub(crate) mod plugins;
pub(crate) mod print;
pub(crate) mod session_messages;
pub(crate) mod session_notes;
pub(crate) mod session_start;
pub(crate) mod settings;
pub(crate) mod trust;
pub(crate) mod world;
