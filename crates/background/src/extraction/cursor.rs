//! How far extraction has looked at a session (B-10): a file in the session's folder.

use dormouse_base::{Dir, FileError, MessageId, RelPath};
use serde::{Deserialize, Serialize};

/// The position in a session. It moves when a run has ended, or when there was nothing to look at; never when a run
/// failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    /// The last message that was looked at.
    pub(super) seen: Option<MessageId>,
    /// Whether a run was due that has not ended.
    #[serde(default)]
    pub(super) due: bool,
}

impl Cursor {
    /// The cursor of a session; the start where there is no readable file.
    pub(super) fn read(session: &Dir) -> Self {
        Self::read_file(session, &file())
    }

    pub(super) fn write(self, session: &Dir) -> Result<(), FileError> {
        self.write_file(session, &file())
    }

    pub(super) fn read_file(folder: &Dir, file: &RelPath) -> Self {
        let bytes = folder.read(file).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub(super) fn write_file(self, folder: &Dir, file: &RelPath) -> Result<(), FileError> {
        // Two plain values always serialize.
        folder.replace(file, &serde_json::to_vec(&self).unwrap_or_default())
    }
}

#[expect(clippy::expect_used, reason = "a fixed plain name")]
fn file() -> RelPath {
    RelPath::new("extraction.json").expect("a plain name")
}
