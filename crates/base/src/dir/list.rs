//! What is in a folder: names, names with their kinds, or entries with a look at each.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType};

use super::{Dir, DirEntry, EntryKind, FileAction, FileError, describe};

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedEntry {
    /// The name.
    pub name: String,
    /// What it is, where the listing itself says so; else [`Dir::entry`] does.
    pub kind: Option<EntryKind>,
}

/// The names in a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Those that are text.
    pub entries: Vec<ListedEntry>,
    /// Those that are not UTF-8, as near as text can come: for messages.
    pub not_utf8: Vec<String>,
}

impl Dir {
    /// The names in the folder and what they are, without a look at each: one call for many names.
    pub fn list(&self) -> Result<Listing, FileError> {
        let fail = |error: rustix::io::Errno| FileError::new(FileAction::List, &self.path, error);
        let mut listing = Listing::default();
        for entry in rustix::fs::Dir::read_from(self.handle.as_fd()).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            match entry.file_name().to_str() {
                Ok("." | "..") => {}
                Ok(name) => {
                    let kind = kind_of(entry.file_type());
                    listing.entries.push(ListedEntry { name: name.to_owned(), kind });
                }
                Err(_) => listing.not_utf8.push(entry.file_name().to_string_lossy().into_owned()),
            }
        }
        Ok(listing)
    }

    /// The names in the folder; those that are not UTF-8 are left out.
    pub fn names(&self) -> Result<Vec<String>, FileError> {
        Ok(self.list()?.entries.into_iter().map(|listed| listed.name).collect())
    }

    /// The folder's entries, in no particular order; names that are not UTF-8 are left out.
    pub fn entries(&self) -> Result<Vec<DirEntry>, FileError> {
        let look = |name: &str| {
            // An entry that went away between the listing and this call is no longer an entry.
            let stat = rustix::fs::statat(self.handle.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW);
            stat.ok().map(|stat| describe(name, &stat))
        };
        Ok(self.names()?.iter().filter_map(|name| look(name)).collect())
    }
}

fn kind_of(file_type: FileType) -> Option<EntryKind> {
    match file_type {
        FileType::RegularFile => Some(EntryKind::File),
        FileType::Directory => Some(EntryKind::Folder),
        FileType::Unknown => None,
        _ => Some(EntryKind::Other),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test lays out files by hand")]
    fn a_listing_names_everything_once() {
        let keep = tempfile::tempdir().unwrap();
        std::fs::write(keep.path().join("a.md"), "x").unwrap();
        std::fs::create_dir(keep.path().join("b")).unwrap();
        std::os::unix::fs::symlink("a.md", keep.path().join("c")).unwrap();
        let odd = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
        std::fs::write(keep.path().join(odd), "x").unwrap();
        let dir = Dir::open(keep.path()).unwrap();
        let mut listing = dir.list().unwrap();
        listing.entries.sort_by(|one, other| one.name.cmp(&other.name));
        let kinds = [EntryKind::File, EntryKind::Folder, EntryKind::Other];
        for ((listed, name), kind) in listing.entries.iter().zip(["a.md", "b", "c"]).zip(kinds) {
            assert_eq!(listed.name, name);
            // Not every file system tells.
            assert!(listed.kind.is_none_or(|said| said == kind));
        }
        assert_eq!(
            (listing.entries.len(), listing.not_utf8),
            (3, vec!["caf\u{fffd}.md".to_owned()])
        );
        assert_eq!(dir.entries().unwrap().len(), 3);
    }
}
