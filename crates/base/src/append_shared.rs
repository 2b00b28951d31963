//! A file that several processes append lines to at once, without a lock.
//!
//! The kernel puts each write to such a file behind the one before it, so whole lines do not mix. For the
//! same reason nothing is ever cut off it: another's line may stand behind ours. A line that a crash or
//! a full disk left torn costs only itself: the next one begins with a line end.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::append::AppendError;
use crate::dir::{Dir, FileAction, FileError};
use crate::fault;
use crate::rel_path::RelPath;

/// An open file of lines that others append to as well.
#[derive(Debug)]
pub struct SharedAppendFile {
    file: File,
    path: PathBuf,
    end: End,
}

/// What stands at the end of the file, as far as known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    Torn,
}

impl SharedAppendFile {
    /// Opens a file, making it (private to the user) if needed.
    pub fn open(dir: &Dir, path: &RelPath) -> Result<Self, FileError> {
        let full = dir.path().join(path.as_path());
        let file = dir.open_append(path)?;
        match end_of(&file) {
            Ok(end) => Ok(Self { file, path: full, end }),
            Err(error) => Err(FileError::new(FileAction::Read, full, error)),
        }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line (without its newline) in one write.
    pub fn append(&mut self, line: &[u8]) -> Result<(), AppendError> {
        if line.contains(&b'\n') {
            return Err(AppendError::Newline { path: self.path.clone() });
        }
        let mut whole = Vec::with_capacity(line.len() + 2);
        if self.end == End::Torn {
            whole.push(b'\n');
        }
        whole.extend_from_slice(line);
        whole.push(b'\n');
        let written = fault::point("base.append_shared").and_then(|()| self.write(&whole));
        written.map_err(|error| FileError::new(FileAction::Write, &self.path, error).into())
    }

    /// One write, never a second for the rest: another's line may stand between by then.
    fn write(&mut self, whole: &[u8]) -> io::Result<()> {
        let written = loop {
            match self.file.write(whole) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done?,
            }
        };
        if written == whole.len() {
            self.end = End::Whole;
            return Ok(());
        }
        if written > 0 {
            self.end = End::Torn;
        }
        Err(io::Error::new(io::ErrorKind::StorageFull, "only a part of the line fits"))
    }
}

fn end_of(file: &File) -> io::Result<End> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else { return Ok(End::Whole) };
    let mut byte = [b'\n'];
    file.read_exact_at(&mut byte, last)?;
    Ok(if byte == [b'\n'] { End::Whole } else { End::Torn })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Dir, RelPath) {
        let temporary = tempfile::tempdir().unwrap();
        let dir = Dir::open(temporary.path()).unwrap();
        (temporary, dir, RelPath::new("log.jsonl").unwrap())
    }

    #[test]
    fn lines_of_several_writers_stay_whole() {
        let (_keep, dir, path) = folder();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let (dir, path) = (&dir, &path);
                scope.spawn(move || {
                    let mut file = SharedAppendFile::open(dir, path).unwrap();
                    let line = writer.to_string().repeat(700);
                    for _ in 0..100 {
                        file.append(line.as_bytes()).unwrap();
                    }
                });
            }
        });
        let text = String::from_utf8(dir.read(&path).unwrap()).unwrap();
        // One that opens while another writes may take its line for torn and end it: an empty line, which
        // costs nobody anything.
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 800);
        for line in lines {
            let first = line.get(..1).unwrap();
            assert_eq!(line, first.repeat(700));
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test plays the crash")]
    fn a_torn_line_costs_only_itself() {
        let (keep, dir, path) = folder();
        std::fs::write(keep.path().join("log.jsonl"), "one\ntw").unwrap();
        let mut file = SharedAppendFile::open(&dir, &path).unwrap();
        file.append(b"three").unwrap();
        file.append(b"four").unwrap();
        assert_eq!(dir.read(&path).unwrap(), b"one\ntw\nthree\nfour\n");
        assert!(matches!(file.append(b"a\nb"), Err(AppendError::Newline { .. })));
    }
}
