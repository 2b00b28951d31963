//! Text of any length: in memory while it is short, in a file of the session as soon as it is not.
//!
//! Invariant: at most [`IN_MEMORY`] bytes are held. What is not kept (a full disk, more than
//! [`MOST_BYTES`]) is counted and said at the end of what is.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use dormouse_base::{Dir, RelPath};

/// More than any limit of a result: what is longer would be stored anyway.
const IN_MEMORY: usize = 256 * 1024;
/// The most that is kept of one result.
const MOST_BYTES: u64 = 1 << 30;
/// So much is kept of what is no text: `cat /dev/zero` says no more after that.
const MOST_NO_TEXT: u64 = 4 * 1024 * 1024;

/// Where a call may put what is too long to hold.
#[derive(Debug, Clone)]
pub struct OutputFile {
    /// The session's folder.
    pub session: Dir,
    /// The file in it.
    pub file: RelPath,
}

/// A result that is in a file already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOutput {
    /// The file.
    pub path: PathBuf,
    /// How long it is, in bytes.
    pub bytes: u64,
    /// How long it is, in characters.
    pub chars: u64,
    /// How it begins: more than a preview shows.
    pub head: String,
}

/// What became of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum KeptOutput {
    /// It was short, or could not be stored.
    Text(String),
    /// It is in a file.
    File(StoredOutput),
}

/// Takes a text in, piece by piece.
#[derive(Debug)]
pub(crate) struct OutputCollector {
    place: Option<OutputFile>,
    most_bytes: u64,
    head: String,
    rest: Rest,
    /// Of what is kept.
    bytes: u64,
    chars: u64,
    /// Line ends that are only kept if something follows them.
    line_ends: usize,
    lost: u64,
    /// Characters at the beginning that no text has.
    no_text_chars: u64,
    notes: Vec<String>,
}

/// What is beyond the memory's share.
#[derive(Debug)]
enum Rest {
    Nothing,
    InFile(File),
    /// Why it is not kept.
    Lost(String),
}

impl OutputCollector {
    pub(crate) fn new(place: Option<OutputFile>) -> Self {
        Self {
            place,
            most_bytes: MOST_BYTES,
            head: String::new(),
            rest: Rest::Nothing,
            bytes: 0,
            chars: 0,
            line_ends: 0,
            lost: 0,
            no_text_chars: 0,
            notes: Vec::new(),
        }
    }

    /// Takes in the next piece. Line ends at the very end are left out.
    pub(crate) fn push(&mut self, piece: &str) {
        let body = piece.trim_end_matches('\n');
        if !body.is_empty() {
            let pending = "\n".repeat(std::mem::take(&mut self.line_ends));
            self.add(&pending);
            self.add(body);
        }
        self.line_ends += piece.len() - body.len();
    }

