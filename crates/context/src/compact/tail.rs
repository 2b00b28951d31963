//! The messages that a compaction keeps as they are (C-15).

use std::sync::Arc;

use dormouse_conversation::{BlockKind, Budget, Message};

use super::rounds::{Round, rounds};

/// Messages with text that are kept if there is room.
const LEAST_MESSAGES: usize = 5;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailRule {
    /// At least these tokens.
    pub least_tokens: u64,
    /// At least this many messages with text.
    pub least_messages: usize,
    /// At most these tokens; this wins over everything else.
    pub most_tokens: u64,
}

impl TailRule {
    /// The rule for a window.
    pub fn of(budget: &Budget) -> Self {
        Self {
            least_tokens: u64::from(budget.tail_least_tokens),
            least_messages: LEAST_MESSAGES,
            most_tokens: u64::from(budget.tail_most_tokens),
        }
    }
}

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// The first message that is kept; the number of messages if none is.
    pub from: usize,
    /// Whether messages that nothing covers had to go, for want of room.
    pub lost_uncovered: bool,
}

/// The tail of a conversation of which the first `covered` messages are covered by notes: what is not
/// covered, extended backwards to the least, never above the most. It begins where a round begins, so
/// no call is parted from its result; an earlier summary is never part of it.
///
/// A newest round that alone is larger than the most is not kept: then nothing is, `lost_uncovered` says
/// so, and the caller folds. (Keeping half of it would part calls from results.)
pub fn kept_from(messages: &[Arc<Message>], covered: usize, rule: &TailRule) -> Tail {
    let mut from = messages.len();
    let mut tokens: u64 = 0;
    let mut with_text = 0;
    for round in rounds(messages).iter().rev() {
        let wanted = round.range.end > covered
            || tokens < rule.least_tokens
            || with_text < rule.least_messages;
        tokens = tokens.saturating_add(round.tokens);
        if !wanted || tokens > rule.most_tokens || has_summary(messages, round) {
            break;
        }
        with_text += of(messages, round).iter().filter(|message| has_text(message)).count();
        from = round.range.start;
    }
    Tail { from, lost_uncovered: from > covered.min(messages.len()) }
}

fn of<'a>(messages: &'a [Arc<Message>], round: &Round) -> &'a [Arc<Message>] {
    messages.get(round.range.clone()).unwrap_or_default()
}

fn has_summary(messages: &[Arc<Message>], round: &Round) -> bool {
    of(messages, round).iter().any(|message| message.flags.compact_summary)
}

fn has_text(message: &Message) -> bool {
    !message.flags.meta && message.blocks.iter().any(|block| *block.kind() == BlockKind::Text)
}
