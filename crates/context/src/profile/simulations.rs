//! The session as it would have gone: one world a layer, each with everything else as it was.

use std::sync::Arc;

use dormouse_base::LayerSwitch;
use dormouse_conversation::{Message, Usage};

use super::layer_run::LayerRun;
use super::simulated_request::{SimulatedOutcome, SimulatedRequest};
use super::simulated_view::SimulatedView;
use crate::layers::{
    CacheEditRule, CacheEdits, ClearRule, ClearingCase, FoldSpan, LayerPlan, ServerClearRule,
    SnipRule, SpanFold, begins_turn, folds_to_commit, plan_clear, plan_folds, plan_snip,
    plan_spans, requests_ahead,
};

/// A session with one layer more, or one less.
pub(super) trait LayerSimulation {
    /// The layer that is more or less.
    fn layer(&self) -> LayerSwitch;
    /// A message came.
    fn add_message(&mut self, message: &Arc<Message>);
    /// A layer acted in the session.
    fn fired(&mut self, _run: &LayerRun) {}
    /// The session's user put folded messages of so many tokens back.
    fn put_back(&mut self, _tokens: u64) {}
    /// A layer changed what the session sends; it is this now.
    fn view_changed(&mut self, view: &[Arc<Message>]) {
        self.compacted(view, 0);
    }
    /// The session was compacted; these messages stay.
    fn compacted(&mut self, view: &[Arc<Message>], tokens_before: u64);
    /// A request is about to be sent.
    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome;
}

/// Snip.
#[derive(Default)]
pub(super) struct Snipping(SimulatedView);

impl LayerSimulation for Snipping {
    fn layer(&self) -> LayerSwitch {
        LayerSwitch::Snip
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

/// Clearing where it is cheaper.
#[derive(Default)]
pub(super) struct Clearing(SimulatedView);

impl LayerSimulation for Clearing {
    fn layer(&self) -> LayerSwitch {
        LayerSwitch::TimeClearing
    }

    fn add_message(&mut self, message: &Arc<Message>) {
        self.0.said(message);
    }

    fn compacted(&mut self, view: &[Arc<Message>], _: u64) {
        self.0.begin_anew(view);
    }

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let plan = self.plan(moment);
        self.0.effect(plan, moment)
    }
}

impl Clearing {
    fn plan(&self, moment: &SimulatedRequest<'_>) -> Option<LayerPlan> {
        let messages = self.0.view();
        if !begins_turn(messages) {
            return None;
        }
        let used = self.0.used(moment);
        let compacts_at = u64::from(moment.budget.auto_compact);
        let case = ClearingCase {
            messages,
            used,
            costs: moment.costs,
            is_cached: moment.is_cached,
            requests_ahead: requests_ahead(messages, used, compacts_at),
        };
        case.plan(&ClearRule::default(), moment.idle, moment.cache_lives)
    }
}

/// Clearing by the server: old results, once the window fills up, many at a time.
#[derive(Default)]
pub(super) struct ClearingByServer(SimulatedView);

impl LayerSimulation for ClearingByServer {
    fn layer(&self) -> LayerSwitch {
        LayerSwitch::ServerClearing
    }

    fn add_message(&mut self, message: &Arc<Message>) {
        self.0.said(message);
    }

    fn compacted(&mut self, view: &[Arc<Message>], _: u64) {
        self.0.begin_anew(view);
    }

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let rule = ServerClearRule::for_budget(moment.budget);
        let is_due = self.0.used(moment) > u64::from(rule.from_tokens);
        let clear = ClearRule { idle: moment.idle, keep: rule.keep_tool_uses };
        let plan = is_due.then(|| plan_clear(self.0.view(), moment.idle, &clear)).flatten();
        let is_worth_it =
            |plan: &LayerPlan| plan.report.freed_tokens >= u64::from(rule.at_least_tokens);
        self.0.effect(plan.filter(is_worth_it), moment)
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
    fn layer(&self) -> LayerSwitch {
        LayerSwitch::CacheEdits
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
    fn layer(&self) -> LayerSwitch {
        LayerSwitch::Collapse
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
