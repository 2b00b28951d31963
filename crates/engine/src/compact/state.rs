//! What compaction has to remember between requests.

use dormouse_conversation::transcript::{
    CompactionRecord, CompactionTrigger, FoundWindow, LoadedTranscript, Transcript, TranscriptError,
};
use dormouse_conversation::{Budget, ContextWindow, Message};

use super::breaker::CompactionBreaker;
use super::rebuilt_prefix::WindowUsage;
use super::user_messages::UserMessages;
use super::window_share::stop_notice;
use crate::layers::CollapseState;

/// What compaction has to remember between requests.
#[derive(Default)]
pub(crate) struct CompactionState {
    /// The user's messages, which every compaction keeps.
    pub(crate) user_messages: UserMessages,
    pub(crate) breaker: CompactionBreaker,
    /// The window that the server was found to have.
    pub(super) found_window: Option<FoundWindow>,
    /// What the transcript says of the two above.
    recorded: CompactionRecord,
    /// The text of the last summary.
    pub(super) last_summary: Option<String>,
    pub(crate) collapse: CollapseState,
}

impl CompactionState {
    /// The state of a resumed session.
    pub(crate) fn of(loaded: &LoadedTranscript) -> Self {
        Self {
            user_messages: UserMessages::of(loaded),
            collapse: CollapseState::of(&loaded.messages, &loaded.compacted),
            breaker: CompactionBreaker::after_failures(loaded.compaction.failures),
            found_window: loaded.compaction.window,
            recorded: loaded.compaction,
            ..Self::default()
        }
    }

    /// Writes into the transcript what the next process has to know, where that is something new.
    pub(super) fn keep_record(
        &mut self,
        transcript: &mut Transcript,
    ) -> Result<(), TranscriptError> {
        let record =
            CompactionRecord { failures: self.breaker.failures(), window: self.found_window };
        if record != self.recorded {
            transcript.record_compaction(record)?;
            self.recorded = record;
        }
        Ok(())
    }

    /// The budget of a session that is resumed: its server may have a smaller window than is believed. One that does not hold
    /// the prompt is not believed: there the server has the last word.
    pub(crate) fn resumed_budget(&self, budget: Budget, prompt: u64) -> Budget {
        let found = self.found_window.filter(|found| found.instead_of == budget.window);
        let found = found.filter(|found| u64::from(found.tokens) > prompt.saturating_mul(2));
        let window = found.and_then(|found| ContextWindow::new(found.tokens).ok());
        window.map_or(budget, |window| Budget::for_window(window, budget.max_output))
    }

    /// The state of a fork, which must not lose its task. The opening message is in this line of its transcript.
    pub(crate) fn of_task(opening: &Message, task: &str, line: u64) -> Self {
        Self { user_messages: UserMessages::of_task(opening, task, line), ..Self::default() }
    }

    /// Decides by the result of a compaction whether the conversation is compacted by itself again. Returns the notice
    /// if it is not.
    pub(super) fn update_breaker(
        &mut self,
        trigger: CompactionTrigger,
        requests: u64,
        before: WindowUsage,
        after: u64,
    ) -> Option<String> {
        if trigger == CompactionTrigger::Manual {
            self.breaker.reset();
            return None;
        }
        let stop = self.breaker.compacted(requests, before.tokens, after)?;
        Some(stop_notice(stop, before.shares))
    }

    /// After a compaction: its summary, and nothing left to fold or to expand.
    pub(super) fn compacted(&mut self, summary: String) {
        self.last_summary = Some(summary);
        self.collapse = CollapseState::default();
    }
}
