//! The JSON line format of messages in a mailbox.

use dormouse_base::MessageId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Address, AgentName, MessageContent};

/// The maximum size of a line: the longest text with every character escaped, and the other fields.
pub const MAX_LINE_BYTES: usize = 256 * 1024;

/// Whether a reply can reach the sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SenderReachability {
    /// By its name or `reply_to`.
    #[default]
    Answerable,
    /// The sender has neither mailbox nor socket, such as a finished command.
    #[serde(rename = "nobody")]
    Unreachable,
}

impl SenderReachability {
    // The shape that `skip_serializing_if` asks for.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    fn is_answerable(&self) -> bool {
        *self == Self::Answerable
    }
}

/// A message without id and number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutgoingMessage {
    /// The sender.
    pub from: AgentName,
    /// The address for replies, if not the sender's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<Address>,
    /// Whether a reply can reach the sender.
    #[serde(default, skip_serializing_if = "SenderReachability::is_answerable")]
    pub reach: SenderReachability,
    /// The content.
    #[serde(flatten)]
    pub content: MessageContent,
}

/// A message in a mailbox or queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentMessage {
    /// Its id, recorded in the receiver's transcript on delivery.
    pub id: MessageId,
    /// Its number in the mailbox.
    pub seq: u64,
    /// The time it was sent.
    pub at: Timestamp,
    /// The message as the sender wrote it.
    #[serde(flatten)]
    pub draft: OutgoingMessage,
}

/// A line that is not a message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MessageLineError {
    /// Longer than any message.
    #[error("the line has {0} bytes; at most {MAX_LINE_BYTES} are allowed")]
    TooLong(usize),
    /// Not the JSON of a message.
    #[error("the line is not a message: {0}")]
    Invalid(String),
}

impl SentMessage {
    /// Parses a line without its line break.
    pub fn read(line: &[u8]) -> Result<Self, MessageLineError> {
        read_line(line)
    }

    /// Returns the line without its line break.
    pub fn line(&self) -> Result<Vec<u8>, MessageLineError> {
        write_line(self)
    }
}

impl OutgoingMessage {
    /// Parses a line without its line break.
    pub fn read(line: &[u8]) -> Result<Self, MessageLineError> {
        read_line(line)
    }

    /// Returns the line without its line break.
    pub fn line(&self) -> Result<Vec<u8>, MessageLineError> {
        write_line(self)
    }
}

fn read_line<T: for<'a> Deserialize<'a>>(line: &[u8]) -> Result<T, MessageLineError> {
    if line.len() > MAX_LINE_BYTES {
        return Err(MessageLineError::TooLong(line.len()));
    }
    serde_json::from_slice(line).map_err(|error| MessageLineError::Invalid(error.to_string()))
}

fn write_line(value: &impl Serialize) -> Result<Vec<u8>, MessageLineError> {
    let line =
        serde_json::to_vec(value).map_err(|error| MessageLineError::Invalid(error.to_string()))?;
    if line.len() > MAX_LINE_BYTES { Err(MessageLineError::TooLong(line.len())) } else { Ok(line) }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
