//! When an update of the notes is due (B-14).

use dormouse_base::{MessageId, SessionNotesSettings};
use dormouse_conversation::Budget;
use serde::{Deserialize, Serialize};

/// Tool calls from one run to the next, within a turn.
const EVERY_CALLS: u32 = 3;

/// The sizes from which on an update is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Thresholds {
    first: u64,
    every: u64,
    calls: u32,
}

impl Thresholds {
    /// The user's settings, completed with defaults for the window.
    pub(super) fn of(set: SessionNotesSettings, budget: &Budget) -> Self {
        Self {
            first: set.first_tokens.unwrap_or(budget.notes.first_tokens).into(),
            every: set.every_tokens.unwrap_or(budget.notes.every_tokens).into(),
            calls: set.every_calls.unwrap_or(EVERY_CALLS),
        }
    }

    /// Whether a run is due in a conversation of `tokens`. The calls are counted only if enough tokens were added.
    pub(super) fn are_met(
        &self,
        last: Option<&NotesReach>,
        tokens: u64,
        turn_end: bool,
        calls: impl FnOnce(&NotesReach) -> usize,
    ) -> bool {
        match last {
            None => tokens >= self.first,
            Some(mark) => {
                tokens >= mark.tokens.saturating_add(self.every)
                    && (turn_end || calls(mark) >= self.calls as usize)
            }
        }
    }
}

/// Where a run started: the messages that the notes cover once it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NotesReach {
    /// The last message.
    pub(super) message: MessageId,
    /// The size of the conversation.
    pub(super) tokens: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_conversation::ContextWindow;

    const ID: &str = "0193b0a4-0000-7000-8000-000000000000";

    fn thresholds(set: SessionNotesSettings, window: u32) -> Thresholds {
        Thresholds::of(set, &Budget::for_window(ContextWindow::new(window).unwrap(), 32_000))
    }

    #[track_caller]
    fn check(last: Option<u64>, tokens: u64, turn_end: bool, calls: usize, expected: bool) {
        let mark = last.map(|tokens| NotesReach { message: ID.parse().unwrap(), tokens });
        let thresholds = thresholds(SessionNotesSettings::default(), 200_000);
        let due = thresholds.are_met(mark.as_ref(), tokens, turn_end, |_| calls);
        assert_eq!(due, expected, "{last:?} {tokens} {turn_end} {calls}");
    }

    #[test]
    fn first_at_forty_thousand_tokens_whatever_else() {
        check(None, 39_999, true, 100, false);
        check(None, 40_000, false, 0, true);
    }

    #[test]
    fn then_tokens_and_either_calls_or_turn_end() {
        check(Some(42_000), 61_999, true, 100, false);
        check(Some(42_000), 62_000, true, 0, true);
        check(Some(42_000), 62_000, false, 2, false);
        check(Some(42_000), 62_000, false, 3, true);
    }

    #[test]
    fn defaults_follow_the_window_unless_they_are_set() {
        let set = SessionNotesSettings { every_tokens: Some(70_000), ..Default::default() };
        assert_eq!(thresholds(set, 200_000), Thresholds { first: 40_000, every: 70_000, calls: 3 });
        let small = thresholds(SessionNotesSettings::default(), 40_000);
        assert_eq!(small, Thresholds { first: 20_000, every: 4_000, calls: 3 });
    }
}
