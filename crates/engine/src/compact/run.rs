//! A compaction from the request to the report.

use dormouse_context::compact::CompactionMethod;
use dormouse_conversation::metrics::{
    BreakerMetric, BreakerState, KeptShares, LayerMetric, Metric, SessionMetrics,
};
use dormouse_conversation::transcript::CompactionTrigger;
use futures_util::future::BoxFuture;

use super::draft::{CompactionDraft, DraftWriter};
use super::policy::WindowPolicy;
use super::range::CompactionRange;
use super::rebuilt_prefix::{CompactionBase, WindowUsage};
use super::report::{CompactionOutcome, CompactionReport};
use super::request::CompactionRequest;
use super::server_summary::server_summary;
use super::summarize::Summarizer;
use dormouse_hooks::{HookRunner, SessionSource};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::event_sink::{EventSink, TurnContext};
use crate::session_hooks::SessionHooks;

/// The names of the layer in the figures, as its switches are called.
const LAYER: &str = "auto_compact";
const NOTES_LAYER: &str = "notes_compaction";

/// The notice when the model has failed too often.
const NOT_ASKED: &str = "The model gave no summary three times in a row, so it is not asked for one any more in this session: the conversation is folded without it (/compact asks it again)";

impl Engine {
    /// Compacts the conversation. It ends whatever the model does.
    pub fn compact<'a>(
        &'a mut self,
        request: CompactionRequest,
        turn: &'a mut TurnContext<'_>,
    ) -> BoxFuture<'a, Result<CompactionOutcome, EngineError>> {
        Box::pin(async move {
            let base =
                CompactionBase::new(&request, &self.config, &self.conversation, &self.surroundings);
            let newest = base.room_for_newest(&WindowPolicy::of(&self.config));
            let range = CompactionRange::of(self.conversation.messages(), request.scope, newest);
            let Some(range) = range else { return Ok(CompactionOutcome::Nothing) };
            let interrupt = turn.interrupt();
            if let Some(outcome) = run_before_hooks(&self.hooks, &request, turn).await {
                return Ok(outcome);
            }
            let runner = self.hooks.runner().cloned();
            turn.emit(EngineEvent::Compacting(request.trigger));
            self.conversation.write_pending()?;
            let before = WindowUsage::of(&self.conversation);
            let (draft, stepped_aside) = match DraftWriter::new(
                &base,
                &self.config,
                &self.conversation,
                &self.compaction,
                &self.tool_state,
            )
            .draft_from_notes(&request)
            {
                Ok(draft) => (draft, None),
                Err(stepped_aside) => {
                    let draft = tokio::select! {
                        biased;
                        () = interrupt.cancelled() => return Ok(CompactionOutcome::Interrupted),
                        draft = Box::pin(self.write_draft(&request, range, &base, turn.sink())) => draft,
                    };
                    self.compaction.keep_record(&mut self.conversation.transcript)?;
                    let Some(draft) = draft else {
                        let after = before.tokens;
                        let requests = self.spending.requests();
                        let stop = self.compaction.update_breaker(
                            request.trigger,
                            requests,
                            before,
                            after,
                        );
                        report_stop(stop, &self.figures, turn.sink());
                        return Ok(CompactionOutcome::NotSmaller);
                    };
                    (draft, stepped_aside)
                }
            };
            let model = &self.config.model.name;
            let notes = notes_of_start_hooks(runner.as_deref(), model, turn).await;
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
            let requests = self.spending.requests();
            let stop =
                self.compaction.update_breaker(request.trigger, requests, before, report.after);
            report_stop(stop, &self.figures, turn.sink());
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
        })
    }

    /// A summary by the model, else folded by the program; none if neither would be smaller than what it replaces.
    async fn write_draft(
        &mut self,
        request: &CompactionRequest,
        range: CompactionRange,
        base: &CompactionBase,
        sink: &mut EventSink<'_>,
    ) -> Option<CompactionDraft> {
        let writer = DraftWriter::new(
            base,
            &self.config,
            &self.conversation,
            &self.compaction,
            &self.tool_state,
        );
        if request.trigger == CompactionTrigger::Auto && !self.compaction.breaker.may_ask_model() {
            return writer.folded(range);
        }
        let source = self.fork_source();
        let messages = self.conversation.messages();
        if let Some(summary) = server_summary(&source, request, messages, range).await
            && let Some(draft) = writer.with_server_summary(summary, range)
        {
            return Some(draft);
        }
        let summarizer = Summarizer {
            conversation: &self.conversation,
            budget: &self.config.model.budget,
            source,
        };
        let written = match summarizer.summarize(request, range).await {
            Ok(text) => writer.with_summary(&text, range).ok_or_else(|| {
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
                let draft = writer.folded(range);
                if self.compaction.breaker.failed() {
                    record_breaker(&self.figures, BreakerState::Open);
                    sink(EngineEvent::Notice(NOT_ASKED.to_owned().into()));
                }
                draft.map(|draft| CompactionDraft { trouble: Some(why), ..draft })
            }
        }
    }
}

/// The notes of the hooks that run when a conversation begins, which it does after a compaction. An interrupt leaves
/// out the notes, not the compaction.
async fn notes_of_start_hooks(
    runner: Option<&HookRunner>,
    model: &str,
    turn: &mut TurnContext<'_>,
) -> Vec<String> {
    let Some(runner) = runner else { return Vec::new() };
    let interrupt = turn.interrupt();
    let started = runner.session_start(SessionSource::Compact, model);
    tokio::select! {
        biased;
        () = interrupt.cancelled() => Vec::new(),
        verdict = runner.run_with_notices(started, turn.sink()) => verdict.notes,
    }
}

/// Runs the hooks before a compaction. The outcome, if it ends here.
async fn run_before_hooks(
    hooks: &SessionHooks,
    request: &CompactionRequest,
    turn: &mut TurnContext<'_>,
) -> Option<CompactionOutcome> {
    let runner = hooks.runner()?;
    let refused = tokio::select! {
        biased;
        () = turn.interrupt().cancelled() => return Some(CompactionOutcome::Interrupted),
        refused = runner.before_compaction(request.trigger, request.instructions.as_deref()) => refused,
    };
    let why = refused?;
    hooks.pass_on_notices(turn.sink());
    Some(CompactionOutcome::Blocked(why))
}

/// Reports that the conversation is not compacted by itself any more.
fn report_stop(notice: Option<String>, figures: &SessionMetrics, sink: &mut EventSink<'_>) {
    if let Some(notice) = notice {
        record_breaker(figures, BreakerState::Open);
        sink(EngineEvent::Notice(notice.into()));
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
        kept: Some(KeptShares {
            names_percent: percent(report.fidelity.identifiers),
            user_messages_percent: percent(report.fidelity.user_messages),
        }),
    }));
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share between 0 and 1 is a percentage between 0 and 100"
)]
fn percent(share: f64) -> u8 {
    (share.clamp(0.0, 1.0) * 100.0).round() as u8
}

fn record_breaker(figures: &SessionMetrics, state: BreakerState) {
    figures.record(&Metric::Breaker(BreakerMetric { name: LAYER.to_owned(), state }));
}
