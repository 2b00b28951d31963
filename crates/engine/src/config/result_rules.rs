//! Settings for long tool results.

use std::collections::BTreeMap;

/// Settings for long tool results.
#[derive(Debug, Clone)]
pub struct ResultRules {
    /// Whether they go to a file; otherwise they are cut.
    pub store: bool,
    /// The longest result by tool, in characters, where that is not the tool's own.
    pub chars: BTreeMap<String, u32>,
}

impl Default for ResultRules {
    fn default() -> Self {
        Self { store: true, chars: BTreeMap::new() }
    }
}
