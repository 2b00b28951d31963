//! The files that git has, from its index: what `git grep` and `git show` can print.

use std::path::{Path, PathBuf};

/// Bytes of an entry before its flags: times, numbers, mode, size and hash.
const BEFORE_FLAGS: usize = 60;
const HEADER: usize = 12;
/// Set if two more bytes of flags follow.
const EXTENDED: u16 = 0x4000;

/// The files in the index of the repository that a folder is in. None where there is no index, or one of the fourth version,
/// which shortens names.
pub(super) fn tracked_files(folder: &Path) -> Vec<PathBuf> {
    let Some(root) = folder.ancestors().find(|folder| folder.join(".git").exists()) else {
        return Vec::new();
    };
    // No index: nothing was added yet, or a worktree keeps it elsewhere.
    let Ok(bytes) = std::fs::read(root.join(".git/index")) else { return Vec::new() };
    names(&bytes).into_iter().map(|name| root.join(name)).collect()
}

fn names(bytes: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let is_plain = matches!(bytes.get(..8), Some([b'D', b'I', b'R', b'C', 0, 0, 0, 2 | 3]));
    let Some([a, b, c, d]) = bytes.get(8..HEADER).filter(|_| is_plain) else { return names };
    let mut at = HEADER;
    for _ in 0..u32::from_be_bytes([*a, *b, *c, *d]) {
        let Some([high, low]) = bytes.get(at + BEFORE_FLAGS..at + BEFORE_FLAGS + 2) else { break };
        let extra = if u16::from_be_bytes([*high, *low]) & EXTENDED == 0 { 0 } else { 2 };
        let start = at + BEFORE_FLAGS + 2 + extra;
        let Some(rest) = bytes.get(start..) else { break };
        let Some(length) = rest.iter().position(|byte| *byte == 0) else { break };
        names.push(String::from_utf8_lossy(rest.get(..length).unwrap_or_default()).into_owned());
        // Entries end with one to eight zeros, at a multiple of eight.
        at += (start - at + length + 8) & !7;
    }
    names
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the list is compared with what git itself prints")]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_names_are_those_that_git_lists() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let run =
                Command::new("git").args(arguments).current_dir(folder.path()).output().unwrap();
            String::from_utf8(run.stdout).unwrap()
        };
        git(&["init", "-q"]);
        assert_eq!(tracked_files(folder.path()), Vec::<PathBuf>::new());
        for name in ["a", "\u{6587}.md", "a-name-of-twenty.txt", ".env", "eight888"] {
            std::fs::File::create_new(folder.path().join(name)).unwrap();
        }
        git(&["add", "-A"]);
        git(&["add", "-N", "a"]);
        let listed = git(&["ls-files", "-z"]);
        let expected: Vec<PathBuf> =
            listed.split_terminator('\0').map(|name| folder.path().join(name)).collect();
        assert_eq!((tracked_files(folder.path()), expected.len()), (expected, 5));
    }

    #[test]
    fn a_broken_index_has_no_names() {
        for bytes in
            [&b""[..], b"DIRC", b"DIRC\0\0\0\x02\xff\xff\xff\xff", b"DIRC\0\0\0\x04\0\0\0\x01"]
        {
            assert_eq!(names(bytes), Vec::<String>::new());
        }
    }
}
