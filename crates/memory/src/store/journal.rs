//! The journal, which is also the history (M-14, M-15).
//!
//! A change is one line with everything needed to make it, flushed before the first file is written, followed by a line
//! `done` or `dropped`. A change without the second line was interrupted: the next holder of the lock finishes it. So
//! every change is recorded at any time, in one file.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use dormouse_base::{AppendFile, Dir, FileAction, FileError, RelPath, UnterminatedLine};
use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::change_id::ChangeId;
use super::change_origin::{ChangeAuthor, MessageSource};
use super::content::ContentHash;
use super::content::{Splice, StoredContent};
use super::disk_file::DiskFile;
use super::error::ChangeError;
use super::fixed_path::name;
use crate::names::MemoryFile;

/// The nature of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Nature {
    /// Made through `Store::change`.
    Made,
    /// Found afterwards: made by another program or an editor.
    Found,
    /// The content of the directory when it was first opened; cannot be undone.
    FirstSight,
}

/// A change as a line of the journal has it; `C` is how much of the contents is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedChange<C = StoredContent> {
    pub(super) id: ChangeId,
    pub(super) time: Timestamp,
    pub(super) nature: Nature,
    pub(super) author: ChangeAuthor,
    pub(super) reason: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) sources: Vec<MessageSource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) undoes: Option<ChangeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) part_of: Option<String>,
    pub(super) files: Vec<RecordedFileChange<C>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<IndexChange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecordedFileChange<C = StoredContent> {
    pub(super) file: MemoryFile,
    pub(super) before: Option<ContentHash>,
    pub(super) after: Option<Version<C>>,
}

/// A content that a file had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Version<C = StoredContent> {
    pub(super) hash: ContentHash,
    pub(super) modified: Timestamp,
    /// Deleted some time after the file was removed.
    pub(super) content: Option<C>,
}

/// A change without its contents, of which it is only known whether they are kept: a long history takes little memory.
pub(super) type ChangeOutline = RecordedChange<IgnoredAny>;

impl Version {
    pub(super) fn of(bytes: &[u8], modified: Timestamp) -> Self {
        Self { hash: ContentHash::of(bytes), modified, content: Some(StoredContent::of(bytes)) }
    }

