//! Delivery of a message to its address.

use std::fmt;
use std::path::PathBuf;

use dormouse_base::MessageId;
use thiserror::Error;

use super::{
    Address, AgentName, MailboxError, MailboxReceipt, Mailboxes, MessageContent, MessageRouter,
    OutgoingMessage, SenderReachability, SocketError, send_to_socket,
};

/// Sends the messages of one agent.
#[derive(Clone)]
pub struct MessageSender {
    /// The sender.
    pub from: AgentName,
    /// The sender's address for replies from outside the project.
    pub reply_to: Option<Address>,
    /// The agents of this process.
    pub router: MessageRouter,
    /// The agents of other processes.
    pub mailboxes: Mailboxes,
}

/// A message that could not be sent.
#[derive(Debug, Error)]
pub enum SendError {
    /// The address is the sender.
    #[error("`{0}` is your own name; write to another agent")]
    OwnName(AgentName),
    /// `*` without other agents.
    #[error("there is no other agent in this process; write to one by its name")]
    Nobody,
    /// The mailbox failed.
    #[error(transparent)]
    Mailbox(#[from] MailboxError),
    /// The socket failed.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The program is shutting down.
    #[error("the program is shutting down; nothing was sent")]
    Ending,
}

/// The destination of a sent message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// To agents of this process.
    Here(Vec<AgentName>),
    /// Into a mailbox.
    Mailbox(AgentName, MailboxReceipt),
    /// Into the mailbox of a session, by its socket.
    Socket(PathBuf, MessageId),
}

impl MessageSender {
    /// Sends a message. On success it will be delivered, unless the receiving agent ends first.
    pub async fn send(
        &self,
        to: &Address,
        content: MessageContent,
    ) -> Result<SendOutcome, SendError> {
        let reach = SenderReachability::Answerable;
        let draft = OutgoingMessage { from: self.from.clone(), reply_to: None, reach, content };
        match to {
            Address::All => {
                let names = self.router.send_to_all(&draft);
                if names.is_empty() { Err(SendError::Nobody) } else { Ok(SendOutcome::Here(names)) }
            }
            Address::Agent(name) if *name == self.from => Err(SendError::OwnName(name.clone())),
            Address::Agent(name) => match self.router.send(name, draft.clone()) {
                Some(_) => Ok(SendOutcome::Here(vec![name.clone()])),
                None => self.post(name.clone(), draft).await,
            },
            Address::Socket(path) => {
                let reply_to = self.reply_to.clone();
                let reach = if reply_to.is_some() {
                    SenderReachability::Answerable
                } else {
                    SenderReachability::Unreachable
                };
                let draft = OutgoingMessage { reply_to, reach, ..draft };
                Ok(SendOutcome::Socket(path.clone(), send_to_socket(path, &draft).await?))
            }
        }
    }

    /// Writes to a mailbox on a blocking thread: it may wait for a lock.
    async fn post(&self, to: AgentName, draft: OutgoingMessage) -> Result<SendOutcome, SendError> {
        let (boxes, name) = (self.mailboxes.clone(), to.clone());
        let post = move || {
            // Another process can reply only to a mailbox.
            let reach = if boxes.exists(&draft.from)? {
                SenderReachability::Answerable
            } else {
                SenderReachability::Unreachable
            };
            boxes.post(&name, OutgoingMessage { reach, ..draft })
        };
        let posted = tokio::task::spawn_blocking(post).await;
        match posted {
            Ok(posted) => Ok(SendOutcome::Mailbox(to, posted?)),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(SendError::Ending),
        }
    }
}

impl fmt::Display for SendOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(names) => {
                let names: Vec<&str> = names.iter().map(AgentName::as_str).collect();
                write!(f, "sent to {}", names.join(", "))
            }
            Self::Mailbox(name, posted) => {
                write!(f, "sent to the mailbox of {name} as number {}", posted.seq)?;
                match posted.discarded_bytes {
                    Some(bytes) => write!(
                        f,
                        "; removed {bytes} bytes of an incomplete line left by another sender"
                    ),
                    None => Ok(()),
                }
            }
            Self::Socket(path, id) => write!(f, "accepted at uds:{} as {id}", path.display()),
        }
    }
}
