//! How a message names a file that goes with it.

/// The mention of a file, with a blank behind it.
pub(crate) fn mention(path: &str) -> String {
    let mark = if path.contains(' ') { "\"" } else { "" };
    format!("@{mark}{path}{mark} ")
}
