//! Listens on a session's socket: each connection sends one message, which is added to the session's mailbox.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{Dir, EntryKind, FileAction, FileError, RelPath};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::{SocketError, SocketFolder, SocketReply, own_uid, read_line, write_line};
use crate::messages::{AgentName, MAX_LINE_BYTES, MailboxReader, Mailboxes, OutgoingMessage};

/// Maximum number of simultaneous connections; others wait in the system's queue.
const MAX_CONNECTIONS: usize = 16;
/// Timeout of reading or writing a line.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A socket that accepts messages until it is dropped.
#[derive(Debug)]
pub struct SessionSocket {
    path: PathBuf,
    dir: Dir,
    file: RelPath,
    _listening: JoinSet<()>,
}

impl SessionSocket {
    /// Listens for an agent whose mailbox this process reads. A socket that exists already was left by a process that
    /// died, and is replaced.
    pub fn listen(
        folder: &SocketFolder,
        reader: &MailboxReader,
        mailboxes: &Mailboxes,
    ) -> Result<Self, SocketError> {
        let path = folder.socket(mailboxes.project().path(), reader.name())?;
        let file = file_of(&path)?;
        remove_stale(folder.dir(), &file)?;
        let fail = |error| SocketError::File(FileError::new(FileAction::Write, &path, error));
        let listener = UnixListener::bind(&path).map_err(fail)?;
        let mut listening = JoinSet::new();
        listening.spawn(listen(listener, reader.name().clone(), mailboxes.clone()));
        Ok(Self { path, dir: folder.dir().clone(), file, _listening: listening })
    }

    /// The path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SessionSocket {
    fn drop(&mut self) {
        // A socket that stays is replaced by the next session.
        let _removed = self.dir.remove_file(&self.file);
    }
}

fn file_of(path: &Path) -> Result<RelPath, SocketError> {
    let name = path.file_name().unwrap_or_default();
    RelPath::new(name).map_err(|_| SocketError::TooLong(path.to_owned()))
}

/// Removes the socket of a process that died; fails for any other file.
fn remove_stale(dir: &Dir, file: &RelPath) -> Result<(), SocketError> {
    match dir.entry(file) {
        Ok(entry) if entry.kind == EntryKind::Other => Ok(dir.remove_file(file)?),
        Ok(_) => {
            let error = io::Error::other("a file that is not a socket is in the way; remove it");
            Err(FileError::new(FileAction::Write, dir.path().join(file.as_path()), error).into())
        }
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

async fn listen(listener: UnixListener, name: AgentName, mailboxes: Mailboxes) {
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut open = JoinSet::new();
    loop {
        // The semaphore is never closed.
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
        while open.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let (name, mailboxes) = (name.clone(), mailboxes.clone());
                open.spawn(async move {
                    handle(stream, name, mailboxes).await;
                    drop(permit);
                });
            }
            // For example too many open files, which may be temporary.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn handle(mut stream: UnixStream, name: AgentName, mailboxes: Mailboxes) {
    let reply = match read_message(&mut stream).await {
        Ok(draft) => post(name, mailboxes, draft).await,
        Err(why) => SocketReply::Refused(why),
    };
    // Serializing an id or a text cannot fail.
    let line = serde_json::to_vec(&reply).unwrap_or_default();
    // If the sender is gone, an accepted message stays accepted.
    let _sent = tokio::time::timeout(TIMEOUT, reply_and_close(&mut stream, &line)).await;
}

/// Sends the reply. The rest of the input is read and dropped: closing the connection before would discard the reply.
async fn reply_and_close(stream: &mut UnixStream, line: &[u8]) -> io::Result<()> {
    write_line(stream, line).await?;
    stream.shutdown().await?;
    let mut rest = stream.take(MAX_LINE_BYTES as u64);
    tokio::io::copy(&mut rest, &mut tokio::io::sink()).await.map(drop)
}

/// Reads a message; nothing is read from other users.
async fn read_message(stream: &mut UnixStream) -> Result<OutgoingMessage, String> {
    let peer = stream
        .peer_cred()
        .map_err(|error| format!("cannot determine the sender's user: {error}"))?;
    if peer.uid() != own_uid() {
        return Err(format!("the user with id {} may not write to this session", peer.uid()));
    }
    let line = tokio::time::timeout(TIMEOUT, read_line(stream)).await;
    let line = line.map_err(|_| "no complete line was received in time".to_owned())?;
    OutgoingMessage::read(&line.map_err(|error| error.to_string())?)
        .map_err(|error| error.to_string())
}

async fn post(name: AgentName, mailboxes: Mailboxes, draft: OutgoingMessage) -> SocketReply {
    match tokio::task::spawn_blocking(move || mailboxes.post(&name, draft)).await {
        Ok(Ok(posted)) => SocketReply::Accepted(posted.id),
        Ok(Err(error)) => SocketReply::Refused(error.to_string()),
        Err(_) => SocketReply::Refused("the session is ending".to_owned()),
    }
}
