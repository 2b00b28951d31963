//! What the requests of a fork cost, and how they are counted.

use std::time::Duration;

use dormouse_conversation::Usage;
use dormouse_conversation::metrics::{ConversationKind, Metric, RequestMetric, RequestOutcome};
use dormouse_model::{Completion, ModelError};

use super::source::ForkSource;

/// A request of a fork that was sent.
pub(super) struct SentFork {
    /// What it was for, in the figures.
    pub(super) purpose: &'static str,
    pub(super) messages: usize,
    pub(super) took: Duration,
    /// Whether it belongs to a background task; a compaction is part of the conversation.
    pub(super) is_task: bool,
}

impl ForkSource {
    /// Counts a request under its own label. Gives its usage.
    pub(super) fn count(&self, sent: &SentFork, answer: Result<&Completion, &ModelError>) -> Usage {
        let usage = answer.map(|completion| completion.usage).unwrap_or_default();
        let cost_usd = self.pricing.cost_usd(&usage);
        if sent.is_task {
            self.shared_cost.add_task(&usage, cost_usd);
        } else {
            self.shared_cost.add(&usage, cost_usd);
        }
        self.figures.record(&Metric::Request(RequestMetric {
            model: self.model_name.clone(),
            lane: ConversationKind::Fork,
            purpose: Some(sent.purpose.to_owned()),
            outcome: match answer {
                Ok(_) => RequestOutcome::Answered,
                Err(error) => RequestOutcome::Failed(error.kind().to_owned()),
            },
            usage,
            duration_ms: u64::try_from(sent.took.as_millis()).unwrap_or(u64::MAX),
            messages: u64::try_from(sent.messages).unwrap_or(u64::MAX),
            cost_usd,
            cache_break: None,
        }));
        usage
    }
}
