//! A part of a transcript: some lines before a position, or those after it. A long transcript is never read whole.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use dormouse_base::{FileAction, FileError, MessageId};
use dormouse_conversation::transcript::{ReplayEvent, replay_transcript, session_file};

use memchr::memmem;

use crate::error::ViewerError;
use crate::model::session_list::ViewedSession;

/// Bytes that are read at first.
const CHUNK: u64 = 192 * 1024;
/// Lines of a part.
const LINES: usize = 120;
/// Lines behind a message that is looked for.
const LINES_AFTER: usize = 40;
/// Bytes that a search reads at once.
const READ_AT_ONCE: usize = 256 * 1024;

/// Consecutive lines of a transcript.
pub(crate) struct TranscriptPart {
    pub(crate) events: Vec<ReplayEvent>,
    /// Where it begins in the file; 0 if nothing comes before.
    pub(crate) start: u64,
    /// Where it ends.
    pub(crate) end: u64,
    /// Lines that cannot be read.
    pub(crate) unreadable: usize,
}

/// The last lines that end at or before a position; the end of the file if none is given.
pub(crate) fn before(
    named: &ViewedSession<'_>,
    end: Option<u64>,
) -> Result<TranscriptPart, ViewerError> {
    let mut file = open(named)?;
    let length = file.length()?;
    let end = end.unwrap_or(length).min(length);
    let mut size = CHUNK.min(end);
    loop {
        let mut bytes = file.read(end - size, size)?;
        // A line that is still being written belongs to the next part.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1));
        let lines = whole_lines(&bytes, size == end);
        // A line may be longer than what was read.
        if !lines.is_empty() || size == end {
            return Ok(part(end - size + bytes.len() as u64, lines));
        }
        size = size.saturating_mul(4).min(end);
    }
}

/// The part that has a message, and some lines after it; the newest part if there is no such message.
pub(crate) fn around(
    named: &ViewedSession<'_>,
    message: MessageId,
) -> Result<TranscriptPart, ViewerError> {
    let file = open(named)?;
    let wanted = message.to_string();
    let mut reader = BufReader::with_capacity(READ_AT_ONCE, &file.file);
    let (mut position, mut line, mut left) = (0_u64, Vec::new(), None);
    while left != Some(0) {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(|error| file.unreadable(error))?;
        if read == 0 {
            break;
        }
        position += read as u64;
        left = left.map(|left: usize| left - 1);
        if left.is_none() && memmem::find(&line, wanted.as_bytes()).is_some() {
            left = Some(LINES_AFTER);
        }
    }
    before(named, left.map(|_| position))
}

/// The whole lines after a position, as many as there are.
pub(crate) fn after(named: &ViewedSession<'_>, start: u64) -> Result<TranscriptPart, ViewerError> {
    let mut file = open(named)?;
    let length = file.length()?;
    let bytes = file.read(start.min(length), length.saturating_sub(start))?;
    let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let lines = bytes.get(..complete).unwrap_or_default();
    let replay = replay_transcript(lines);
    Ok(TranscriptPart {
        events: replay.events,
        start,
        end: start + complete as u64,
        unreadable: replay.warnings.len(),
    })
}

/// The last lines of what was read, without a first one that was cut.
fn whole_lines(bytes: &[u8], is_from_start: bool) -> &[u8] {
    let mut lines = bytes;
    if !is_from_start {
        let first = bytes.iter().position(|byte| *byte == b'\n');
        lines = first.and_then(|first| bytes.get(first + 1..)).unwrap_or_default();
    }
    let ends: Vec<usize> =
        lines.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let Some(skipped) = ends.len().checked_sub(LINES + 1) else { return lines };
    ends.get(skipped).and_then(|at| lines.get(at + 1..)).unwrap_or(lines)
}

fn part(end: u64, lines: &[u8]) -> TranscriptPart {
    let replay = replay_transcript(lines);
    TranscriptPart {
        events: replay.events,
        start: end - lines.len() as u64,
        end,
        unreadable: replay.warnings.len(),
    }
}

/// A transcript that is open.
struct OpenTranscript<'a> {
    file: File,
    named: &'a ViewedSession<'a>,
}

fn open<'a>(named: &'a ViewedSession<'a>) -> Result<OpenTranscript<'a>, ViewerError> {
    let file = named.source.folder.open_file(&session_file(named.session))?;
    Ok(OpenTranscript { file, named })
}

impl OpenTranscript<'_> {
    fn length(&self) -> Result<u64, ViewerError> {
        Ok(self.file.metadata().map_err(|error| self.unreadable(error))?.len())
    }

    fn read(&mut self, start: u64, size: u64) -> Result<Vec<u8>, ViewerError> {
        let mut bytes = Vec::new();
        let read = self
            .file
            .seek(SeekFrom::Start(start))
            .and_then(|_| (&mut self.file).take(size).read_to_end(&mut bytes));
        read.map_err(|error| self.unreadable(error))?;
        Ok(bytes)
    }

    fn unreadable(&self, error: std::io::Error) -> ViewerError {
        let file = session_file(self.named.session);
        let path = self.named.source.folder.path().join(file.as_path());
        FileError::new(FileAction::Read, path, error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines() {
        assert_eq!(whole_lines(b"cut\na\nb\n", false), b"a\nb\n");
        assert_eq!(whole_lines(b"a\nb\n", true), b"a\nb\n");
        assert_eq!(whole_lines(b"no end", false), b"");
        let many = "x\n".repeat(LINES + 5);
        assert_eq!(whole_lines(many.as_bytes(), true).len(), LINES * 2);
    }
}
