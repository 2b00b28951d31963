//! Messages for the tests of this folder.

use std::sync::Arc;

use dormouse_base::{MessageId, SeededIds, SystemClock};
use dormouse_conversation::{
    Block, Message, MessageFlags, Response, ResultContent, ToolUseId, Usage,
};
use jiff::Timestamp;

fn id() -> MessageId {
    MessageId::generate(&SeededIds::new(Arc::new(SystemClock::default()), 1))
}

pub(super) fn now() -> Timestamp {
    "2026-11-15T08:00:00Z".parse().unwrap()
}

pub(super) fn of_user(blocks: Vec<Block>, flags: MessageFlags) -> Arc<Message> {
    Arc::new(Message::user(id(), now(), blocks, flags))
}

/// What the user typed.
pub(super) fn user(text: &str) -> Arc<Message> {
    of_user(vec![Block::text(text)], MessageFlags::default())
}

pub(super) fn meta(text: &str) -> Arc<Message> {
    of_user(vec![Block::text(text)], MessageFlags { meta: true, ..MessageFlags::default() })
}

pub(super) fn summary(text: &str) -> Arc<Message> {
    of_user(
        vec![Block::text(text)],
        MessageFlags { compact_summary: true, ..MessageFlags::default() },
    )
}

pub(super) fn of_model(blocks: Vec<Block>) -> Arc<Message> {
    let response = Response {
        id: "m".into(),
        model: "x".into(),
        stop_reason: None,
        usage: Usage::default(),
        request_id: None,
    };
    Arc::new(Message::assistant(id(), now(), blocks, response))
}

/// Texts, then calls of Read with these ids.
pub(super) fn assistant(texts: &[&str], calls: &[&str]) -> Arc<Message> {
    let texts = texts.iter().map(|text| Block::text(text));
    let calls = calls.iter().map(|call| call_of(call, "Read", "{}"));
    of_model(texts.chain(calls).collect())
}

pub(super) fn call_of(id: &str, name: &str, input: &str) -> Block {
    Block::from_json(format!(
        r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#
    ))
    .unwrap()
}

/// Results, by the ids of their calls.
pub(super) fn results(results: &[(&str, &str)]) -> Arc<Message> {
    let block = |(id, text): &(&str, &str)| {
        Block::tool_result(&ToolUseId::new(*id), &ResultContent::Text((*text).to_owned()), false)
    };
    of_user(results.iter().map(block).collect(), MessageFlags::default())
}
