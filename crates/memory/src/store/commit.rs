//! Writing a prepared change: record, files, index, heads; and finishing one that was interrupted.

use std::collections::BTreeSet;

use dormouse_base::{Dir, Durability, RelPath, Replacement};
use jiff::Timestamp;

use super::current_file::CurrentFile;
use super::current_file::IndexNow;
use super::error::ChangeError;
use super::fixed_path::name;
use super::index_lines;
use super::journal::{Nature, RecordedChange, RecordedFileChange};
use super::last_known;
use super::locked::Locked;
use super::outcome::Receipt;
use super::policy::PolicyAction;
use super::prepare::PreparedChange;
use crate::names::INDEX;

impl Locked<'_> {
    /// Makes a change: all of it, or none.
    pub(super) fn commit(
        &mut self,
        mut prepared: PreparedChange,
        rule: PolicyAction,
    ) -> Result<Receipt, ChangeError> {
        self.note_outside(&prepared)?;
        prepared.change.id = self.journal.next_id();
        let files = prepared.kinds();
        let change = prepared.change;
        let at = self.journal.begin(&change)?;
        let index = prepared.index_after.as_deref().map(str::as_bytes);
        if let Err(error) = self.write_all(&change, index) {
            return Err(self.take_back(
                &change,
                at,
                &prepared.before,
                prepared.index_before.as_ref(),
                error,
            ));
        }
        // The change is made and recorded; what is missing now is made up for under the next lock.
        let after = change.index.as_ref().and_then(|index| index.after.as_ref());
        let left = index.zip(after).map(|(bytes, hash)| IndexNow { bytes, hash });
        let _unclosed = self.close(&change, left);
        Ok(Receipt { id: change.id, rule, files })
    }

    /// New contents first, then what goes, then the index: at no time is a memory in neither place.
    fn write_all(&self, change: &RecordedChange, index: Option<&[u8]>) -> Result<(), ChangeError> {
        for file in change.files.iter().filter(|file| file.after.is_some()) {
            self.write_file(file)?;
        }
        for file in change.files.iter().filter(|file| file.after.is_none()) {
            self.write_file(file)?;
        }
        match (&change.index, index) {
            (Some(changed), _) if changed.after.is_none() => self.remove(&name(INDEX))?,
            (Some(_), Some(bytes)) => self.put_index(bytes)?,
            (Some(_), None) | (None, _) => {}
        }
        self.flush_folders(change)
    }

    /// Each folder once, however many files of it have changed: flushing is most of the time of a change.
    fn flush_folders(&self, change: &RecordedChange) -> Result<(), ChangeError> {
        let parents = change.files.iter().filter_map(|file| file.file.path().parent());
        for folder in parents.collect::<BTreeSet<RelPath>>() {
            match self.store.memory.open_folder(&folder) {
                Ok(folder) => folder.sync()?,
                // Nothing was written there.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.store.memory.sync()?)
    }

    fn write_file(&self, file: &RecordedFileChange) -> Result<(), ChangeError> {
        let Some(version) = &file.after else { return self.remove(file.file.path()) };
        match &version.content {
            Some(content) => self.put(file.file.path(), &content.bytes(), version.modified),
            None => Err(ChangeError::Purged(file.file.clone())),
        }
    }

    fn put(&self, path: &RelPath, bytes: &[u8], modified: Timestamp) -> Result<(), ChangeError> {
        let replacement = Replacement { modified: Some(modified.into()), ..content(bytes) };
        Ok(self.store.memory.replace_with(path, &replacement)?)
    }

    fn put_index(&self, bytes: &[u8]) -> Result<(), ChangeError> {
        Ok(self.store.memory.replace_with(&name(INDEX), &content(bytes))?)
    }

    fn remove(&self, path: &RelPath) -> Result<(), ChangeError> {
        match self.store.memory.remove_file(path) {
            Err(error) if !error.is_not_found() => Err(error.into()),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Puts everything back as it was; the error is the one to tell.
    fn take_back(
        &mut self,
        change: &RecordedChange,
        at: u64,
        before: &[Option<CurrentFile>],
        index: Option<&CurrentFile>,
        error: ChangeError,
    ) -> ChangeError {
        let mut back = Ok(());
        for (file, before) in change.files.iter().zip(before) {
            back = back.and_then(|()| self.put_back(file.file.path(), before.as_ref()));
        }
        if change.index.is_some() {
            back = back.and_then(|()| self.put_back(&name(INDEX), index));
        }
        let back = back.and_then(|()| self.flush_folders(change));
        match back.and_then(|()| self.journal.dropped(change.id, at)) {
            Ok(()) => error,
            Err(_) => match error {
                ChangeError::File(error) => ChangeError::Interrupted(error),
                other => other,
            },
        }
    }

    fn put_back(&self, path: &RelPath, before: Option<&CurrentFile>) -> Result<(), ChangeError> {
        let now = self.current(path)?;
        if now.as_ref().map(|current| &current.hash) == before.map(|current| &current.hash) {
            return Ok(());
        }
        match before {
            Some(current) => self.put(path, &current.bytes, current.modified),
            None => self.remove(path),
        }
    }

    pub(super) fn close(
        &mut self,
        change: &RecordedChange,
        index: Option<IndexNow<'_>>,
    ) -> Result<(), ChangeError> {
        last_known::write(&self.store.state, change, index)?;
        self.journal.done(change.id)
    }

    /// Finishes a change that was interrupted. What somebody else has changed since is left to them: it
    /// counts as changed from outside, and ours is in the history.
    pub(super) fn recover(&mut self, change: &RecordedChange) -> Result<(), ChangeError> {
        if change.nature != Nature::Made {
            // It was only written down; the files were so already.
            return self.close_as_found(change);
        }
        let writes = change.files.iter().filter(|file| file.after.is_some());
        let removals = change.files.iter().filter(|file| file.after.is_none());
        for file in writes.chain(removals) {
            let now = self.current(file.file.path())?.map(|current| current.hash);
            if now == file.before {
                self.write_file(file)?;
            }
        }
        self.recover_index(change)?;
        self.flush_folders(change)?;
        self.close_as_found(change)
    }

    fn close_as_found(&mut self, change: &RecordedChange) -> Result<(), ChangeError> {
        self.sweep(change)?;
        let index = self.current(&name(INDEX))?;
        self.close(change, index.as_ref().map(CurrentFile::as_index))
    }

    fn recover_index(&self, change: &RecordedChange) -> Result<(), ChangeError> {
        let Some(index) = &change.index else { return Ok(()) };
        let current = self.current(&name(INDEX))?;
        let hash = current.as_ref().map(|current| current.hash.clone());
        if hash == index.after {
            return Ok(());
        }
        let bytes = current.map(|current| current.bytes).unwrap_or_default();
        let old = String::from_utf8(bytes).map_err(|_| ChangeError::Index)?;
        if hash == index.before && index.after.is_none() {
            return self.remove(&name(INDEX));
        }
        let spliced = index.splice.apply(&old).filter(|_| hash == index.before);
        let new = match spliced {
            Some(new) => Some(new),
            None => self.mended_index(&old, change)?,
        };
        match new {
            Some(text) => self.put_index(text.as_bytes()),
            None => Ok(()),
        }
    }

    /// Removes the temporary files that a writer that died has left.
    fn sweep(&self, change: &RecordedChange) -> Result<(), ChangeError> {
        sweep_folder(&self.store.state)?;
        if let Ok(heads) = self.store.state.open_folder(&name(last_known::FOLDER)) {
            sweep_folder(&heads)?;
        }
        sweep_folder(&self.store.memory)?;
        for folder in change.files.iter().filter_map(|file| file.file.path().parent()) {
            if let Ok(folder) = self.store.memory.open_folder(&folder) {
                sweep_folder(&folder)?;
            }
        }
        Ok(())
    }

    /// The index with true lines for the files of a change.
    fn mended_index(
        &self,
        old: &str,
        change: &RecordedChange,
    ) -> Result<Option<String>, ChangeError> {
        let mut now = Vec::new();
        for file in &change.files {
            now.push((&file.file, self.current(file.file.path())?.map(|current| current.bytes)));
        }
        Ok(index_lines::mended(old, now.into_iter()))
    }
}

/// The folder is flushed when all files of a change are in it.
fn content(bytes: &[u8]) -> Replacement<'_> {
    Replacement { durability: Durability::SyncedContent, ..Replacement::new(bytes) }
}

fn sweep_folder(folder: &Dir) -> Result<(), ChangeError> {
    for litter in folder.names()?.into_iter().filter(|name| Dir::is_temporary(name)) {
        folder.remove_file(&name(&litter))?;
    }
    Ok(())
}
