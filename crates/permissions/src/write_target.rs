//! Where a path leads through links: to an existing file, or to where a new one would be created.
//!
//! Invariant: the resolved path is absolute and has neither links nor `..` in it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The most links followed, as in the kernel.
const MAX_LINKS: usize = 40;

/// A path that cannot be resolved.
#[derive(Debug, Error)]
pub enum WriteTargetError {
    /// Not the path of a file.
    #[error("`file_path`: {problem}")]
    Invalid {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A path that leads to no place where a file could be.
    #[error("{} {reason}", path.display())]
    Unresolvable {
        /// The path.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// The system refused to resolve it.
    #[error("cannot write {}: {source}", path.display())]
    System {
        /// The path.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// Resolves where a write of `file_path` in `folder` would really go. Changes nothing.
pub fn write_target(folder: &Path, file_path: &Path) -> Result<PathBuf, WriteTargetError> {
    let text = file_path.as_os_str().as_encoded_bytes();
    let invalid = |problem| Err(WriteTargetError::Invalid { problem });
    if text.is_empty() {
        return invalid("is empty");
    }
    if text.contains(&0) {
        return invalid("contains a NUL character");
    }
    if text.ends_with(b"/") {
        return invalid("ends with a slash, so it names a folder");
    }
    real_path(&folder.join(file_path))
}

fn real_path(path: &Path) -> Result<PathBuf, WriteTargetError> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match path.canonicalize() {
            Ok(real) => return Ok(real),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(WriteTargetError::System { path, source }),
        }
        // Nothing exists there, or it is a dangling link.
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(unresolvable(&path, "does not name a file"));
        };
        match path.read_link() {
            Ok(target) => path = parent.join(target),
            Err(_) => return Ok(real_folder(parent)?.join(name)),
        }
    }
    Err(unresolvable(&path, "leads through too many links"))
}

/// Resolves a folder, which may be missing together with some of its parents.
fn real_folder(path: &Path) -> Result<PathBuf, WriteTargetError> {
    match path.canonicalize() {
        Ok(real) => return Ok(real),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(WriteTargetError::System { path: path.to_owned(), source }),
    }
    if path.symlink_metadata().is_ok() {
        return Err(unresolvable(path, "is a link to a folder that does not exist"));
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(real_folder(parent)?.join(name)),
        _ => Err(unresolvable(path, "contains `..` after a folder that does not exist")),
    }
}

fn unresolvable(path: &Path, reason: &'static str) -> WriteTargetError {
    WriteTargetError::Unresolvable { path: path.to_owned(), reason }
}
