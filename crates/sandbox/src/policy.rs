//! What a sandbox allows, in words that every system understands.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Whether commands reach the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkAccess {
    /// They do.
    #[default]
    Allow,
    /// They do not, not even this machine's own addresses.
    None,
}

/// What commands may do. Everything may be read but what is hidden; nothing may be written but what is writable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxPolicy {
    /// Folders and files that may be written.
    pub writable: Vec<PathBuf>,
    /// Credentials: their contents may not be read.
    pub hidden: Vec<PathBuf>,
    /// Files and folders inside writable ones that may not be written, where the system can keep them apart.
    pub protected: Vec<PathBuf>,
    /// Sockets of services that would do what the command itself may not.
    pub sockets: Vec<PathBuf>,
    /// Whether the network may be used.
    pub network: NetworkAccess,
}

/// What the system offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxSupport {
    /// Landlock, in this version.
    Landlock(i32),
    /// macOS's Seatbelt.
    Seatbelt,
    /// Nothing: commands run unrestricted.
    None,
}

/// Why a process could not be restricted.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The system has no sandbox.
    #[error("this system has no sandbox for commands; set `sandbox.mode` to `off`")]
    Unsupported,
    /// The kernel refused a rule.
    #[error("the sandbox could not be set up: {0}; set `sandbox.mode` to `off` to run without it")]
    Refused(String),
}
