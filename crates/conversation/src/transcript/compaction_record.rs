//! What the compaction of a session remembers from one process to the next (C-27).

use serde::{Deserialize, Serialize};

/// Failures of the summarizer, and the window that the server was found to have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionRecord {
    /// How often in a row the model gave no summary.
    #[serde(default)]
    pub failures: u32,
    /// The window that was found, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<FoundWindow>,
}

/// A window that the server refused to exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundWindow {
    /// Its tokens.
    pub tokens: u32,
    /// What was believed before. Where something else is believed now, somebody has changed it, and this does not count.
    pub instead_of: u32,
}
