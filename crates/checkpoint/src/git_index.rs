//! The index of a git repository: which files git knows, what it saw of each, and the hash of what it has.
//!
//! Invariant: an index that cannot be read has no entries: then every file counts as unknown to git and is copied.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use dormouse_base::git_folder;

const HEADER: usize = 12;
/// Bytes of an entry before its flags: times, numbers, mode, size and hash.
const BEFORE_FLAGS: usize = 60;
/// Set if two more bytes of flags follow.
const EXTENDED: u16 = 0x4000;
/// Not zero in a file with conflicts.
const STAGE: u16 = 0x3000;

/// The hash of an object of git's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ObjectId(pub(crate) [u8; 20]);

impl std::fmt::Display for ObjectId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What git saw of a file when it last looked at it: seconds and nanoseconds of both times, inode, mode, size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SeenByGit {
    changed: (u32, u32),
    modified: (u32, u32),
    inode: u32,
    mode: u32,
    size: u32,
}

/// The index of one repository.
#[derive(Debug, Default)]
pub(crate) struct GitIndex {
    entries: HashMap<PathBuf, (SeenByGit, ObjectId)>,
    /// When the index was written: a file that is not older may have changed since git looked at it.
    written: Option<(i64, i64)>,
}

impl GitIndex {
    /// The index of the repository whose checkout is in this folder.
    pub(crate) fn read(checkout: &Path) -> Self {
        let Some(folder) = git_folder(checkout) else { return Self::default() };
        let path = folder.join("index");
        let (Ok(metadata), Ok(bytes)) = (path.metadata(), std::fs::read(&path)) else {
            // Nothing was added yet.
            return Self::default();
        };
        if has_long_hashes(&folder) {
            return Self::default();
        }
        let entries = entries(&bytes).unwrap_or_default();
        Self { entries, written: Some((metadata.mtime(), metadata.mtime_nsec())) }
    }

    /// The paths of all files, below the checkout.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.keys().map(PathBuf::as_path)
    }

    /// Whether git knows the file.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.entries.contains_key(path)
    }

    /// The object with the content of this file, if the file is as git saw it.
    pub(crate) fn unchanged(&self, path: &Path, now: &std::fs::Metadata) -> Option<ObjectId> {
        let (seen, object) = self.entries.get(path)?;
        let is_older = self.written.is_some_and(|at| (now.mtime(), now.mtime_nsec()) < at);
        (is_older && *seen == SeenByGit::of(now)).then_some(*object)
    }
}

impl SeenByGit {
    /// Git keeps the lower 32 bits of each number.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as git does it")]
    fn of(now: &std::fs::Metadata) -> Self {
        Self {
            changed: (now.ctime() as u32, now.ctime_nsec() as u32),
            modified: (now.mtime() as u32, now.mtime_nsec() as u32),
            inode: now.ino() as u32,
            mode: if now.mode() & 0o100 == 0 { 0o100_644 } else { 0o100_755 },
            size: now.size() as u32,
        }
    }
}

/// Whether the repository uses hashes of 32 bytes, which this module does not read.
fn has_long_hashes(folder: &Path) -> bool {
    let common = common_folder(folder);
    let config = std::fs::read_to_string(common.join("config")).unwrap_or_default();
    config.to_ascii_lowercase().contains("objectformat = sha256")
}

/// The folder that worktrees of a repository share.
pub(crate) fn common_folder(folder: &Path) -> PathBuf {
    match std::fs::read_to_string(folder.join("commondir")) {
        Ok(text) => folder.join(text.trim()),
        Err(_) => folder.to_owned(),
    }
}

