//! Mailboxes: a file for each agent of a project that other processes write to.
//!
//! `mailboxes/<name>.jsonl` in the project's folder only grows. Whoever writes, or reads what is new, holds
//! `<name>.lock` for that moment: lines never mix, and what a writer that died left torn is taken off by the next.
//! The agent itself holds `<name>.reader` while it runs; which session that was stands in `<name>.session`.

mod cursor;
mod reader;

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{
    AppendError, AppendFile, AppendTail, Clock, Dir, FileAction, FileError, IdSource, Lock,
    LockError, LockHolder, MessageId, RelPath, UnterminatedLine,
};
use thiserror::Error;

pub use reader::{MailboxLine, MailboxReader};

use super::{AgentName, MAX_LINE_BYTES, MessageLineError, OutgoingMessage, SentMessage};

/// The maximum wait for the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// A mailbox operation failed.
#[derive(Debug, Error)]
pub enum MailboxError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The lock was not available in time.
    #[error("the mailbox of `{name}` is busy ({source}); try again")]
    Busy {
        /// The owner.
        name: AgentName,
        /// The lock error.
        source: LockError,
    },
    /// Another session uses the name.
    #[error("the name `{name}` is in use by {}; choose another with --name, or end that session", who(holder.as_ref()))]
    Taken {
        /// The name.
        name: AgentName,
        /// The process, if known.
        holder: Option<LockHolder>,
    },
    /// There is no mailbox of that name.
    #[error("this project has no agent or session named `{name}`; {}", available(known))]
    Unknown {
        /// The name.
        name: AgentName,
        /// The existing names.
        known: Vec<AgentName>,
    },
    /// The message cannot be written as a line.
    #[error(transparent)]
    Line(#[from] MessageLineError),
}

fn who(holder: Option<&LockHolder>) -> String {
    match holder {
        Some(holder) => format!("process {} on {}", holder.pid, holder.host),
        None => "another process".to_owned(),
    }
}

fn available(known: &[AgentName]) -> String {
    if known.is_empty() {
        return "to start a session with a name, run `dormouse --name NAME`".to_owned();
    }
    let names: Vec<&str> = known.iter().map(AgentName::as_str).collect();
    format!("available: {}", names.join(", "))
}

/// The record of a message added to a mailbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailboxReceipt {
    /// Its id.
    pub id: MessageId,
    /// Its number.
    pub seq: u64,
    /// The size of an incomplete line removed first, left by a killed writer.
    pub discarded_bytes: Option<usize>,
}

/// The mailboxes of a project.
#[derive(Clone)]
pub struct Mailboxes {
    project: Dir,
    dir: Dir,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl Mailboxes {
    /// Opens the mailboxes of a project folder.
    pub fn open(
        project: &Dir,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self, FileError> {
        let dir = project.create_folder(&plain("mailboxes"))?;
        Ok(Self { project: project.clone(), dir, clock, ids })
    }

    /// The project's folder.
    pub fn project(&self) -> &Dir {
        &self.project
    }

    /// The names that have a mailbox.
    pub fn names(&self) -> Result<Vec<AgentName>, FileError> {
        let files = self.dir.names()?;
        let stems = files.iter().filter_map(|file| file.strip_suffix(".jsonl"));
        // Other files are ignored.
        let mut names: Vec<_> = stems.filter_map(|stem| AgentName::new(stem).ok()).collect();
        names.sort();
        Ok(names)
    }

    /// Adds a message to a mailbox. On return it is on disk and will be delivered.
    pub fn post(
        &self,
        to: &AgentName,
        draft: OutgoingMessage,
    ) -> Result<MailboxReceipt, MailboxError> {
        if !self.exists(to)? {
            return Err(MailboxError::Unknown { name: to.clone(), known: self.names()? });
        }
        let _lock = self.lock(to)?;
        let (mut file, tail) = self.open_file(to)?;
        let id = MessageId::generate(&*self.ids);
        let seq = last_seq(&self.dir, &mailbox_file(to))? + 1;
        let message = SentMessage { id, seq, at: self.clock.now(), draft };
        file.append(&message.line()?).map_err(|error| match error {
            AppendError::File(error) => MailboxError::File(error),
            // JSON has no line ends in it.
            newline @ AppendError::Newline { .. } => {
                MessageLineError::Invalid(newline.to_string()).into()
            }
        })?;
        file.sync()?;
        let discarded_bytes = match tail {
            AppendTail::Clean => None,
            AppendTail::Torn(bytes) => Some(bytes.len()),
        };
        Ok(MailboxReceipt { id, seq, discarded_bytes })
    }

    /// Whether there is a mailbox of that name.
    pub(super) fn exists(&self, name: &AgentName) -> Result<bool, FileError> {
        match self.dir.entry(&mailbox_file(name)) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn open_file(&self, name: &AgentName) -> Result<(AppendFile, AppendTail), FileError> {
        AppendFile::open(&self.dir, &mailbox_file(name), UnterminatedLine::Discard)
    }

    fn lock(&self, name: &AgentName) -> Result<Lock, MailboxError> {
        let path = plain(&format!("{name}.lock"));
        Lock::acquire_within(&self.dir, &path, LOCK_TIMEOUT).map_err(|error| match error {
            LockError::File(error) => error.into(),
            source @ LockError::Held { .. } => MailboxError::Busy { name: name.clone(), source },
        })
    }
}

/// Returns the number of the last message, or 0 if the last lines cannot be read.
fn last_seq(dir: &Dir, path: &RelPath) -> Result<u64, FileError> {
    let fail = |error| FileError::new(FileAction::Read, dir.path().join(path.as_path()), error);
    let mut file = dir.open_file(path)?;
    let end = file.seek(SeekFrom::End(0)).map_err(fail)?;
    // A line and its end, and the end of the line before it.
    let back = end.min(MAX_LINE_BYTES as u64 + 2);
    file.seek(SeekFrom::Start(end - back)).map_err(fail)?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).map_err(fail)?;
    let messages =
        tail.rsplit(|byte| *byte == b'\n').filter_map(|line| SentMessage::read(line).ok());
    Ok(messages.map(|message| message.seq).next().unwrap_or(0))
}

fn mailbox_file(name: &AgentName) -> RelPath {
    plain(&format!("{name}.jsonl"))
}

#[expect(clippy::expect_used, reason = "a checked name, or a fixed one")]
fn plain(name: &str) -> RelPath {
    RelPath::new(name).expect("a plain name")
}

#[cfg(test)]
mod tests;
