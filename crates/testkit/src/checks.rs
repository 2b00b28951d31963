//! What must hold of every request, in whatever test it is sent.
//!
//! The checks say what the real server would refuse (pairing, alternation, empty blocks, headers),
//! what would be a leak (canaries), and what would cost money (a prefix that changes).

mod anthropic;
mod blocks;
mod openai;

use dormouse_model::WireFormat;
use std::fmt;

use serde_json::Value;

use crate::record::RecordedRequest;
use crate::scan;

/// What requests are checked against.
#[derive(Debug, Clone)]
pub struct Rules<'a> {
    /// The wire format.
    pub wire: WireFormat,
    /// The context window in tokens; none: the size is not checked.
    pub window: Option<u64>,
    /// Texts that must never be sent, but in the header that carries the key.
    pub canaries: &'a [String],
}

/// What is wrong with a request taken by itself.
pub fn check_request(request: &RecordedRequest, rules: &Rules<'_>) -> Vec<String> {
    let mut problems = Vec::new();
    check_canaries(request, rules.canaries, &mut problems);
    check_size(request, rules.window, &mut problems);
    if request.header("content-type").is_none_or(|kind| !kind.starts_with("application/json")) {
        problems.push("the header `content-type` is not `application/json`".into());
    }
    if rules.wire == WireFormat::Anthropic {
        check_anthropic_headers(request, &mut problems);
    }
    let body: Value = match serde_json::from_slice(&request.body) {
        Ok(body) => body,
        Err(error) => {
            problems.push(format!("the body is not JSON: {error}"));
            return problems;
        }
    };
    check_shape(request, &body, &mut problems);
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    match rules.wire {
        WireFormat::Anthropic => anthropic::check(&body, messages, &mut problems),
        WireFormat::OpenAi => openai::check(messages, &mut problems),
    }
    problems
}

/// Whether a request continues another, byte for byte: with the cache markers taken out of both, the
/// new body begins with the old one up to the end of its last message.
pub fn check_prefix(previous: &[u8], next: &[u8]) -> Result<(), PrefixChanged> {
    let previous = scan::strip_cache_markers(previous);
    let next = scan::strip_cache_markers(next);
    let prefix = &previous[..scan::last_message_end(&previous)];
    if next.starts_with(prefix) {
        return Ok(());
    }
    let at = prefix.iter().zip(&next).take_while(|(old, new)| old == new).count();
    let (before, now) = (around(&previous, at), around(&next, at));
    Err(PrefixChanged { at, length: prefix.len(), before, now })
}

/// A request that does not continue the one before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixChanged {
    /// The first byte that differs, markers aside.
    pub at: usize,
    /// The length of the prefix that should have been repeated.
    pub length: usize,
    before: String,
    now: String,
}

impl fmt::Display for PrefixChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, length, before, now } = self;
        write!(
            f,
            "the prefix changes at byte {at} of {length}\n      before: {before}\n      now:    {now}"
        )
    }
}

/// A bit of text around an offset.
fn around(text: &[u8], at: usize) -> String {
    let end = text.len().min(at + 60);
    String::from_utf8_lossy(&text[at.saturating_sub(40).min(end)..end]).into_owned()
}

fn check_canaries(request: &RecordedRequest, canaries: &[String], problems: &mut Vec<String>) {
    let body = String::from_utf8_lossy(&request.body);
    for canary in canaries.iter().filter(|canary| !canary.is_empty()) {
        let quoted = Value::from(canary.as_str()).to_string();
        let escaped = quoted.trim_matches('"');
        if body.contains(canary) || body.contains(escaped) {
            problems.push(format!("the body contains the canary {canary:?}"));
        }
        if request.path.contains(canary) {
            problems.push(format!("the path contains the canary {canary:?}"));
        }
        for (name, value) in &request.headers {
            let is_key = matches!(name.as_str(), "x-api-key" | "authorization");
            if !is_key && value.contains(canary) {
                problems.push(format!("the header `{name}` contains the canary {canary:?}"));
            }
        }
    }
}

fn check_size(request: &RecordedRequest, window: Option<u64>, problems: &mut Vec<String>) {
    let tokens = (request.body.len() as u64).div_ceil(4).saturating_sub(request.left_out);
    if let Some(window) = window
        && tokens > window
    {
        problems.push(format!("about {tokens} tokens do not fit into a window of {window}"));
    }
}

fn check_anthropic_headers(request: &RecordedRequest, problems: &mut Vec<String>) {
    let count = |wanted: &str| request.headers.iter().filter(|(name, _)| name == wanted).count();
    if count("anthropic-version") != 1 {
        problems.push("not one header `anthropic-version`".into());
    }
    let keys = count("x-api-key") + count("authorization");
    if keys != 1 {
        problems.push(format!("{keys} headers of `x-api-key` and `authorization`, not one"));
    }
    let betas = request.header("anthropic-beta").unwrap_or_default();
    if request.raw_field("context_management").is_some() && !betas.contains("context-management-") {
        problems.push("`context_management` without its `anthropic-beta` header".into());
    }
    let has_summaries = request.raw_field("compaction").is_some()
        || request.raw_messages().iter().any(|message| message.contains(r#""type":"compaction""#));
    if has_summaries && !betas.contains("compact-2026-09-04") {
        problems.push("a summary by the server without its `anthropic-beta` header".into());
    }
    if has_summaries && request.raw_field("context_management").is_some() {
        problems.push("`compaction` together with `context_management`".into());
    }
}

fn check_shape(request: &RecordedRequest, body: &Value, problems: &mut Vec<String>) {
    let members = scan::members(&request.body, scan::after_space(&request.body, 0));
    let mut members = members.unwrap_or_default();
    // A request for a summary has its field behind the messages: what is before it is in the server's cache.
    members.retain(|member| !scan::is_key(&request.body, member, "compaction"));
    let last = members.pop();
    if last.is_none_or(|member| !scan::is_key(&request.body, &member, "messages")) {
        problems.push("`messages` is not the last key of the body".into());
    }
    if body["stream"] != true {
        problems.push("`stream` is not true".into());
    }
    if body["messages"].as_array().is_none_or(Vec::is_empty) {
        problems.push("there are no messages".into());
    }
}

/// The blocks of a content; none for plain text.
#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;
