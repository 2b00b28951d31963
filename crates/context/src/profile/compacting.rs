//! Compaction, taken away from a session that has it, or put into one that has not.

use std::sync::Arc;

use dormouse_conversation::{Message, Usage};

use super::counters::{unbroken, with, without};
use super::results::LayerStatus;
use super::simulated_request::{SimulatedOutcome, SimulatedRequest};
use super::simulations::LayerSimulation;

/// A session with its compactions taken away: it only ever grows.
#[derive(Default)]
pub(super) struct NeverCompacted {
    /// Tokens before a compaction that the next request is the first after.
    before: Option<u64>,
    /// What requests carry more in this world.
    added: u64,
    /// How large the last request and its answer were in this world.
    known: u64,
}

impl LayerSimulation for NeverCompacted {
    fn layer(&self) -> &'static str {
        LAYER
    }

    fn standing(&self) -> LayerStatus {
        LayerStatus::Worked
    }

    fn add_message(&mut self, _: &Arc<Message>) {}

    fn compacted(&mut self, _: &[Arc<Message>], tokens_before: u64) {
        self.before = Some(tokens_before);
    }

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let before = self.before.take();
        let ran = before.is_some();
        let put_away = before.unwrap_or(0).saturating_sub(moment.used());
        self.added = self.added.saturating_add(put_away);
        let mut usage = with(moment.usage, self.added);
        if ran {
            usage = unbroken(&usage, self.known);
        }
        self.known = usage.total();
        SimulatedOutcome {
            overflows: usage.input_total() > u64::from(moment.budget.window),
            usage,
            freed: self.added,
            ran,
            prefix_changed: ran,
            calls: Vec::new(),
        }
    }
}

/// A session that was never compacted, as if it had been when it was due.
#[derive(Default)]
pub(super) struct Compacting {
    freed: u64,
}

const LAYER: &str = "auto_compact";
/// What a compaction is taken to leave of the messages, as a part of the window.
const LEFT_PART: u64 = 10;
/// A summary is taken to be this part of the longest that is allowed.
const SUMMARY_PART: u64 = 4;

impl LayerSimulation for Compacting {
    fn layer(&self) -> &'static str {
        LAYER
    }

    fn add_message(&mut self, _: &Arc<Message>) {}

    fn compacted(&mut self, _: &[Arc<Message>], _: u64) {}

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let used = moment.used().saturating_sub(self.freed);
        let left = moment.overhead.saturating_add(u64::from(moment.budget.window) / LEFT_PART);
        let due = used >= u64::from(moment.budget.auto_compact) && used > left;
        let mut calls: Vec<Usage> = Vec::new();
        let mut valid = None;
        if due {
            self.freed = self.freed.saturating_add(used.saturating_sub(left));
            let summary = u64::from(moment.budget.compaction.summary_tokens) / SUMMARY_PART;
            calls.push(moment.call(used, summary));
            valid = Some(moment.overhead);
        }
        SimulatedOutcome {
            usage: without(moment.usage, self.freed, valid),
            freed: self.freed.min(moment.used()),
            ran: due,
            prefix_changed: due,
            calls,
            overflows: false,
        }
    }
}
