//! Which files below a directory are memories: one definition for scan, history and doctor (M-8).
//!
//! Only folders are opened. A listing says which entries are files; callers that need metadata ask for it.

use dormouse_base::{Dir, DirEntry, EntryKind, FileError, ListedEntry, RelPath};

use crate::names::{LOGS, fold, is_index, is_markdown};

const DEEPEST: usize = 8;
pub(crate) const NOT_PLAIN: &str = "it is a link or no plain file";

/// A file found by a walk.
pub(crate) struct FoundFile<'a> {
    /// Its folder.
    pub(crate) dir: &'a Dir,
    /// Its name in that folder.
    pub(crate) name: RelPath,
    /// Its path from the memory directory.
    pub(crate) path: String,
}

impl FoundFile<'_> {
    /// Its metadata.
    pub(crate) fn entry(&self) -> Result<DirEntry, FileError> {
        self.dir.entry(&self.name)
    }
}

/// A file that looks like a memory and cannot be used as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Path from the memory directory.
    pub path: String,
    /// Reason for the user.
    pub reason: String,
}

/// One item of a walk.
pub(crate) enum WalkItem<'a> {
    /// A file that may be a memory.
    File(FoundFile<'a>),
    /// A file that would be one, but cannot be read.
    Skipped(Skipped),
}

/// Walks a directory; top-level folders named in `excluded` are skipped.
pub(crate) fn walk(
    dir: &Dir,
    excluded: &[&str],
    visit: &mut dyn FnMut(WalkItem<'_>),
) -> Result<(), FileError> {
    Walk { excluded, visit }.folder(dir, "", 0)
}

struct Walk<'a, 'v> {
    excluded: &'a [&'a str],
    visit: &'v mut dyn FnMut(WalkItem<'_>),
}

impl Walk<'_, '_> {
    fn folder(&mut self, dir: &Dir, prefix: &str, depth: usize) -> Result<(), FileError> {
        let listing = dir.list()?;
        for name in listing.not_utf8.iter().filter(|name| is_markdown(name)) {
            self.skip(format!("{prefix}{name}"), "its name is not UTF-8; give it another");
        }
        for listed in listing.entries {
            let name = listed.name.as_str();
            if !name.starts_with('.') && (depth > 0 || !self.excluded.contains(&name)) {
                self.entry(dir, prefix, &listed, depth);
            }
        }
        Ok(())
    }

    fn entry(&mut self, dir: &Dir, prefix: &str, listed: &ListedEntry, depth: usize) {
        let plain = listed.name.as_str();
        // A name from a listing is a plain one.
        let Ok(name) = RelPath::new(plain) else { return };
        // An entry that was removed in the meantime is skipped.
        let Some(kind) = listed.kind.or_else(|| Some(dir.entry(&name).ok()?.kind)) else { return };
        let path = format!("{prefix}{plain}");
        match kind {
            EntryKind::File if is_index(plain) || !is_markdown(plain) => {}
            EntryKind::File => (self.visit)(WalkItem::File(FoundFile { dir, name, path })),
            EntryKind::Folder if depth == 0 && fold(plain) == LOGS => {}
            EntryKind::Folder if depth + 1 < DEEPEST => self.below(dir, &name, path, depth),
            EntryKind::Folder => self.skip(path, "it is too deep"),
            EntryKind::Other if is_markdown(plain) => self.skip(path, NOT_PLAIN),
            EntryKind::Other => {}
        }
    }

    fn below(&mut self, dir: &Dir, name: &RelPath, path: String, depth: usize) {
        let below = dir.open_folder(name);
        let listed = below.and_then(|below| self.folder(&below, &format!("{path}/"), depth + 1));
        if let Err(error) = listed {
            self.skip(path, &error.to_string());
        }
    }

    fn skip(&mut self, path: String, reason: &str) {
        (self.visit)(WalkItem::Skipped(Skipped { path, reason: reason.to_owned() }));
    }
}
