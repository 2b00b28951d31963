//! How far a session was looked at (B-10), in its folder: a file that is replaced whole. It moves when a run has
//! come to its end, or when there was nothing to look at; never when one failed.

use dormouse_base::{Dir, FileError, MessageId, RelPath};
use serde::{Deserialize, Serialize};

/// What a session's folder says about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    /// The last message that was looked at.
    pub(super) seen: Option<MessageId>,
    /// Whether a run was due that has not come to its end.
    #[serde(default)]
    pub(super) due: bool,
}

impl Cursor {
    /// What the folder says; where it says nothing that can be read, nothing was looked at.
    pub(super) fn read(session: &Dir) -> Self {
        let bytes = session.read(&file()).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub(super) fn write(self, session: &Dir) -> Result<(), FileError> {
        // Two small values: there is nothing that could fail.
        session.replace(&file(), &serde_json::to_vec(&self).unwrap_or_default())
    }
}

#[expect(clippy::expect_used, reason = "a fixed plain name")]
fn file() -> RelPath {
    RelPath::new("extraction.json").expect("a plain name")
}
