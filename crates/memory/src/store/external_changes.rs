//! Changes by other programs (M-15): found by comparison with the last known files.

use dormouse_base::Dir;
use jiff::Timestamp;

use super::change_id::ChangeId;
use super::change_origin::ChangeAuthor;
use super::content::Splice;
use super::context::StoreContext;
use super::disk_file::{self, DiskFile};
use super::error::ChangeError;
use super::fixed_path::name;
use super::journal::{IndexChange, Nature, RecordedChange, RecordedFileChange, Version};
use super::last_known::{self, LastKnownFile};
use super::prepared_change::{IndexEdit, PreparedChange};
use crate::entry::as_text;
use crate::names::{INDEX, MemoryFile};
use crate::scan::is_binary;
use crate::walk::{FoundFile, WalkItem, walk};

/// Compares a memory directory with the last known files. Only reads.
pub(super) struct ExternalChanges<'a> {
    store: &'a StoreContext,
}

/// The differences between a memory directory and the last known files.
pub(super) struct FoundChanges {
    files: Vec<RecordedFileChange>,
    index: Option<ExternalIndex>,
}

/// `MEMORY.md` as it was last known, and as it is now.
struct ExternalIndex {
    known: Option<LastKnownFile>,
    now: Option<DiskFile>,
}

impl FoundChanges {
    fn new(mut files: Vec<RecordedFileChange>, index: Option<ExternalIndex>) -> Self {
        files.sort_by(|one, other| one.file.cmp(&other.file));
        Self { files, index }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.index.is_none()
    }

    /// The changes as one journal entry, attributed to other programs, and `MEMORY.md` as it is now, if it was changed and
    /// exists.
    pub(super) fn into_recorded(
        self,
        nature: Nature,
        id: ChangeId,
        time: Timestamp,
        state: &Dir,
    ) -> (RecordedChange, Option<DiskFile>) {
        let reason = match nature {
            Nature::FirstSight => "was there when the directory was first opened",
            Nature::Found | Nature::Made => "changed by another program",
        };
        let change = RecordedChange {
            id,
            time,
            nature,
            author: ChangeAuthor::Outside,
            reason: reason.to_owned(),
            sources: Vec::new(),
            undoes: None,
            part_of: None,
            files: self.files,
            index: self.index.as_ref().map(|index| index.change(state)),
        };
        (change, self.index.and_then(|index| index.now))
    }
}

impl<'a> ExternalChanges<'a> {
    pub(super) fn of(store: &'a StoreContext) -> Self {
        Self { store }
    }

    /// Everything in a directory that is opened for the first time, so that later changes have a previous version.
    pub(super) fn at_first_sight(&self) -> Result<FoundChanges, ChangeError> {
        let mut files = Vec::new();
        self.each_memory(|file, found| {
            // Other files are found when somebody changes them.
            if let Ok(Some(current)) = disk_file::read(found.dir, &found.name)
                && !is_binary(&current.bytes)
            {
                files.push(file_change(file, None, Some(current)));
            }
        })?;
        let index = self.read_index()?;
        let index = index.filter(|current| std::str::from_utf8(&current.bytes).is_ok());
        let index = index.map(|current| ExternalIndex { known: None, now: Some(current) });
        Ok(FoundChanges::new(files, index))
    }

    /// Changes in the files that a change is about to write.
    pub(super) fn in_files_of(
        &self,
        prepared: &PreparedChange,
    ) -> Result<FoundChanges, ChangeError> {
        let mut files = Vec::new();
        for (change, before) in prepared.change.files.iter().zip(&prepared.before) {
            let known = last_known::read(&self.store.state, change.file.as_str());
            if differs(known.as_ref(), before.as_ref()) {
                files.push(file_change(change.file.clone(), known.as_ref(), before.clone()));
            }
        }
        let index = match &prepared.index {
            IndexEdit::Unchanged => None,
            IndexEdit::Rewritten { before, .. } => self.index(before.as_ref()),
            IndexEdit::Extended(extended) => {
                let known = last_known::read(&self.store.state, INDEX);
                let is_as_known = known.and_then(|known| known.hash) == extended.change().before;
                if is_as_known { None } else { self.index(self.read_index()?.as_ref()) }
            }
        };
        Ok(FoundChanges::new(files, index))
    }

