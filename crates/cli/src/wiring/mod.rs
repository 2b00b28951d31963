//! What commands, headless runs and the interactive mode share: environment, settings, session start, model
//! connection, output and errors. Nothing here depends on a command or on a mode.

pub(crate) mod agents;
pub(crate) mod background_tasks;
pub(crate) mod compaction_notice;
pub(crate) mod connect;
pub(crate) mod crash;
pub(crate) mod dream;
pub(crate) mod editor;
pub(crate) mod embedder;
pub(crate) mod engine_config;
pub(crate) mod exit;
pub(crate) mod git_exclude;
pub(crate) mod hooks;
pub(crate) mod input;
pub(crate) mod instructions;
pub(crate) mod layers;
pub(crate) mod mcp_project_file;
pub(crate) mod mcp_servers;
pub(crate) mod memory_directories;
pub(crate) mod memory_policy;
pub(crate) mod memory_session;
pub(crate) mod permissions;
pub(crate) mod plugins;
pub(crate) mod print;
pub(crate) mod project_agents;
pub(crate) mod repository_git;
pub(crate) mod sandbox;
pub(crate) mod server_failure;
pub(crate) mod session_lookup;
pub(crate) mod session_messages;
pub(crate) mod session_notes;
pub(crate) mod session_start;
pub(crate) mod settings;
pub(crate) mod settings_file;
pub(crate) mod trust;
pub(crate) mod world;
