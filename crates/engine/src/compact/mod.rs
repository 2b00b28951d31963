//! Compaction (C-14 to C-23), carried out: the calls, the files, the transcript. The arithmetic is
//! `dormouse_context::compact`.
//!
//! A compaction is a cut (which messages go) and a text in their place: from the session's notes where that
//! is possible, else written by the model, else folded by the program. Invariants: it always comes to an end,
//! with or without a model; the person's words are kept by the program, not by a summariser; whatever was in
//! use before is in use after; and the conversation is either as before or wholly compacted.

mod apply;
mod auto;
mod breaker;
mod draft;
mod range;
mod recover;
mod report;
mod restored;
mod rules;
mod summarise;
mod user_messages;
mod window_share;

use dormouse_base::MessageId;
use dormouse_context::compact::notes::NotesSkipReason;
use dormouse_context::compact::{CompactionMethod, Fidelity};
use dormouse_conversation::metrics::{BreakerMetric, BreakerState, LayerMetric, Metric};
use dormouse_conversation::transcript::CompactionTrigger;
use tokio_util::sync::CancellationToken;

pub(crate) use auto::Room;
pub(crate) use breaker::CompactionBreaker;
pub(crate) use recover::Recovery;
pub use rules::CompactionRules;
pub use user_messages::UserMessage;
pub(crate) use user_messages::UserMessages;
pub use window_share::WindowShare;

use crate::{Engine, EngineError, EngineEvent};
use draft::CompactionBase;
use range::CompactionRange;

/// What of the conversation is to be compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionScope {
    /// All that can be.
    Whole,
    /// From this message of the person's on: what stands before it stays, in the server's cache too.
    From(MessageId),
    /// Up to this message of the person's, which stays.
    UpTo(MessageId),
}

/// An order to compact.
#[derive(Debug, Clone)]
pub struct CompactionRequest {
    /// Who asks for it.
    pub trigger: CompactionTrigger,
    /// What the person wants the summary to look at.
    pub instructions: Option<String>,
    /// What is compacted.
    pub span: CompactionScope,
}

impl CompactionRequest {
    /// Because the window is filling up.
    pub(crate) fn auto() -> Self {
        Self { trigger: CompactionTrigger::Auto, instructions: None, span: CompactionScope::Whole }
    }
}

/// What a compaction came to.
#[derive(Debug, Clone)]
pub struct CompactionReport {
    /// Who started it.
    pub trigger: CompactionTrigger,
    /// How the summary came about.
    pub way: CompactionMethod,
    /// Tokens before.
    pub before: u64,
    /// Tokens after, estimated.
    pub after: u64,
    /// What of the part that went the summary still holds.
    pub fidelity: Fidelity,
    /// Why the notes did not stand for the summary.
    pub stepped_aside: Option<NotesSkipReason>,
    /// Why the model did not write it, where it should have.
    pub trouble: Option<String>,
}

/// How an order to compact ended.
#[derive(Debug, Clone)]
pub enum CompactionOutcome {
    /// It is done.
    Done(CompactionReport),
    /// There was nothing to compact.
    Nothing,
    /// Whatever took its place would be no smaller: the conversation is as before.
    Vain,
    /// A hook would not have it, for this reason.
    Blocked(String),
    /// The person stopped it.
    Interrupted,
}

/// How full the window was, and of what.
struct WindowUsage {
    /// As the server counts, as far as it has.
    tokens: u64,
    /// As this program does.
    estimated: u64,
    fillings: Vec<WindowShare>,
}

impl WindowUsage {
    /// An estimate, as the server would count it: what is compared must be counted alike.
    fn counted(&self, estimated: u64) -> u64 {
        estimated.saturating_mul(self.tokens) / self.estimated.max(1)
    }
}

/// The name of its breaker, by its switch.
const LAYER: &str = "auto_compact";
const NOTES_LAYER: &str = "notes_compaction";

