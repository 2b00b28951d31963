//! A path that can only lead downwards.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

/// A relative path of plain names: no `..`, no root, no NUL, never empty.
///
/// [`Dir`](crate::Dir) takes nothing else, so a caller cannot ask it to leave.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelPath(PathBuf);

/// Why a path is not a [`RelPath`].
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RelPathError {
    /// Nothing in it.
    #[error("the path is empty")]
    Empty,
    /// `/etc/passwd`, `C:\`.
    #[error("{0} is absolute; a path below the folder is expected")]
    Absolute(PathBuf),
    /// `a/../../b`.
    #[error("{0} contains `..`; a path below the folder is expected")]
    Leaves(PathBuf),
    /// A NUL byte, which no file system takes.
    #[error("the path contains a NUL byte")]
    Nul,
}

impl RelPath {
    /// Checks a path.
    pub fn new(path: impl AsRef<Path>) -> Result<Self, RelPathError> {
        let path = path.as_ref();
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(RelPathError::Nul);
        }
        let mut plain = PathBuf::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => plain.push(name),
                Component::CurDir => {}
                Component::ParentDir => return Err(RelPathError::Leaves(path.to_owned())),
                Component::RootDir | Component::Prefix(_) => {
                    return Err(RelPathError::Absolute(path.to_owned()));
                }
            }
        }
        if plain.as_os_str().is_empty() {
            return Err(RelPathError::Empty);
        }
        Ok(Self(plain))
    }

    /// The path itself.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// The folder part, if there is one.
    pub fn parent(&self) -> Option<RelPath> {
        self.0
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .map(|parent| Self(parent.to_owned()))
    }

    /// The last name in it.
    pub fn file_name(&self) -> &std::ffi::OsStr {
        self.0.file_name().unwrap_or(self.0.as_os_str())
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_lead_down() {
        assert_eq!(RelPath::new("a/./b").unwrap().to_string(), "a/b");
        assert_eq!(RelPath::new(""), Err(RelPathError::Empty));
        assert_eq!(RelPath::new("."), Err(RelPathError::Empty));
        assert_eq!(RelPath::new("a\0b"), Err(RelPathError::Nul));
        assert!(matches!(RelPath::new("/etc"), Err(RelPathError::Absolute(_))));
        assert!(matches!(RelPath::new("a/../b"), Err(RelPathError::Leaves(_))));
    }

    #[test]
    fn parts() {
        let path = RelPath::new("a/b/c.md").unwrap();
        assert_eq!(path.parent().unwrap().to_string(), "a/b");
        assert_eq!(path.file_name(), "c.md");
        assert!(RelPath::new("c.md").unwrap().parent().is_none());
    }
}
