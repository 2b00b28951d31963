//! A session's socket: another session of the same user says one line, and gets one back.
//!
//! `accepted` means that the message is in the session's mailbox, on the disk. The folder is private, and whoever
//! connects is asked by the kernel who they are: another user is refused, from either side.

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
        /// What the system answered.
        source: io::Error,
    },
    /// It broke off.
    #[error("the connection to uds:{} failed: {source}; the message may not have arrived", path.display())]
    Broken {
        /// The socket.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// It is another user's.
    #[error("uds:{} belongs to the user with id {uid}; messages go only to sessions of the same user", path.display())]
    OtherUser {
        /// The socket.
        path: PathBuf,
        /// Whose.
        uid: u32,
    },
    /// It would not take the message.
    #[error("the session at uds:{} refused the message: {why}", path.display())]
    Refused {
        /// The socket.
        path: PathBuf,
        /// Its words.
        why: String,
    },
    /// The system has a limit on these.
    #[error("the path of the socket, {}, is longer than the system allows; set XDG_RUNTIME_DIR or DORMOUSE_HOME to a folder with a shorter path", .0.display())]
    TooLong(PathBuf),
    /// Others could get at it.
    #[error("the folder {} is not private to you ({why}); remove it, or make it yours with mode 700", path.display())]
    NotPrivate {
        /// The folder.
        path: PathBuf,
        /// Whose it is, or what is allowed.
        why: String,
    },
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What a session answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SocketReply {
    /// It is in the mailbox.
    Accepted(MessageId),
    /// It is not, because.
    Refused(String),
}

/// Reads one line, without its end. One that is too long, or ends before its end, is an error.
async fn read_line(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let most = MAX_LINE_BYTES as u64 + 1;
    BufReader::new(stream.take(most)).read_until(b'\n', &mut line).await?;
    if line.pop() != Some(b'\n') {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "no whole line of a message's length",
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
