//! A message: blocks with an author, a place in the conversation, and what the program knows of it.

use dormouse_base::MessageId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::block::{Block, BlockKind, ToolUseId};
use crate::usage::Usage;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user, a tool, or the program on their behalf.
    User,
    /// The model.
    Assistant,
}

/// What the program notes about a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent marks, each a field of the transcript"
)]
pub struct MessageFlags {
    /// Injected by the program, not typed by the user.
    pub meta: bool,
    /// Part of a subagent's conversation.
    pub side_chain: bool,
    /// The summary that stands for what was compacted.
    pub compact_summary: bool,
    /// An attachment: a file or a memory added to the conversation.
    pub attachment: bool,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It was done.
    EndTurn,
    /// It wants tools to run.
    ToolUse,
    /// The answer reached its token limit.
    MaxTokens,
    /// A stop sequence.
    StopSequence,
    /// The server asks to send the response back and go on.
    PauseTurn,
    /// The model declined.
    Refusal,
    /// The window is full.
    ContextWindowExceeded,
    /// Something newer than this program.
    Other(String),
}

impl StopReason {
    /// From the wire; OpenAI's words are understood as well.
    pub fn from_wire(text: &str) -> Self {
        match text {
            "end_turn" | "stop" => Self::EndTurn,
            "tool_use" | "tool_calls" | "function_call" => Self::ToolUse,
            "max_tokens" | "length" => Self::MaxTokens,
            "stop_sequence" => Self::StopSequence,
            "pause_turn" => Self::PauseTurn,
            "refusal" | "content_filter" => Self::Refusal,
            "model_context_window_exceeded" => Self::ContextWindowExceeded,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The word for the transcript.
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::ContextWindowExceeded => "model_context_window_exceeded",
            Self::Other(other) => other,
        }
    }
}

/// What the server said about a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The server's id of the message.
    pub id: String,
    /// The model that answered, as it calls itself.
    pub model: String,
    /// Why it stopped; none if the stream broke.
    pub stop_reason: Option<StopReason>,
    /// What it cost.
    pub usage: Usage,
    /// The server's id of the request.
    pub request_id: Option<String>,
}

/// The model name of answers that the program wrote itself, as other agents name them too.
pub(crate) const SYNTHETIC_MODEL: &str = "<synthetic>";

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// The message before it.
    pub parent: Option<MessageId>,
    /// When it came.
    pub timestamp: Timestamp,
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub blocks: Vec<Block>,
    /// What the program notes.
    pub flags: MessageFlags,
    /// For the model's messages: what the server said about it.
    pub response: Option<Response>,
}

impl Message {
    /// A message of the user, or of the program on their behalf.
    pub fn user(
        id: MessageId,
        timestamp: Timestamp,
        blocks: Vec<Block>,
        flags: MessageFlags,
    ) -> Self {
        Self { id, parent: None, timestamp, role: Role::User, blocks, flags, response: None }
    }

    /// A message of the model.
    pub fn assistant(
        id: MessageId,
        timestamp: Timestamp,
        blocks: Vec<Block>,
        response: Response,
    ) -> Self {
        let flags = MessageFlags::default();
        Self {
            id,
            parent: None,
            timestamp,
            role: Role::Assistant,
            blocks,
            flags,
            response: Some(response),
        }
    }

    /// An answer the program writes in the model's place, where none came: roles must alternate.
    pub fn synthetic_response(id: MessageId, timestamp: Timestamp, text: &str) -> Self {
        let response = Response {
            id: format!("msg_{id}"),
            model: SYNTHETIC_MODEL.to_owned(),
            stop_reason: None,
            usage: Usage::default(),
            request_id: None,
        };
        let flags = MessageFlags { meta: true, ..MessageFlags::default() };
        Self { flags, ..Self::assistant(id, timestamp, vec![Block::text(text)], response) }
    }

    /// Whether the program wrote it in the model's place.
    pub fn is_synthetic(&self) -> bool {
        self.response.as_ref().is_some_and(|response| response.model == SYNTHETIC_MODEL)
    }

    /// Whether the model stopped for this reason.
    pub fn stopped_by(&self, reason: &StopReason) -> bool {
        self.response.as_ref().is_some_and(|response| response.stop_reason.as_ref() == Some(reason))
    }

    /// The ids of the tool calls in it, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolUseId> {
        self.blocks.iter().filter_map(|block| match block.kind() {
            BlockKind::ToolUse { id, .. } => Some(id),
            BlockKind::Text
            | BlockKind::Thinking
            | BlockKind::RedactedThinking
            | BlockKind::ToolResult { .. }
            | BlockKind::Image
            | BlockKind::Document
            | BlockKind::Other(_) => None,
        })
    }

    /// The ids of the tool results in it, in order.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolUseId> {
        self.blocks.iter().filter_map(|block| match block.kind() {
            BlockKind::ToolResult { id } => Some(id),
            BlockKind::Text
            | BlockKind::Thinking
            | BlockKind::RedactedThinking
            | BlockKind::ToolUse { .. }
            | BlockKind::Image
            | BlockKind::Document
            | BlockKind::Other(_) => None,
        })
    }

    /// All its text, block by block.
    pub fn text(&self) -> String {
        let texts: Vec<String> = self.blocks.iter().filter_map(Block::as_text).collect();
        texts.join("\n")
    }

    /// The tokens it takes, estimated.
    pub fn tokens(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.tokens())).sum()
    }
}
