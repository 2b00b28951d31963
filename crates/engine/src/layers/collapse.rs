//! Collapse (C-11 to C-13): the oldest spans are summarised ahead of need, beside the conversation, and shown
//! folded when the window is nearly full. The messages stay; `/expand` unfolds them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dormouse_base::MessageId;
use dormouse_context::compact::parse_summary;
use dormouse_context::layers::{
    FoldSpan, SpanFold, fold_prompt, folded_span, folds_to_commit, is_cache_edit, is_fold,
    plan_folds, plan_spans,
};
use dormouse_conversation::transcript::{CompactionBoundary, CompactionTrigger};
use dormouse_conversation::{Message, MessageHistory, estimate_text};
use tokio_util::sync::CancellationToken;

use crate::fork::{ForkEnd, ForkGate, ForkOrder, ForkSource};
use crate::{Engine, EngineError, EngineEvent, JobEnd, JobHandle, JobStatus};

/// What the job is called, and what its requests are for.
const KIND: &str = "collapse";
/// A model that calls a tool instead is told, and may answer once more.
const MOST_TURNS: u32 = 2;
/// After so many spans in a row that could not be summarised no more are staged.
const MOST_FAILURES: u32 = 3;
/// When the server says that it is too long, a summary that is on its way is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
const TICK: Duration = Duration::from_millis(20);

/// What came of a span.
enum Summarised {
    Ready(SpanFold),
    Failed(FoldSpan),
}

/// What is folded, and what is about to be.
#[derive(Default)]
pub(crate) struct CollapseState {
    /// Spans whose summaries are on their way, or ready.
    staged: Vec<FoldSpan>,
    ready: Vec<SpanFold>,
    coming: Arc<Mutex<Vec<Summarised>>>,
    failures: u32,
    /// The messages behind the folds, by the first of each span.
    behind: HashMap<MessageId, Vec<Arc<Message>>>,
}

impl CollapseState {
    /// What an earlier process has folded.
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

    /// Takes in what the job has brought.
    fn collect(&mut self) {
        let mut coming = self.coming.lock().unwrap_or_else(PoisonError::into_inner);
        for summarised in coming.drain(..) {
            match summarised {
                Summarised::Ready(fold) => {
                    self.failures = 0;
                    self.ready.push(fold);
                }
                Summarised::Failed(span) => {
                    self.failures += 1;
                    self.staged.retain(|staged| *staged != span);
                }
            }
        }
    }
}

