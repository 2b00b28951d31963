//! The messages of a conversation, in order, with the pairing rules built in: a push that would part
//! a call from its result is refused, so no later step has to check.

use std::sync::Arc;

use dormouse_base::MessageId;
use thiserror::Error;

use crate::block::{Block, ToolUseId};
use crate::message::{Message, Role};
use crate::pairing::{PairingRepair, repair_pairing};

/// A push that would break the rules.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MessageHistoryError {
    /// Nothing in it.
    #[error("a message without content cannot be added")]
    Empty,
    /// The calls before it are not answered by it, one by one and in front.
    #[error(
        "the message must begin with the results of {open:?}, and begins with those of {answered:?}"
    )]
    Unpaired {
        /// Calls that wait for a result.
        open: Vec<ToolUseId>,
        /// What the message answers.
        answered: Vec<ToolUseId>,
    },
}

/// The messages so far.
#[derive(Debug, Clone, Default)]
pub struct MessageHistory {
    messages: Vec<Arc<Message>>,
}

impl MessageHistory {
    /// A history from any list of messages, repaired where needed.
    pub fn repaired(
        messages: Vec<Message>,
        make_results: impl FnMut(Vec<Block>) -> Message,
    ) -> (Self, Vec<PairingRepair>) {
        let (messages, repairs) = repair_pairing(messages, make_results);
        let mut history = Self { messages: Vec::with_capacity(messages.len()) };
        for message in messages {
            history.link(message);
        }
        (history, repairs)
    }

    /// A history of messages that are paired already: what a compaction leaves.
    pub fn from_messages(messages: Vec<Message>) -> Result<Self, MessageHistoryError> {
        let mut history = Self { messages: Vec::with_capacity(messages.len()) };
        for message in messages {
            history.push(message)?;
        }
        Ok(history)
    }

    /// Adds a message, behind the last.
    pub fn push(&mut self, message: Message) -> Result<Arc<Message>, MessageHistoryError> {
        if message.blocks.is_empty() {
            return Err(MessageHistoryError::Empty);
        }
        let open = self.open_calls();
        let leading: Vec<ToolUseId> = message.tool_results().cloned().collect();
        let in_front = message.tool_results().count()
            == message
                .blocks
                .iter()
                .take_while(|block| matches!(block.kind(), crate::BlockKind::ToolResult { .. }))
                .count();
        if leading != open || !in_front {
            return Err(MessageHistoryError::Unpaired { open, answered: leading });
        }
        Ok(self.link(message))
    }

    fn link(&mut self, mut message: Message) -> Arc<Message> {
        message.parent = self.last().map(|last| last.id);
        let message = Arc::new(message);
        self.messages.push(Arc::clone(&message));
        message
    }

    /// The calls of the last message: they wait for their results.
    pub fn open_calls(&self) -> Vec<ToolUseId> {
        self.last().map(|last| last.tool_calls().cloned().collect()).unwrap_or_default()
    }

    /// The last message.
    pub fn last(&self) -> Option<&Message> {
        self.messages.last().map(AsRef::as_ref)
    }

    /// Whose word the last message is.
    pub fn last_role(&self) -> Option<Role> {
        self.last().map(|last| last.role)
    }

    /// The id of the last message.
    pub fn last_id(&self) -> Option<MessageId> {
        self.last().map(|last| last.id)
    }

    /// All of them.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }
}
