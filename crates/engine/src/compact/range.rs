//! The messages that a compaction removes: a range of the history that begins and ends between rounds.

use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_context::compact::{TailRule, plan_tail, user_text_in};
use dormouse_conversation::{Budget, Message, Role};

use super::request::CompactionScope;

/// The messages from `from` up to `to` are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CompactionRange {
    pub(super) from: usize,
    pub(super) to: usize,
}

impl CompactionRange {
    /// The range of a request; none if nothing would be removed. The newest user message stays if it takes no more than
    /// `newest` tokens.
    pub(super) fn of(
        messages: &[Arc<Message>],
        scope: CompactionScope,
        newest: u64,
    ) -> Option<Self> {
        let position = |id: MessageId| messages.iter().position(|message| message.id == id);
        let range = match scope {
            CompactionScope::Whole => Self { from: 0, to: unanswered(messages, newest) },
            CompactionScope::From(id) => Self { from: position(id)?, to: messages.len() },
            CompactionScope::UpTo(id) => Self { from: 0, to: position(id)? },
        };
        let removed = messages.get(range.from..range.to).unwrap_or_default();
        removed.iter().any(|message| !message.flags.compact_summary).then_some(range)
    }

    /// The same without the newest messages, for a fold, which has no summary of them.
    pub(super) fn keeping_tail(self, messages: &[Arc<Message>], budget: &Budget) -> Self {
        let up_to = messages.get(..self.to).unwrap_or_default();
        let tail = plan_tail(up_to, up_to.len(), &TailRule::of(budget));
        if tail.from <= self.from { self } else { Self { to: tail.from, ..self } }
    }
}

/// Where the newest user message begins, if it has no response yet and is short enough to stay.
fn unanswered(messages: &[Arc<Message>], most: u64) -> usize {
    let answer = messages.iter().rposition(|message| message.role == Role::Assistant);
    let from = answer.map_or(0, |index| index + 1);
    let tail = messages.get(from..).unwrap_or_default();
    let has_prompt = tail.iter().any(|message| user_text_in(message).is_some());
    let tokens: u64 = tail.iter().map(|message| message.tokens()).sum();
    let summary = tail.iter().any(|message| message.flags.compact_summary);
    // Results stay with their calls, which are removed.
    let results = tail.iter().any(|message| message.tool_results().next().is_some());
    if has_prompt && tokens <= most && !results && !summary { from } else { messages.len() }
}