    /// All changes in the directory. A file with the last known time and size is not read.
    pub(super) fn in_directory(&self) -> Result<FoundChanges, ChangeError> {
        let mut all_known = last_known::all(&self.store.state)?;
        all_known.remove(INDEX);
        let mut files = Vec::new();
        self.each_memory(|file, found| {
            let known = all_known.remove(file.as_str());
            if known.as_ref().is_some_and(|known| looks_unchanged(found, known)) {
                return;
            }
            // An unreadable file must not prevent an undo; it is found when somebody changes it.
            let Ok(current) = disk_file::read(found.dir, &found.name) else { return };
            let is_memory =
                known.is_some() || current.as_ref().is_some_and(|now| !is_binary(&now.bytes));
            if is_memory && differs(known.as_ref(), current.as_ref()) {
                files.push(file_change(file, known.as_ref(), current));
            }
        })?;
        // The remaining known files were removed, or the walk no longer reaches them.
        for (path, known) in &all_known {
            let Ok(file) = MemoryFile::existing(path) else { continue };
            let Ok(current) = disk_file::read(&self.store.memory, file.path()) else { continue };
            if differs(Some(known), current.as_ref()) {
                files.push(file_change(file, Some(known), current));
            }
        }
        let index = self.read_index()?;
        Ok(FoundChanges::new(files, self.index(index.as_ref())))
    }

    fn each_memory(
        &self,
        mut visit: impl FnMut(MemoryFile, &FoundFile<'_>),
    ) -> Result<(), ChangeError> {
        let excluded: Vec<&str> =
            self.store.options.excluded_folders.iter().map(String::as_str).collect();
        walk(&self.store.memory, &excluded, &mut |item| {
            if let WalkItem::File(found) = item
                && let Ok(file) = MemoryFile::existing(&found.path)
            {
                visit(file, &found);
            }
        })?;
        Ok(())
    }

    fn read_index(&self) -> Result<Option<DiskFile>, ChangeError> {
        disk_file::read(&self.store.memory, &name(INDEX))
    }

    fn index(&self, now: Option<&DiskFile>) -> Option<ExternalIndex> {
        let known = last_known::read(&self.store.state, INDEX);
        let is_changed = differs(known.as_ref(), now);
        is_changed.then(|| ExternalIndex { known, now: now.cloned() })
    }
}

impl ExternalIndex {
    fn change(&self, state: &Dir) -> IndexChange {
        let bytes = self.now.as_ref().map(|current| current.bytes.as_slice()).unwrap_or_default();
        let known = self.known.as_ref();
        let old = known.and_then(|known| last_known::last_index(state, known));
        IndexChange {
            before: known.and_then(|known| known.hash.clone()),
            after: self.now.as_ref().map(|current| current.hash.clone()),
            splice: Splice::between(&old.unwrap_or_default(), &as_text(bytes)),
        }
    }
}

/// Whether a file differs from its last known content.
fn differs(known: Option<&LastKnownFile>, now: Option<&DiskFile>) -> bool {
    known.and_then(|known| known.hash.as_ref()) != now.map(|current| &current.hash)
}

fn looks_unchanged(found: &FoundFile<'_>, known: &LastKnownFile) -> bool {
    found.entry().is_ok_and(|entry| {
        let modified = Timestamp::try_from(entry.modified).unwrap_or_default();
        known.hash.is_some() && entry.size == known.size && modified == known.modified
    })
}

fn file_change(
    file: MemoryFile,
    known: Option<&LastKnownFile>,
    now: Option<DiskFile>,
) -> RecordedFileChange {
    let before = known.and_then(|known| known.hash.clone());
    RecordedFileChange { file, before, after: now.map(Version::of_file) }
}
