//! What the lines of a transcript share, and what the lines of one message share.

use dormouse_base::MessageId;

use crate::message::{Message, MessageFlags, Response, Role};
use crate::recall_reason::RecallReason;

/// The fields that every line shares.
#[derive(Debug, Clone)]
pub struct LineEnvelope {
    /// The working directory.
    pub folder: String,
    /// The program's version.
    pub version: String,
    /// The git branch, if there is one.
    pub git_branch: String,
}

/// The message that the blocks of a line belong to.
#[derive(Debug, Clone, Copy)]
pub struct MessageHeader<'a> {
    /// The id of the message.
    pub message: MessageId,
    /// The role of the message.
    pub role: Role,
    /// The flags of the message.
    pub flags: MessageFlags,
    /// For the model's blocks: the response metadata so far.
    pub response: Option<&'a Response>,
}

/// What a line says about its blocks that the model does not see.
#[derive(Debug, Clone, Copy, Default)]
pub struct LineNotes<'a> {
    /// Ids of the incoming messages that the line delivers: their senders see from it that they have arrived.
    pub delivers: &'a [String],
    /// Why the memories in the blocks were recalled.
    pub recalled: &'a [RecallReason],
}

impl<'a> MessageHeader<'a> {
    /// The header of a complete message.
    pub fn of(message: &'a Message) -> Self {
        Self {
            message: message.id,
            role: message.role,
            flags: message.flags,
            response: message.response.as_ref(),
        }
    }
}
