//! What a person may set about the cheap layers.

use dormouse_context::layers::{CacheEditRule, ClearRule, SnipRule};

/// The switches and numbers of the cheap layers.
#[derive(Debug, Clone, Copy, Default)]
pub struct LayerRules {
    /// Whether the oldest rounds are left out when the window fills up.
    pub snip: bool,
    /// From when on, and how far.
    pub snip_rule: SnipRule,
    /// Whether old results are cleared after a pause; none where nobody has said: then it depends on the
    /// model.
    pub time_clearing: Option<bool>,
    /// After how long, and how many stay.
    pub clear_rule: ClearRule,
    /// Whether the server can delete results from its cache, and is to.
    pub cache_edits: bool,
    /// From how many on, and how many stay.
    pub cache_edit_rule: CacheEditRule,
}