impl Engine {
    /// Stages what should be staged, commits what is due.
    pub(super) fn collapse_if_due(
        &mut self,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<(), EngineError> {
        self.folding.collect();
        let (used, budget) = (self.tokens_used(), self.config.budget);
        let due: Vec<SpanFold> =
            folds_to_commit(&self.folding.ready, used, &budget).into_iter().cloned().collect();
        self.commit_folds(&due, sink)?;
        let resting = self.folding.failures >= MOST_FAILURES;
        if resting || self.jobs.is_running(KIND) || !self.history.open_calls().is_empty() {
            return Ok(());
        }
        let (messages, used) = (self.history.messages(), self.tokens_used());
        let found = plan_spans(messages, &self.folding.staged, used, &budget);
        if !found.is_empty() {
            self.stage(found);
        }
        Ok(())
    }

    /// A copy of the conversation summarises each span, one after the other.
    fn stage(&mut self, found: Vec<FoldSpan>) {
        self.folding.staged.extend(&found);
        let (seed, coming) = (self.fork_source(), Arc::clone(&self.folding.coming));
        let room = self.config.budget.compaction.summary_tokens / 4;
        self.jobs.spawn(KIND, move |job| summarise_all(seed, found, coming, room, job));
    }

    fn commit_folds(
        &mut self,
        folds: &[SpanFold],
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<bool, EngineError> {
        let transcript = self.transcript.path().display().to_string();
        let Some(plan) = plan_folds(self.history.messages(), folds, &transcript) else {
            return Ok(false);
        };
        let before: Vec<Arc<Message>> = self.history.messages().to_vec();
        let (changed, freed) = (plan.report.changed, plan.report.freed_tokens);
        self.carry_out(&plan, CompactionTrigger::Auto)?;
        for fold in folds {
            let span = between(&before, fold.span.from, fold.span.to);
            self.folding.behind.insert(fold.span.from, span);
            self.folding.staged.retain(|staged| *staged != fold.span);
            self.folding.ready.retain(|ready| ready.span != fold.span);
        }
        sink(EngineEvent::Notice(format!(
            "{changed} older messages are shown to the model as a summary from now on (about {freed} tokens less); /expand brings them back"
        )));
        Ok(true)
    }

    /// The server says that it is too long: all that is staged is committed, and waited for if it is on its way.
    pub(crate) async fn commit_all_folds(
        &mut self,
        interrupt: &CancellationToken,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<bool, EngineError> {
        if !self.config.compaction.collapse {
            return Ok(false);
        }
        let waited = async {
            while self.jobs.is_running(KIND) && !interrupt.is_cancelled() {
                tokio::time::sleep(TICK).await;
            }
        };
        // What has not come by then is left out.
        let _in_time = tokio::time::timeout(PATIENCE, waited).await;
        self.folding.collect();
        let smaller = |fold: &&SpanFold| u64::from(estimate_text(&fold.summary)) < fold.span.tokens;
        let ready: Vec<SpanFold> = self.folding.ready.iter().filter(smaller).cloned().collect();
        self.commit_folds(&ready, sink)
    }

    /// Unfolds the newest fold: `/expand`. How many messages came back; none if nothing is folded.
    pub fn expand(&mut self) -> Result<Option<usize>, EngineError> {
        let place = self.history.messages().iter().rposition(|message| is_fold(message));
        let Some((place, from)) = place.and_then(|place| {
            let (from, _) = folded_span(self.history.messages().get(place)?)?;
            Some((place, from))
        }) else {
            return Ok(None);
        };
        let Some(behind) = self.folding.behind.remove(&from) else { return Ok(None) };
        let count = behind.len();
        let before = self.tokens_used();
        let mut messages: Vec<Message> = Vec::new();
        for (at, message) in self.history.messages().iter().enumerate() {
            if at == place {
                messages.extend(behind.iter().map(|message| (**message).clone()));
            } else {
                messages.push((**message).clone());
            }
        }
        messages.retain(|message| !is_cache_edit(message));
        let history = MessageHistory::from_messages(messages)?;
        self.write_what_is_due()?;
        let boundary = CompactionBoundary {
            trigger: CompactionTrigger::Manual,
            pre_tokens: before,
            post_tokens: before,
            method: "expand".to_owned(),
            last_message: None,
            view: history.messages().iter().map(|message| message.id).collect(),
            tools: Vec::new(),
            fidelity: None,
        };
        self.transcript.record_snip(&boundary, &[])?;
        self.history = history;
        self.freed_tokens = 0;
        self.rebuild_body("a fold was opened");
        Ok(Some(count))
    }

    /// A compaction has put everything away: there is nothing to fold or to open any more.
    pub(crate) fn forget_folds(&mut self) {
        self.folding = CollapseState::default();
    }
}

async fn summarise_all(
    seed: ForkSource,
    found: Vec<FoldSpan>,
    coming: Arc<Mutex<Vec<Summarised>>>,
    room: u32,
    job: JobHandle,
) -> JobEnd {
    let mut end = JobEnd::of(JobStatus::Completed);
    for span in found {
        let message = fold_prompt(seed.messages(), &span, room);
        let gate = ForkGate::nothing();
        let order =
            ForkOrder { purpose: KIND, message, gate, tools: Vec::new(), most_turns: MOST_TURNS };
        let report = seed.clone().run(order, Some(&job)).await;
        end.turns += u64::from(report.turns);
        end.denied += u64::from(report.denied);
        let summary = match report.end {
            ForkEnd::Completed | ForkEnd::MaxTurns => parse_summary(&report.text).ok(),
            // Half a summary is none.
            ForkEnd::Cut | ForkEnd::Failed(_) => None,
        };
        let done = match summary {
            Some(summary) => Summarised::Ready(SpanFold { span, summary }),
            None => {
                end.status = JobStatus::Failed("a span could not be summarised".to_owned());
                Summarised::Failed(span)
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
