//! Resolving, reading and listing: the only file access of this crate.
//!
//! A path is resolved first, including links; permission is decided on the real path; and that path is opened from
//! the root without following any link. So the file that was checked is the file that is read, or none is.

use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, EntryKind, RelPath};

use crate::limits::MAX_BYTES;
use crate::note::FileProblem;

/// Identity of a file, independent of the path it was reached by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

/// Result of resolving a path.
pub(crate) enum ResolvedPath {
    /// Exists, at this real path.
    Real(PathBuf),
    /// Does not exist.
    Absent,
    /// Exists but cannot be used.
    Unusable(FileProblem),
}

/// Resolves a path, following links.
pub(crate) fn resolve(path: &Path) -> ResolvedPath {
    match path.canonicalize() {
        Ok(real) => ResolvedPath::Real(real),
        Err(error) if is_absent(&error) => match path.symlink_metadata() {
            Ok(_) => ResolvedPath::Unusable(FileProblem::Dangling),
            Err(_) => ResolvedPath::Absent,
        },
        Err(error) => ResolvedPath::Unusable(FileProblem::Refused(error.to_string())),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads the text file at a real path.
pub(crate) fn read(real: &Path) -> Result<(FileId, String), FileProblem> {
    // Opening some devices has side effects, so check before as well; the check after opening is decisive.
    check_plain_file(&real.symlink_metadata().map_err(|error| refused(&error))?)?;
    let file = RelPath::new(real.strip_prefix("/").unwrap_or(real))
        .map_err(|error| FileProblem::Refused(error.to_string()))
        .and_then(|rel| root()?.open_file(&rel).map_err(|error| refused(&error.source)))?;
    let metadata = file.metadata().map_err(|error| refused(&error))?;
    check_plain_file(&metadata)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > MAX_BYTES {
        return Err(FileProblem::TooLarge(metadata.len().max(length)));
    }
    Ok((FileId { device: metadata.dev(), inode: metadata.ino() }, decode(bytes)?))
}

fn root() -> Result<Dir, FileProblem> {
    Dir::open("/").map_err(|error| refused(&error.source))
}

fn refused(error: &io::Error) -> FileProblem {
    FileProblem::Refused(error.to_string())
}

fn check_plain_file(metadata: &std::fs::Metadata) -> Result<(), FileProblem> {
    if metadata.is_dir() {
        Err(FileProblem::Folder)
    } else if !metadata.is_file() {
        Err(FileProblem::Special)
    } else if metadata.len() > MAX_BYTES {
        Err(FileProblem::TooLarge(metadata.len()))
    } else {
        Ok(())
    }
}

fn decode(bytes: Vec<u8>) -> Result<String, FileProblem> {
    if bytes.contains(&0) {
        return Err(FileProblem::Binary);
    }
    let text = String::from_utf8(bytes).map_err(|_| FileProblem::NotUtf8)?;
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Ok(rest.to_owned()),
        None => Ok(text),
    }
}

/// Lists a folder at a real path, sorted by name, without hidden entries.
pub(crate) fn list(real: &Path) -> Result<Vec<(PathBuf, EntryKind)>, FileProblem> {
    let rel = RelPath::new(real.strip_prefix("/").unwrap_or(real))
        .map_err(|error| FileProblem::Refused(error.to_string()))?;
    let entries = root()?
        .open_folder(&rel)
        .and_then(|folder| folder.entries())
        .map_err(|error| refused(&error.source))?;
    let mut found: Vec<(PathBuf, EntryKind)> = entries
        .into_iter()
        .filter(|entry| !entry.name.starts_with('.'))
        .map(|entry| (real.join(entry.name), entry.kind))
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(found)
}

/// The real path of a file that may not exist yet: the existing part is resolved, the rest must not contain `..`.
pub(crate) fn real_path(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|above| {
        let real = above.canonicalize().ok()?;
        let rest = path.strip_prefix(above).ok()?;
        if rest.as_os_str().is_empty() {
            return Some(Some(real));
        }
        Some(RelPath::new(rest).ok().map(|rest| real.join(rest.as_path())))
    })?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// As after a race: the path was real when it was resolved, then the file or a folder was replaced by a link.
    #[test]
    fn a_path_replaced_by_a_link_is_not_read() {
        let keep = tempfile::tempdir().unwrap();
        let top = keep.path().canonicalize().unwrap();
        std::fs::create_dir(top.join("folder")).unwrap();
        let dir = Dir::open(&top).unwrap();
        dir.replace(&RelPath::new("folder/file.md").unwrap(), b"text").unwrap();
        symlink("folder", top.join("linked")).unwrap();
        symlink("file.md", top.join("folder/link.md")).unwrap();
        assert_eq!(read(&top.join("folder/file.md")).unwrap().1, "text");
        assert!(read(&top.join("linked/file.md")).is_err());
        assert!(read(&top.join("folder/link.md")).is_err());
        assert!(list(&top.join("linked")).is_err());
    }

    #[test]
    fn missing_files_have_real_paths() {
        let keep = tempfile::tempdir().unwrap();
        let top = keep.path().canonicalize().unwrap();
        symlink("/", top.join("root")).unwrap();
        assert_eq!(real_path(&top.join("a/b.md")), Some(top.join("a/b.md")));
        assert_eq!(real_path(&top.join("root/no-such/b.md")), Some("/no-such/b.md".into()));
        assert_eq!(real_path(&top.join("a/../../b.md")), None);
    }
}
