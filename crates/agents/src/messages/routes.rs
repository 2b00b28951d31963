//! Takes a message to where its address leads.

use std::fmt;
use std::path::PathBuf;

use dormouse_base::MessageId;
use thiserror::Error;

use super::{
    Address, AgentName, Content, Draft, MailboxError, Mailboxes, PostOffice, Posted, Reach,
    SocketError, send_to_socket,
};

/// The ways that are open to a sender.
#[derive(Clone)]
pub struct Routes {
    /// Who sends.
    pub from: AgentName,
    /// Where the sender is reached from outside the project, if anywhere.
    pub reply_to: Option<Address>,
    /// The agents of this process.
    pub office: PostOffice,
    /// Those of other processes.
    pub mailboxes: Mailboxes,
}

/// Why a message did not go.
#[derive(Debug, Error)]
pub enum SendError {
    /// Its own name.
    #[error("`{0}` is your own name; write to another agent")]
    Oneself(AgentName),
    /// `*`, with nobody else here.
    #[error("there is no other agent in this process; write to one by its name")]
    Nobody,
    /// The mailbox.
    #[error(transparent)]
    Mailbox(#[from] MailboxError),
    /// The socket.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The program is ending.
    #[error("the program is ending; nothing was sent")]
    Ending,
}

/// Where a message went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// To agents of this process.
    Here(Vec<AgentName>),
    /// Into a mailbox.
    Mailbox(AgentName, Posted),
    /// Into the mailbox of a session, by its socket.
    Socket(PathBuf, MessageId),
}

impl Routes {
    /// Sends it. What comes back as sent will be delivered, unless the agent it is for ends before.
    pub async fn send(&self, to: &Address, content: Content) -> Result<Sent, SendError> {
        let reach = Reach::Answerable;
        let draft = Draft { from: self.from.clone(), reply_to: None, reach, content };
        match to {
            Address::All => {
                let names = self.office.send_to_all(&draft);
                if names.is_empty() { Err(SendError::Nobody) } else { Ok(Sent::Here(names)) }
            }
            Address::Agent(name) if *name == self.from => Err(SendError::Oneself(name.clone())),
            Address::Agent(name) => match self.office.send(name, draft.clone()) {
                Some(_) => Ok(Sent::Here(vec![name.clone()])),
                None => self.post(name.clone(), draft).await,
            },
            Address::Socket(path) => {
                let reply_to = self.reply_to.clone();
                let reach = if reply_to.is_some() { Reach::Answerable } else { Reach::Nobody };
                let draft = Draft { reply_to, reach, ..draft };
                Ok(Sent::Socket(path.clone(), send_to_socket(path, &draft).await?))
            }
        }
    }

    /// Disk, and a lock that others may hold: on a thread of its own.
    async fn post(&self, to: AgentName, draft: Draft) -> Result<Sent, SendError> {
        let (boxes, name) = (self.mailboxes.clone(), to.clone());
        let post = move || {
            // Another process answers into a mailbox, or not at all.
            let reach = if boxes.exists(&draft.from)? { Reach::Answerable } else { Reach::Nobody };
            boxes.post(&name, Draft { reach, ..draft })
        };
        let posted = tokio::task::spawn_blocking(post).await;
        match posted {
            Ok(posted) => Ok(Sent::Mailbox(to, posted?)),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(SendError::Ending),
        }
    }
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(names) => {
                let names: Vec<&str> = names.iter().map(AgentName::as_str).collect();
                write!(f, "sent to {}", names.join(", "))
            }
            Self::Mailbox(name, posted) => {
                write!(f, "sent to the mailbox of {name} as number {}", posted.seq)?;
                match posted.mended {
                    Some(bytes) => write!(
                        f,
                        "; {bytes} bytes of a line that another sender could not finish were taken off it"
                    ),
                    None => Ok(()),
                }
            }
            Self::Socket(path, id) => write!(f, "accepted at uds:{} as {id}", path.display()),
        }
    }
}
