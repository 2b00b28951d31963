//! Which parts of the daily logs memories were already made from (M-20).
//!
//! Invariant: nothing in a log is skipped. A part counts as used only while the dream that used it is not undone.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_base::{Dir, FileError, RelPath};
use serde::{Deserialize, Serialize};

use super::change_origin::MessageSource;
use super::dream_records::DreamRecords;
use super::error::ChangeError;
use super::fixed_path::name;
use crate::kind::Trust;
use crate::names::{LOGS, is_markdown};

const MARKS: &str = "distilled.json";
/// Maximum size of a log: longer files were not written as notes.
const LONGEST_LOG: u64 = 4 * 1024 * 1024;

/// A part of a log that is not used yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPart {
    /// Path of the log in the memory directory.
    pub path: String,
    /// First line of the part, counted from 1.
    pub first_line: usize,
    /// Text of the part.
    pub text: String,
    /// End of the part, in bytes.
    end: u64,
}

impl LogPart {
    /// The notes in the part.
    pub fn notes(&self) -> impl Iterator<Item = LoggedNote<'_>> {
        self.text.lines().filter_map(|line| LoggedNote::parse(line, &self.path))
    }
}

/// A note in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedNote<'a> {
    /// Text of the note.
    pub text: &'a str,
    /// Source messages.
    pub sources: Vec<MessageSource>,
}

impl<'a> LoggedNote<'a> {
    /// Parses `- 09:14 text <!-- typed, session/message -->`. A line without a comment counts as the user's.
    fn parse(line: &'a str, path: &str) -> Option<Self> {
        let line = line.trim();
        let line = line.strip_prefix("- ").unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        let by_hand = || MessageSource {
            session: "log".to_owned(),
            message: path.to_owned(),
            trust: Trust::Typed,
        };
        let Some((text, origin)) =
            line.strip_suffix("-->").and_then(|line| line.rsplit_once("<!--"))
        else {
            return Some(Self { text: line, sources: vec![by_hand()] });
        };
        let mut parts = origin.split(", ").map(str::trim);
        // Unreadable trust counts as the lowest.
        let trust = parts.next().and_then(Trust::from_word).unwrap_or(Trust::Outside);
        let message = |part: &str| {
            let (session, message) = part.split_once('/')?;
            Some(MessageSource { session: session.to_owned(), message: message.to_owned(), trust })
        };
        let mut sources: Vec<MessageSource> = parts.filter_map(message).collect();
        if sources.is_empty() {
            sources.push(MessageSource { trust, ..by_hand() });
        }
        Some(Self { text: text.trim(), sources })
    }
}

/// How far a dream has read a log.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Mark {
    dream: String,
    end: u64,
}

type Marks = BTreeMap<String, Vec<Mark>>;

impl DreamRecords<'_> {
    /// The unused parts of the logs, oldest first. Dreams in `undone` do not count; the list is passed in because their
    /// memories may be in another store.
    pub fn unused_logs(&self, undone: &BTreeSet<String>) -> Result<Vec<LogPart>, ChangeError> {
        let logs = match self.store.memory.open_folder(&name(LOGS)) {
            Ok(logs) => logs,
            Err(error) if error.is_not_found() => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut paths = Vec::new();
        files_below(&logs, LOGS, &mut paths)?;
        paths.sort();
        let marks = self.marks()?;
        let mut parts = Vec::new();
        for path in paths {
            let known = marks.get(&path).into_iter().flatten();
            let counts = known.filter(|mark| !undone.contains(&mark.dream));
            let end = counts.map(|mark| mark.end).max().unwrap_or(0);
            parts.extend(self.part(path, end)?);
        }
        Ok(parts)
    }

    /// Records that a dream has used these parts.
    pub fn mark_logs_used(&self, dream: &str, parts: &[LogPart]) -> Result<(), ChangeError> {
        if parts.is_empty() {
            return Ok(());
        }
        let mut marks = self.marks()?;
        for part in parts {
            let mark = Mark { dream: dream.to_owned(), end: part.end };
            marks.entry(part.path.clone()).or_default().push(mark);
        }
        // Texts and numbers always serialize.
        let text = serde_json::to_vec(&marks).unwrap_or_default();
        Ok(self.store.state.replace(&name(MARKS), &text)?)
    }

    fn marks(&self) -> Result<Marks, FileError> {
        match self.store.state.read(&name(MARKS)) {
            // Unreadable marks count as missing: a log is rather read twice than never.
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(error) if error.is_not_found() => Ok(Marks::new()),
            Err(error) => Err(error),
        }
    }

    fn part(&self, path: String, end: u64) -> Result<Option<LogPart>, ChangeError> {
        let Ok(file) = RelPath::new(&path) else { return Ok(None) };
        let size = self.store.memory.entry(&file)?.size;
        if size == end || size > LONGEST_LOG {
            return Ok(None);
        }
        let bytes = self.store.memory.read(&file)?;
        let start = usize::try_from(end).unwrap_or(usize::MAX);
        // A shorter log is a new one.
        let (before, new) = bytes.split_at_checked(start).unwrap_or((&[], &bytes));
        let first_line = before.split(|byte| *byte == b'\n').count();
        let text = String::from_utf8_lossy(new).into_owned();
        let end = bytes.len() as u64;
        Ok((!text.trim().is_empty()).then_some(LogPart { path, first_line, text, end }))
    }
}

/// The logs below a folder. Links are not followed.
fn files_below(folder: &Dir, prefix: &str, paths: &mut Vec<String>) -> Result<(), FileError> {
    for entry in folder.entries()? {
        let path = format!("{prefix}/{}", entry.name);
        match (entry.kind, RelPath::new(&entry.name)) {
            (dormouse_base::EntryKind::Folder, Ok(below)) => {
                files_below(&folder.open_folder(&below)?, &path, paths)?;
            }
            (dormouse_base::EntryKind::File, Ok(_)) if is_markdown(&entry.name) => paths.push(path),
            _ => {}
        }
    }
    Ok(())
}
