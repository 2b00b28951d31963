//! Changes that were made without us (M-15): found, recorded, and counted as a person's.

use jiff::Timestamp;

use super::change_origin::ChangeAuthor;
use super::content::Splice;
use super::current_file;
use super::current_file::CurrentFile;
use super::error::ChangeError;
use super::fixed_path::name;
use super::journal::{IndexChange, Nature, RecordedChange, RecordedFileChange, Version};
use super::last_known::{self, LastKnownFile};
use super::locked::Locked;
use super::prepare::PreparedChange;
use crate::entry::as_text;
use crate::names::{INDEX, MemoryFile};
use crate::scan::is_binary;
use crate::walk::{FoundFile, Step, walk};

impl Locked<'_> {
    /// Records what is there when a directory is first seen, so that later changes have a before.
    pub(super) fn record_first_sight(&mut self) -> Result<(), ChangeError> {
        let mut files = Vec::new();
        self.each_memory(|file, found| {
            // What is no plain memory now is found when somebody changes it.
            if let Ok(Some(current)) = current_file::read(found.dir, &found.name)
                && !is_binary(&current.bytes)
            {
                files.push(change_of(file, None, Some(current)));
            }
            Ok(())
        })?;
        let index = self.current(&name(INDEX))?;
        let index = index.filter(|current| std::str::from_utf8(&current.bytes).is_ok());
        if files.is_empty() && index.is_none() {
            return Ok(());
        }
        files.sort_by(|one, other| one.file.cmp(&other.file));
        // One line, so that a crash leaves all of it or nothing.
        let index = index.map(|current| OutsideIndex { head: None, now: Some(current) });
        self.note(Nature::FirstSight, files, index.as_ref())
    }

    /// Records outside changes of the files that a change is about.
    pub(super) fn note_outside(&mut self, prepared: &PreparedChange) -> Result<(), ChangeError> {
        let mut files = Vec::new();
        for (change, before) in prepared.change.files.iter().zip(&prepared.before) {
            let head = last_known::read(&self.store.state, change.file.as_str());
            if differs(head.as_ref(), before.as_ref()) {
                files.push(change_of(change.file.clone(), head.as_ref(), before.clone()));
            }
        }
        let index = match prepared.change.index {
            Some(_) => self.outside_index(prepared.index_before.as_ref()),
            None => None,
        };
        self.note_found(files, index.as_ref())
    }

    /// Records every outside change in the directory. A file of the time and size we know is not read.
    pub(super) fn note_all_outside(&mut self) -> Result<(), ChangeError> {
        let mut known = last_known::all(&self.store.state)?;
        known.remove(INDEX);
        let mut files = Vec::new();
        self.each_memory(|file, found| {
            let head = known.remove(file.as_str());
            if head.as_ref().is_some_and(|head| looks_unchanged(found, head)) {
                return Ok(());
            }
            // What can not be read keeps nothing from being undone; it is found when somebody changes it.
            let Ok(current) = current_file::read(found.dir, &found.name) else { return Ok(()) };
            let is_memory =
                head.is_some() || current.as_ref().is_some_and(|now| !is_binary(&now.bytes));
            if is_memory && differs(head.as_ref(), current.as_ref()) {
                files.push(change_of(file, head.as_ref(), current));
            }
            Ok(())
        })?;
        // What is left of the known ones is gone, or a walk no longer comes by it.
        for (path, head) in &known {
            let Ok(file) = MemoryFile::existing(path) else { continue };
            let Ok(current) = self.current(file.path()) else { continue };
            if differs(Some(head), current.as_ref()) {
                files.push(change_of(file, Some(head), current));
            }
        }
        files.sort_by(|one, other| one.file.cmp(&other.file));
        let index = self.current(&name(INDEX))?;
        let index = self.outside_index(index.as_ref());
        self.note_found(files, index.as_ref())
    }

    /// Comes by every file that may be a memory.
    fn each_memory(
        &self,
        mut visit: impl FnMut(MemoryFile, &FoundFile<'_>) -> Result<(), ChangeError>,
    ) -> Result<(), ChangeError> {
        let apart: Vec<&str> =
            self.store.options.excluded_folders.iter().map(String::as_str).collect();
        let mut failed = Ok(());
        walk(&self.store.memory, &apart, &mut |step| {
            if let Step::File(found) = step
                && let Ok(file) = MemoryFile::existing(&found.path)
                && failed.is_ok()
            {
                failed = visit(file, &found);
            }
        })?;
        failed
    }

    fn outside_index(&self, now: Option<&CurrentFile>) -> Option<OutsideIndex> {
        let head = last_known::read(&self.store.state, INDEX);
        let known = head.as_ref().and_then(|head| head.hash.as_ref());
        let changed = known != now.map(|current| &current.hash);
        changed.then(|| OutsideIndex { head, now: now.cloned() })
    }

    fn note_found(
        &mut self,
        files: Vec<RecordedFileChange>,
        index: Option<&OutsideIndex>,
    ) -> Result<(), ChangeError> {
        if files.is_empty() && index.is_none() {
            return Ok(());
        }
        self.note(Nature::Found, files, index)
    }

    fn note(
        &mut self,
        nature: Nature,
        files: Vec<RecordedFileChange>,
        index: Option<&OutsideIndex>,
    ) -> Result<(), ChangeError> {
        let reason = match nature {
            Nature::FirstSight => "was there when the directory was first opened",
            Nature::Found | Nature::Made => "changed by another program",
        };
        let change = RecordedChange {
            id: self.journal.next_id(),
            time: self.now,
            nature,
            author: ChangeAuthor::Outside,
            reason: reason.to_owned(),
            sources: Vec::new(),
            undoes: None,
            part_of: None,
            files,
            index: index.map(|index| self.found_index(index)),
        };
        self.journal.note(&change)?;
        let now = index.and_then(|index| index.now.as_ref());
        self.close(&change, now.map(CurrentFile::as_index))
    }

    fn found_index(&self, index: &OutsideIndex) -> IndexChange {
        let bytes = index.now.as_ref().map(|current| current.bytes.as_slice()).unwrap_or_default();
        let text = as_text(bytes);
        let head = index.head.as_ref();
        let old = head
            .and_then(|head| last_known::last_index(&self.store.state, head))
            .unwrap_or_default();
        IndexChange {
            before: head.and_then(|head| head.hash.clone()),
            after: index.now.as_ref().map(|current| current.hash.clone()),
            splice: Splice::between(&old, &text),
        }
    }
}

/// The index as we knew it, and as somebody else left it.
struct OutsideIndex {
    head: Option<LastKnownFile>,
    now: Option<CurrentFile>,
}

/// Whether a file is another than when its head was written.
fn differs(head: Option<&LastKnownFile>, now: Option<&CurrentFile>) -> bool {
    head.and_then(|head| head.hash.as_ref()) != now.map(|current| &current.hash)
}

fn looks_unchanged(found: &FoundFile<'_>, head: &LastKnownFile) -> bool {
    found.entry().is_ok_and(|entry| {
        let modified = Timestamp::try_from(entry.modified).unwrap_or_default();
        head.hash.is_some() && entry.size == head.size && modified == head.modified
    })
}

fn change_of(
    file: MemoryFile,
    head: Option<&LastKnownFile>,
    now: Option<CurrentFile>,
) -> RecordedFileChange {
    let before = head.and_then(|head| head.hash.clone());
    RecordedFileChange { file, before, after: now.map(Version::of_file) }
}
