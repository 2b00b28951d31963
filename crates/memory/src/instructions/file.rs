//! The one door through which instruction files are read.
//!
//! A path is resolved first, links and all; what may be read is decided on the real path; and that is opened from
//! the root without following any link. What was decided on is what is read, or nothing is.

use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, EntryKind, RelPath};

use super::note::Problem;

/// Larger files are not read.
pub(super) const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// What tells a file apart, whatever name it is reached by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

/// What a path leads to.
pub(super) enum Target {
    /// Something, at this real path.
    Real(PathBuf),
    /// Nothing.
    Absent,
    /// Something unusable.
    Unusable(Problem),
}

/// Follows a path to where it leads.
pub(super) fn resolve(path: &Path) -> Target {
    match path.canonicalize() {
        Ok(real) => Target::Real(real),
        Err(error) if is_absent(&error) => match path.symlink_metadata() {
            Ok(_) => Target::Unusable(Problem::Dangling),
            Err(_) => Target::Absent,
        },
        Err(error) => Target::Unusable(Problem::Refused(error.to_string())),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads the text file at a real path.
pub(super) fn read(real: &Path) -> Result<(FileId, String), Problem> {
    // A look before the opening, which for some devices has effects; the look after it is the one that counts.
    plain(&real.symlink_metadata().map_err(|error| refused(&error))?)?;
    let file = RelPath::new(real.strip_prefix("/").unwrap_or(real))
        .map_err(|error| Problem::Refused(error.to_string()))
        .and_then(|rel| root()?.open_file(&rel).map_err(|error| refused(&error.source)))?;
    let metadata = file.metadata().map_err(|error| refused(&error))?;
    plain(&metadata)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > MAX_BYTES {
        return Err(Problem::TooLarge(metadata.len().max(length)));
    }
    Ok((FileId { device: metadata.dev(), inode: metadata.ino() }, text(bytes)?))
}

fn root() -> Result<Dir, Problem> {
    Dir::open("/").map_err(|error| refused(&error.source))
}

fn refused(error: &io::Error) -> Problem {
    Problem::Refused(error.to_string())
}

fn plain(metadata: &std::fs::Metadata) -> Result<(), Problem> {
    if metadata.is_dir() {
        Err(Problem::Folder)
    } else if !metadata.is_file() {
        Err(Problem::Special)
    } else if metadata.len() > MAX_BYTES {
        Err(Problem::TooLarge(metadata.len()))
    } else {
        Ok(())
    }
}

fn text(bytes: Vec<u8>) -> Result<String, Problem> {
    if bytes.contains(&0) {
        return Err(Problem::Binary);
    }
    let text = String::from_utf8(bytes).map_err(|_| Problem::NotUtf8)?;
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Ok(rest.to_owned()),
        None => Ok(text),
    }
}

/// The entries of a folder at a real path, by name; hidden ones are left out.
pub(super) fn list(real: &Path) -> Result<Vec<(PathBuf, EntryKind)>, Problem> {
    let rel = RelPath::new(real.strip_prefix("/").unwrap_or(real))
        .map_err(|error| Problem::Refused(error.to_string()))?;
    let entries = root()?
        .below(&rel)
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

/// The real path of a file that may not exist yet: the part that exists is followed, the rest must lead down.
pub(super) fn real_path(path: &Path) -> Option<PathBuf> {
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

    /// As after a race: the path was real when it was resolved, and a link took its place, or that of a folder.
    #[test]
    fn what_became_a_link_is_not_read() {
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
    fn files_to_be_have_real_paths() {
        let keep = tempfile::tempdir().unwrap();
        let top = keep.path().canonicalize().unwrap();
        symlink("/", top.join("root")).unwrap();
        assert_eq!(real_path(&top.join("a/b.md")), Some(top.join("a/b.md")));
        assert_eq!(real_path(&top.join("root/no-such/b.md")), Some("/no-such/b.md".into()));
        assert_eq!(real_path(&top.join("a/../../b.md")), None);
    }
}
