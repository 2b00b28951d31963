//! What was done to a draft, step by step, and what became of each memory by it.

use std::collections::BTreeSet;

use crate::names::MemoryFile;
use crate::store::{ContentHash, MessageSource};

/// Something that was done.
#[derive(Debug, Clone)]
pub(super) enum DraftStep {
    /// A memory was saved.
    Saved {
        file: MemoryFile,
        /// What that left in the file.
        left: ContentHash,
        supersedes: Vec<MemoryFile>,
        sources: Vec<MessageSource>,
    },
    /// A memory was removed.
    Deleted { file: MemoryFile, reason: String },
}

/// All of it, in order.
#[derive(Debug, Default)]
pub(super) struct Steps(Vec<DraftStep>);

/// Where a memory that is gone went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trace {
    /// Into this one, which is there.
    Into(MemoryFile),
    /// It was removed for a reason, or what it went into was.
    Removed(String),
    /// Nobody knows.
    None,
}

impl Steps {
    pub(super) fn push(&mut self, step: DraftStep) {
        self.0.push(step);
    }

    /// What the tools last left in a file.
    pub(super) fn left(&self, file: &MemoryFile) -> Option<&ContentHash> {
        self.0.iter().rev().find_map(|step| match step {
            DraftStep::Saved { file: saved, left, .. } if saved == file => Some(left),
            DraftStep::Saved { .. } | DraftStep::Deleted { .. } => None,
        })
    }

    /// Where a memory went that is gone.
    pub(super) fn trace(&self, file: &MemoryFile, is_there: impl Fn(&MemoryFile) -> bool) -> Trace {
        let mut at = file.clone();
        let mut after = 0;
        // Every round looks further on: it ends.
        while let Some((place, step)) = self.last_end(&at, after) {
            match step {
                DraftStep::Deleted { reason, .. } => return Trace::Removed(reason.clone()),
                DraftStep::Saved { file: into, .. } if is_there(into) => {
                    return Trace::Into(into.clone());
                }
                DraftStep::Saved { file: into, .. } => {
                    at = into.clone();
                    after = place + 1;
                }
            }
        }
        Trace::None
    }

    /// The last step, from a place on, that made a memory go.
    fn last_end(&self, file: &MemoryFile, after: usize) -> Option<(usize, &DraftStep)> {
        let ends = |step: &DraftStep| match step {
            DraftStep::Deleted { file: gone, .. } => gone == file,
            DraftStep::Saved { file: into, supersedes, .. } => {
                into != file && supersedes.contains(file)
            }
        };
        self.0.iter().enumerate().skip(after).rev().find(|(_, step)| ends(step))
    }

    /// All memories that went into this one, by whatever way, and the messages it rests on.
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
