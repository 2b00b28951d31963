//! Reading of a mailbox by its owner.

use std::collections::HashSet;
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dormouse_base::{FileAction, FileError, Lock, LockError, SessionId};

use super::cursor::CursorRecord;
use super::{MailboxError, Mailboxes, mailbox_file, plain};
use crate::messages::requests::{request, response};
use crate::messages::{
    AgentName, MessageLineError, OutgoingMessage, ResponseStanding, SentMessage,
};

/// Limits of one delivery, because of small context windows. The rest follows with the next step.
const MOST_AT_ONCE: usize = 50;
const MOST_BYTES_AT_ONCE: usize = 48 * 1024;

/// Reads a mailbox. Only one reader can be open per mailbox.
pub struct MailboxReader {
    boxes: Mailboxes,
    name: AgentName,
    place: Mutex<ReadPosition>,
    _only: Lock,
}

/// The position of a reader.
struct ReadPosition {
    /// The offset of the first undelivered byte.
    next: u64,
    /// The id of the last line delivered before this session.
    delivered: Option<String>,
    /// Whether the reading session is recorded. Nothing is delivered before that.
    is_held: bool,
    /// The last problem.
    problem: Option<String>,
}

/// A line of a mailbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailboxLine {
    /// The message id, or the position of an unreadable line.
    pub id: String,
    /// The message.
    pub message: Result<SentMessage, MessageLineError>,
    /// The offset after the line.
    end: u64,
}

impl Mailboxes {
    /// Opens a mailbox to read it, making it if needed. `delivered` are the ids in the transcript of the session
    /// that goes on, if one does.
    pub fn read_as(
        &self,
        name: &AgentName,
        delivered: &[String],
    ) -> Result<MailboxReader, MailboxError> {
        let only = self.lock_reader(name)?;
        let _lock = self.lock(name)?;
        // Opening removes an incomplete line, which was never accepted.
        self.open_file(name)?;
        let mut known = CursorRecord::read(&self.dir, name)?.delivered(&self.project)?;
        known.extend(delivered.iter().cloned());
        let last = self.last_of(name, &known)?;
        let place = ReadPosition {
            next: last.as_ref().map_or(0, |line| line.end),
            delivered: last.map(|line| line.id),
            is_held: false,
            problem: None,
        };
        let place = Mutex::new(place);
        Ok(MailboxReader { boxes: self.clone(), name: name.clone(), place, _only: only })
    }

    fn lock_reader(&self, name: &AgentName) -> Result<Lock, MailboxError> {
        let path = plain(&format!("{name}.reader"));
        Lock::try_acquire(&self.dir, &path).map_err(|error| match error {
            LockError::File(error) => error.into(),
            LockError::Held { holder, .. } => MailboxError::Taken { name: name.clone(), holder },
        })
    }

    /// The last line that was delivered.
    fn last_of(
        &self,
        name: &AgentName,
        delivered: &HashSet<String>,
    ) -> Result<Option<MailboxLine>, FileError> {
        let lines = self.lines_from(name, 0)?;
        Ok(lines.into_iter().rev().find(|line| delivered.contains(&line.id)))
    }

    /// Returns the complete lines from this offset.
    fn lines_from(&self, name: &AgentName, start: u64) -> Result<Vec<MailboxLine>, FileError> {
        let path = mailbox_file(name);
        let fail = |e| FileError::new(FileAction::Read, self.dir.path().join(path.as_path()), e);
        let mut file = self.dir.open_file(&path)?;
        file.seek(SeekFrom::Start(start)).map_err(fail)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fail)?;
        Ok(lines_of(&bytes, start))
    }
}

/// The whole lines of these bytes, which begin at `start` in the file.
fn lines_of(bytes: &[u8], start: u64) -> Vec<MailboxLine> {
    let mut lines = Vec::new();
    let mut at = start;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let (begin, end) = (at, at + line.len() as u64);
        at = end;
        let Some(line) = line.strip_suffix(b"\n") else { break };
        if line.is_empty() {
            continue;
        }
        let message = SentMessage::read(line);
        let id =
            message.as_ref().map_or(format!("line-at-{begin}"), |message| message.id.to_string());
        lines.push(MailboxLine { id, message, end });
    }
    lines
}

/// As many of the first lines as are handed over at once; at least one.
fn first(lines: Vec<MailboxLine>) -> Vec<MailboxLine> {
    let begin = lines.first().map_or(0, |line| line.end);
    let near = |line: &MailboxLine| line.end - begin <= MOST_BYTES_AT_ONCE as u64;
    lines.into_iter().take(MOST_AT_ONCE).take_while(near).collect()
}

impl MailboxReader {
    /// The owner's name.
    pub fn name(&self) -> &AgentName {
        &self.name
    }

    /// Writes down that this session reads, from here on. Until then nothing is handed over. What was handed over to
    /// a session before and does not stand in its transcript is not delivered: it would be handed over again.
    pub fn hold(&self, session: SessionId) -> Result<(), MailboxError> {
        let mut place = self.place();
        let mut known =
            CursorRecord::read(&self.boxes.dir, &self.name)?.delivered(&self.boxes.project)?;
        known.extend(place.delivered.take());
        let lock = self.boxes.lock(&self.name)?;
        place.delivered = self.boxes.last_of(&self.name, &known)?.map(|line| line.id);
        drop(lock);
        let record = CursorRecord { session: Some(session), after: place.delivered.clone() };
        record.write(&self.boxes.dir, &self.name)?;
        place.is_held = true;
        Ok(())
    }

    /// Returns the problem, unless it was the last one reported.
    pub(in crate::messages) fn new_problem(&self, problem: String) -> Option<String> {
        let mut place = self.place();
        let news = place.problem.as_ref() != Some(&problem);
        place.problem = Some(problem.clone());
        news.then_some(problem)
    }

    /// Takes what has come and was not handed over yet, in order; what is too much for once waits.
    pub fn take_lines(&self) -> Result<Vec<MailboxLine>, MailboxError> {
        let mut place = self.place();
        if !place.is_held || !self.has_more(place.next)? {
            return Ok(Vec::new());
        }
        let lock = self.boxes.lock(&self.name)?;
        let lines = first(self.boxes.lines_from(&self.name, place.next)?);
        drop(lock);
        if let Some(line) = lines.last() {
            place.next = line.end;
            place.problem = None;
        }
        Ok(lines)
    }

    /// Whether a message answers a request that this mailbox's owner made: the request is in the mailbox of the sender, whatever
    /// process and session made it.
    pub(in crate::messages) fn standing(&self, message: &OutgoingMessage) -> ResponseStanding {
        let Some(answered) = response(&message.content) else {
            return ResponseStanding::Expected;
        };
        let asked = self.boxes.lines_from(&message.from, 0).unwrap_or_default();
        let is_request = |line: &MailboxLine| {
            line.message.as_ref().is_ok_and(|asked| {
                asked.draft.from == self.name && request(&asked.draft.content) == Some(answered)
            })
        };
        if asked.iter().any(is_request) {
            ResponseStanding::Expected
        } else {
            ResponseStanding::Unexpected
        }
    }

    fn has_more(&self, next: u64) -> Result<bool, FileError> {
        Ok(self.boxes.dir.entry(&mailbox_file(&self.name))?.size > next)
    }

    fn place(&self) -> MutexGuard<'_, ReadPosition> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for MailboxReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MailboxReader").field("name", &self.name).finish_non_exhaustive()
    }
}
