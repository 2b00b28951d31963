//! Messages between agents: in this process, by mailbox to another, by socket to another session.
//!
//! A [`SentMessage`] is one of few [`MessageContent`]s and comes from an [`AgentName`]. Where it goes is an [`Address`];
//! [`MessageSender`] takes it there: into a room of the [`MessageRouter`], a line of a mailbox ([`Mailboxes`]), or over a
//! socket into the mailbox of whoever listens.
//!
//! Invariants: a mailbox only grows, by whole lines. A message is delivered when its id stands in the receiver's
//! transcript; that is the cursor, and there is no other. What was accepted is on the disk.

mod address;
mod content;
mod incoming;
mod mailbox;
mod message;
mod router;
mod sender;
mod socket;
mod tool;

#[cfg(test)]
mod test_support;

pub use address::{Address, AddressError, AgentName, AgentNameError};
pub use content::{
    ApprovalDecision, ContentError, MessageContent, MessageSummary, MessageText, RequestId,
    RequestResponse,
};
pub use mailbox::{MailboxError, MailboxLine, MailboxReader, MailboxReceipt, Mailboxes};
pub use message::{
    MOST_LINE_BYTES, MessageLineError, OutgoingMessage, SenderReachability, SentMessage,
};
pub use router::{AgentMessageQueue, MessageRouter, NameTakenError};
pub use sender::{MessageSender, SendError, SendOutcome};
pub use socket::{SessionSocket, SocketError, SocketFolder, send_to_socket};
pub use tool::{SEND_MESSAGE, SendMessage, ShutdownAgreement};
