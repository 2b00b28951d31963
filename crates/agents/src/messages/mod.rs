//! Messages between agents: within this process, to other processes by mailbox, to other sessions by socket.
//!
//! A [`SentMessage`] has a [`MessageContent`] and comes from an [`AgentName`]. [`MessageSender`] delivers it to an
//! [`Address`]: into a queue of the [`MessageRouter`], a mailbox ([`Mailboxes`]), or over a socket into the mailbox of the
//! listening session.
//!
//! Invariants: a mailbox only grows, by whole lines. A message is delivered when the receiver's transcript contains its
//! id; there is no other cursor. An accepted message is on disk.

mod address;
mod content;
mod incoming;
mod mailbox;
mod message;
mod requests;
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
pub(crate) use incoming::incoming_message;
pub use mailbox::{MailboxError, MailboxLine, MailboxReader, MailboxReceipt, Mailboxes};
pub use message::{
    MAX_LINE_BYTES, MessageLineError, OutgoingMessage, SenderReachability, SentMessage,
};
pub use requests::OpenRequests;
pub(crate) use requests::ResponseStanding;
pub use router::{AgentMessageQueue, MessageRouter, NameTakenError};
pub use sender::{MessageSender, SendError, SendOutcome};
pub use socket::{SessionSocket, SocketError, SocketFolder, send_to_socket};
pub use tool::{SEND_MESSAGE, SendMessage, ShutdownAgreement};
