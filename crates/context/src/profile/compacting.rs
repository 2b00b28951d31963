//! Compaction, taken away from a session that has it, or put into one that has not.

use std::sync::Arc;

use dormouse_base::LayerSwitch;
use dormouse_conversation::{Budget, Message, Usage};

use super::counters::{unbroken, with, without};
use super::layer_run::LayerRun;
use super::simulated_request::{SimulatedOutcome, SimulatedRequest};
use super::simulations::LayerSimulation;

/// A session with its summaries taken away: it only ever grows, up to a compaction from notes.
#[derive(Default)]
pub(super) struct NeverCompacted {
    /// Whether the next compaction is one of this layer.
    is_own: bool,
    /// Tokens before a compaction that the next request is the first after.
    before: Option<u64>,
    /// What requests carry more in this world.
    added: u64,
    /// How large the last request and its answer were in this world.
    known: u64,
}

impl LayerSimulation for NeverCompacted {
    fn layer(&self) -> LayerSwitch {
        LayerSwitch::AutoCompact
    }

    fn add_message(&mut self, _: &Arc<Message>) {}

    fn fired(&mut self, run: &LayerRun) {
        self.is_own = run.layer == LayerSwitch::AutoCompact;
    }

    fn compacted(&mut self, _: &[Arc<Message>], tokens_before: u64) {
        if self.is_own {
            self.before = Some(tokens_before);
        } else {
            self.added = 0;
        }
    }

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let before = self.before.take();
        let put_away = before.unwrap_or(0).saturating_sub(moment.used());
        self.added = self.added.saturating_add(put_away);
        let mut usage = with(moment.usage, self.added);
        if before.is_some() && moment.is_warm {
            usage = unbroken(&usage, self.known);
        }
        self.known = usage.total();
        SimulatedOutcome {
            overflows: usage.input_total() > u64::from(moment.budget.window),
            usage,
            kept_out: self.added,
            ..SimulatedOutcome::default()
        }
    }
}

/// A session whose compactions from notes are summaries by the model instead: one more call each.
#[derive(Default)]
pub(super) struct SummarizedInstead {
    /// Tokens before the compactions that the next request follows.
    due: Vec<u64>,
}

impl LayerSimulation for SummarizedInstead {
    fn layer(&self) -> LayerSwitch {
        LayerSwitch::NotesCompaction
    }

    fn add_message(&mut self, _: &Arc<Message>) {}

    fn fired(&mut self, run: &LayerRun) {
        if run.layer == LayerSwitch::NotesCompaction {
            self.due.push(0);
        }
    }

    fn compacted(&mut self, _: &[Arc<Message>], tokens_before: u64) {
        if let Some(due) = self.due.last_mut().filter(|due| **due == 0) {
            *due = tokens_before;
        }
    }

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let summary = summary_tokens(moment.budget);
        let due = std::mem::take(&mut self.due);
        let calls = due.into_iter().map(|used| moment.call(used, summary)).collect();
        SimulatedOutcome { usage: *moment.usage, calls, ..SimulatedOutcome::default() }
    }
}

/// A session that was never compacted, as if it had been when it was due.
#[derive(Default)]
pub(super) struct Compacting {
    freed: u64,
}

/// What a compaction is taken to leave of the messages, as a part of the window.
const LEFT_PART: u64 = 10;
/// A summary is taken to be this part of the longest that is allowed.
const SUMMARY_PART: u64 = 4;

fn summary_tokens(budget: &Budget) -> u64 {
    u64::from(budget.compaction.summary_tokens) / SUMMARY_PART
}

impl LayerSimulation for Compacting {
    fn layer(&self) -> LayerSwitch {
        LayerSwitch::AutoCompact
    }

    fn add_message(&mut self, _: &Arc<Message>) {}

    fn compacted(&mut self, _: &[Arc<Message>], _: u64) {
        self.freed = 0;
    }

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let used = moment.used().saturating_sub(self.freed);
        let left = moment.overhead.saturating_add(u64::from(moment.budget.window) / LEFT_PART);
        let due = used >= u64::from(moment.budget.auto_compact) && used > left;
        let mut calls: Vec<Usage> = Vec::new();
        let mut valid = None;
        let mut freed = 0;
        if due {
            freed = used.saturating_sub(left);
            self.freed = self.freed.saturating_add(freed);
            calls.push(moment.call(used, summary_tokens(moment.budget)));
            valid = Some(moment.overhead);
        }
        SimulatedOutcome {
            usage: without(moment.usage, self.freed, valid),
            kept_out: self.freed.min(moment.used()),
            runs: u64::from(due),
            freed,
            prefix_changed: due,
            calls,
            overflows: false,
        }
    }
}
