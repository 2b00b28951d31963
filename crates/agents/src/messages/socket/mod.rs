//! The socket of a session: another session of the same user sends one line and gets one back.
//!
//! `accepted` means that the message is in the session's mailbox, on disk. The folder is private, and both sides check the
//! user of the other with the kernel: other users are refused.

mod client;
mod folder;
mod listener;

use std::io;
use std::path::PathBuf;

use dormouse_base::{FileError, MessageId};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

pub use client::send_to_socket;
pub use folder::SocketFolder;
pub(crate) use folder::is_session_socket;
pub use listener::SessionSocket;

use super::MAX_LINE_BYTES;

/// Why a socket could not be used.
#[derive(Debug, Error)]
pub enum SocketError {
    /// No session listens there.
    #[error("no session listens at uds:{} ({source}); it may have ended", path.display())]
    NotListening {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The connection failed.
    #[error("the connection to uds:{} failed: {source}; the message may not have arrived", path.display())]
    Broken {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The socket belongs to another user.
    #[error("uds:{} belongs to the user with id {uid}; messages go only to sessions of the same user", path.display())]
    OtherUser {
        /// The socket.
        path: PathBuf,
        /// The user's id.
        uid: u32,
    },
    /// The session refused the message.
    #[error("the session at uds:{} refused the message: {why}", path.display())]
    Refused {
        /// The socket.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The path is too long.
    #[error("the path of the socket, {}, is longer than the system allows; set XDG_RUNTIME_DIR or DORMOUSE_HOME to a folder with a shorter path", .0.display())]
    TooLong(PathBuf),
    /// Other users can access the folder.
    #[error("the folder {} is not private to you ({why}); remove it, or make it yours with mode 700", path.display())]
    NotPrivate {
        /// The folder.
        path: PathBuf,
        /// The owner or mode.
        why: String,
    },
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The reply of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SocketReply {
    /// The message is in the mailbox.
    Accepted(MessageId),
    /// The message was refused, for this reason.
    Refused(String),
}

/// Reads one line, without the line break. A line that is too long or incomplete is an error.
async fn read_line(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let most = MAX_LINE_BYTES as u64 + 1;
    BufReader::new(stream.take(most)).read_until(b'\n', &mut line).await?;
    if line.pop() != Some(b'\n') {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the line is incomplete or too long",
        ));
    }
    Ok(line)
}

async fn write_line(stream: &mut UnixStream, line: &[u8]) -> io::Result<()> {
    stream.write_all(line).await?;
    stream.write_all(b"\n").await?;
    stream.flush().await
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests;
