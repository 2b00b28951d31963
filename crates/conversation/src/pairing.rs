//! The rules that tie tool calls to their results, as a check and as a repair.
//!
//! A server refuses a conversation in which a call has no result in the very next message, a result
//! has no call in the one before, or text stands in front of results. A crash, an interrupt or a
//! foreign transcript can leave any of these behind; [`repair`] makes a history that keeps the rules
//! out of any list of messages, and says what it did.

use std::collections::{BTreeMap, BTreeSet};

use crate::block::{Block, BlockKind, ToolUseId};
use crate::message::{Message, Role};

/// One thing that [`repair_pairing`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairingRepair {
    /// A call without a result was closed as interrupted.
    ClosedCall(ToolUseId),
    /// A result without a call was left out.
    OrphanResult(ToolUseId),
    /// A second call with an id that is taken was left out.
    DuplicateCall(ToolUseId),
    /// A second result for a call was left out.
    DuplicateResult(ToolUseId),
    /// A message with nothing in it was left out.
    Empty,
}

/// Every breach of the rules, in words; empty for a history that a server takes. Calls of the last
/// message may be open.
pub fn pairing_violations<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<&ToolUseId> = Vec::new();
    for (index, message) in messages.into_iter().enumerate() {
        if message.blocks.is_empty() {
            found.push(format!("message {index} is empty"));
        }
        let results: Vec<&ToolUseId> = message.tool_results().collect();
        let leading = message.blocks.iter().take_while(|block| is_result(block)).count();
        if leading != results.len() {
            found.push(format!("message {index} has something in front of its results"));
        }
        if results.iter().collect::<BTreeSet<_>>() != open.iter().collect()
            || results.len() != open.len()
        {
            found.push(format!("message {index} answers {results:?}, but open are {open:?}"));
        }
        open = message.tool_calls().collect();
        if open.iter().collect::<BTreeSet<_>>().len() != open.len() {
            found.push(format!("message {index} has two calls of one id"));
        }
        if message.role == Role::User && !open.is_empty() {
            found.push(format!("message {index} is the user's and calls tools"));
        }
        if message.role == Role::Assistant && !results.is_empty() {
            found.push(format!("message {index} is the model's and answers calls"));
        }
    }
    found
}

/// Makes a history that keeps the rules: results move behind their call, in call order and in front of
/// any text; what has no partner is closed or left out. `make_results` builds the user message for
/// results where there is none. Calls left open by the last message are closed too.
pub fn repair_pairing(
    messages: Vec<Message>,
    mut make_results: impl FnMut(Vec<Block>) -> Message,
) -> (Vec<Message>, Vec<PairingRepair>) {
    let mut repairs = Vec::new();
    let mut done: Vec<Message> = Vec::with_capacity(messages.len());
    let mut messages = messages.into_iter().peekable();
    while let Some(mut message) = messages.next() {
        message.blocks.retain(says_something);
        if message.role == Role::User {
            // A run of user messages without a call in front of it: no result belongs here.
            take_results(&mut message, &mut BTreeMap::new(), &[], &mut repairs);
            keep_if_filled(message, &mut done, &mut repairs);
            continue;
        }
        let calls = clean_calls(&mut message, &mut repairs);
        let filled = keep_if_filled(message, &mut done, &mut repairs);
        if !filled || calls.is_empty() {
            continue;
        }
        // Every result for these calls stands somewhere in the user messages that follow.
        let mut followers = Vec::new();
        let mut results = BTreeMap::new();
        while let Some(mut follower) = messages.next_if(|next| next.role == Role::User) {
            follower.blocks.retain(says_something);
            take_results(&mut follower, &mut results, &calls, &mut repairs);
            followers.push(follower);
        }
        let mut answer = Vec::with_capacity(calls.len());
        for call in &calls {
            answer.push(results.remove(call).unwrap_or_else(|| {
                repairs.push(PairingRepair::ClosedCall(call.clone()));
                Block::interrupted(call)
            }));
        }
        match followers.first_mut() {
            Some(first) => {
                answer.append(&mut first.blocks);
                first.blocks = answer;
            }
            None => followers.push(make_results(answer)),
        }
        for follower in followers {
            keep_if_filled(follower, &mut done, &mut repairs);
        }
    }
    (done, repairs)
}

