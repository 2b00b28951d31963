//! Limits of loading.

/// Larger files are not read.
pub(crate) const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Longer files are loaded with a warning.
pub(crate) const MAX_CHARACTERS: usize = 40_000;
/// How deep includes are followed.
pub(crate) const MAX_HOPS: usize = 4;
/// How many includes of one file are followed.
pub(crate) const MAX_INCLUDES: usize = 200;
/// How many files a session may load.
pub(crate) const MAX_FILES: usize = 1000;
/// Total size of all files of a session.
pub(crate) const MAX_TOTAL_BYTES: usize = 16 * 1024 * 1024;
/// How many notes are kept.
pub(crate) const MAX_NOTES: usize = 1000;
