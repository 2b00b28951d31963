//! Listening: each connection says one message, which goes into the session's own mailbox.

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

/// How many may speak at once; more wait in the system's queue.
const AT_ONCE: usize = 16;
/// How long somebody may take to say a line.
const WAIT: Duration = Duration::from_secs(10);

/// A socket that is listened to until it is dropped.
#[derive(Debug)]
pub struct SessionSocket {
    path: PathBuf,
    dir: Dir,
    file: RelPath,
    _listening: JoinSet<()>,
}

impl SessionSocket {
    /// Listens for an agent whose mailbox is ours to read: so a socket that is there is one of a process that died,
    /// and makes room.
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

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SessionSocket {
    fn drop(&mut self) {
        // What stays makes room for the next.
        let _litter = self.dir.remove_file(&self.file);
    }
}

fn file_of(path: &Path) -> Result<RelPath, SocketError> {
    let name = path.file_name().unwrap_or_default();
    RelPath::new(name).map_err(|_| SocketError::TooLong(path.to_owned()))
}

/// Takes away a socket that nobody listens to any more, and nothing else.
fn remove_stale(dir: &Dir, file: &RelPath) -> Result<(), SocketError> {
    match dir.entry(file) {
        Ok(entry) if entry.kind == EntryKind::Other => Ok(dir.remove_file(file)?),
        Ok(_) => {
            let error = io::Error::other("there is a file that is no socket; remove it");
            Err(FileError::new(FileAction::Write, dir.path().join(file.as_path()), error).into())
        }
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

async fn listen(listener: UnixListener, name: AgentName, mailboxes: Mailboxes) {
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut speaking = JoinSet::new();
    loop {
        // Nobody closes it.
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        while speaking.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let (name, mailboxes) = (name.clone(), mailboxes.clone());
                speaking.spawn(async move {
                    answer(stream, name, mailboxes).await;
                    drop(place);
                });
            }
            // Too many open files, say: it may pass.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn answer(mut stream: UnixStream, name: AgentName, mailboxes: Mailboxes) {
    let reply = match message(&mut stream).await {
        Ok(draft) => post(name, mailboxes, draft).await,
        Err(why) => SocketReply::Refused(why),
    };
    // An id and a text have no way to fail to serialize.
    let line = serde_json::to_vec(&reply).unwrap_or_default();
    // Whoever has gone does not hear it; a message that was accepted stays so.
    let _heard = tokio::time::timeout(WAIT, part(&mut stream, &line)).await;
}

/// Says the last word. What the other side still has to say is passed over: closing on it would take back the answer.
async fn part(stream: &mut UnixStream, line: &[u8]) -> io::Result<()> {
    write_line(stream, line).await?;
    stream.shutdown().await?;
    let mut rest = stream.take(MAX_LINE_BYTES as u64);
    tokio::io::copy(&mut rest, &mut tokio::io::sink()).await.map(drop)
}

/// What is said, if it may be: nothing is read of another user's words.
async fn message(stream: &mut UnixStream) -> Result<OutgoingMessage, String> {
    let peer =
        stream.peer_cred().map_err(|error| format!("it is not known who speaks: {error}"))?;
    if peer.uid() != own_uid() {
        return Err(format!("the user with id {} may not write to this session", peer.uid()));
    }
    let line = tokio::time::timeout(WAIT, read_line(stream)).await;
    let line = line.map_err(|_| "no whole line came in time".to_owned())?;
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
