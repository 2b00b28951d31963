//! The lines of a transcript as JSON.

use std::borrow::Cow;
use std::fmt;

use dormouse_base::{AgentId, MessageId, SessionId};
use jiff::Timestamp;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;

use super::boundary::CompactionBoundary;
use super::compaction_record::CompactionRecord;
use super::record_kind::RecordKind;
use super::rewound::RewindMark;
use crate::block::{Block, BlockError};
use crate::facts::EnvironmentFacts;
use crate::message::{MessageFlags, Response, Role, StopReason};
use crate::prefix::{Prefix, PrefixOrigin};
use crate::recall_reason::RecallReason;
use crate::skill::UsedSkill;
use crate::usage::Usage;

/// The kind of a line with the blocks that are sent for stored results.
pub(super) const STORED: &str = RecordKind::StoredResult.name();
/// The kind of a line that lists messages whose thinking is no longer sent.
pub(super) const THINKING_DROPPED: &str = RecordKind::ThinkingDropped.name();
/// The kind of a line about what the server cleared by itself before it answered.
pub(super) const SERVER_CLEARING: &str = RecordKind::ServerClearing.name();
/// The kind of a line that withdraws the lines of a message.
pub(super) const WITHDRAWN: &str = RecordKind::Withdrawn.name();

/// A line to write. The order of the fields is the order in the file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the flags of the format")]
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
    #[serde(flatten)]
    pub(super) body: LineBody<'a>,
}

/// The part of a line that depends on its kind.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum LineBody<'a> {
    /// Nothing more.
    Empty {},
    /// Blocks of a message.
    Message {
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<&'a str>,
        message: MessageOut<'a>,
        /// The exact text of the blocks, if newlines keep it from being in `message`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        raw_content: Vec<&'a str>,
        /// Ids of the incoming messages that the line delivers.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        delivers: &'a [String],
        /// Why the memories in these blocks were recalled.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        recalled: &'a [RecallReason],
    },
    /// A skill that was used.
    Skill { skill: &'a UsedSkill },
    /// A new prefix.
    Prefix { prefix: &'a Prefix, origin: &'a PrefixOrigin },
    /// Environment facts that were announced.
    Facts { facts: &'a EnvironmentFacts },
    /// The text of a line that a crash cut off.
    Torn { text: &'a str },
    /// A compaction.
    Boundary {
        prefix: &'a Prefix,
        origin: &'a PrefixOrigin,
        subtype: &'a str,
        content: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        logical_parent_uuid: Option<MessageId>,
        compact_metadata: &'a CompactionBoundary,
    },
    /// The oldest messages were dropped.
    Snip { subtype: &'a str, compact_metadata: &'a CompactionBoundary },
    /// What compaction remembers.
    Compaction { compaction_record: CompactionRecord },
    /// The user went back to an earlier message.
    Rewind { rewind: RewindMark },
    /// Tokens that the server left out by itself when it answered with a message.
    ServerClearing { cleared_tokens: u64 },
    /// Messages whose thinking is no longer sent.
    ThinkingDropped {
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        messages: &'a [MessageId],
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The message of a line, in the form of the Anthropic API.
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

/// Why a line cannot be used.
#[derive(Debug, Error)]
pub(super) enum TranscriptLineError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Utf8(#[from] std::str::Utf8Error),
    #[error(transparent)]
    Block(#[from] BlockError),
    #[error("a message without a `uuid`")]
    NoUuid,
    #[error("a `uuid` that is not a UUID")]
    InvalidUuid,
    #[error("a message without a readable `timestamp`")]
    NoTimestamp,
    #[error("`usage` cannot be read: {0}")]
    Usage(serde_json::Error),
    #[error("a compaction that cannot be read: {0}")]
    Compaction(serde_json::Error),
}

/// A line that was read: ours or another agent's. Everything may be missing.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the flags of the format")]
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
    #[serde(default)]
    pub(super) compaction_record: Option<CompactionRecord>,
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
    #[serde(default)]
    pub(super) cleared_tokens: Option<f64>,
    #[serde(borrow, default)]
    pub(super) recalled: Option<&'a RawValue>,
}

impl LineIn<'_> {
    /// Why memories were recalled. A form that this version does not know is no reason to lose the message.
    pub(super) fn recalled(&self) -> Vec<RecallReason> {
        let reasons = self.recalled.map(|raw| serde_json::from_str(raw.get()));
        reasons.and_then(Result::ok).unwrap_or_default()
    }

    pub(super) fn flags(&self) -> MessageFlags {
        MessageFlags {
            meta: self.is_meta,
            side_chain: self.is_sidechain,
            compact_summary: self.is_compact_summary,
            attachment: self.is_attachment,
        }
    }

    pub(super) fn time(&self) -> Result<Timestamp, TranscriptLineError> {
        self.timestamp
            .as_deref()
            .and_then(|text| text.parse().ok())
            .ok_or(TranscriptLineError::NoTimestamp)
    }

    /// The id of the message that the line is part of.
    pub(super) fn message_id(&self) -> Result<MessageId, TranscriptLineError> {
        self.message_uuid
            .as_deref()
            .or(self.uuid.as_deref())
            .ok_or(TranscriptLineError::NoUuid)?
            .parse()
            .map_err(|_| TranscriptLineError::InvalidUuid)
    }

    /// The metadata that the server sent with the message.
    pub(super) fn response(
        &self,
        message: &MessageIn<'_>,
    ) -> Result<Response, TranscriptLineError> {
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
    #[serde(borrow, default)]
    context_management: Option<&'a RawValue>,
}

impl MessageIn<'_> {
    /// The token counts; zero if missing.
    pub(super) fn usage(&self) -> Result<Usage, TranscriptLineError> {
        self.usage
            .map_or(Ok(Usage::default()), |raw| serde_json::from_str(raw.get()))
            .map_err(TranscriptLineError::Usage)
    }

    /// Tokens that the server left out by itself, as other agents write it; none if it did not.
    pub(super) fn cleared_tokens(&self) -> Option<u64> {
        #[derive(Deserialize)]
        struct Managed {
            applied_edits: Vec<AppliedEdit>,
        }
        #[derive(Deserialize)]
        struct AppliedEdit {
            cleared_input_tokens: Option<f64>,
        }
        // Another shape says nothing about this.
        let managed: Managed = serde_json::from_str(self.context_management?.get()).ok()?;
        let tokens =
            managed.applied_edits.iter().map(|edit| Usage::tokens(edit.cleared_input_tokens));
        Some(tokens.fold(0, u64::saturating_add)).filter(|tokens| *tokens > 0)
    }

    /// Whether the request wrote to the cache with a time to live of one hour.
    pub(super) fn has_one_hour_cache(&self) -> bool {
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
        // Another shape of the counts has no information about this.
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

/// A timestamp with milliseconds and `Z`, as other agents write it.
pub(super) fn format_timestamp(timestamp: Timestamp) -> String {
    timestamp.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
