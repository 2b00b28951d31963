//! Settings of compaction.

/// The switches of compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four switches, each a key of the settings")]
pub struct CompactionRules {
    /// Whether a conversation that nearly fills the window is compacted by itself.
    pub auto: bool,
    /// Whether it is compacted only after the server refuses a request as too long.
    pub reactive_only: bool,
    /// Whether session notes may be used as the summary.
    pub notes: bool,
    /// Whether spans are folded instead.
    pub collapse: bool,
    /// A smaller window for compacting ahead.
    pub auto_window: Option<u32>,
}

impl Default for CompactionRules {
    fn default() -> Self {
        Self { auto: true, reactive_only: false, notes: true, collapse: false, auto_window: None }
    }
}
