//! Wire formats, and the parameters of a request body that stay the same for a whole conversation.

use std::collections::BTreeMap;

use dormouse_conversation::{Prefix, Role, ServerTool, ToolDefinition};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::assemble::object_fields;
use crate::json_text::quoted;
use crate::thinking::ThinkingMode;

/// Which wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireFormat {
    /// The Anthropic Messages API.
    Anthropic,
    /// OpenAI-compatible chat completions.
    OpenAi,
}

/// How long the server keeps what a marker writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheTtl {
    /// Five minutes, which every server with markers knows.
    FiveMinutes,
    /// An hour.
    OneHour,
}

impl CacheTtl {
    pub(crate) fn marker(self) -> &'static str {
        match self {
            Self::FiveMinutes => r#","cache_control":{"type":"ephemeral"}"#,
            Self::OneHour => r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#,
        }
    }
}

/// What a body is written for: the parts that are the same in every request of a conversation.
#[derive(Debug, Clone)]
pub struct Dialect {
    /// The format.
    pub wire: WireFormat,
    /// How long cached prefixes live.
    pub ttl: CacheTtl,
    /// What the server calls the longest answer.
    pub max_tokens_field: MaxTokensField,
    /// The tools that the model knows by their type; others are described to it.
    pub server_tools: Vec<ServerTool>,
    /// What the server is to clear by itself; none where it is not asked to.
    pub clearing: Option<ServerClearing>,
    /// Whether the model is to think; as the server likes without.
    pub thinking: Option<ThinkingMode>,
    /// Whether the server writes summaries itself, and takes them back (C-28).
    pub server_summaries: bool,
    /// Whether messages are written as small models read them best.
    pub for_small_model: bool,
    /// Fields that the user, or what is known of the server, adds to every request.
    pub request_fields: BTreeMap<String, Value>,
}

impl Dialect {
    /// A server of which nothing but the format is known.
    pub fn new(wire: WireFormat, ttl: CacheTtl) -> Self {
        Self {
            wire,
            ttl,
            max_tokens_field: MaxTokensField::MaxTokens,
            server_tools: Vec::new(),
            clearing: None,
            thinking: None,
            server_summaries: false,
            for_small_model: false,
            request_fields: BTreeMap::new(),
        }
    }

    /// With these fields in every request. A server of local models gets a low temperature where they name none: small
    /// models make fewer mistakes in calls with it.
    #[must_use]
    pub fn with_request_fields(
        mut self,
        fields: BTreeMap<String, Value>,
        of_local_server: bool,
    ) -> Self {
        self.request_fields = fields;
        if of_local_server {
            self.request_fields
                .entry("temperature".to_owned())
                .or_insert_with(|| Value::from(LOCAL_TEMPERATURE));
        }
        self
    }
}

/// The temperature of local models where the user sets none.
const LOCAL_TEMPERATURE: f64 = 0.2;

/// What a server that manages the window is asked to clear by itself (C-9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerClearing {
    /// From so many tokens on.
    pub from_tokens: u32,
    /// At least so many at a time: each time its cache is lost from there on.
    pub at_least_tokens: u32,
    /// How many of the newest tool uses stay.
    pub keep_tool_uses: u32,
    /// How many of the newest turns keep their thinking; none: thinking is not spoken of.
    pub keep_thinking_turns: Option<u32>,
}

/// What a server has to be told in its `anthropic-beta` header to be asked for [`ServerClearing`].
pub const CLEARING_BETA: &str = "context-management-2025-06-27";

/// What a server has to be told in its `anthropic-beta` header to write summaries, and to take them back.
pub const COMPACTION_BETA: &str = "compact-2026-09-04";

/// OpenAI renamed the field; local servers know the old name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxTokensField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// A message, or several of one author, as the server sees them: one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireTurn {
    /// Who speaks.
    pub role: Role,
    /// How many blocks.
    pub blocks: usize,
    /// Where a cache marker goes: in front of the brace that closes the last block.
    pub(crate) marker_at: Option<usize>,
    /// Where it ends.
    pub(crate) end: usize,
}

impl WireTurn {
    /// The same, so many bytes further on.
    pub(crate) fn moved(self, by: usize) -> Self {
        Self { marker_at: self.marker_at.map(|at| at + by), end: self.end + by, ..self }
    }

    /// Whether a cache marker can be put at its end.
    pub fn can_be_marked(&self) -> bool {
        self.marker_at.is_some()
    }
}

/// The tools that a server is told of: one that only another server carries out is left out.
pub(crate) fn offered_tools<'p>(
    prefix: &'p Prefix,
    dialect: &Dialect,
) -> impl Iterator<Item = &'p ToolDefinition> {
    prefix.tools().iter().filter(|tool| {
        tool.server_tool
            .is_none_or(|kind| !kind.runs_at_server() || dialect.server_tools.contains(&kind))
    })
}

/// The object without its closing brace, and the list of messages begun.
pub(crate) fn open_messages(head: &impl Serialize, dialect: &Dialect) -> Vec<u8> {
    // Strings, numbers and raw JSON: there is nothing in a head that can fail to serialize.
    let mut bytes = serde_json::to_vec(head).unwrap_or_default();
    if !dialect.request_fields.is_empty() {
        bytes = with_fields(&bytes, &dialect.request_fields);
    }
    bytes.pop();
    bytes.extend_from_slice(br#","messages":["#);
    bytes
}

/// The object with these fields instead of those of the same name, behind the others.
fn with_fields(object: &[u8], fields: &BTreeMap<String, Value>) -> Vec<u8> {
    let own = serde_json::from_slice::<&RawValue>(object).ok().map(object_fields);
    let own = own.and_then(Result::ok).unwrap_or_default();
    let own = own.into_iter().filter(|(name, _)| !fields.contains_key(name));
    let added = fields.iter().map(|(name, value)| (name.clone(), value.to_string()));
    let all = own.chain(added).map(|(name, value)| format!("{}:{value}", quoted(&name)));
    format!("{{{}}}", all.collect::<Vec<_>>().join(",")).into_bytes()
}
