//! Collapse (C-11 to C-13): the oldest spans are summarized in the background before that is needed, and shown folded
//! when the window is nearly full. The messages stay; `/expand` unfolds them.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dormouse_base::MessageId;
use dormouse_context::compact::{DropThinking, drop_thinking, parse_summary};
use dormouse_context::layers::{
    FoldSpan, SpanFold, fold_prompt, folded_span, folds_to_commit, is_cache_edit, is_fold,
    plan_folds, plan_spans,
};
use dormouse_conversation::transcript::{CompactionBoundary, CompactionTrigger};
use dormouse_conversation::{Message, MessageHistory, estimate_text};
use dormouse_model::binds_thinking;

use super::apply::Layers;
use crate::conversation::Conversation;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::event_sink::{EventSink, TurnContext};
use crate::fork::{ForkEnd, ForkGate, ForkOrder, ForkSource};
use crate::jobs::{JobEnd, JobHandle, JobStatus, Jobs};
use crate::notice::EngineNotice;

/// The kind of the job, and the purpose of its requests.
const KIND: &str = "collapse";
/// A model that calls a tool instead gets one more request.
const MOST_TURNS: u32 = 2;
/// After so many failures in a row no more spans are staged.
const MOST_FAILURES: u32 = 3;
/// How long a refused request waits for summaries that are under way.
const PATIENCE: Duration = Duration::from_secs(30);

/// The outcome of summarizing a span.
enum SpanOutcome {
    Ready(SpanFold),
    Failed(FoldSpan),
}

/// The spans that are folded, and those about to be.
#[derive(Default)]
pub(crate) struct CollapseState {
    /// Spans whose summaries are under way or ready.
    staged: Vec<FoldSpan>,
    ready: Vec<SpanFold>,
    coming: Arc<Mutex<Vec<SpanOutcome>>>,
    failures: u32,
    /// The folded messages, by the first of each span.
    behind: HashMap<MessageId, Vec<Arc<Message>>>,
}

impl CollapseState {
    /// The folds of an earlier process.
    pub(crate) fn of(view: &[Message], earlier: &[Message]) -> Self {
        let mut folding = Self::default();
        for (from, to) in view.iter().filter_map(folded_span) {
            let mut behind = earlier.iter().skip_while(|message| message.id != from);
            let mut span = Vec::new();
            for message in behind.by_ref() {
                span.push(Arc::new(message.clone()));
                if message.id == to {
                    folding.behind.insert(from, span);
                    break;
                }
            }
        }
        folding
    }

    /// Collects what the job has summarized.
    fn collect(&mut self) {
        let mut coming = self.coming.lock().unwrap_or_else(PoisonError::into_inner);
        for summarized in coming.drain(..) {
            match summarized {
                SpanOutcome::Ready(fold) => {
                    self.failures = 0;
                    self.ready.push(fold);
                }
                SpanOutcome::Failed(span) => {
                    self.failures += 1;
                    self.staged.retain(|staged| *staged != span);
                }
            }
        }
    }
}

impl CollapseState {
    /// Folds what is due, and says which spans should be summarized next.
    pub(crate) fn run(
        &mut self,
        layers: &mut Layers<'_>,
        jobs: &Jobs,
        sink: &mut EventSink<'_>,
    ) -> Result<Vec<FoldSpan>, EngineError> {
        self.collect();
        let budget = layers.config.model.budget;
        let used = layers.conversation.tokens_used();
        let due: Vec<SpanFold> =
            folds_to_commit(&self.ready, used, &budget).into_iter().cloned().collect();
        self.fold(&due, layers, sink)?;
        let is_resting = self.failures >= MOST_FAILURES;
        let conversation = &*layers.conversation;
        let is_open = !conversation.history().open_calls().is_empty();
        if is_resting || is_open || jobs.is_running(KIND) {
            return Ok(Vec::new());
        }
        let used = conversation.tokens_used();
        Ok(plan_spans(conversation.messages(), &self.staged, used, &budget))
    }

    /// Summarizes spans in a fork, one after the other.
    pub(crate) fn stage(
        &mut self,
        found: Vec<FoldSpan>,
        source: ForkSource,
        room: u32,
        jobs: &Jobs,
    ) {
        self.staged.extend(&found);
        let coming = Arc::clone(&self.coming);
        jobs.spawn(KIND, move |job| summarize_all(source, found, coming, room, job));
    }

