//! Sends a message to another session's socket.

use std::io;
use std::path::Path;
use std::time::Duration;

use dormouse_base::MessageId;
use tokio::net::UnixStream;

use super::{SocketError, SocketReply, own_uid, read_line, write_line};
use crate::messages::OutgoingMessage;

/// Timeout of the reply: the other session may have to wait for its mailbox.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Sends a message to the session that listens at a path; returns its id in that session's mailbox.
pub async fn send_to_socket(
    path: &Path,
    draft: &OutgoingMessage,
) -> Result<MessageId, SocketError> {
    let broken = |source| SocketError::Broken { path: path.to_owned(), source };
    let connected = UnixStream::connect(path).await;
    let mut stream =
        connected.map_err(|source| SocketError::NotListening { path: path.to_owned(), source })?;
    // Messages go only to sessions of the same user.
    let uid = stream.peer_cred().map_err(broken)?.uid();
    if uid != own_uid() {
        return Err(SocketError::OtherUser { path: path.to_owned(), uid });
    }
    let line = draft.line().map_err(|error| broken(io::Error::other(error)))?;
    let reply = tokio::time::timeout(TIMEOUT, exchange(&mut stream, &line)).await;
    match reply.map_err(|late| broken(late.into()))?.map_err(broken)? {
        SocketReply::Accepted(id) => Ok(id),
        SocketReply::Refused(why) => Err(SocketError::Refused { path: path.to_owned(), why }),
    }
}

async fn exchange(stream: &mut UnixStream, line: &[u8]) -> io::Result<SocketReply> {
    // A session that refuses the message may stop reading early; its reply is read all the same.
    let written = write_line(stream, line).await;
    match read_line(stream).await {
        Ok(reply) => Ok(serde_json::from_slice(&reply)?),
        Err(error) => Err(written.err().unwrap_or(error)),
    }
}
