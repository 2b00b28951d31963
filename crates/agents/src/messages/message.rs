//! A message as it stands in a mailbox: one line of JSON.

use dormouse_base::MessageId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Address, AgentName, MessageContent};

/// The most bytes of a line: the longest text, with every letter of it escaped, and the rest.
pub const MOST_LINE_BYTES: usize = 256 * 1024;

/// Whether an answer finds the sender of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SenderReachability {
    /// By its name, or by what the message says.
    #[default]
    Answerable,
    /// It has neither mailbox nor socket, such as a command that is over.
    Nobody,
}

impl SenderReachability {
    // The shape that `skip_serializing_if` asks for.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    fn is_answerable(&self) -> bool {
        *self == Self::Answerable
    }
}

/// A message that is not posted yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutgoingMessage {
    /// Who sends it.
    pub from: AgentName,
    /// Where an answer reaches the sender, if its name alone does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<Address>,
    /// Whether an answer reaches the sender at all.
    #[serde(default, skip_serializing_if = "SenderReachability::is_answerable")]
    pub reach: SenderReachability,
    /// What it says.
    #[serde(flatten)]
    pub content: MessageContent,
}

/// A message that was posted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentMessage {
    /// What it is known by in the receiver's transcript.
    pub id: MessageId,
    /// Its number in the mailbox.
    pub seq: u64,
    /// When it was posted.
    pub at: Timestamp,
    /// The rest.
    #[serde(flatten)]
    pub draft: OutgoingMessage,
}

/// Why a line is no message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MessageLineError {
    /// More than any message has.
    #[error("the line has {0} bytes; at most {MOST_LINE_BYTES} are allowed")]
    TooLong(usize),
    /// Not JSON, or not of a message.
    #[error("the line is no message: {0}")]
    NoMessage(String),
}

impl SentMessage {
    /// Reads a line, without its end.
    pub fn read(line: &[u8]) -> Result<Self, MessageLineError> {
        read_line(line)
    }

    /// The line, without its end.
    pub fn line(&self) -> Result<Vec<u8>, MessageLineError> {
        write_line(self)
    }
}

impl OutgoingMessage {
    /// Reads a line, without its end.
    pub fn read(line: &[u8]) -> Result<Self, MessageLineError> {
        read_line(line)
    }

    /// The line, without its end.
    pub fn line(&self) -> Result<Vec<u8>, MessageLineError> {
        write_line(self)
    }
}

fn read_line<T: for<'a> Deserialize<'a>>(line: &[u8]) -> Result<T, MessageLineError> {
    if line.len() > MOST_LINE_BYTES {
        return Err(MessageLineError::TooLong(line.len()));
    }
    serde_json::from_slice(line).map_err(|error| MessageLineError::NoMessage(error.to_string()))
}

fn write_line(value: &impl Serialize) -> Result<Vec<u8>, MessageLineError> {
    let line = serde_json::to_vec(value)
        .map_err(|error| MessageLineError::NoMessage(error.to_string()))?;
    if line.len() > MOST_LINE_BYTES { Err(MessageLineError::TooLong(line.len())) } else { Ok(line) }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