    fn fold(
        &mut self,
        folds: &[SpanFold],
        layers: &mut Layers<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<bool, EngineError> {
        let transcript = layers.conversation.transcript_path().display().to_string();
        let before = layers.snapshot();
        let Some(plan) = plan_folds(&before, folds, &transcript) else { return Ok(false) };
        let changed = plan.report.changed;
        let freed = plan.report.freed_tokens;
        layers.apply(&plan, CompactionTrigger::Auto)?;
        for fold in folds {
            let span = between(&before, fold.span.from, fold.span.to);
            self.behind.insert(fold.span.from, span);
            self.staged.retain(|staged| *staged != fold.span);
            self.ready.retain(|ready| ready.span != fold.span);
        }
        let notice = EngineNotice::MessagesCollapsed { count: changed, tokens: freed };
        sink(EngineEvent::Notice(notice));
        Ok(true)
    }

    /// Folds all staged spans, because the server refused the request as too long. Waits for summaries under way.
    pub(crate) async fn fold_all(
        &mut self,
        layers: &mut Layers<'_>,
        jobs: &Jobs,
        turn: &mut TurnContext<'_>,
    ) -> Result<bool, EngineError> {
        // Summaries that do not come in time are left out.
        tokio::select! {
            biased;
            () = turn.interrupt().cancelled() => {}
            _ = jobs.drained(&[KIND], PATIENCE) => {}
        }
        self.collect();
        let smaller = |fold: &&SpanFold| u64::from(estimate_text(&fold.summary)) < fold.span.tokens;
        let ready: Vec<SpanFold> = self.ready.iter().filter(smaller).cloned().collect();
        self.fold(&ready, layers, turn.sink())
    }

    /// Unfolds a fold by its number, the oldest being 1, or the newest one: `/expand`. The number of restored messages; none if
    /// there is no such fold.
    pub(crate) fn expand(
        &mut self,
        conversation: &mut Conversation,
        model: &str,
        number: Option<NonZeroUsize>,
    ) -> Result<Option<usize>, EngineError> {
        let messages = conversation.messages();
        let mut folds =
            messages.iter().enumerate().filter(|(_, message)| is_fold(message)).map(|(at, _)| at);
        let wanted = match number {
            Some(number) => folds.nth(number.get() - 1),
            None => folds.next_back(),
        };
        let Some(index) = wanted else { return Ok(None) };
        let Some((from, _)) = messages.get(index).and_then(|fold| folded_span(fold)) else {
            return Ok(None);
        };
        let Some(behind) = self.behind.remove(&from) else { return Ok(None) };
        let count = behind.len();
        let before = conversation.tokens_used();
        let (front, rest) = messages.split_at(index);
        let unfolded = front.iter().chain(&behind).chain(rest.iter().skip(1));
        let unfolded: Vec<Arc<Message>> =
            unfolded.filter(|message| !is_cache_edit(message)).cloned().collect();
        // Thinking is bound to the fold that stood before it (C-25).
        let (unfolded, thinking_dropped) = if binds_thinking(model) {
            drop_thinking(&unfolded, DropThinking::KeepPending)
        } else {
            (unfolded.iter().map(|message| (**message).clone()).collect(), Vec::new())
        };
        let history = MessageHistory::from_messages(unfolded)?;
        conversation.write_pending()?;
        let boundary = CompactionBoundary {
            trigger: CompactionTrigger::Manual,
            pre_tokens: before,
            post_tokens: before,
            method: "expand".to_owned(),
            last_message: None,
            view: history.messages().iter().map(|message| message.id).collect(),
            removed: Vec::new(),
            tools: Vec::new(),
            fidelity: None,
        };
        conversation.transcript.record_snip(&boundary, &[])?;
        if !thinking_dropped.is_empty() {
            conversation.transcript.record_thinking_dropped(&thinking_dropped)?;
        }
        conversation.restart(None, history, "a fold was opened");
        Ok(Some(count))
    }
}

async fn summarize_all(
    source: ForkSource,
    found: Vec<FoldSpan>,
    coming: Arc<Mutex<Vec<SpanOutcome>>>,
    room: u32,
    job: JobHandle,
) -> JobEnd {
    let mut end = JobEnd::of(JobStatus::Completed);
    for span in found {
        let message = fold_prompt(source.messages(), &span, room);
        let gate = ForkGate::nothing();
        let order = ForkOrder {
            purpose: KIND,
            message,
            gate,
            tools: Vec::new(),
            most_turns: MOST_TURNS,
            ends_after_changes: false,
        };
        let report = source.clone().run(order, Some(&job)).await;
        end.turns += u64::from(report.turns);
        end.denied += u64::from(report.denied);
        let summary = match report.end {
            ForkEnd::Completed | ForkEnd::MaxTurns => parse_summary(&report.text).ok(),
            // A truncated summary does not count.
            ForkEnd::Cut | ForkEnd::Repeated | ForkEnd::Failed(_) => None,
        };
        let done = match summary {
            Some(summary) => SpanOutcome::Ready(SpanFold { span, summary }),
            None => {
                end.status = JobStatus::Failed("a span could not be summarized".to_owned());
                SpanOutcome::Failed(span)
            }
        };
        coming.lock().unwrap_or_else(PoisonError::into_inner).push(done);
    }
    end
}

/// The messages from one to another.
fn between(messages: &[Arc<Message>], from: MessageId, to: MessageId) -> Vec<Arc<Message>> {
    let first = messages.iter().position(|message| message.id == from);
    let last = messages.iter().position(|message| message.id == to);
    match first.zip(last) {
        Some((first, last)) => messages.get(first..=last).unwrap_or_default().to_vec(),
        None => Vec::new(),
    }
}
