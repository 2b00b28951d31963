//! Contents of files under their hash: each is kept once, whatever changes back and forth.
//!
//! Invariant: what is returned has the hash that was asked for. Files are readable by the user alone: they may hold secrets.

use std::time::SystemTime;

use dormouse_base::{Dir, Durability, FileError, RelPath, Replacement};

use crate::content_id::ContentId;
use crate::error::CheckpointError;
use crate::folder::checkpoint_folder;

/// The contents that checkpoints keep.
#[derive(Debug, Clone)]
pub struct ContentStore {
    dir: Dir,
}

impl ContentStore {
    /// The store in a folder of checkpoints.
    pub fn new(dir: Dir) -> Self {
        Self { dir }
    }

    /// The store of a session; none if the session has no checkpoints.
    pub fn of_session(session: &Dir) -> Option<Self> {
        session.open_folder(&checkpoint_folder()).ok().map(Self::new)
    }

    /// Keeps a content.
    pub fn put(&self, bytes: &[u8]) -> Result<ContentId, FileError> {
        let id = ContentId::of(bytes);
        let path = place(id);
        if self.dir.entry(&path).is_err() {
            // Losing power may lose what was done in the last seconds; then reading says that it is gone.
            let replacement =
                Replacement { durability: Durability::Unsynced, ..Replacement::new(bytes) };
            self.dir.replace_with(&path, &replacement)?;
        }
        Ok(id)
    }

    /// The time by the clock that files have their times from, in nanoseconds.
    pub(crate) fn now(&self) -> Result<i128, FileError> {
        let path = clock_file();
        let empty = Replacement { durability: Durability::Unsynced, ..Replacement::new(b"") };
        self.dir.replace_with(&path, &empty)?;
        let since = self.dir.entry(&path)?.modified.duration_since(SystemTime::UNIX_EPOCH);
        Ok(since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX)))
    }

    /// A content that was kept.
    pub fn get(&self, id: ContentId) -> Result<Vec<u8>, CheckpointError> {
        let bytes = self.dir.read(&place(id))?;
        if ContentId::of(&bytes) == id { Ok(bytes) } else { Err(CheckpointError::Damaged(id)) }
    }
}

#[expect(clippy::expect_used, reason = "a fixed plain name")]
fn clock_file() -> RelPath {
    RelPath::new("listed-at").expect("a plain name")
}

#[expect(clippy::expect_used, reason = "a name of hexadecimal digits is a plain path")]
fn place(id: ContentId) -> RelPath {
    let hex = id.hex();
    let (folder, name) = hex.split_at(2);
    RelPath::new(format!("contents/{folder}/{name}")).expect("hexadecimal digits")
}
