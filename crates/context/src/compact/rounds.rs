//! Rounds: the smallest pieces of a conversation that can be dropped or kept by themselves.
//!
//! `[user, assistant(call), results]`, `[assistant(call), results]`, `[assistant]`. Invariant: for a
//! history that keeps its rules, every call stands in one round with its result.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use dormouse_conversation::{Message, Role, ToolUseId};

/// A round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// Its messages.
    pub range: Range<usize>,
    /// What they take, estimated.
    pub tokens: u64,
}

/// The rounds of a conversation, in order; together they are all of it.
///
/// A round begins at a user message that holds no tool results, or at an assistant message that follows
/// results. User messages without an answer between them belong together, and so does an answer that
/// continues in a second message. A summary, with what was put back behind it, is a round of its own.
pub fn rounds(messages: &[Arc<Message>]) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    let mut state = State::default();
    for (index, message) in messages.iter().enumerate() {
        let begins = state.begins(message);
        state.take(message, begins);
        match rounds.last_mut() {
            Some(round) if !begins => {
                round.range.end = index + 1;
                round.tokens = round.tokens.saturating_add(message.tokens());
            }
            _ => rounds.push(Round { range: index..index + 1, tokens: message.tokens() }),
        }
    }
    rounds
}

/// What is known of the round so far.
#[derive(Default)]
struct State<'a> {
    last: Option<Role>,
    open: BTreeSet<&'a ToolUseId>,
    has_results: bool,
    has_summary: bool,
}

impl<'a> State<'a> {
    fn begins(&self, message: &Message) -> bool {
        let Some(last) = self.last else { return true };
        let typed = message.role == Role::User && !message.flags.meta;
        if message.tool_results().next().is_some() || !self.open.is_empty() {
            return false;
        }
        if self.has_summary {
            return typed || message.role == Role::Assistant;
        }
        match (last, message.role) {
            (Role::Assistant, Role::User) => true,
            (Role::Assistant, Role::Assistant) => false,
            // What the program adds to results stays with them; what the user adds begins again.
            (Role::User, Role::User) => typed && self.has_results,
            (Role::User, Role::Assistant) => self.has_results,
        }
    }

    fn take(&mut self, message: &'a Message, begins: bool) {
        if begins {
            self.has_results = false;
            self.has_summary = false;
        }
        if message.role == Role::Assistant && self.last == Some(Role::User) {
            // Results stand directly behind their calls: what is still open stays so forever.
            self.open.clear();
        }
        for id in message.tool_results() {
            self.open.remove(id);
            self.has_results = true;
        }
        self.open.extend(message.tool_calls());
        self.has_summary |= message.flags.compact_summary;
        self.last = Some(message.role);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::testing::{assistant, meta, results, summary, user};

    #[track_caller]
    fn check(messages: &[Arc<Message>], begins: &[usize]) {
        let rounds = rounds(messages);
        let found: Vec<usize> = rounds.iter().map(|round| round.range.start).collect();
        assert_eq!(found, begins);
        let ends: Vec<usize> = rounds.iter().map(|round| round.range.end).collect();
        assert!(begins.iter().skip(1).eq(ends.iter().take(ends.len().saturating_sub(1))));
        assert_eq!(ends.last().copied().unwrap_or(0), messages.len());
        let tokens: u64 = rounds.iter().map(|round| round.tokens).sum();
        assert_eq!(tokens, messages.iter().map(|message| message.tokens()).sum::<u64>());
    }

    #[test]
    fn a_turn_with_tools() {
        let messages = [
            user("a"),
            assistant(&["b"], &["1", "2"]),
            results(&[("1", "x"), ("2", "y")]),
            assistant(&[], &["3"]),
            results(&[("3", "z")]),
            assistant(&["done"], &[]),
            user("next"),
            assistant(&["yes"], &[]),
        ];
        check(&messages, &[0, 3, 5, 6]);
        check(&[], &[]);
    }

    #[test]
    fn what_belongs_together() {
        check(&[user("a"), user("b"), assistant(&["x"], &[]), assistant(&["y"], &[])], &[0]);
        let program =
            [assistant(&[], &["1"]), results(&[("1", "x")]), meta("rules"), assistant(&["y"], &[])];
        check(&program, &[0, 3]);
        let person =
            [assistant(&[], &["1"]), results(&[("1", "x")]), user("stop"), assistant(&["y"], &[])];
        check(&person, &[0, 2]);
        let late = [assistant(&[], &["1", "2"]), results(&[("1", "x")]), results(&[("2", "y")])];
        check(&late, &[0]);
    }

    #[test]
    fn a_summary_is_a_round_of_its_own() {
        let messages = [summary("s"), meta("files"), user("go on"), assistant(&["y"], &[])];
        check(&messages, &[0, 2]);
        check(&[summary("s"), assistant(&[], &["1"]), results(&[("1", "x")])], &[0, 1]);
    }
}
