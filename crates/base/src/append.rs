//! A file that only grows, line by line, and never keeps half a line.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::dir::{Dir, FileAction, FileError};
use crate::fault;
use crate::rel_path::RelPath;

/// What stood at the end of a file when it was opened for appending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendTail {
    /// Empty, or a whole last line.
    Clean,
    /// A last line without its newline: what a crash leaves. It was taken off the file.
    Torn(Vec<u8>),
}

/// What to do with a last line that lacks its newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnterminatedLine {
    /// It is whole: only its newline is missing, and is put behind it.
    AddNewline,
    /// It is what a crash left: it is taken off.
    Discard,
}

/// A line could not be appended; the file is as it was before.
#[derive(Debug, Error)]
pub enum AppendError {
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The line would have been two.
    #[error("a line for {} contains a newline", path.display())]
    Newline {
        /// The file.
        path: PathBuf,
    },
}

/// An open file to append whole lines to. Whoever holds it must hold the lock that guards it.
#[derive(Debug)]
pub struct AppendFile {
    file: File,
    path: PathBuf,
    length: u64,
}

impl AppendFile {
    /// Opens a file, making it if needed. A last line without its end is completed or taken off.
    pub fn open(
        dir: &Dir,
        path: &RelPath,
        unended: UnterminatedLine,
    ) -> Result<(Self, AppendTail), FileError> {
        let full = dir.path().join(path.as_path());
        let mut file = dir.open_append(path)?;
        let fail = |error: io::Error| FileError::new(FileAction::Write, &full, error);
        let end = file.metadata().map_err(fail)?.len();
        if unended == UnterminatedLine::AddNewline {
            if end > 0 {
                file.write_all(b"\n").map_err(fail)?;
            }
            return Ok((Self { file, path: full, length: end + 1 }, AppendTail::Clean));
        }
        let torn = torn_tail(&mut file, end).map_err(fail)?;
        let length = end - torn.len() as u64;
        let tail = if torn.is_empty() {
            AppendTail::Clean
        } else {
            file.set_len(length).map_err(fail)?;
            AppendTail::Torn(torn)
        };
        Ok((Self { file, path: full, length }, tail))
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How long it is, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends a line (without its newline) in one write. When that fails half way (a full disk), the
    /// file is cut back to its last whole line.
    pub fn append(&mut self, line: &[u8]) -> Result<(), AppendError> {
        if line.contains(&b'\n') {
            return Err(AppendError::Newline { path: self.path.clone() });
        }
        let mut whole = Vec::with_capacity(line.len() + 1);
        whole.extend_from_slice(line);
        whole.push(b'\n');
        let written = fault::at("base.append", || self.file.write_all(&whole));
        if let Err(error) = written {
            // If even the cut fails, the reader drops the torn line; the first error is the one to tell.
            let _cut = self.file.set_len(self.length);
            return Err(FileError::new(FileAction::Write, &self.path, error).into());
        }
        self.length += whole.len() as u64;
        Ok(())
    }

    /// Cuts the file back to an earlier [`length`](Self::length): what was appended since never was.
    pub fn truncate(&mut self, length: u64) -> Result<(), FileError> {
        fault::at("base.cut_back", || self.file.set_len(length.min(self.length)))
            .map_err(|error| FileError::new(FileAction::Write, &self.path, error))?;
        self.length = length.min(self.length);
        Ok(())
    }

    /// Makes what was appended survive a loss of power.
    pub fn sync(&self) -> Result<(), FileError> {
        fault::at("base.sync_append", || self.file.sync_data())
            .map_err(|error| FileError::new(FileAction::Write, &self.path, error))
    }
}

/// How much is read at a time when looking for the last newline.
const STEP: u64 = 64 * 1024;

/// The bytes behind the last newline.
fn torn_tail(file: &mut File, end: u64) -> io::Result<Vec<u8>> {
    // From the end backwards; joined once, for the tail may be long.
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    let mut start = end;
    while start > 0 {
        let step = STEP.min(start);
        start -= step;
        file.seek(SeekFrom::Start(start))?;
        let mut piece = Vec::new();
        Read::by_ref(file).take(step).read_to_end(&mut piece)?;
        if let Some(newline) = piece.iter().rposition(|byte| *byte == b'\n') {
            pieces.push(piece.split_off(newline + 1));
            break;
        }
        pieces.push(piece);
    }
    Ok(pieces.into_iter().rev().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> (tempfile::TempDir, Dir, RelPath) {
        let temporary = tempfile::tempdir().unwrap();
        let dir = Dir::open(temporary.path()).unwrap();
        (temporary, dir, RelPath::new("log.jsonl").unwrap())
    }

    #[test]
    fn lines_are_appended_and_found_again() {
        let (_keep, dir, path) = file();
        let (mut log, tail) = AppendFile::open(&dir, &path, UnterminatedLine::Discard).unwrap();
        assert_eq!(tail, AppendTail::Clean);
        log.append(b"one").unwrap();
        log.append(b"two").unwrap();
        drop(log);
        let (mut log, tail) = AppendFile::open(&dir, &path, UnterminatedLine::Discard).unwrap();
        assert_eq!((log.length(), tail), (8, AppendTail::Clean));
        log.append(b"three").unwrap();
        assert_eq!(dir.read(&path).unwrap(), b"one\ntwo\nthree\n");
        log.truncate(8).unwrap();
        log.append(b"four").unwrap();
        assert_eq!(dir.read(&path).unwrap(), b"one\ntwo\nfour\n");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test plays the crash")]
    fn a_torn_line_of_any_length_is_taken_off() {
        for torn in [1, 5, 64 * 1024, 200_000] {
            let (keep, dir, path) = file();
            let mut content = b"one\n".to_vec();
            content.extend(std::iter::repeat_n(b'x', torn));
            std::fs::write(keep.path().join("log.jsonl"), &content).unwrap();
            let (mut log, tail) = AppendFile::open(&dir, &path, UnterminatedLine::Discard).unwrap();
            assert_eq!(tail, AppendTail::Torn(vec![b'x'; torn]));
            log.append(b"two").unwrap();
            assert_eq!(dir.read(&path).unwrap(), b"one\ntwo\n");
        }
    }

    #[test]
    fn a_line_with_a_newline_is_refused() {
        let (_keep, dir, path) = file();
        let (mut log, _) = AppendFile::open(&dir, &path, UnterminatedLine::Discard).unwrap();
        assert!(matches!(log.append(b"a\nb"), Err(AppendError::Newline { .. })));
        assert_eq!(dir.read(&path).unwrap(), b"");
    }
}
