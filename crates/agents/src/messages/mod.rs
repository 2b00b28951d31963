//! Messages between agents: in this process, by mailbox to another, by socket to another session.
//!
//! A [`Message`] is one of few [`Content`]s and comes from an [`AgentName`]. Where it goes is an [`Address`];
//! [`Routes`] takes it there: into a room of the [`PostOffice`], a line of a mailbox ([`Mailboxes`]), or over a
//! socket into the mailbox of whoever listens.
//!
//! Invariants: a mailbox only grows, by whole lines. A message is delivered when its id stands in the receiver's
//! transcript; that is the cursor, and there is no other. What was accepted is on the disk.

mod address;
mod content;
mod mailbox;
mod message;
mod office;
mod routes;
mod socket;
mod told;
mod tool;

#[cfg(test)]
mod test_support;

pub use address::{Address, AddressError, AgentName, NameError};
pub use content::{Answer, Content, ContentError, RequestId, Response, Summary, Words};
pub use mailbox::{MailboxError, MailboxLine, MailboxReader, Mailboxes, Posted};
pub use message::{Draft, LineError, MOST_LINE_BYTES, Message, Reach};
pub use office::{NameTaken, PostOffice, Room};
pub use routes::{Routes, SendError, Sent};
pub use socket::{SessionSocket, SocketError, SocketFolder, send_to_socket};
pub use tool::{Leaving, SEND_MESSAGE, SendMessage};