/// The calls of a model's message, each id once; anything that answers calls is no part of it.
fn clean_calls(message: &mut Message, repairs: &mut Vec<PairingRepair>) -> Vec<ToolUseId> {
    let mut calls: Vec<ToolUseId> = Vec::new();
    let mut seen = BTreeSet::new();
    message.blocks.retain(|block| {
        if let BlockKind::ToolResult { id } = block.kind() {
            repairs.push(PairingRepair::OrphanResult(id.clone()));
            return false;
        }
        if let BlockKind::ToolUse { id, .. } = block.kind() {
            if !seen.insert(id.clone()) {
                repairs.push(PairingRepair::DuplicateCall(id.clone()));
                return false;
            }
            calls.push(id.clone());
        }
        true
    });
    calls
}

/// Takes the results (and, from a user message, any call) out of a message; those of `calls` are kept.
fn take_results(
    message: &mut Message,
    results: &mut BTreeMap<ToolUseId, Block>,
    calls: &[ToolUseId],
    repairs: &mut Vec<PairingRepair>,
) {
    message.blocks.retain(|block| {
        if let BlockKind::ToolUse { id, .. } = block.kind() {
            repairs.push(PairingRepair::DuplicateCall(id.clone()));
            return false;
        }
        let BlockKind::ToolResult { id } = block.kind() else { return true };
        if !calls.contains(id) {
            repairs.push(PairingRepair::OrphanResult(id.clone()));
        } else if results.contains_key(id) {
            repairs.push(PairingRepair::DuplicateResult(id.clone()));
        } else {
            results.insert(id.clone(), block.clone());
        }
        false
    });
}

fn keep_if_filled(
    message: Message,
    done: &mut Vec<Message>,
    repairs: &mut Vec<PairingRepair>,
) -> bool {
    let filled = !message.blocks.is_empty();
    if filled {
        done.push(message);
    } else {
        repairs.push(PairingRepair::Empty);
    }
    filled
}

/// Servers refuse a text without a letter in it.
fn says_something(block: &Block) -> bool {
    block.as_text().is_none_or(|text| !text.trim().is_empty())
}

