//! The compaction boundary: a transcript line that lists the messages the conversation consists of from
//! there on.
//!
//! The messages that a compaction adds follow the boundary. It takes effect only when all of them are in
//! the file; after a crash in between, the conversation is as it was before the compaction.

use dormouse_base::MessageId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::message::Message;
use crate::usage::Usage;

/// The subtype of the line; other agents use the same name.
pub(super) const BOUNDARY: &str = "compact_boundary";
/// The subtype of a line that drops the oldest messages.
pub(super) const SNIP: &str = "snip_boundary";
/// The text that transcript viewers show for a boundary.
pub(super) const BOUNDARY_TEXT: &str = "Conversation compacted";

/// What started a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactionTrigger {
    /// The window was filling up.
    Auto,
    /// The user asked for it.
    Manual,
}

/// The content of a boundary line. The first three keys are those that other agents write.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionBoundary {
    /// What started it.
    pub trigger: CompactionTrigger,
    /// Tokens before it.
    #[serde(default)]
    pub pre_tokens: u64,
    /// Tokens after it, estimated.
    #[serde(default)]
    pub post_tokens: u64,
    /// How the summary was made, such as `notes` or `model`.
    #[serde(default, rename = "way")]
    pub method: String,
    /// The last message that was compacted.
    #[serde(default)]
    pub last_message: Option<MessageId>,
    /// The messages that the conversation consists of from here on, in order. Those not in the file yet
    /// follow the boundary.
    #[serde(default)]
    pub view: Vec<MessageId>,
    /// What a layer took out of the conversation here, span by span.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<RemovedSpan>,
    /// The tools of the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// How much of the compacted messages the summary preserves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Box<RawValue>>,
}

/// Messages that a layer took out together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedSpan {
    /// Which, in order.
    pub messages: Vec<MessageId>,
    /// The tokens they took, estimated.
    pub tokens: u64,
}

/// A message kept by a compaction, without its token counts: they describe the context before it.
#[must_use]
pub fn without_usage(mut message: Message) -> Message {
    if let Some(response) = &mut message.response {
        response.usage = Usage::default();
    }
    message
}
