//! Fixed names inside the state folder and the memory directory.

use dormouse_base::RelPath;

/// The path of a fixed name.
#[expect(clippy::expect_used, reason = "only fixed plain names and hashes come in")]
pub(super) fn name(plain: &str) -> RelPath {
    RelPath::new(plain).expect("a plain name")
}
