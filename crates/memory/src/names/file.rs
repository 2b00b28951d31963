//! A validated path of a memory in its directory.

use std::fmt;

use dormouse_base::{RelPath, RelPathError};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use unicode_normalization::is_nfc;

use super::{EXTENSION, LOGS, fold, is_index, is_markdown, is_reserved};

/// The path of a memory relative to its directory: `topic/test-database.md`.
///
/// Never absolute, hidden, the index or a log, never with `..`, and valid on every file system.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MemoryFile {
    text: String,
    path: RelPath,
}

/// Maximum depth of folders and maximum length of a name.
const DEEPEST: usize = 8;
const LONGEST_PART: usize = 255;

/// Why a path cannot be that of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MemoryFileError {
    /// Empty, absolute, with `..` or a NUL byte.
    #[error("{0}")]
    Path(String),
    /// Not a markdown file.
    #[error("`{0}` does not end in `.md`; a memory is a markdown file")]
    NoMarkdown(String),
    /// A hidden file or folder.
    #[error("`{0}` is hidden; choose a name that does not begin with a dot")]
    Hidden(String),
    /// The index.
    #[error("`{0}` is the index, which is kept by the program; choose another name")]
    Index(String),
    /// In the folder of the daily logs.
    #[error("`{0}` is in the folder of the daily log; choose another folder")]
    Log(String),
    /// A name that is invalid or has another meaning on some file systems.
    #[error("`{name}` is not a safe file name: {why}")]
    Unsafe {
        /// The name, printable.
        name: String,
        /// The reason.
        why: &'static str,
    },
    /// Too many folders.
    #[error("`{0}` is too deep; at most {DEEPEST} levels")]
    TooDeep(String),
}

impl MemoryFile {
    /// Validates the path of a memory that may be new.
    pub fn new(path: &str) -> Result<Self, MemoryFileError> {
        let file = Self::existing(path)?;
        let shown = dormouse_base::printable(path);
        for part in file.text.split('/') {
            check_portable(part, &shown)?;
        }
        Ok(file)
    }

    /// Validates the path of an existing memory: another program may have chosen a name that we would not.
    pub fn existing(path: &str) -> Result<Self, MemoryFileError> {
        // Created only if needed: a scan calls this for every file.
        let shown = || dormouse_base::printable(path).into_owned();
        if path.ends_with('/') {
            return Err(MemoryFileError::NoMarkdown(shown()));
        }
        // `/` is the only separator on every system.
        let plain = RelPath::new(path).map_err(|error| outside(&shown(), &error))?;
        let text = plain.to_string();
        if text.split('/').count() > DEEPEST {
            return Err(MemoryFileError::TooDeep(shown()));
        }
        if text.split('/').any(|part| part.starts_with('.')) {
            return Err(MemoryFileError::Hidden(shown()));
        }
        if text.chars().any(|c| c.is_control() || is_invisible(c)) {
            let why = "it contains invisible characters";
            return Err(MemoryFileError::Unsafe { name: shown(), why });
        }
        if text.split_once('/').is_some_and(|(first, _)| fold(first) == LOGS) {
            return Err(MemoryFileError::Log(shown()));
        }
        let name = text.rsplit('/').next().unwrap_or_default();
        if is_index(name) {
            return Err(MemoryFileError::Index(shown()));
        }
        if !is_markdown(name) {
            return Err(MemoryFileError::NoMarkdown(shown()));
        }
        Ok(Self { text, path: plain })
    }

    /// The path, with `/` between folders.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The file name without folders.
    pub fn name(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or(&self.text)
    }

    /// The file name without folders and `.md`.
    pub fn stem(&self) -> &str {
        self.name().strip_suffix(EXTENSION).unwrap_or(&self.text)
    }

    /// The folder, if it is in one.
    pub fn folder(&self) -> Option<&str> {
        self.text.rsplit_once('/').map(|(folder, _)| folder)
    }

    /// The path for a directory handle.
    pub fn path(&self) -> &RelPath {
        &self.path
    }
}

fn outside(shown: &str, error: &RelPathError) -> MemoryFileError {
    let reason = match error {
        RelPathError::Empty => "the file name is empty; give one that ends in `.md`".to_owned(),
        RelPathError::Absolute(_) => {
            format!("`{shown}` is absolute; give a path inside the memory directory")
        }
        RelPathError::Leaves(_) => {
            format!("`{shown}` leads out of the memory directory; give a path inside it")
        }
        RelPathError::Nul => "the file name contains a NUL byte; take it out".to_owned(),
    };
    MemoryFileError::Path(reason)
}

fn check_portable(part: &str, shown: &str) -> Result<(), MemoryFileError> {
    let refuse = |why| Err(MemoryFileError::Unsafe { name: shown.to_owned(), why });
    if part.len() > LONGEST_PART {
        return refuse("it is longer than 255 bytes");
    }
    if part.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) {
        return refuse("it contains one of \\ : * ? \" < > |, which not every file system takes");
    }
    if part.ends_with(['.', ' ']) || part.starts_with(' ') {
        return refuse("it begins or ends with a space, or ends with a dot");
    }
    if has_percent_form(part) {
        return refuse("it contains a percent-encoded character; write the character itself");
    }
    if is_reserved(part) && fold(part) != "memory" && !is_index(part) {
        return refuse("it is the name of a device on Windows");
    }
    if !is_nfc(part) {
        return refuse("it is not in the common Unicode form (NFC)");
    }
    Ok(())
}

/// Format characters: direction marks, zero-width characters, byte order marks, tags, line separators.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// `%2e%2e%2f`: harmless here, but `../` for a program that decodes it.
fn has_percent_form(part: &str) -> bool {
    part.split('%')
        .skip(1)
        .any(|rest| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit()))
}

impl fmt::Display for MemoryFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for MemoryFile {
    type Error = MemoryFileError;

    fn try_from(text: String) -> Result<Self, MemoryFileError> {
        Self::existing(&text)
    }
}

impl From<MemoryFile> for String {
    fn from(file: MemoryFile) -> Self {
        file.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_are_taken() {
        for path in ["a.md", "topic/数据库.md", "My note (2).md", "./a.md", "100%.md", "team/a.md"]
        {
            assert!(MemoryFile::new(path).is_ok(), "{path}");
        }
        let file = MemoryFile::new("a/b c.md").unwrap();
        assert_eq!((file.name(), file.stem(), file.folder()), ("b c.md", "b c", Some("a")));
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let error = |path: &str| MemoryFile::new(path).unwrap_err().to_string();
        assert!(error("../a.md").contains("leads out"));
        assert!(error("/a.md").contains("absolute"));
        assert!(error(".git/a.md").contains("hidden"));
        assert!(error("memory.MD").contains("index"));
        assert!(error("a.txt").contains("`.md`"));
        assert!(error("aux.md").contains("Windows"));
        assert!(error("logs/2026/a.md").contains("daily log"));
        assert!(error("a\u{202e}b.md").contains("invisible"));
        assert!(!error("a\u{1b}b.md").contains('\u{1b}'));
        assert!(MemoryFile::existing("what: cafe\u{301}?.md").is_ok());
        assert!(MemoryFile::existing("memory.md").is_err());
    }
}
