//! The files of a memory directory while the store's lock is held.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::time::SystemTime;

use dormouse_base::{Dir, Durability, RelPath, Replacement};
use jiff::Timestamp;

use super::disk_file::{self, DiskFile};
use super::error::ChangeError;
use super::fixed_path::name;
use super::journal::{RecordedChange, RecordedFileChange};
use super::long_index::ExtendedIndex;
use super::prepared_change::IndexEdit;
use super::unfolded_names::UnfoldedNames;
use crate::names::{INDEX, fold};

/// The files of a memory directory. A file is replaced as a whole or not at all, except that a line is added to a long
/// index in place; what was written is durable after [`flush`](Self::flush).
pub(super) struct MemoryFiles<'a> {
    dir: &'a Dir,
    state: &'a Dir,
    /// Read once: no other process of ours adds a name while the lock is held.
    top: OnceCell<UnfoldedNames>,
}

impl<'a> MemoryFiles<'a> {
    pub(super) fn new(dir: &'a Dir, state: &'a Dir) -> Self {
        Self { dir, state, top: OnceCell::new() }
    }

    /// A file as it is now; `None` if it does not exist.
    pub(super) fn read(&self, path: &RelPath) -> Result<Option<DiskFile>, ChangeError> {
        disk_file::read(self.dir, path)
    }

    /// `MEMORY.md` as it is now.
    pub(super) fn read_index(&self) -> Result<Option<DiskFile>, ChangeError> {
        self.read(&name(INDEX))
    }

