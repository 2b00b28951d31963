//! Settings of the cheap layers.

use dormouse_context::layers::{CacheEditRule, ClearRule, SnipRule};

/// The switches and numbers of the cheap layers.
#[derive(Debug, Clone, Copy, Default)]
pub struct LayerRules {
    /// Whether the oldest rounds are left out when the window fills up.
    pub snip: bool,
    /// When, and how far.
    pub snip_rule: SnipRule,
    /// Whether old results are cleared; by default that depends on the model.
    pub time_clearing: Option<bool>,
    /// After which pause (zero: as soon as that is cheaper), and how many stay.
    pub clear_rule: ClearRule,
    /// Whether results are deleted in the server's cache, where it supports that.
    pub cache_edits: bool,
    /// From how many on, and how many stay.
    pub cache_edit_rule: CacheEditRule,
}
