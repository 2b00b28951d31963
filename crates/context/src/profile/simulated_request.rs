//! A request of the session that is replayed, and what it becomes with or without a layer.

use std::time::Duration;

use dormouse_conversation::{Budget, Usage};

use crate::layers::TokenCosts;

/// A request that is about to be sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct SimulatedRequest<'a> {
    /// The counters it really had.
    pub(super) usage: &'a Usage,
    /// How long the last answer was ago.
    pub(super) idle: Duration,
    /// Whether the server can still have had what the last request sent in its cache.
    pub(super) is_warm: bool,
    /// Whether it had, as the last answer shows.
    pub(super) is_cached: bool,
    /// How long the server keeps it there.
    pub(super) cache_lives: Duration,
    /// What a token of the prompt costs, as far as the session has shown.
    pub(super) costs: TokenCosts,
    /// The numbers for the window.
    pub(super) budget: &'a Budget,
    /// What comes in front of the messages, estimated.
    pub(super) overhead: u64,
}

impl SimulatedRequest<'_> {
    /// How large the request really was.
    pub(super) fn used(&self) -> u64 {
        self.usage.input_total()
    }

    /// A further call on the same conversation: it reads what the cache holds, if there is one.
    pub(super) fn call(&self, used: u64, output_tokens: u64) -> Usage {
        let usage = Usage { output_tokens, ..Usage::default() };
        if self.usage.input_total() > self.usage.input_tokens {
            Usage { cache_read_input_tokens: used, ..usage }
        } else {
            Usage { input_tokens: used, ..usage }
        }
    }
}

/// What the layer makes of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct SimulatedOutcome {
    /// The counters in this world.
    pub(super) usage: Usage,
    /// Tokens that the layer keeps out of the request.
    pub(super) kept_out: u64,
    /// How often it acted since the last request.
    pub(super) runs: u64,
    /// Tokens that it freed then.
    pub(super) freed: u64,
    /// Whether it changed what had been sent before.
    pub(super) prefix_changed: bool,
    /// Calls it makes for that.
    pub(super) calls: Vec<Usage>,
    /// Whether the request would not fit the window in this world.
    pub(super) overflows: bool,
}