    /// A line of our own behind the text. It is kept whatever becomes of the text.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0 && self.notes.is_empty()
    }

    /// What became of it.
    pub(crate) fn finish(mut self) -> KeptOutput {
        if self.lost > 0 {
            let why = match &self.rest {
                Rest::Lost(why) => why.clone(),
                Rest::Nothing | Rest::InFile(_) => {
                    format!("at most {} bytes of a result are kept", self.most_bytes)
                }
            };
            self.notes.insert(0, format!("[{} more bytes were not kept: {why}]", self.lost));
        }
        for note in std::mem::take(&mut self.notes) {
            let line_end = if self.bytes > 0 { "\n" } else { "" };
            self.write(&format!("{line_end}{note}"));
        }
        match (self.rest, self.place) {
            (Rest::InFile(_), Some(place)) => KeptOutput::File(StoredOutput {
                path: place.session.path().join(place.file.as_path()),
                bytes: self.bytes,
                chars: self.chars,
                head: self.head,
            }),
            _ => KeptOutput::Text(self.head),
        }
    }

    fn add(&mut self, text: &str) {
        if self.bytes < MOST_NO_TEXT {
            let no_text = text.chars().filter(|c| matches!(c, '\0' | '\u{fffd}')).count();
            self.no_text_chars += no_text as u64;
        } else if self.no_text_chars * 2 > self.chars.min(MOST_NO_TEXT) {
            self.most_bytes = self.most_bytes.min(MOST_NO_TEXT);
        }
        if self.lost > 0 || self.bytes + text.len() as u64 > self.most_bytes {
            self.lost += text.len() as u64;
        } else {
            self.write(text);
        }
    }

    fn write(&mut self, text: &str) {
        if matches!(self.rest, Rest::Nothing) && self.head.len() + text.len() > IN_MEMORY {
            self.rest = self.open();
        }
        let written = match &mut self.rest {
            Rest::InFile(file) => file.write_all(text.as_bytes()).map_err(|e| e.to_string()),
            Rest::Nothing => {
                self.head.push_str(text);
                Ok(())
            }
            // The last words are still said.
            Rest::Lost(_) if self.lost > 0 => {
                self.head.push_str(text);
                return;
            }
            Rest::Lost(why) => Err(std::mem::take(why)),
        };
        match written {
            Ok(()) => {
                self.bytes += text.len() as u64;
                self.chars += text.chars().count() as u64;
            }
            Err(why) => {
                self.lost += text.len() as u64 + self.bytes - self.head.len() as u64;
                self.rest = Rest::Lost(why);
            }
        }
    }

    /// The file, with what was in memory so far.
    fn open(&self) -> Rest {
        let Some(place) = &self.place else {
            return Rest::Lost("there is no folder for long results".to_owned());
        };
        let opened = place.session.create_file(&place.file).map_err(|error| error.to_string());
        let begun = opened.and_then(|mut file| {
            file.write_all(self.head.as_bytes()).map_err(|error| error.to_string())?;
            Ok(file)
        });
        begun.map_or_else(Rest::Lost, Rest::InFile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeper() -> (tempfile::TempDir, OutputCollector) {
        let folder = tempfile::tempdir().unwrap();
        let session = Dir::open(folder.path()).unwrap();
        let file = RelPath::new("tool-results/t.txt").unwrap();
        (folder, OutputCollector::new(Some(OutputFile { session, file })))
    }

    #[test]
    fn of_what_is_no_text_only_the_beginning_is_kept() {
        let (_folder, mut zeros) = keeper();
        let (_other, mut text) = keeper();
        for _ in 0..10 {
            zeros.push(&"\0".repeat(1024 * 1024));
            text.push(&"word ".repeat(200 * 1024));
        }
        let kept = |collector: OutputCollector| match collector.finish() {
            KeptOutput::File(stored) => stored.bytes,
            KeptOutput::Text(text) => text.len() as u64,
        };
        assert!(kept(zeros) < MOST_NO_TEXT + 2 * 1024 * 1024);
        assert!(kept(text) > 9 * 1024 * 1024);
    }

    #[test]
    fn what_is_short_stays_in_memory() {
        let (folder, mut keeper) = keeper();
        for piece in ["one\n", "\n", "two\n\n"] {
            keeper.push(piece);
        }
        keeper.note("[exit code 1]");
        assert_eq!(keeper.finish(), KeptOutput::Text("one\n\ntwo\n[exit code 1]".into()));
        assert!(!folder.path().join("tool-results").exists());
    }

    #[test]
    fn what_is_long_is_in_the_file_whole() {
        let (folder, mut keeper) = keeper();
        let line = "睡鼠 and more\n";
        for _ in 0..30_000 {
            keeper.push(line);
        }
        keeper.note("[exit code 1]");
        let KeptOutput::File(spilled) = keeper.finish() else { panic!("in memory") };
        let whole = line.repeat(30_000) + "[exit code 1]";
        assert_eq!(std::fs::read_to_string(&spilled.path).unwrap(), whole);
        assert_eq!(spilled.bytes, whole.len() as u64);
        assert_eq!(spilled.chars, whole.chars().count() as u64);
        assert!(whole.starts_with(&spilled.head) && spilled.head.len() > 200_000);
        assert!(spilled.path.starts_with(folder.path()));
    }

    #[test]
    fn what_is_not_kept_is_said() {
        let (_folder, mut keeper) = keeper();
        keeper.most_bytes = 300_000;
        (0..4).for_each(|_| keeper.push(&"x".repeat(100_000)));
        let KeptOutput::File(spilled) = keeper.finish() else { panic!("in memory") };
        let text = std::fs::read_to_string(&spilled.path).unwrap();
        let note = "\n[100000 more bytes were not kept: at most 300000 bytes of a result are kept]";
        assert_eq!(text, "x".repeat(300_000) + note);

        let mut without_folder = OutputCollector::new(None);
        (0..4).for_each(|_| without_folder.push(&"x".repeat(100_000)));
        without_folder.note("[exit code 1]");
        let KeptOutput::Text(text) = without_folder.finish() else { panic!("stored") };
        let note = "\n[200000 more bytes were not kept: there is no folder for long results]\n[exit code 1]";
        assert_eq!(text, "x".repeat(200_000) + note);
    }
}