fn is_result(block: &Block) -> bool {
    matches!(block.kind(), BlockKind::ToolResult { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::ResultContent;
    use crate::message::{MessageFlags, Response};
    use crate::usage::Usage;
    use dormouse_base::{MessageId, SeededIds, SystemClock};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn response() -> Response {
        Response {
            id: "m".into(),
            model: "x".into(),
            stop_reason: None,
            usage: Usage::default(),
            request_id: None,
        }
    }

    fn build(role: Role, blocks: Vec<Block>) -> Message {
        let ids = SeededIds::new(Arc::new(SystemClock::default()), 1);
        let now = "2026-11-15T08:00:00Z".parse().unwrap();
        match role {
            Role::User => {
                Message::user(MessageId::generate(&ids), now, blocks, MessageFlags::default())
            }
            Role::Assistant => {
                Message::assistant(MessageId::generate(&ids), now, blocks, response())
            }
        }
    }

    /// `t` text, `c1` call 1, `r1` result 1.
    fn message(shape: &str) -> Message {
        let (role, parts) = shape.split_once(':').unwrap();
        let role = if role == "u" { Role::User } else { Role::Assistant };
        let block = |part: &str| match part.split_at(1) {
            ("c", id) => Block::from_json(format!(
                r#"{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}"#
            ))
            .unwrap(),
            ("r", id) => {
                Block::tool_result(&ToolUseId::new(id), &ResultContent::Text("ok".into()), false)
            }
            _ => Block::text(part),
        };
        build(role, parts.split_whitespace().map(block).collect())
    }

    fn shape(messages: &[Message]) -> String {
        let part = |block: &Block| match block.kind() {
            BlockKind::ToolUse { id, .. } => format!("c{id}"),
            BlockKind::ToolResult { id } if block.is_error() => format!("!{id}"),
            BlockKind::ToolResult { id } => format!("r{id}"),
            _ => "t".to_owned(),
        };
        let one = |message: &Message| {
            let role = if message.role == Role::User { "u:" } else { "a:" };
            role.to_owned() + &message.blocks.iter().map(part).collect::<Vec<_>>().join(" ")
        };
        messages.iter().map(one).collect::<Vec<_>>().join(" | ")
    }

    #[track_caller]
    fn check(before: &str, after: &str) {
        let messages = before.split(" | ").map(message).collect();
        let (repaired, _) = repair_pairing(messages, |blocks| build(Role::User, blocks));
        assert_eq!(shape(&repaired), after);
    }

    #[test]
    fn whole_histories_stay() {
        check("u:t | a:t c1 c2 | u:r1 r2 | a:t", "u:t | a:t c1 c2 | u:r1 r2 | a:t");
    }

    #[test]
    fn open_calls_are_closed() {
        check("u:t | a:c1 c2", "u:t | a:c1 c2 | u:!1 !2");
        check("u:t | a:c1 c2 | u:r2", "u:t | a:c1 c2 | u:!1 r2");
        check("u:t | a:c1 | a:t", "u:t | a:c1 | u:!1 | a:t");
        check("u:t | a:c1 | u:t", "u:t | a:c1 | u:!1 t");
    }

    #[test]
    fn results_move_to_their_place() {
        check("u:t | a:c1 c2 | u:t r2 r1", "u:t | a:c1 c2 | u:r1 r2 t");
        check("u:t | a:c1 c2 | u:r1 | u:r2 t", "u:t | a:c1 c2 | u:r1 r2 | u:t");
    }

    #[test]
    fn what_has_no_partner_goes() {
        check("u:r9 t | a:t | u:r1", "u:t | a:t");
        check("u:t | a:c1 c1 | u:r1 r1", "u:t | a:c1 | u:r1");
        check("u: | a:t", "a:t");
        let blank = build(Role::User, vec![Block::text(" \n"), Block::text("x")]);
        let (repaired, _) = repair_pairing(vec![blank], |blocks| build(Role::User, blocks));
        assert_eq!(repaired[0].blocks.len(), 1);
    }

    fn any_history() -> impl Strategy<Value = Vec<Message>> {
        let part = prop_oneof![Just("t".to_owned()), "c[1-4]", "r[1-4]"];
        let one = ("[ua]", prop::collection::vec(part, 0..6))
            .prop_map(|(role, parts)| message(&format!("{role}:{}", parts.join(" "))));
        prop::collection::vec(one, 0..12)
    }

    proptest! {
        #[test]
        fn any_history_keeps_the_rules_after_repair(messages in any_history()) {
            let (repaired, _) = repair_pairing(messages.clone(), |blocks| build(Role::User, blocks));
            prop_assert_eq!(pairing_violations(&repaired), Vec::<String>::new());
            let open = repaired.last().is_some_and(|last| last.tool_calls().next().is_some());
            prop_assert!(!open);
            // What the user and the model said in words is all still there, in order.
            let words = |list: &[Message]| -> usize {
                list.iter().flat_map(|m| &m.blocks).filter(|block| *block.kind() == BlockKind::Text).count()
            };
            prop_assert_eq!(words(&messages), words(&repaired));
            let (again, repairs) = repair_pairing(repaired.clone(), |blocks| build(Role::User, blocks));
            prop_assert_eq!(shape(&again), shape(&repaired));
            prop_assert!(repairs.is_empty());
        }
    }
}
