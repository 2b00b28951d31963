//! What a person may set about compaction.

/// The switches of compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four switches, each a key of the settings")]
pub struct CompactionRules {
    /// Whether a window that is nearly full is compacted by itself.
    pub auto: bool,
    /// Whether nothing is compacted ahead: only when the server says that it is too long.
    pub reactive_only: bool,
    /// Whether session notes may stand for the summary.
    pub notes: bool,
    /// Whether spans are folded instead; then nothing is compacted ahead either.
    pub collapse: bool,
    /// The window that counts for compacting ahead, where it is to be smaller than the model's.
    pub auto_window: Option<u32>,
}

impl Default for CompactionRules {
    fn default() -> Self {
        Self { auto: true, reactive_only: false, notes: true, collapse: false, auto_window: None }
    }
}
