//! The session as it would have gone: one world a layer, each with everything else as it was.

use std::sync::Arc;

use dormouse_conversation::{Message, Usage};

use super::results::LayerStatus;
use super::simulated_request::{SimulatedOutcome, SimulatedRequest};
use super::simulated_view::SimulatedView;
use crate::layers::{
    CacheEditRule, CacheEdits, ClearRule, FoldSpan, SnipRule, SpanFold, folds_to_commit,
    plan_clear, plan_folds, plan_snip, plan_spans,
};

/// A session with one layer more, or one less.
pub(super) trait LayerSimulation {
    /// The layer's name, as in the settings.
    fn layer(&self) -> &'static str;
    /// Whether it was at work in the session.
    fn standing(&self) -> LayerStatus {
        LayerStatus::Replayed
    }
    /// A message came.
    fn add_message(&mut self, message: &Arc<Message>);
    /// The session was compacted; these messages stay.
    fn compacted(&mut self, view: &[Arc<Message>], tokens_before: u64);
    /// A request is about to be sent.
    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome;
}

/// Snip.
#[derive(Default)]
pub(super) struct Snipping(SimulatedView);

impl LayerSimulation for Snipping {
    fn layer(&self) -> &'static str {
        "snip"
    }

    fn add_message(&mut self, message: &Arc<Message>) {
        self.0.said(message);
    }

    fn compacted(&mut self, view: &[Arc<Message>], _: u64) {
        self.0.begin_anew(view);
    }

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let used = self.0.used(moment);
        let rule = SnipRule::default();
        let plan = plan_snip(self.0.view(), used, moment.budget, &rule, false);
        self.0.effect(plan, moment)
    }
}

/// Clearing by time.
#[derive(Default)]
pub(super) struct Clearing(SimulatedView);

impl LayerSimulation for Clearing {
    fn layer(&self) -> &'static str {
        "time_clearing"
    }

    fn add_message(&mut self, message: &Arc<Message>) {
        self.0.said(message);
    }

    fn compacted(&mut self, view: &[Arc<Message>], _: u64) {
        self.0.begin_anew(view);
    }

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let plan = plan_clear(self.0.view(), moment.idle, &ClearRule::default());
        self.0.effect(plan, moment)
    }
}

/// Deletions in the server's cache.
#[derive(Default)]
pub(super) struct CacheEditing {
    shaped: SimulatedView,
    edits: CacheEdits,
    /// Results that came since it last looked, at most.
    new_results: usize,
}

impl LayerSimulation for CacheEditing {
    fn layer(&self) -> &'static str {
        "cache_edits"
    }

    fn add_message(&mut self, message: &Arc<Message>) {
        self.new_results += message.tool_results().count();
        self.shaped.said(message);
    }

    fn compacted(&mut self, view: &[Arc<Message>], _: u64) {
        self.shaped.begin_anew(view);
        self.edits.reset();
        self.new_results = view.iter().map(|message| message.tool_results().count()).sum();
    }

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let rule = CacheEditRule::default();
        // After a run `keep` are left, so only so many new ones can make it due again.
        let due = self.new_results > rule.above.saturating_sub(rule.keep);
        let report = due.then(|| self.edits.plan(self.shaped.view(), &rule)).flatten();
        if report.is_some() {
            self.new_results = 0;
        }
        let freed = report.map_or(0, |report| report.freed_tokens);
        self.shaped.effect_of(freed, report.is_some(), None, moment)
    }
}

/// Collapse.
#[derive(Default)]
pub(super) struct Collapsing {
    shaped: SimulatedView,
    staged: Vec<FoldSpan>,
    /// Nothing more can be folded below this: no need to ask at every request.
    ask_from: u64,
}

/// A summary is taken to be this part of its span.
const SUMMARY_PART: u64 = 10;

impl LayerSimulation for Collapsing {
    fn layer(&self) -> &'static str {
        "collapse"
    }

    fn add_message(&mut self, message: &Arc<Message>) {
        self.shaped.said(message);
    }

    fn compacted(&mut self, view: &[Arc<Message>], _: u64) {
        self.shaped.begin_anew(view);
        self.staged.clear();
        self.ask_from = 0;
    }

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let used = self.shaped.used(moment);
        let calls = self.stage(used, moment);
        let folds: Vec<SpanFold> = self.staged.iter().map(|span| supposed(*span)).collect();
        let due = !folds_to_commit(&folds, used, moment.budget).is_empty();
        let plan = due.then(|| plan_folds(self.shaped.view(), &folds, "the transcript")).flatten();
        if plan.is_some() {
            self.staged.clear();
            self.ask_from = 0;
        }
        SimulatedOutcome { calls, ..self.shaped.effect(plan, moment) }
    }
}

impl Collapsing {
    /// Stages what is due; gives the calls that summarize it.
    fn stage(&mut self, used: u64, moment: &SimulatedRequest<'_>) -> Vec<Usage> {
        if used < self.ask_from {
            return Vec::new();
        }
        let new = plan_spans(self.shaped.view(), &self.staged, used, moment.budget);
        let nearly_full = used > u64::from(moment.budget.auto_compact);
        if new.is_empty() && (nearly_full || !self.staged.is_empty()) {
            self.ask_from =
                used.saturating_add(u64::from(moment.budget.compaction.span_min_tokens));
        }
        self.staged.extend(&new);
        new.iter().map(|span| moment.call(used, span.tokens / SUMMARY_PART)).collect()
    }
}

/// A fold with a summary of the length that is to be expected.
fn supposed(span: FoldSpan) -> SpanFold {
    let words = usize::try_from(span.tokens / SUMMARY_PART).unwrap_or(0);
    SpanFold { span, summary: "word".repeat(words) }
}
