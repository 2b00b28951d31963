//! What a background task would cost, before it runs (B-27): as a fork, which reads the conversation from the server's cache, or
//! in a conversation of its own, which sends only what the task needs.

use std::sync::Arc;

use dormouse_conversation::{EnvironmentFacts, Prefix, RequestOptions, SystemBlock, Usage};
use dormouse_model::WireFormat;

use super::source::ForkSource;
use crate::wire_state::WireState;

/// The longest answer of a background task in a conversation of its own.
const LONGEST_ANSWER: u32 = 8_192;

/// The way in which a background task sends its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkRoute {
    /// The whole conversation, which the server has in its cache, and the task behind it.
    Fork,
    /// Only the task and what it is about, to the small model where there is one.
    Fresh,
}

/// The expected size of a background task, in tokens.
#[derive(Debug, Clone, Copy)]
pub struct TaskSize {
    /// What a fork adds to the conversation.
    pub as_fork: u64,
    /// The whole request of a conversation of its own.
    pub as_fresh: u64,
    /// Requests, as a rule.
    pub requests: u64,
    /// All answers together.
    pub output: u64,
}

impl ForkSource {
    /// The cheaper way; in dollars, or in tokens that the server evaluates where a price is unknown. A server that has nothing
    /// in its cache never gets the whole conversation.
    pub async fn route(&self, size: &TaskSize) -> ForkRoute {
        if !self.cached.is_cached {
            return ForkRoute::Fresh;
        }
        let costs = self.fork_usd(size).zip(self.fresh_usd(size));
        let is_fork_cheaper = match costs {
            Some((fork, fresh)) => fork <= fresh,
            None => {
                let slots = self.model.slots().await;
                // A server with one slot forgets the conversation for another one, and evaluates it again.
                let evicted = if slots == Some(1) { self.cached.tokens } else { 0 };
                size.as_fork <= size.as_fresh + evicted
            }
        };
        if is_fork_cheaper { ForkRoute::Fork } else { ForkRoute::Fresh }
    }

    /// Whether the user's next message would wait for a request of a background task: a server on this machine that works on one
    /// request at a time.
    pub async fn shares_one_slot(&self) -> bool {
        self.model.is_local() && self.model.slots().await == Some(1)
    }

    fn fork_usd(&self, size: &TaskSize) -> Option<f64> {
        let (read, new) = (self.cached.tokens, size.as_fork);
        self.pricing.cost_usd(&self.usage_of(read, new, size)).map(|usd| usd * count(size.requests))
    }

    fn fresh_usd(&self, size: &TaskSize) -> Option<f64> {
        let pricing = match &self.small {
            Some(small) => self.pricing.for_model(&small.name),
            None => self.pricing.clone(),
        };
        let usage = self.usage_of(0, size.as_fresh, size);
        pricing.cost_usd(&usage).map(|usd| usd * count(size.requests))
    }

    /// The usage of one request.
    fn usage_of(&self, read: u64, new: u64, size: &TaskSize) -> Usage {
        let output_tokens = size.output / size.requests.max(1);
        let usage = Usage { cache_read_input_tokens: read, output_tokens, ..Usage::default() };
        match self.wire.dialect().wire {
            WireFormat::Anthropic => Usage { cache_creation_input_tokens: new, ..usage },
            WireFormat::OpenAi => Usage { input_tokens: new, ..usage },
        }
    }

    /// A conversation of its own: a short system prompt, these tools of the conversation, no messages; the small model where
    /// there is one.
    #[must_use]
    pub fn fresh(mut self, system: &str, tools: &[&str]) -> Self {
        let prefix = self.wire.prefix();
        let kept = prefix.tools().iter().filter(|tool| tools.contains(&tool.name.as_str()));
        let system = SystemBlock { text: system.to_owned(), is_static: true };
        let prefix = Prefix::new(
            vec![system],
            kept.cloned().collect(),
            Vec::new(),
            EnvironmentFacts::default(),
        );
        let mut dialect = self.wire.dialect().clone();
        if let Some(small) = self.small.take() {
            self.model = small.model;
            self.pricing = self.pricing.for_model(&small.name);
            self.model_name = small.name;
            dialect = small.dialect;
        }
        let longest = self.wire.options().max_tokens.min(LONGEST_ANSWER);
        let options = RequestOptions::new(&self.model_name, longest);
        self.wire = WireState::new(Arc::clone(&prefix), dialect, options);
        self.messages.clear();
        self
    }
}

#[expect(clippy::cast_precision_loss, reason = "a task has few requests")]
fn count(requests: u64) -> f64 {
    requests as f64
}
