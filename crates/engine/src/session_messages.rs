//! Messages that come to a session from outside while it runs: results of subagents, messages of other sessions. They
//! are delivered with the next tool results, in front of the next prompt, or when the model would stop.
//!
//! Invariant: a message and its id are one line of the transcript. So the sender sees there whether it was delivered,
//! and a crash neither loses it nor delivers it twice.

use dormouse_conversation::Block;
use futures_util::future::{BoxFuture, ready};

use crate::notice::EngineNotice;

/// Brings messages to a session.
pub trait IncomingMessageSource: Send + Sync {
    /// The messages since the last call, in order.
    fn take(&self) -> Vec<IncomingMessage>;

    /// Waits for a message as long as one is under way; returns at once where none is.
    fn under_way(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }
}

/// A message from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct IncomingMessage {
    /// The id by which its sender knows it.
    pub id: String,
    /// What the model reads.
    pub block: Block,
    /// What the user sees, in one line; none if they have seen it.
    pub shown: Option<EngineNotice>,
}

/// Messages that have come and are not delivered yet.
#[derive(Debug, Default)]
pub(crate) struct IncomingQueue {
    waiting: Vec<IncomingMessage>,
    /// Those of a message that is not complete yet.
    unconfirmed: Vec<IncomingMessage>,
}

impl IncomingQueue {
    pub(crate) fn add(&mut self, messages: Vec<IncomingMessage>) {
        self.waiting.extend(messages);
    }

    /// Takes all for delivery. They count as delivered when [`IncomingQueue::confirm`] is called.
    pub(crate) fn take(&mut self) -> Vec<IncomingMessage> {
        let taken = std::mem::take(&mut self.waiting);
        self.unconfirmed.extend(taken.iter().cloned());
        taken
    }

    /// The message that carried them is part of the conversation.
    pub(crate) fn confirm(&mut self) {
        self.unconfirmed.clear();
    }

    /// The message that carried them was withdrawn: they are delivered again.
    pub(crate) fn requeue(&mut self) {
        self.waiting.splice(..0, std::mem::take(&mut self.unconfirmed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str) -> IncomingMessage {
        IncomingMessage { id: id.into(), block: Block::text(id), shown: None }
    }

    fn ids(messages: &[IncomingMessage]) -> Vec<&str> {
        messages.iter().map(|message| message.id.as_str()).collect()
    }

    #[test]
    fn a_withdrawn_delivery_is_made_again_in_order() {
        let mut queue = IncomingQueue::default();
        queue.add(vec![message("a"), message("b")]);
        assert_eq!(ids(&queue.take()), ["a", "b"]);
        queue.add(vec![message("c")]);
        queue.requeue();
        assert_eq!(ids(&queue.take()), ["a", "b", "c"]);
        queue.confirm();
        queue.requeue();
        assert!(queue.take().is_empty());
    }
}
