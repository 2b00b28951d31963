//! The figures of a conversation, for display: one account for the status line, `/cost` and `/context`.

use dormouse_conversation::Usage;

use crate::compact::WindowStatus;
use crate::spending::SpentDollars;

/// What a conversation has used so far. It is taken at one moment, so its figures agree with each other.
#[derive(Debug, Clone)]
pub struct SessionAccount {
    /// The model that is used now.
    pub model: String,
    /// The tokens of this process's turns, with the one that runs.
    pub usage: Usage,
    /// The tokens of the last request.
    pub last_usage: Usage,
    /// The dollars, with background tasks and subagents.
    pub spent: SpentDollars,
    /// The dollars of background tasks and subagents.
    pub background: SpentDollars,
    /// Whether background tasks have used up their share of the cost.
    pub is_share_spent: bool,
    /// Whether the model's price is known.
    pub is_priced: bool,
    /// The tokens in the context window.
    pub window_used: u64,
    /// The tokens of the whole context window.
    pub window: u32,
    /// How full that is.
    pub status: WindowStatus,
}

impl SessionAccount {
    /// The dollars as text; none where nothing is known about them.
    pub fn known_cost(&self) -> Option<String> {
        (self.is_priced || self.spent.known > 0.0).then(|| self.spent.to_string())
    }
}