fn entries(bytes: &[u8]) -> Option<HashMap<PathBuf, (SeenByGit, ObjectId)>> {
    let version = bytes.strip_prefix(b"DIRC\0\0\0")?.first()?;
    if !(2..=4).contains(version) {
        return None;
    }
    let count = number(bytes, 8)?;
    let mut entries = HashMap::new();
    let mut at = HEADER;
    let mut name = Vec::new();
    for _ in 0..count {
        let flags = u16::from_be_bytes(*bytes.get(at + BEFORE_FLAGS..)?.first_chunk()?);
        let start = at + BEFORE_FLAGS + 2 + if flags & EXTENDED == 0 { 0 } else { 2 };
        let mut rest = bytes.get(start..)?;
        if *version == 4 {
            // The name begins like the one before it, less so many bytes.
            let removed = take_varint(&mut rest)?;
            name.truncate(name.len().checked_sub(removed)?);
        } else {
            name.clear();
        }
        let length = rest.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(rest.get(..length)?);
        if flags & STAGE == 0 {
            let object = ObjectId(*bytes.get(at + 40..)?.first_chunk()?);
            entries.insert(PathBuf::from(OsStr::from_bytes(&name)), (seen(bytes, at)?, object));
        }
        at = if *version == 4 {
            bytes.len() - rest.len() + length + 1
        } else {
            // Entries end with one to eight zeros, at a multiple of eight.
            at + ((start - at + length + 8) & !7)
        };
    }
    Some(entries)
}

fn seen(bytes: &[u8], at: usize) -> Option<SeenByGit> {
    Some(SeenByGit {
        changed: (number(bytes, at)?, number(bytes, at + 4)?),
        modified: (number(bytes, at + 8)?, number(bytes, at + 12)?),
        inode: number(bytes, at + 20)?,
        mode: number(bytes, at + 24)?,
        size: number(bytes, at + 36)?,
    })
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// A number as git writes offsets: seven bits a byte, each further byte adding one.
fn take_varint(bytes: &mut &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "compared with what git itself says")]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_version_of_the_index_names_what_git_lists() {
        for version in ["2", "3", "4"] {
            let folder = tempfile::tempdir().unwrap();
            let git = |arguments: &[&str]| {
                let run = Command::new("git")
                    .args(["-c", "user.name=a", "-c", "user.email=a@b"])
                    .args(arguments)
                    .current_dir(folder.path())
                    .output()
                    .unwrap();
                assert!(run.status.success(), "{arguments:?}: {run:?}");
                String::from_utf8(run.stdout).unwrap()
            };
            git(&["init", "-q"]);
            for name in
                ["a", "\u{6587}.md", "a-name-of-twenty.txt", ".env", "eight888", "b/c", "b/cd"]
            {
                let path = folder.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, name).unwrap();
                let hour = std::time::Duration::from_hours(1);
                let file = std::fs::File::options().append(true).open(path).unwrap();
                file.set_modified(std::time::SystemTime::now() - hour).unwrap();
            }
            git(&["add", "-A"]);
            git(&["update-index", "--index-version", version]);
            if version == "3" {
                git(&["update-index", "--skip-worktree", "a"]);
            }
            let index = GitIndex::read(folder.path());
            let mut listed: Vec<String> =
                git(&["ls-files", "-z"]).split_terminator('\0').map(str::to_owned).collect();
            let mut read: Vec<String> =
                index.paths().map(|path| path.to_str().unwrap().to_owned()).collect();
            listed.sort();
            read.sort();
            assert_eq!((read.len(), read), (7, listed));
            let now = folder.path().join("b/cd").symlink_metadata().unwrap();
            let object = index.unchanged(Path::new("b/cd"), &now).unwrap();
            assert_eq!(object.to_string(), git(&["hash-object", "b/cd"]).trim());
            std::fs::write(folder.path().join("b/cd"), "b/ce").unwrap();
            let now = folder.path().join("b/cd").symlink_metadata().unwrap();
            assert_eq!(index.unchanged(Path::new("b/cd"), &now), None);
        }
    }

    proptest! {
        #[test]
        fn no_index_makes_it_panic(version in 2_u8..5, rest in prop::collection::vec(any::<u8>(), 0..400)) {
            let bytes = [&b"DIRC\0\0\0"[..], &[version, 0, 0, 0, 3], &rest].concat();
            let _read = entries(&bytes);
        }
    }
}
