//! A compaction from the request to the report.

use dormouse_context::compact::CompactionMethod;
use dormouse_conversation::metrics::{
    BreakerMetric, BreakerState, LayerMetric, Metric, SessionMetrics,
};
use dormouse_conversation::transcript::CompactionTrigger;

use super::base::{CompactionBase, WindowUsage};
use super::draft::{CompactionDraft, DraftWriter};
use super::range::CompactionRange;
use super::summarize::Summarizer;
use super::types::{CompactionOutcome, CompactionReport, CompactionRequest};
use super::window_share::stop_notice;
use dormouse_hooks::SessionSource;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::turn_context::{EventSink, TurnContext};

/// The names of the layer in the figures, as its switches are called.
const LAYER: &str = "auto_compact";
const NOTES_LAYER: &str = "notes_compaction";

/// The notice when the model has failed too often.
const NOT_ASKED: &str = "The model gave no summary three times in a row, so it is not asked for one any more in this session: the conversation is folded without it (/compact asks it again)";

impl Engine {
    /// Compacts the conversation. It ends whatever the model does.
    pub async fn compact(
        &mut self,
        request: CompactionRequest,
        turn: &mut TurnContext<'_>,
    ) -> Result<CompactionOutcome, EngineError> {
        let base =
            CompactionBase::new(&request, &self.config, &self.conversation, &self.surroundings);
        let newest = base.room_for_newest(&self.window_policy());
        let range = CompactionRange::of(self.conversation.messages(), request.scope, newest);
        let Some(range) = range else { return Ok(CompactionOutcome::Nothing) };
        let interrupt = turn.interrupt();
        let runner = self.hooks.runner().cloned();
        if let Some(runner) = &runner {
            let instructions = request.instructions.as_deref();
            let refused = tokio::select! {
                biased;
                () = interrupt.cancelled() => return Ok(CompactionOutcome::Interrupted),
                refused = runner.before_compaction(request.trigger, instructions) => refused,
            };
            if let Some(why) = refused {
                self.hooks.pass_on_notices(turn.sink());
                return Ok(CompactionOutcome::Blocked(why));
            }
        }
        turn.emit(EngineEvent::Compacting(request.trigger));
        self.conversation.write_pending()?;
        let before = WindowUsage::of(&self.conversation);
        let (draft, stepped_aside) = match self.draft_writer(&base).draft_from_notes(&request) {
            Ok(draft) => (draft, None),
            Err(stepped_aside) => {
                let draft = tokio::select! {
                    biased;
                    () = interrupt.cancelled() => return Ok(CompactionOutcome::Interrupted),
                    draft = Box::pin(self.write_draft(&request, range, &base, turn.sink())) => draft,
                };
                let Some(draft) = draft else {
                    let after = before.tokens;
                    self.update_breaker(request.trigger, before, after, turn.sink());
                    return Ok(CompactionOutcome::NotSmaller);
                };
                (draft, stepped_aside)
            }
        };
        let mut notes = Vec::new();
        if let Some(runner) = &runner {
            // An interrupt leaves out the notes of hooks, not the compaction.
            let started = runner.session_start(SessionSource::Compact, &self.config.model.name);
            tokio::select! {
                biased;
                () = interrupt.cancelled() => {}
                verdict = runner.run_with_notices(started, turn.sink()) => notes = verdict.notes,
            }
        }
        let mut report = CompactionReport {
            trigger: request.trigger,
            way: draft.way,
            before: before.tokens,
            after: 0,
            fidelity: draft.fidelity,
            stepped_aside,
            trouble: draft.trouble.clone(),
        };
        let removed = draft.dropped.len();
        let summary = draft.message.clone();
        self.apply_compaction(&request, draft, base, &before, notes).await?;
        report.after = before.counted(self.conversation.estimated_tokens());
        record_compaction(&self.figures, &report, removed);
        self.update_breaker(request.trigger, before, report.after, turn.sink());
        if let Some(runner) = &runner {
            tokio::select! {
                biased;
                () = interrupt.cancelled() => {}
                () = runner.after_compaction(request.trigger, &summary) => {}
            }
            self.hooks.pass_on_notices(turn.sink());
        }
        turn.emit(EngineEvent::Compacted(report.clone()));
        Ok(CompactionOutcome::Done(report))
    }

    fn draft_writer<'a>(&'a self, base: &'a CompactionBase) -> DraftWriter<'a> {
        DraftWriter {
            conversation: &self.conversation,
            state: &self.compaction,
            policy: self.window_policy(),
            notes: self.saved_notes(),
            open_tasks: self.tool_state.open_tasks(),
            base,
        }
    }

    /// A summary by the model, else folded by the program; none if neither would be smaller than what it replaces.
    async fn write_draft(
        &mut self,
        request: &CompactionRequest,
        range: CompactionRange,
        base: &CompactionBase,
        sink: &mut EventSink<'_>,
    ) -> Option<CompactionDraft> {
        if request.trigger == CompactionTrigger::Auto && !self.compaction.breaker.may_ask_model() {
            return self.draft_writer(base).folded(range);
        }
        let summarizer = Summarizer {
            conversation: &self.conversation,
            budget: &self.config.model.budget,
            source: self.fork_source(),
        };
        let written = match summarizer.summarize(request, range).await {
            Ok(text) => self.draft_writer(base).with_summary(&text, range).ok_or_else(|| {
                "its summary was not smaller than what it was to replace".to_owned()
            }),
            Err(error) => Err(error.to_string()),
        };
        match written {
            Ok(draft) => {
                if self.compaction.breaker.succeeded() {
                    record_breaker(&self.figures, BreakerState::Closed);
                }
                Some(draft)
            }
            Err(why) => {
                if self.compaction.breaker.failed() {
                    record_breaker(&self.figures, BreakerState::Open);
                    sink(EngineEvent::Notice(NOT_ASKED.to_owned()));
                }
                let draft = self.draft_writer(base).folded(range);
                draft.map(|draft| CompactionDraft { trouble: Some(why), ..draft })
            }
        }
    }

    /// The result decides whether the conversation is compacted by itself again.
    fn update_breaker(
        &mut self,
        trigger: CompactionTrigger,
        before: WindowUsage,
        after: u64,
        sink: &mut EventSink<'_>,
    ) {
        let breaker = &mut self.compaction.breaker;
        if trigger == CompactionTrigger::Manual {
            breaker.reset();
            return;
        }
        if let Some(stop) = breaker.compacted(self.spending.requests(), before.tokens, after) {
            record_breaker(&self.figures, BreakerState::Open);
            sink(EngineEvent::Notice(stop_notice(stop, before.shares)));
        }
    }
}

fn record_compaction(figures: &SessionMetrics, report: &CompactionReport, removed: usize) {
    let name = if report.way == CompactionMethod::Notes { NOTES_LAYER } else { LAYER };
    let removed = u64::try_from(removed).unwrap_or(u64::MAX);
    figures.record(&Metric::Layer(LayerMetric {
        name: name.to_owned(),
        freed_tokens: report.before.saturating_sub(report.after),
        messages: removed,
        changed: removed,
        summaries: 1,
        prefix_changed: true,
    }));
}

fn record_breaker(figures: &SessionMetrics, state: BreakerState) {
    figures.record(&Metric::Breaker(BreakerMetric { name: LAYER.to_owned(), state }));
}
