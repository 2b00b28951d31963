//! Removing a folder with all that is in it, without following a link out of it.

use std::os::fd::AsFd;

use rustix::fs::AtFlags;

use super::{Dir, EntryKind, FileAction, FileError, RelPath};
use crate::fault;

impl Dir {
    /// Removes a folder below and everything in it; links go, what they lead to stays. One that does not exist is
    /// no error.
    pub fn remove_folder(&self, path: &RelPath) -> Result<(), FileError> {
        let (folder, parent) = match (self.open_folder(path), path.parent()) {
            (Ok(folder), None) => (folder, self.clone()),
            (Ok(folder), Some(parent)) => (folder, self.open_folder(&parent)?),
            (Err(error), _) if error.is_not_found() => return Ok(()),
            (Err(error), _) => return Err(error),
        };
        folder.empty()?;
        fault::at("base.remove", || {
            Ok(rustix::fs::unlinkat(parent.handle.as_fd(), path.file_name(), AtFlags::REMOVEDIR)?)
        })
        .map_err(|error| FileError::new(FileAction::Remove, self.path.join(path.as_path()), error))
    }

    fn empty(&self) -> Result<(), FileError> {
        for entry in self.entries()? {
            // A name from a listing is a plain one.
            let Ok(name) = RelPath::new(&entry.name) else { continue };
            match entry.kind {
                EntryKind::Folder => self.remove_folder(&name)?,
                EntryKind::File | EntryKind::Other => self.remove_file(&name)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_and_nothing_else_does() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = Dir::open(temporary.path()).unwrap();
        let path = |text: &str| RelPath::new(text).unwrap();
        dir.replace(&path("kept/file"), b"x").unwrap();
        dir.replace(&path("a/gone/deep/file"), b"x").unwrap();
        let link = temporary.path().join("a/gone/link");
        std::os::unix::fs::symlink(temporary.path().join("kept"), link).unwrap();
        dir.remove_folder(&path("a/gone")).unwrap();
        assert!(dir.entry(&path("a/gone")).unwrap_err().is_not_found());
        assert_eq!(dir.read(&path("kept/file")).unwrap(), b"x");
        dir.remove_folder(&path("a/gone")).unwrap();
        dir.remove_folder(&path("never/there")).unwrap();
    }
}
