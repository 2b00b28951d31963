//! The name of an entry: a path that is a memory's on every file system.

use std::fmt;

use dormouse_memory::{MemoryFile, MemoryFileError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Bytes of a name, with its folders.
const LONGEST: usize = 500;

/// The name of an entry, such as `ci/flaky-tests.md`.
///
/// Server and clients refuse the same names: absolute, with `..`, hidden, the index, logs, names that are invalid or
/// mean something else on some file system.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EntryName(MemoryFile);

/// Why a text is not the name of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EntryNameError {
    /// Not a memory's path.
    #[error(transparent)]
    File(#[from] MemoryFileError),
    /// Not in its shortest form, such as `./a.md`.
    #[error("`{0}` is not in its shortest form")]
    Roundabout(String),
    /// Too long.
    #[error("the name has {0} bytes; at most {LONGEST} are possible")]
    Long(usize),
}

impl EntryName {
    /// Validates a name.
    pub fn new(name: &str) -> Result<Self, EntryNameError> {
        if name.len() > LONGEST {
            return Err(EntryNameError::Long(name.len()));
        }
        let file = MemoryFile::new(name)?;
        if file.as_str() != name {
            return Err(EntryNameError::Roundabout(dormouse_base::printable(name).into_owned()));
        }
        Ok(Self(file))
    }

    /// The name of a memory's file.
    pub fn of(file: &MemoryFile) -> Result<Self, EntryNameError> {
        Self::new(file.as_str())
    }

    /// The memory's file.
    pub fn file(&self) -> &MemoryFile {
        &self.0
    }

    /// The name, with `/` between folders.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl TryFrom<String> for EntryName {
    type Error = EntryNameError;

    fn try_from(name: String) -> Result<Self, EntryNameError> {
        Self::new(&name)
    }
}

impl From<EntryName> for String {
    fn from(name: EntryName) -> Self {
        name.as_str().to_owned()
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tricks_are_refused() {
        for name in ["a.md", "ci/flaky-tests.md", "数据库/迁移.md"] {
            assert_eq!(EntryName::new(name).map(|name| name.to_string()), Ok(name.to_owned()));
        }
        let long = format!("{}.md", "a/".repeat(300));
        for name in [
            "",
            "/a.md",
            "../a.md",
            "a/../b.md",
            "./a.md",
            "a//b.md",
            "a",
            "a.txt",
            ".a.md",
            ".git/a.md",
            "MEMORY.md",
            "memory.MD",
            "sub/MEMORY.md",
            "logs/a.md",
            "a\0.md",
            "a\n.md",
            "a\\b.md",
            "C:a.md",
            "con.md",
            "a.md/",
            "a\u{202e}.md",
            &long,
        ] {
            assert!(EntryName::new(name).is_err(), "{name:?}");
        }
    }
}
