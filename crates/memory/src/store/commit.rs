//! Writing a prepared change (journal, files, index, last known files), and finishing an interrupted one.

use std::time::SystemTime;

use super::content::ContentHash;
use super::disk_file::{DiskFile, IndexNow};
use super::error::ChangeError;
use super::external_changes::{ExternalChanges, FoundChanges};
use super::fixed_path::name;
use super::index_lines;
use super::journal::{IndexChange, Nature, RecordedChange};
use super::last_known;
use super::locked::Locked;
use super::memory_files::{remove_temporary_in, writes_before_removals};
use super::outcome::Receipt;
use super::policy::PolicyAction;
use super::prepared_change::{IndexEdit, PreparedChange};
use crate::names::INDEX;

impl Locked<'_> {
    /// Makes a change completely or not at all.
    pub(super) fn commit(
        &mut self,
        mut prepared: PreparedChange,
        rule: PolicyAction,
    ) -> Result<Receipt, ChangeError> {
        let found = ExternalChanges::of(self.store).in_files_of(&prepared)?;
        self.record_external(Nature::Found, found)?;
        prepared.change.id = self.journal.next_id();
        let files = prepared.kinds();
        let position = self.journal.begin(&prepared.change)?;
        let index_time = match self.files.write_change(&prepared.change, &prepared.index) {
            Ok(index_time) => index_time,
            Err(error) => return Err(self.roll_back(&prepared, position, error)),
        };
        // The change is made and recorded; the next holder of the lock closes it if this fails.
        let _unclosed = self.close_made(&prepared, index_time);
        Ok(Receipt { id: prepared.change.id, rule, files })
    }

    fn close_made(
        &mut self,
        prepared: &PreparedChange,
        index_time: Option<SystemTime>,
    ) -> Result<(), ChangeError> {
        let PreparedChange { change, index, .. } = prepared;
        let Some(hash) = change.index.as_ref().and_then(|index| index.after.as_ref()) else {
            return self.close(change, None);
        };
        let index = match index {
            IndexEdit::Unchanged => None,
            IndexEdit::Rewritten { after, .. } => {
                let bytes = after.as_bytes();
                Some(IndexNow { length: bytes.len() as u64, hash, bytes: Some(bytes) })
            }
            IndexEdit::Extended(extended) => {
                let state = &self.store.state;
                // If this fails, the next save reads the index.
                let _not_kept = index_time.map(|time| extended.keep(state, time));
                if !last_known::extend_index_copy(state, extended.length(), extended.line())
                    // What another program has made of it since is found with the next change.
                    && let Ok(Some(now)) = self.files.read_index()
                    && now.hash == *hash
                {
                    return self.close(change, Some(now.as_index()));
                }
                Some(IndexNow { length: extended.new_length(), hash, bytes: None })
            }
        };
        self.close(change, index)
    }

    /// Puts all files back as they were. Returns the error for the caller.
    fn roll_back(
        &mut self,
        prepared: &PreparedChange,
        position: u64,
        error: ChangeError,
    ) -> ChangeError {
        let restored = self
            .restore_files(prepared)
            .and_then(|()| self.journal.dropped(prepared.change.id, position));
        match (restored, error) {
            (Err(_), ChangeError::File(error)) => ChangeError::Interrupted(error),
            (_, error) => error,
        }
    }

    fn restore_files(&self, prepared: &PreparedChange) -> Result<(), ChangeError> {
        let change = &prepared.change;
        for (file, before) in change.files.iter().zip(&prepared.before) {
            self.files.put_back(file.file.path(), before.as_ref())?;
        }
        self.files.put_index_back(&prepared.index)?;
        self.files.flush(change)
    }

    /// Records the files of a change as known and the change as done.
    pub(super) fn close(
        &mut self,
        change: &RecordedChange,
        index: Option<IndexNow<'_>>,
    ) -> Result<(), ChangeError> {
        last_known::write(&self.store.state, change, index)?;
        // If this fails, the names are listed again.
        let _not_kept = self.files.keep_names(change);
        self.journal.done(change.id)
    }

    /// Finishes a change that was interrupted. Files that another program has changed since are left as they are: they
    /// will be recorded as external changes, and our version is in the history.
    pub(super) fn recover(&mut self, change: &RecordedChange) -> Result<(), ChangeError> {
        // Other changes were only recorded; their files were already written.
        if change.nature == Nature::Made {
            for file in writes_before_removals(change) {
                let now = self.files.read(file.file.path())?.map(|current| current.hash);
                if now == file.before {
                    self.files.write_version(file)?;
                }
            }
            self.recover_index(change)?;
            self.files.flush(change)?;
        }
        remove_temporary_in(&self.store.state)?;
        if let Ok(folder) = self.store.state.open_folder(&name(last_known::FOLDER)) {
            remove_temporary_in(&folder)?;
        }
        self.files.remove_temporary(change)?;
        let index = self.files.read_index()?;
        self.close(change, index.as_ref().map(DiskFile::as_index))
    }

    /// Records the memories of a directory that is opened for the first time, as one journal line: a crash leaves all of
    /// it or nothing.
    pub(super) fn record_first_sight(&mut self) -> Result<(), ChangeError> {
        let found = ExternalChanges::of(self.store).at_first_sight()?;
        self.record_external(Nature::FirstSight, found)
    }

    /// Records all changes that other programs made in the directory.
    pub(super) fn record_external_changes(&mut self) -> Result<(), ChangeError> {
        let found = ExternalChanges::of(self.store).in_directory()?;
        self.record_external(Nature::Found, found)
    }

    fn record_external(&mut self, nature: Nature, found: FoundChanges) -> Result<(), ChangeError> {
        if found.is_empty() {
            return Ok(());
        }
        let id = self.journal.next_id();
        let (change, index) = found.into_recorded(nature, id, self.now, &self.store.state);
        self.journal.note(&change)?;
        self.close(&change, index.as_ref().map(DiskFile::as_index))
    }

    fn recover_index(&self, change: &RecordedChange) -> Result<(), ChangeError> {
        let Some(index) = &change.index else { return Ok(()) };
        let current = self.files.read_index()?.map(|current| without_unfinished(current, index));
        let hash = current.as_ref().map(|current| current.hash.clone());
        if hash == index.after {
            return Ok(());
        }
        let bytes = current.map(|current| current.bytes).unwrap_or_default();
        let old = String::from_utf8(bytes).map_err(|_| ChangeError::Index)?;
        if hash == index.before && index.after.is_none() {
            return self.files.remove(&name(INDEX));
        }
        let spliced = index.splice.apply(&old).filter(|_| hash == index.before);
        let new = match spliced {
            Some(new) => Some(new),
            None => self.corrected_index(&old, change)?,
        };
        match new {
            Some(text) => self.files.write_index(text.as_bytes()),
            None => Ok(()),
        }
    }

    /// The index with lines that match the files of a change as they are now; `None` if it already matches.
    fn corrected_index(
        &self,
        old: &str,
        change: &RecordedChange,
    ) -> Result<Option<String>, ChangeError> {
        let mut now = Vec::new();
        for file in &change.files {
            now.push((&file.file, self.files.read(file.file.path())?.map(|file| file.bytes)));
        }
        Ok(index_lines::corrected(old, now.into_iter()))
    }
}

/// The index without the first part of the line that an interrupted change was adding at its end.
fn without_unfinished(current: DiskFile, change: &IndexChange) -> DiskFile {
    let head = change.splice.before_addition(&current.bytes);
    let finished = change.splice.at + change.splice.inserted.len();
    match (head.filter(|_| current.bytes.len() < finished), &change.before) {
        (Some(head), Some(before)) if ContentHash::of(head) == *before => {
            DiskFile { bytes: head.to_owned(), hash: before.clone(), ..current }
        }
        _ => current,
    }
}
