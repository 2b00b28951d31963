//! The lines of a transcript, as they stand in the file.

use std::borrow::Cow;
use std::fmt;

use dormouse_base::{AgentId, MessageId, SessionId};
use jiff::Timestamp;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::boundary::CompactionBoundary;
use crate::{
    Block, EnvironmentFacts, MessageFlags, Prefix, PrefixOrigin, Response, Role, StopReason, Usage,
    UsedSkill,
};

/// The kind of line that says what is sent in place of results that were stored.
pub(super) const STORED: &str = "stored-result";
/// The kind of line that names messages whose thinking is not sent any more.
pub(super) const UNTHOUGHT: &str = "thinking-dropped";
/// The kind of line that takes back what was written of a message.
pub(super) const WITHDRAWN: &str = "withdrawn";

/// A line, as written. The order of the fields is the order in the file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the marks of the format")]
pub(super) struct LineOut<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'a str,
    pub(super) uuid: MessageId,
    pub(super) parent_uuid: Option<MessageId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message_uuid: Option<MessageId>,
    pub(super) session_id: SessionId,
    pub(super) timestamp: String,
    pub(super) cwd: &'a str,
    pub(super) version: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) git_branch: &'a str,
    pub(super) is_sidechain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent_id: Option<AgentId>,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) is_meta: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) is_compact_summary: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) is_attachment: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) skill: Option<&'a UsedSkill>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<MessageOut<'a>>,
    /// The blocks' exact text, where line ends keep it from standing in `message`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) raw_content: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prefix: Option<&'a Prefix>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<&'a PrefixOrigin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) facts: Option<&'a EnvironmentFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subtype: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logical_parent_uuid: Option<MessageId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) compact_metadata: Option<&'a CompactionBoundary>,
    /// Messages that the line is about.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) messages: &'a [MessageId],
    /// What came from outside and is told in this line.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) delivers: &'a [String],
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The message part of a line, in the form of the Anthropic API.
#[derive(Serialize)]
pub(super) struct MessageOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<&'a str>,
    pub(super) role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    pub(super) content: &'a [Block],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stop_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Usage>,
}

/// A line, as read: ours or another agent's. Everything may be missing.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the marks of the format")]
pub(super) struct LineIn<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) uuid: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) message_uuid: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) request_id: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) is_sidechain: bool,
    #[serde(default)]
    pub(super) is_meta: bool,
    #[serde(default)]
    pub(super) is_compact_summary: bool,
    #[serde(default)]
    pub(super) is_attachment: bool,
    #[serde(default)]
    pub(super) skill: Option<UsedSkill>,
    #[serde(borrow, default)]
    pub(super) message: Option<MessageIn<'a>>,
    #[serde(default)]
    pub(super) raw_content: Vec<String>,
    #[serde(borrow, default)]
    pub(super) prefix: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) origin: Option<PrefixOrigin>,
    #[serde(default)]
    pub(super) facts: Option<EnvironmentFacts>,
    #[serde(borrow, default)]
    pub(super) subtype: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) compact_metadata: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) messages: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) delivers: Vec<String>,
}

impl LineIn<'_> {
    pub(super) fn flags(&self) -> MessageFlags {
        MessageFlags {
            meta: self.is_meta,
            side_chain: self.is_sidechain,
            compact_summary: self.is_compact_summary,
            attachment: self.is_attachment,
        }
    }

    pub(super) fn time(&self) -> Result<Timestamp, String> {
        self.timestamp
            .as_deref()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| "a message without a readable `timestamp`".to_owned())
    }

    /// The id of the message that the line is part of.
    pub(super) fn message_id(&self) -> Result<MessageId, String> {
        self.message_uuid
            .as_deref()
            .or(self.uuid.as_deref())
            .ok_or("a message without a `uuid`")?
            .parse()
            .map_err(|_| "a `uuid` that is none".to_owned())
    }

    /// What the server said about the message.
    pub(super) fn response(&self, message: &MessageIn<'_>) -> Result<Response, String> {
        let text = |value: &Option<Cow<'_, str>>| value.as_deref().unwrap_or_default().to_owned();
        Ok(Response {
            id: text(&message.id),
            model: text(&message.model),
            stop_reason: message.stop_reason.as_deref().map(StopReason::from_wire),
            usage: message.usage()?,
            request_id: self.request_id.as_deref().map(str::to_owned),
        })
    }
}

#[derive(Deserialize)]
pub(super) struct MessageIn<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) role: Role,
    #[serde(borrow, default)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) content: LineContent,
    #[serde(borrow, default)]
    pub(super) stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

impl MessageIn<'_> {
    /// The counters; none that were told are zero.
    pub(super) fn usage(&self) -> Result<Usage, String> {
        self.usage
            .map_or(Ok(Usage::default()), |raw| serde_json::from_str(raw.get()))
            .map_err(|error| format!("`usage` can not be read: {error}"))
    }

    /// Whether what was written to the cache is kept for an hour there.
    pub(super) fn writes_for_an_hour(&self) -> bool {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Written {
            cache_creation: Option<ByTime>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct ByTime {
            ephemeral_1h_input_tokens: Option<f64>,
        }
        // Counters were read already: one of another shape says nothing.
        let written: Written =
            self.usage.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
        let hour = written.cache_creation.and_then(|by_time| by_time.ephemeral_1h_input_tokens);
        hour.is_some_and(|tokens| tokens > 0.0)
    }
}

/// A message's content: a string is one text block.
#[derive(Default)]
pub(super) struct LineContent(pub(super) Vec<Block>);

impl<'de> Deserialize<'de> for LineContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;
        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = LineContent;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of content blocks")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<LineContent, E> {
                Ok(LineContent(vec![Block::text(text)]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<LineContent, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = list.next_element()? {
                    blocks.push(block);
                }
                Ok(LineContent(blocks))
            }
        }
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// Milliseconds and a `Z`, as other agents write it.
pub(super) fn format_timestamp(timestamp: Timestamp) -> String {
    timestamp.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
