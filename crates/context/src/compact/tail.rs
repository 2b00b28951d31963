//! The messages that a compaction keeps as they are (C-15).

use std::sync::Arc;

use dormouse_conversation::{BlockKind, Budget, Message, Role};

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
            least_tokens: u64::from(budget.compaction.tail_min_tokens),
            least_messages: LEAST_MESSAGES,
            most_tokens: u64::from(budget.compaction.tail_max_tokens),
        }
    }
}

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptTail {
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
pub fn plan_tail(messages: &[Arc<Message>], covered: usize, rule: &TailRule) -> KeptTail {
    let begin = begin_of_reach(messages, rule.most_tokens);
    let reach = messages.get(begin..).unwrap_or_default();
    let mut from = messages.len();
    let mut tokens: u64 = 0;
    let mut with_text = 0;
    for round in rounds(reach).iter().rev() {
        let wanted = begin + round.range.end > covered
            || tokens < rule.least_tokens
            || with_text < rule.least_messages;
        tokens = tokens.saturating_add(round.tokens);
        if !wanted || tokens > rule.most_tokens || has_summary(reach, round) {
            break;
        }
        with_text += of(reach, round).iter().filter(|message| has_text(message)).count();
        from = begin + round.range.start;
    }
    KeptTail { from, lost_uncovered: from > covered.min(messages.len()) }
}

/// Where to begin to look: a place from which on there is more than the most, and where a round begins
/// whatever was before. A long conversation is not read to its beginning for its end.
fn begin_of_reach(messages: &[Arc<Message>], most: u64) -> usize {
    let mut tokens: u64 = 0;
    for (index, pair) in messages.windows(2).enumerate().rev() {
        let [before, message] = pair else { continue };
        tokens = tokens.saturating_add(message.tokens());
        if tokens > most && surely_begins(before, message) {
            return index + 1;
        }
    }
    0
}

/// What the user says after an answer without calls.
fn surely_begins(before: &Message, message: &Message) -> bool {
    before.role == Role::Assistant
        && message.role == Role::User
        && before.tool_calls().next().is_none()
        && message.tool_results().next().is_none()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::testing::{assistant, results, summary, user};
    use dormouse_conversation::{ContextWindow, pairing_violations};
    use proptest::prelude::*;

    fn rule(least_tokens: u64, least_messages: usize, most_tokens: u64) -> TailRule {
        TailRule { least_tokens, least_messages, most_tokens }
    }

    /// About this many tokens each: a question, a call, its result, an answer.
    fn turns(count: usize, tokens: usize) -> Vec<Arc<Message>> {
        let text = "x".repeat(tokens * 4);
        let turn = |number: usize| {
            let id = number.to_string();
            [
                user(&text),
                assistant(&[&text], &[&id]),
                results(&[(&id, &text)]),
                assistant(&[&text], &[]),
            ]
        };
        (0..count).flat_map(turn).collect()
    }

    #[test]
    fn the_least_and_the_most() {
        let messages = turns(10, 100);
        let from = |covered, rule: TailRule| plan_tail(&messages, covered, &rule);
        let tail = |from| KeptTail { from, lost_uncovered: false };
        assert_eq!(from(40, rule(0, 0, 10_000)), tail(40));
        assert_eq!(from(36, rule(0, 0, 10_000)), tail(36));
        assert_eq!(from(40, rule(500, 0, 10_000)), tail(35), "tokens");
        assert_eq!(from(40, rule(0, 4, 10_000)), tail(35), "messages with text");
        assert_eq!(from(40, rule(0, 5, 10_000)), tail(32));
        assert_eq!(from(37, rule(0, 0, 10_000)), tail(36), "a round begins there");
        assert_eq!(from(20, rule(0, 0, 900)), KeptTail { from: 32, lost_uncovered: true });
        assert_eq!(from(0, rule(0, 0, 50)), KeptTail { from: 40, lost_uncovered: true });
        assert_eq!(from(40, rule(0, 5, 50)), tail(40), "nothing fits, and nothing is lost");
    }

    #[test]
    fn an_earlier_summary_is_not_kept() {
        let mut messages = vec![summary("s")];
        messages.extend(turns(1, 10));
        assert_eq!(plan_tail(&messages, 1, &rule(10_000, 50, 100_000)).from, 1);
    }

    #[test]
    fn the_rule_of_a_window() {
        let budget = Budget::for_window(ContextWindow::new(200_000).unwrap(), 64_000);
        assert_eq!(TailRule::of(&budget), rule(10_000, 5, 40_000));
    }

    fn any_history() -> impl Strategy<Value = Vec<Arc<Message>>> {
        let turn = (0_usize..4, 0_usize..3, 0_usize..200).prop_map(|(calls, more, size)| {
            let text = "x".repeat(size);
            let mut messages = vec![user("ask")];
            for step in 0..calls {
                let ids: Vec<String> = (0..=more).map(|n| format!("{step}-{n}")).collect();
                let calls: Vec<&str> = ids.iter().map(String::as_str).collect();
                let answers: Vec<(&str, &str)> =
                    calls.iter().map(|id| (*id, text.as_str())).collect();
                messages.push(assistant(&[], &calls));
                messages.push(results(&answers));
            }
            messages.push(assistant(&["said"], &[]));
            messages
        });
        prop::collection::vec(turn, 0..8).prop_map(|turns| turns.concat())
    }

    proptest! {
        #[test]
        fn the_reach_begins_where_a_round_does(messages in any_history(), most in 0_u64..400) {
            let begin = begin_of_reach(&messages, most);
            let begins: Vec<usize> = rounds(&messages).iter().map(|round| round.range.start).collect();
            prop_assert!(begin == 0 || begins.contains(&begin));
            let of_reach: Vec<usize> = rounds(&messages[begin..]).iter().map(|round| begin + round.range.start).collect();
            prop_assert!(begins.ends_with(&of_reach));
            let tokens: u64 = messages[begin..].iter().map(|message| message.tokens()).sum();
            prop_assert!(begin == 0 || tokens > most);
        }

        #[test]
        fn pairs_stay_whole_and_bounds_hold(
            messages in any_history(), covered in 0_usize..60, least in 0_u64..300, most in 0_u64..400
        ) {
            let (covered, rule) = (covered.min(messages.len()), rule(least, 5, most));
            let tail = plan_tail(&messages, covered, &rule);
            let kept = &messages[tail.from..];
            let tokens: u64 = kept.iter().map(|message| message.tokens()).sum();
            prop_assert!(tokens <= most);
            prop_assert_eq!(pairing_violations(kept.iter().map(AsRef::as_ref)), Vec::<String>::new());
            prop_assert_eq!(tail.lost_uncovered, tail.from > covered);
            prop_assert!(tail.from == messages.len() || rounds(&messages).iter().any(|round| round.range.start == tail.from));
            let wider = TailRule { most_tokens: most * 2, ..rule };
            prop_assert!(plan_tail(&messages, covered, &wider).from <= tail.from);
            let more = TailRule { least_tokens: least * 2, ..rule };
            prop_assert!(plan_tail(&messages, covered, &more).from <= tail.from);
            prop_assert!(plan_tail(&messages, covered / 2, &rule).from <= tail.from);
        }
    }
}
