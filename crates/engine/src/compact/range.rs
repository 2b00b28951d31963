//! Which messages go: a span of the history that begins and ends between rounds.

use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_context::compact::{TailRule, plan_tail, user_text_in};
use dormouse_conversation::{Budget, Message, Role};

use super::CompactionScope;

/// The messages from `from` up to `to` go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CompactionRange {
    pub(super) from: usize,
    pub(super) to: usize,
}

impl CompactionRange {
    /// The cut of an order; none if nothing would go. What the person said last stays if it takes no more
    /// than `newest` tokens.
    pub(super) fn of(
        messages: &[Arc<Message>],
        span: CompactionScope,
        newest: u64,
    ) -> Option<Self> {
        let place = |id: MessageId| messages.iter().position(|message| message.id == id);
        let cut = match span {
            CompactionScope::Whole => Self { from: 0, to: unanswered(messages, newest) },
            CompactionScope::From(id) => Self { from: place(id)?, to: messages.len() },
            CompactionScope::UpTo(id) => Self { from: 0, to: place(id)? },
        };
        let goes = messages.get(cut.from..cut.to).unwrap_or_default();
        goes.iter().any(|message| !message.flags.compact_summary).then_some(cut)
    }

    /// With the newest messages kept, for a fold: what a summary would have said of them is not known.
    pub(super) fn keeping_tail(self, messages: &[Arc<Message>], budget: &Budget) -> Self {
        let up_to = messages.get(..self.to).unwrap_or_default();
        let tail = plan_tail(up_to, up_to.len(), &TailRule::of(budget));
        if tail.from <= self.from { self } else { Self { to: tail.from, ..self } }
    }
}

/// Where what the person said last begins, if it has no answer yet and is short enough to stay as it is.
fn unanswered(messages: &[Arc<Message>], most: u64) -> usize {
    let answer = messages.iter().rposition(|message| message.role == Role::Assistant);
    let from = answer.map_or(0, |place| place + 1);
    let tail = messages.get(from..).unwrap_or_default();
    let speaks = tail.iter().any(|message| user_text_in(message).is_some());
    let tokens: u64 = tail.iter().map(|message| message.tokens()).sum();
    let summary = tail.iter().any(|message| message.flags.compact_summary);
    // Results stay with their calls, and those go.
    let results = tail.iter().any(|message| message.tool_results().next().is_some());
    if speaks && tokens <= most && !results && !summary { from } else { messages.len() }
}
