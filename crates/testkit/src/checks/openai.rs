//! The rules of OpenAI-compatible servers for the messages of a request.

use serde_json::Value;

use super::blocks::{blocks, is_empty_text, text_of};

pub(super) fn check(messages: &[Value], problems: &mut Vec<String>) {
    let nothing = Value::Null;
    for (index, message) in messages.iter().enumerate() {
        let previous = index.checked_sub(1).map_or(&nothing, |before| &messages[before]);
        check_role(index, message, previous, problems);
        check_content(index, message, problems);
        check_calls(index, messages, problems);
    }
    if messages.last().is_some_and(|message| message["role"] == "assistant") {
        problems.push("the last message is the assistant's".into());
    }
}

fn check_role(index: usize, message: &Value, previous: &Value, problems: &mut Vec<String>) {
    let (role, before) = (text_of(message, "role"), text_of(previous, "role"));
    let fits = match role {
        "system" | "developer" => index == 0,
        "user" => before != "user",
        "assistant" => matches!(before, "user" | "tool"),
        "tool" => true,
        _ => false,
    };
    if !fits {
        problems.push(format!("messages.{index}: `{role}` may not follow `{before}`"));
    }
}

fn check_content(index: usize, message: &Value, problems: &mut Vec<String>) {
    let content = &message["content"];
    let empty = match content {
        Value::String(text) => text.is_empty(),
        Value::Array(blocks) => blocks.is_empty(),
        _ => true,
    };
    // A call needs no words, and a tool may have nothing to say.
    let may_be_empty = !blocks(&message["tool_calls"]).is_empty()
        || (message["role"] == "tool" && content.is_string());
    if empty && !may_be_empty {
        problems.push(format!("messages.{index}: empty content"));
    }
    if blocks(content).iter().any(is_empty_text) {
        problems.push(format!("messages.{index}: an empty text block"));
    }
}

/// Each call is answered by one message in the row of `tool` messages right behind it, and such a row
/// answers nothing else.
fn check_calls(index: usize, messages: &[Value], problems: &mut Vec<String>) {
    let message = &messages[index];
    let is_tool = |message: &&Value| message["role"] == "tool";
    if is_tool(&message) {
        let caller = messages[..index].iter().rev().find(|message| !is_tool(message));
        let id = text_of(message, "tool_call_id");
        let calls = caller.map(|caller| blocks(&caller["tool_calls"])).unwrap_or_default();
        if !calls.iter().any(|call| call["id"] == id) {
            problems.push(format!("messages.{index}: the result `{id}` answers no call"));
        }
        return;
    }
    let row: Vec<&Value> = messages[index + 1..].iter().take_while(is_tool).collect();
    for call in blocks(&message["tool_calls"]) {
        let id = text_of(call, "id");
        let answers = row.iter().filter(|result| result["tool_call_id"] == id).count();
        if answers != 1 {
            problems.push(format!("messages.{index}: the call `{id}` has {answers} results"));
        }
        if !call["function"]["arguments"].is_string() {
            problems.push(format!("messages.{index}: the arguments of `{id}` are not a string"));
        }
    }
}