impl Engine {
    /// Compacts the conversation. It comes to an end whatever the model does.
    pub async fn compact(
        &mut self,
        order: CompactionRequest,
        interrupt: &CancellationToken,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<CompactionOutcome, EngineError> {
        let ground = self.new_ground(&order);
        let cut =
            CompactionRange::of(self.history.messages(), order.span, self.room_for_newest(&ground));
        let Some(cut) = cut else { return Ok(CompactionOutcome::Nothing) };
        let refused = tokio::select! {
            biased;
            () = interrupt.cancelled() => return Ok(CompactionOutcome::Interrupted),
            refused = self.ask_before(&order) => refused,
        };
        if let Some(why) = refused {
            self.pass_on_hook_notices(sink);
            return Ok(CompactionOutcome::Blocked(why));
        }
        sink(EngineEvent::Compacting(order.trigger));
        self.write_what_is_due()?;
        let before = self.fullness();
        let (draft, stepped_aside) = match self.draft_from_notes(&order, &ground) {
            Ok(draft) => (draft, None),
            Err(aside) => {
                let draft = tokio::select! {
                    biased;
                    () = interrupt.cancelled() => return Ok(CompactionOutcome::Interrupted),
                    draft = Box::pin(self.draft_anew(&order, cut, &ground, sink)) => draft,
                };
                let Some(draft) = draft else {
                    let after = before.tokens;
                    self.heed(order.trigger, before, after, sink);
                    return Ok(CompactionOutcome::Vain);
                };
                (draft, aside)
            }
        };
        let trouble = draft.trouble.clone();
        let (way, fidelity) = (draft.way, draft.fidelity);
        let messages = draft.dropped.len();
        let summary = draft.message.clone();
        // Whoever is tired of waiting for hooks has what they say left out, not the compaction.
        let said = tokio::select! {
            biased;
            () = interrupt.cancelled() => Vec::new(),
            said = self.session_goes_on(sink) => said,
        };
        self.install(&order, draft, ground, &before, said).await?;
        let report = CompactionReport {
            trigger: order.trigger,
            way,
            before: before.tokens,
            after: before.counted(self.estimated()),
            fidelity,
            stepped_aside,
            trouble,
        };
        self.count_compaction(&report, messages);
        self.heed(order.trigger, before, report.after, sink);
        if let Some(hooks) = self.hooks.clone() {
            tokio::select! {
                biased;
                () = interrupt.cancelled() => {}
                () = hooks.after_compaction(order.trigger, &summary) => {}
            }
            self.pass_on_hook_notices(sink);
        }
        sink(EngineEvent::Compacted(report.clone()));
        Ok(CompactionOutcome::Done(report))
    }

    fn fullness(&self) -> WindowUsage {
        let (tokens, estimated) = (self.tokens_used(), self.estimated());
        WindowUsage { tokens, estimated, fillings: self.fillings() }
    }

    /// The tokens of the conversation, by this program's own estimate.
    fn estimated(&self) -> u64 {
        let messages = self.history.messages().iter().map(|message| message.tokens());
        self.prefix.tokens() + messages.sum::<u64>()
    }

    /// What a message may take that has no answer yet, to stay as it is: half of what there is beside the
    /// prefix, or what a tail may take, as long as a summary still fits beside it.
    fn room_for_newest(&self, ground: &CompactionBase) -> u64 {
        let (budget, prefix) = (self.budget_ahead(), ground.prefix.tokens());
        let half = u64::from(budget.auto_compact).saturating_sub(prefix) / 2;
        let beside = prefix
            + 2 * u64::from(budget.compaction.summary_tokens + budget.compaction.user_words_tokens);
        let sendable = u64::from(budget.blocking).saturating_sub(beside);
        half.max(u64::from(budget.compaction.tail_max_tokens).min(sendable))
    }

    async fn ask_before(&self, order: &CompactionRequest) -> Option<String> {
        let hooks = self.hooks.clone()?;
        hooks.before_compaction(order.trigger, order.instructions.as_deref()).await
    }

    pub(crate) fn pass_on_hook_notices(&self, sink: &mut (dyn FnMut(EngineEvent) + Send)) {
        if let Some(hooks) = &self.hooks {
            hooks.take_notices().into_iter().for_each(|said| sink(EngineEvent::Notice(said)));
        }
    }

    /// What it came to goes into the figures.
    fn count_compaction(&self, report: &CompactionReport, messages: usize) {
        let name = if report.way == CompactionMethod::Notes { NOTES_LAYER } else { LAYER };
        self.figures.record(&Metric::Layer(LayerMetric {
            name: name.to_owned(),
            freed_tokens: report.before.saturating_sub(report.after),
            messages: u64::try_from(messages).unwrap_or(u64::MAX),
            changed: u64::try_from(messages).unwrap_or(u64::MAX),
            summaries: 1,
            prefix_changed: true,
        }));
    }

    /// What came of it decides whether it is tried again.
    fn heed(
        &mut self,
        trigger: CompactionTrigger,
        before: WindowUsage,
        after: u64,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) {
        if trigger == CompactionTrigger::Manual {
            self.breaker.reset_loop();
            return;
        }
        if let Some(stop) = self.breaker.compacted(self.requests, before.tokens, after) {
            self.record_breaker(true);
            sink(EngineEvent::Notice(window_share::why_it_stops(stop, before.fillings)));
        }
    }

    pub(crate) fn record_breaker(&self, open: bool) {
        let state = if open { BreakerState::Open } else { BreakerState::Closed };
        self.figures.record(&Metric::Breaker(BreakerMetric { name: LAYER.to_owned(), state }));
    }
}
