//! The rules of the Anthropic Messages API for the messages of a request.

use serde_json::Value;

use super::blocks::{blocks, is_empty_text, text_of};

pub(super) fn check(body: &Value, messages: &[Value], problems: &mut Vec<String>) {
    for field in ["temperature", "top_p", "top_k"] {
        if body.get(field).is_some() {
            problems.push(format!("`{field}` is refused by newer versions of the API"));
        }
    }
    // A summary by the server is the first message of all; it is asked for when a turn is over.
    let is_summary = |message: &Value| {
        blocks(&message["content"]).iter().any(|block| block["type"] == "compaction")
    };
    let spoken = match messages {
        [first, rest @ ..] if is_summary(first) => rest,
        all => all,
    };
    if spoken.iter().any(is_summary) {
        problems.push("a summary by the server that is not first, or not the only one".into());
    }
    let asks_for_summary = body.get("compaction").is_some();
    check_roles(spoken, asks_for_summary, problems);
    for block in blocks(&body["system"]) {
        if is_empty_text(block) {
            problems.push("system: an empty text block".into());
        }
    }
    let nothing = Value::Null;
    for (index, message) in messages.iter().enumerate() {
        check_content(index, message, problems);
        let previous = index.checked_sub(1).map_or(&nothing, |before| &messages[before]);
        let next = messages.get(index + 1).unwrap_or(&nothing);
        match text_of(message, "role") {
            "assistant" => check_answered(index, message, next, problems),
            _ => check_results(index, message, previous, problems),
        }
    }
}

fn check_roles(messages: &[Value], asks_for_summary: bool, problems: &mut Vec<String>) {
    let roles: Vec<&str> = messages.iter().map(|message| text_of(message, "role")).collect();
    for (index, role) in roles.iter().enumerate() {
        let before = index.checked_sub(1).map_or("", |before| roles[before]);
        let spoken = roles[..index].iter().rev().find(|role| **role != "system");
        match *role {
            "user" if spoken != Some(&"user") && before != "system" => {}
            "assistant" if spoken == Some(&"user") => {}
            "system" if before == "user" => {}
            _ => problems.push(format!("messages.{index}: `{role}` may not follow `{before}`")),
        }
    }
    match (roles.last(), asks_for_summary) {
        (Some(&"assistant"), false) => problems.push("the last message is the assistant's".into()),
        (Some(&"user"), true) => problems.push("a summary of a turn that is not over".into()),
        _ => {}
    }
}

fn check_content(index: usize, message: &Value, problems: &mut Vec<String>) {
    let mut problem = |text: &str| problems.push(format!("messages.{index}: {text}"));
    let content = &message["content"];
    let empty = match content {
        Value::String(text) => text.is_empty(),
        Value::Array(blocks) => blocks.is_empty(),
        _ => true,
    };
    if empty {
        problem("empty content");
    }
    for block in blocks(content) {
        let marked = block.get("cache_control").is_some();
        let inner = blocks(&block["content"]);
        if is_empty_text(block) || inner.iter().any(is_empty_text) {
            problem("an empty text block");
        }
        if marked && is_empty_text(block) {
            problem("a cache marker on an empty text block");
        }
        if marked && matches!(text_of(block, "type"), "thinking" | "redacted_thinking") {
            problem("a cache marker on a thinking block");
        }
        if inner.iter().any(|block| block.get("cache_control").is_some()) {
            problem("a cache marker inside a tool result");
        }
        if block["type"] == "tool_use" && !block["input"].is_object() {
            problem("the `input` of a tool call is not an object");
        }
    }
}

fn ids<'a>(message: &'a Value, kind: &str, field: &str) -> Vec<&'a str> {
    let of_kind = blocks(&message["content"]).iter().filter(|block| block["type"] == kind);
    of_kind.map(|block| text_of(block, field)).collect()
}

/// Each call of an assistant message is answered once, in the message right after it.
fn check_answered(index: usize, message: &Value, next: &Value, problems: &mut Vec<String>) {
    let calls = ids(message, "tool_use", "id");
    let results = ids(next, "tool_result", "tool_use_id");
    for (at, call) in calls.iter().enumerate() {
        let answers = results.iter().filter(|result| *result == call).count();
        if answers != 1 {
            problems.push(format!(
                "messages.{index}: the call `{call}` has {answers} results in the next message"
            ));
        }
        if calls[..at].contains(call) {
            problems.push(format!("messages.{index}: two calls with the id `{call}`"));
        }
    }
}

/// Each result answers a call of the message right before it, and results come first.
fn check_results(index: usize, message: &Value, previous: &Value, problems: &mut Vec<String>) {
    let calls = ids(previous, "tool_use", "id");
    for result in ids(message, "tool_result", "tool_use_id") {
        if !calls.contains(&result) {
            problems.push(format!("messages.{index}: the result `{result}` answers no call"));
        }
    }
    let kinds = blocks(&message["content"]).iter().map(|block| block["type"] == "tool_result");
    if kinds.skip_while(|is_result| *is_result).any(|is_result| is_result) {
        problems.push(format!("messages.{index}: a result stands behind another block"));
    }
}