    /// The version of a file that was read and hashed.
    pub(super) fn of_file(current: DiskFile) -> Self {
        let (hash, modified) = (current.hash, current.modified);
        Self { hash, modified, content: Some(StoredContent::from(current.bytes)) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IndexChange {
    pub(super) before: Option<ContentHash>,
    pub(super) after: Option<ContentHash>,
    pub(super) splice: Splice,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum JournalLine<C = StoredContent> {
    Change(Box<RecordedChange<C>>),
    Done { id: ChangeId },
    Dropped { id: ChangeId },
}

/// A line to write, without a copy of the change.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum JournalLineRef<'a> {
    Change(&'a RecordedChange),
    Done { id: ChangeId },
    Dropped { id: ChangeId },
}

/// The journal, open under the lock.
#[derive(Debug)]
pub(super) struct ChangeJournal {
    file: AppendFile,
    last: ChangeId,
}

/// A `done` line is shorter than this.
const SHORT: u64 = 100;

impl ChangeJournal {
    /// Opens the journal; also returns an interrupted change.
    pub(super) fn open(state: &Dir) -> Result<(Self, Option<RecordedChange>), FileError> {
        let (file, _torn) = AppendFile::open(state, &file_name(), UnterminatedLine::Discard)?;
        if file.length() == 0 {
            return Ok((Self { file, last: ChangeId::default() }, None));
        }
        if let Some(last) = last_closed(state, file.length())? {
            return Ok((Self { file, last }, None));
        }
        let lines = read_lines(state)?;
        let last = lines.iter().filter_map(JournalLine::change_id).max().unwrap_or_default();
        let pending = lines.into_iter().last().and_then(|line| match line {
            JournalLine::Change(change) => Some(*change),
            JournalLine::Done { .. } | JournalLine::Dropped { .. } => None,
        });
        Ok((Self { file, last }, pending))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.file.length() == 0
    }

    pub(super) fn next_id(&self) -> ChangeId {
        ChangeId(self.last.0 + 1)
    }

    /// Writes a change and flushes it, before it is made. Returns the position of its line.
    pub(super) fn begin(&mut self, change: &RecordedChange) -> Result<u64, ChangeError> {
        let at = self.note(change)?;
        if let Err(error) = self.file.sync() {
            // No file was written yet: the line is removed, and with it the change.
            self.file.truncate(at)?;
            self.last = ChangeId(change.id.0.saturating_sub(1));
            return Err(error.into());
        }
        Ok(at)
    }

    /// Records a change that has already happened; it is flushed with the next one.
    pub(super) fn note(&mut self, change: &RecordedChange) -> Result<u64, ChangeError> {
        let at = self.file.length();
        self.file.append(&bytes(&JournalLineRef::Change(change))?)?;
        self.last = change.id;
        Ok(at)
    }

    pub(super) fn done(&mut self, id: ChangeId) -> Result<(), ChangeError> {
        Ok(self.file.append(&bytes(&JournalLineRef::Done { id })?)?)
    }

    /// Records that a change was rolled back.
    pub(super) fn dropped(&mut self, id: ChangeId, at: u64) -> Result<(), ChangeError> {
        let said =
            bytes(&JournalLineRef::Dropped { id }).and_then(|line| Ok(self.file.append(&line)?));
        match said {
            Ok(()) => Ok(()),
            // A full disk takes no new line, but allows removing one.
            Err(_) => Ok(self.file.truncate(at)?),
        }
    }
}

impl JournalLine {
    fn change_id(&self) -> Option<ChangeId> {
        match self {
            Self::Change(change) => Some(change.id),
            Self::Done { .. } | Self::Dropped { .. } => None,
        }
    }
}

fn bytes(line: &impl Serialize) -> Result<Vec<u8>, ChangeError> {
    serde_json::to_vec(line).map_err(|error| {
        FileError::new(FileAction::Write, file_name().as_path(), std::io::Error::from(error)).into()
    })
}

pub(super) fn file_name() -> RelPath {
    name("history.jsonl")
}

/// The id in the last line, if that line completes a change.
fn last_closed(state: &Dir, length: u64) -> Result<Option<ChangeId>, FileError> {
    let tail = read_from(state, length.saturating_sub(SHORT))?;
    let tail = tail.strip_suffix(b"\n").unwrap_or(&tail);
    let last = tail.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(match serde_json::from_slice::<JournalLine<IgnoredAny>>(last) {
        Ok(JournalLine::Done { id } | JournalLine::Dropped { id }) => Some(id),
        Ok(JournalLine::Change(_)) | Err(_) => None,
    })
}

fn read_from(state: &Dir, start: u64) -> Result<Vec<u8>, FileError> {
    let path = file_name();
    let mut bytes = Vec::new();
    let mut file = state.open_file(&path)?;
    file.seek(SeekFrom::Start(start)).and_then(|_| file.read_to_end(&mut bytes)).map_err(
        |error| FileError::new(FileAction::Read, state.path().join(path.as_path()), error),
    )?;
    Ok(bytes)
}

/// Calls `see` for every line, in order. One line is in memory at a time.
fn each_line(state: &Dir, mut see: impl FnMut(&[u8])) -> Result<(), FileError> {
    let path = file_name();
    let file = match state.open_file(&path) {
        Ok(file) => file,
        Err(error) if error.is_not_found() => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(|error| {
            FileError::new(FileAction::Read, state.path().join(path.as_path()), error)
        })?;
        if read == 0 {
            return Ok(());
        }
        see(&line);
    }
}

/// Every readable line.
pub(super) fn read_lines(state: &Dir) -> Result<Vec<JournalLine>, FileError> {
    let mut lines = Vec::new();
    each_line(state, |line| lines.extend(serde_json::from_slice::<JournalLine>(line)))?;
    Ok(lines)
}

/// Every change that was made, in order, without the contents.
pub(super) fn read_outline(state: &Dir) -> Result<Vec<ChangeOutline>, FileError> {
    let mut changes: Vec<ChangeOutline> = Vec::new();
    each_line(state, |line| match serde_json::from_slice(line) {
        Ok(JournalLine::Change(change)) => changes.push(*change),
        Ok(JournalLine::Dropped { id }) => changes.retain(|change| change.id != id),
        Ok(JournalLine::Done { .. }) | Err(_) => {}
    })?;
    Ok(changes)
}

/// Calls `see` for every version of a file whose content is kept, in order. The content is not yet read.
pub(super) fn each_version(
    state: &Dir,
    mut see: impl FnMut(&Version<&RawValue>),
) -> Result<(), FileError> {
    each_line(state, |line| {
        if let Ok(JournalLine::Change(change)) = serde_json::from_slice::<JournalLine<_>>(line) {
            let versions = change.files.iter().filter_map(|file| file.after.as_ref());
            versions.for_each(&mut see);
        }
    })
}

/// Rewrites the journal without deleted contents.
pub(super) fn rewrite(state: &Dir, lines: &[JournalLine]) -> Result<(), ChangeError> {
    let mut text = Vec::new();
    for line in lines {
        text.extend(bytes(line)?);
        text.push(b'\n');
    }
    Ok(state.replace(&file_name(), &text)?)
}
