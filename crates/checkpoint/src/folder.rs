//! Where checkpoints are: in the folder of their session.

use dormouse_base::RelPath;

/// The folder of a session's checkpoints, below that of the session.
#[expect(clippy::expect_used, reason = "a fixed plain name")]
pub(crate) fn checkpoint_folder() -> RelPath {
    RelPath::new("checkpoints").expect("a plain name")
}
