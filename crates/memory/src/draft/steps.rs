//! The operations on a draft, in order, and what happened to each memory because of them.

use std::collections::BTreeSet;

use crate::names::MemoryFile;
use crate::store::{ContentHash, MessageSource};

/// One operation.
#[derive(Debug, Clone)]
pub(super) enum DraftStep {
    /// A memory was saved.
    Saved {
        file: MemoryFile,
        /// Content of the file afterwards.
        left: ContentHash,
        supersedes: Vec<MemoryFile>,
        sources: Vec<MessageSource>,
    },
    /// A memory was removed.
    Deleted { file: MemoryFile, reason: String },
}

/// All operations, in order.
#[derive(Debug, Default)]
pub(super) struct Steps(Vec<DraftStep>);

/// What happened to a memory that no longer exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trace {
    /// Merged into this one, which exists.
    Into(MemoryFile),
    /// It, or the memory it was merged into, was removed for this reason.
    Removed(String),
    /// No operation explains it.
    None,
}

impl Steps {
    pub(super) fn push(&mut self, step: DraftStep) {
        self.0.push(step);
    }

    /// Content of a file after the last operation that saved it.
    pub(super) fn left(&self, file: &MemoryFile) -> Option<&ContentHash> {
        self.0.iter().rev().find_map(|step| match step {
            DraftStep::Saved { file: saved, left, .. } if saved == file => Some(left),
            DraftStep::Saved { .. } | DraftStep::Deleted { .. } => None,
        })
    }

    /// What happened to a memory that no longer exists.
    pub(super) fn trace(&self, file: &MemoryFile, is_there: impl Fn(&MemoryFile) -> bool) -> Trace {
        let mut at = file.clone();
        let mut after = 0;
        // Each iteration starts behind the previous operation, so the loop ends.
        while let Some((position, step)) = self.last_removal(&at, after) {
            match step {
                DraftStep::Deleted { reason, .. } => return Trace::Removed(reason.clone()),
                DraftStep::Saved { file: into, .. } if is_there(into) => {
                    return Trace::Into(into.clone());
                }
                DraftStep::Saved { file: into, .. } => {
                    at = into.clone();
                    after = position + 1;
                }
            }
        }
        Trace::None
    }

    /// The last operation, from position `after` on, that removed a memory.
    fn last_removal(&self, file: &MemoryFile, after: usize) -> Option<(usize, &DraftStep)> {
        let removes = |step: &DraftStep| match step {
            DraftStep::Deleted { file: gone, .. } => gone == file,
            DraftStep::Saved { file: into, supersedes, .. } => {
                into != file && supersedes.contains(file)
            }
        };
        self.0.iter().enumerate().skip(after).rev().find(|(_, step)| removes(step))
    }

    /// All memories that were merged into this one, directly or through others, and its source messages.
    pub(super) fn roots(&self, file: &MemoryFile) -> (BTreeSet<MemoryFile>, Vec<MessageSource>) {
        let (mut files, mut messages) = (BTreeSet::from([file.clone()]), Vec::new());
        for step in self.0.iter().rev() {
            if let DraftStep::Saved { file: into, supersedes, sources, .. } = step
                && files.contains(into)
            {
                files.extend(supersedes.iter().cloned());
                messages.extend(
                    sources
                        .iter()
                        .filter(|one| !messages.contains(*one))
                        .cloned()
                        .collect::<Vec<_>>(),
                );
            }
        }
        files.remove(file);
        (files, messages)
    }
}
