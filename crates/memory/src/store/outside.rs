//! Changes that were made without us (M-15): found, recorded, and counted as a person's.

use jiff::Timestamp;

use super::content::Splice;
use super::heads::{self, Head};
use super::history::{Change, FileChange, IndexChange, Nature, Version};
use super::prepare::Prepared;
use super::{Author, ChangeError, Current, Locked, name};
use crate::{INDEX, MemoryFile, ScanCache};

impl Locked<'_> {
    /// Records what is there when a directory is first seen, so that later changes have a before.
    pub(super) fn first_sight(&mut self) -> Result<(), ChangeError> {
        let mut files = Vec::new();
        for memory in self.store.scan(&mut ScanCache::default())?.memories {
            // What is no plain memory now is found when somebody changes it.
            if let Ok(Some(current)) = self.current(memory.file.path()) {
                files.push(found(&memory.file, None, Some(&current)));
            }
        }
        let index = self.current(&name(INDEX))?;
        let index = index.filter(|current| std::str::from_utf8(&current.bytes).is_ok());
        if files.is_empty() && index.is_none() {
            return Ok(());
        }
        // One line, so that a crash leaves all of it or nothing.
        let index = index.map(|current| OutsideIndex { head: None, now: Some(current) });
        self.note(Nature::FirstSight, files, index)
    }

    /// Records outside changes of the files that a change is about.
    pub(super) fn note_outside(&mut self, prepared: &Prepared) -> Result<(), ChangeError> {
        let mut files = Vec::new();
        for (change, before) in prepared.change.files.iter().zip(&prepared.before) {
            let head = heads::read(&self.store.state, change.file.as_str());
            files.extend(difference(&change.file, head.as_ref(), before.as_ref()));
        }
        let index = if prepared.change.index.is_some() {
            self.outside_index(prepared.index_before.clone())
        } else {
            None
        };
        self.note_found(files, index)
    }

    /// Records every outside change in the directory.
    pub(super) fn note_all_outside(&mut self) -> Result<(), ChangeError> {
        let mut files = Vec::new();
        let known = heads::all(&self.store.state)?;
        for (path, head) in known.iter().filter(|(path, _)| *path != INDEX) {
            let Ok(file) = MemoryFile::existing(path) else { continue };
            if self.looks_unchanged(&file, head) {
                continue;
            }
            let current = self.current(file.path())?;
            files.extend(difference(&file, Some(head), current.as_ref()));
        }
        for memory in self.store.scan(&mut ScanCache::default())?.memories {
            if !known.contains_key(memory.file.as_str()) {
                let current = self.current(memory.file.path())?;
                files.extend(difference(&memory.file, None, current.as_ref()));
            }
        }
        let index = self.current(&name(INDEX))?;
        let index = self.outside_index(index);
        self.note_found(files, index)
    }

    fn looks_unchanged(&self, file: &MemoryFile, head: &Head) -> bool {
        self.store.memory.entry(file.path()).is_ok_and(|entry| {
            let modified = Timestamp::try_from(entry.modified).unwrap_or_default();
            head.hash.is_some() && entry.size == head.size && modified == head.modified
        })
    }

    fn outside_index(&self, now: Option<Current>) -> Option<OutsideIndex> {
        let head = heads::read(&self.store.state, INDEX);
        let known = head.as_ref().and_then(|head| head.hash.as_ref());
        let changed = known != now.as_ref().map(|current| &current.hash);
        changed.then_some(OutsideIndex { head, now })
    }

    fn note_found(
        &mut self,
        files: Vec<FileChange>,
        index: Option<OutsideIndex>,
    ) -> Result<(), ChangeError> {
        if files.is_empty() && index.is_none() {
            return Ok(());
        }
        self.note(Nature::Found, files, index)
    }

    fn note(
        &mut self,
        nature: Nature,
        files: Vec<FileChange>,
        index: Option<OutsideIndex>,
    ) -> Result<(), ChangeError> {
        let now = index.as_ref().and_then(|index| index.now.as_ref());
        let bytes = now.map(|current| current.bytes.clone());
        let reason = match nature {
            Nature::FirstSight => "was there when the directory was first opened",
            Nature::Found | Nature::Made => "changed by another program",
        };
        let change = Change {
            id: self.history.next_id(),
            time: self.now,
            nature,
            author: Author::Outside,
            reason: reason.to_owned(),
            sources: Vec::new(),
            undoes: None,
            files,
            index: index.map(|index| self.found_index(&index)),
        };
        self.history.note(&change)?;
        self.close(&change, bytes.as_deref())
    }

    fn found_index(&self, index: &OutsideIndex) -> IndexChange {
        let bytes = index.now.as_ref().map(|current| current.bytes.as_slice()).unwrap_or_default();
        let text = String::from_utf8_lossy(bytes);
        let head = index.head.as_ref();
        let old =
            head.and_then(|head| heads::last_index(&self.store.state, head)).unwrap_or_default();
        IndexChange {
            before: head.and_then(|head| head.hash.clone()),
            after: index.now.as_ref().map(|current| current.hash.clone()),
            splice: Splice::between(&old, &text),
        }
    }
}

/// The index as we knew it, and as somebody else left it.
struct OutsideIndex {
    head: Option<Head>,
    now: Option<Current>,
}

/// What changed since the head was written, if anything did.
fn difference(file: &MemoryFile, head: Option<&Head>, now: Option<&Current>) -> Option<FileChange> {
    let known = head.and_then(|head| head.hash.clone());
    let hash = now.map(|current| &current.hash);
    (known.as_ref() != hash).then(|| found(file, head, now))
}

fn found(file: &MemoryFile, head: Option<&Head>, now: Option<&Current>) -> FileChange {
    FileChange {
        file: file.clone(),
        before: head.and_then(|head| head.hash.clone()),
        after: now.map(|current| Version::of(&current.bytes, current.modified)),
    }
}