    /// The names in a folder, or at the top, that a file system may take for this one; none if the folder does not exist.
    pub(super) fn names_like(
        &self,
        folder: Option<&RelPath>,
        own: &str,
    ) -> Result<Vec<String>, ChangeError> {
        let folded = fold(own);
        let Some(folder) = folder else {
            let mut names: Vec<String> = self.top_names()?.like(&folded).cloned().collect();
            // What is no possible name in this folder cannot exist; whatever else prevents the look prevents the write.
            let path = RelPath::new(folded.as_ref()).ok().filter(|path| path.parent().is_none());
            if path.is_some_and(|path| self.dir.entry(&path).is_ok()) {
                names.push(folded.into_owned());
            }
            return Ok(names);
        };
        let names = match self.dir.open_folder(folder) {
            Ok(folder) => folder.names()?,
            Err(error) if error.is_not_found() => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        Ok(names.into_iter().filter(|known| fold(known) == folded).collect())
    }

    fn top_names(&self) -> Result<&UnfoldedNames, ChangeError> {
        if let Some(known) = self.top.get() {
            return Ok(known);
        }
        let names = UnfoldedNames::read(self.dir, self.state)?;
        Ok(self.top.get_or_init(|| names))
    }

    /// Keeps for the next change which names are taken, if this one has asked for them.
    pub(super) fn keep_names(&self, change: &RecordedChange) -> Result<(), ChangeError> {
        match self.top.get() {
            Some(known) => Ok(known.keep_after(change, self.dir, self.state)?),
            None => Ok(()),
        }
    }

    /// Writes all files of a change: new contents first, then removals, then the index, so that a renamed memory exists
    /// under at least one of its names at any time. Returns the time of the index if a line was added in place.
    pub(super) fn write_change(
        &self,
        change: &RecordedChange,
        index: &IndexEdit,
    ) -> Result<Option<SystemTime>, ChangeError> {
        for file in writes_before_removals(change) {
            self.write_version(file)?;
        }
        let is_removed = change.index.as_ref().is_some_and(|index| index.after.is_none());
        let mut index_time = None;
        match index {
            IndexEdit::Unchanged => {}
            IndexEdit::Rewritten { .. } if is_removed => self.remove(&name(INDEX))?,
            IndexEdit::Rewritten { after, .. } => self.write_index(after.as_bytes())?,
            IndexEdit::Extended(extended) => index_time = self.extend_index(extended)?,
        }
        self.flush(change)?;
        Ok(index_time)
    }

    /// Flushes the folders of a change, each once: flushing takes most of the time of a change.
    pub(super) fn flush(&self, change: &RecordedChange) -> Result<(), ChangeError> {
        let parents = change.files.iter().filter_map(|file| file.file.path().parent());
        for folder in parents.collect::<BTreeSet<RelPath>>() {
            match self.dir.open_folder(&folder) {
                Ok(folder) => folder.sync()?,
                // Nothing was written there.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.dir.sync()?)
    }

    /// Writes or removes one file of a change.
    pub(super) fn write_version(&self, file: &RecordedFileChange) -> Result<(), ChangeError> {
        let Some(version) = &file.after else { return self.remove(file.file.path()) };
        match &version.content {
            Some(content) => self.write(file.file.path(), &content.bytes(), version.modified),
            None => Err(ChangeError::Purged(file.file.clone())),
        }
    }

    /// Writes only the new line; the whole index if it has a second name or has changed just now.
    fn extend_index(&self, extended: &ExtendedIndex) -> Result<Option<SystemTime>, ChangeError> {
        let line = extended.line().as_bytes();
        let (length, seen) = (extended.length(), extended.seen());
        if let Some(modified) = self.dir.extend_file(&name(INDEX), length, seen, line)? {
            return Ok(Some(modified));
        }
        let mut bytes = self.read_index()?.map(|index| index.bytes).unwrap_or_default();
        if bytes.last().is_some_and(|last| *last != b'\n') {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line);
        self.write_index(&bytes)?;
        Ok(None)
    }

    /// Puts the index back as it was before a change.
    pub(super) fn put_index_back(&self, edit: &IndexEdit) -> Result<(), ChangeError> {
        match edit {
            IndexEdit::Unchanged => Ok(()),
            IndexEdit::Rewritten { before, .. } => self.put_back(&name(INDEX), before.as_ref()),
            IndexEdit::Extended(extended) => {
                let Some(now) = self.read_index()? else { return Ok(()) };
                let before = extended.change().splice.before_addition(&now.bytes);
                // Another program has changed the lines before it.
                let before = before.or_else(|| now.bytes.strip_suffix(extended.line().as_bytes()));
                match before {
                    Some(before) if before.len() < now.bytes.len() => self.write_index(before),
                    Some(_) | None => Ok(()),
                }
            }
        }
    }

    /// Writes `MEMORY.md`.
    pub(super) fn write_index(&self, bytes: &[u8]) -> Result<(), ChangeError> {
        Ok(self.dir.replace_with(&name(INDEX), &content(bytes))?)
    }

    /// Removes a file, if it exists.
    pub(super) fn remove(&self, path: &RelPath) -> Result<(), ChangeError> {
        match self.dir.remove_file(path) {
            Err(error) if !error.is_not_found() => Err(error.into()),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Puts a file back as it was before a change.
    pub(super) fn put_back(
        &self,
        path: &RelPath,
        before: Option<&DiskFile>,
    ) -> Result<(), ChangeError> {
        let now = self.read(path)?;
        if now.as_ref().map(|file| &file.hash) == before.map(|file| &file.hash) {
            return Ok(());
        }
        match before {
            Some(file) => self.write(path, &file.bytes, file.modified),
            None => self.remove(path),
        }
    }

    /// Removes temporary files that an interrupted change left in its folders.
    pub(super) fn remove_temporary(&self, change: &RecordedChange) -> Result<(), ChangeError> {
        remove_temporary_in(self.dir)?;
        for folder in change.files.iter().filter_map(|file| file.file.path().parent()) {
            if let Ok(folder) = self.dir.open_folder(&folder) {
                remove_temporary_in(&folder)?;
            }
        }
        Ok(())
    }

    fn write(&self, path: &RelPath, bytes: &[u8], modified: Timestamp) -> Result<(), ChangeError> {
        let replacement = Replacement { modified: Some(modified.into()), ..content(bytes) };
        Ok(self.dir.replace_with(path, &replacement)?)
    }
}

/// The files of a change in the order in which they are written.
pub(super) fn writes_before_removals(
    change: &RecordedChange,
) -> impl Iterator<Item = &RecordedFileChange> {
    let writes = change.files.iter().filter(|file| file.after.is_some());
    writes.chain(change.files.iter().filter(|file| file.after.is_none()))
}

/// Removes temporary files that an interrupted writer left in a folder.
pub(super) fn remove_temporary_in(folder: &Dir) -> Result<(), ChangeError> {
    for temporary in folder.names()?.into_iter().filter(|name| Dir::is_temporary(name)) {
        folder.remove_file(&name(&temporary))?;
    }
    Ok(())
}

/// The folder is flushed once, when all files of a change are written.
fn content(bytes: &[u8]) -> Replacement<'_> {
    Replacement { durability: Durability::SyncedContent, ..Replacement::new(bytes) }
}
