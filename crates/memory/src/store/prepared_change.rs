//! A change that has passed all checks and is ready to be written.

use super::change_origin::ChangeOrigin;
use super::content::{ContentHash, Splice};
use super::disk_file::DiskFile;
use super::journal::{IndexChange, RecordedChange, RecordedFileChange};
use super::log::FileDiff;
use super::long_index::ExtendedIndex;
use super::outcome::ChangeKind;
use super::proposal::{Proposal, ProposedFile};
use crate::entry::as_text;
use crate::names::MemoryFile;

/// A change that is ready to be written, with the previous contents for a rollback.
#[derive(Debug)]
pub(super) struct PreparedChange {
    pub(super) change: RecordedChange,
    /// For each file of the change, its previous content.
    pub(super) before: Vec<Option<DiskFile>>,
    pub(super) index: IndexEdit,
}

/// What a change does to `MEMORY.md`.
#[derive(Debug)]
pub(super) enum IndexEdit {
    /// Nothing.
    Unchanged,
    /// It is written anew, or removed.
    Rewritten { before: Option<DiskFile>, after: String },
    /// A line is added at its end.
    Extended(ExtendedIndex),
}

impl IndexEdit {
    pub(super) fn rewritten(before: Option<DiskFile>, after: Option<String>) -> Self {
        after.map_or(Self::Unchanged, |after| Self::Rewritten { before, after })
    }

    /// The edit as the journal records it. A missing index and an empty one are different.
    pub(super) fn change(&self) -> Option<IndexChange> {
        match self {
            Self::Unchanged => None,
            Self::Rewritten { before, after } => {
                let old =
                    before.as_ref().map(|current| as_text(&current.bytes)).unwrap_or_default();
                Some(IndexChange {
                    before: before.as_ref().map(|current| current.hash.clone()),
                    after: Some(ContentHash::of(after.as_bytes())),
                    splice: Splice::between(&old, after),
                })
            }
            Self::Extended(extended) => Some(extended.change().clone()),
        }
    }
}

impl PreparedChange {
    pub(super) fn is_empty(&self) -> bool {
        self.change.files.is_empty() && matches!(self.index, IndexEdit::Unchanged)
    }

    pub(super) fn kinds(&self) -> Vec<(MemoryFile, ChangeKind)> {
        let kind = |change: &RecordedFileChange| match (&change.before, &change.after) {
            (None, _) => ChangeKind::Added,
            (Some(_), Some(_)) => ChangeKind::Changed,
            (Some(_), None) => ChangeKind::Removed,
        };
        self.change.files.iter().map(|change| (change.file.clone(), kind(change))).collect()
    }

    /// The contents before and after, file by file.
    pub(super) fn diffs(&self) -> Vec<FileDiff> {
        let diff = |(change, before): (&RecordedFileChange, &Option<DiskFile>)| FileDiff {
            file: change.file.clone(),
            before: before.as_ref().map(|current| current.bytes.clone()),
            after: change
                .after
                .as_ref()
                .and_then(|version| Some(version.content.as_ref()?.bytes())),
        };
        self.change.files.iter().zip(&self.before).map(diff).collect()
    }

    pub(super) fn proposal(&self, by: &ChangeOrigin) -> Proposal {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let files =
            self.change.files.iter().zip(&self.before).map(|(change, before)| ProposedFile {
                file: change.file.clone(),
                before: before.as_ref().map(|current| text(&current.bytes)),
                expected: change.before.clone(),
                after: change
                    .after
                    .as_ref()
                    .and_then(|version| version.content.as_ref())
                    .map(|content| text(&content.bytes())),
            });
        Proposal { by: by.clone(), files: files.collect() }
    }
}
