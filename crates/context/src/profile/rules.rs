//! What a profile goes by: the window, prices, and which layers the session had.

use std::time::Duration;

use dormouse_base::LayerSwitch;
use dormouse_conversation::Budget;

use super::counters::Rates;
use super::results::{LayerAvailability, LayerCalls};

/// What a profile goes by.
pub struct ProfileRules<'a> {
    /// The numbers for the session's window.
    pub budget: Budget,
    /// How long the server's cache lives, where the transcript does not tell.
    pub cache_lives: Duration,
    /// What a model costs.
    pub rates: &'a dyn Fn(&str) -> Option<Rates>,
    /// Whether a layer that did not act was on.
    pub availability: &'a dyn Fn(LayerSwitch) -> LayerAvailability,
    /// What a layer that acted asked a model for: no transcript has it.
    pub calls: &'a dyn Fn(LayerSwitch) -> LayerCalls,
}
