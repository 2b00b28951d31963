//! Whether a draft can be applied at all, and if so as which units. Each unit is consistent on its own and has a
//! description for the report.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::steps::{Steps, Trace};
use crate::doctor::{FindingKind, LintFinding};
use crate::index::{self, IndexFill};
use crate::names::MemoryFile;
use crate::store::{ChangeError, ChangeUnit, ContentHash, Store, UnitWrite};

/// Findings that a draft must not add.
const FATAL: &[FindingKind] = &[
    FindingKind::NoLine,
    FindingKind::NoFile,
    FindingKind::DoubleLine,
    FindingKind::Odd,
    FindingKind::Secret,
];

/// Why nothing of a draft is applied.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DraftRejection {
    /// More than half of the memories would be gone.
    #[error("it removes {removed} of {all} memories without replacement")]
    TooManyRemoved {
        /// Memories removed without replacement.
        removed: usize,
        /// Memories before the dream.
        all: usize,
    },
    /// A file was changed without the draft's own operations.
    #[error("`{0}` was changed or removed without a recorded reason")]
    NoTrace(MemoryFile),
    /// The draft adds findings of `doctor` that make it inconsistent.
    #[error("{}", joined(.0))]
    Unsound(Vec<LintFinding>),
    /// The index would no longer be loaded whole.
    #[error("the index would have {lines} lines and {bytes} bytes, more than are loaded")]
    IndexTooLong {
        /// Lines of the index.
        lines: usize,
        /// Size of the index in bytes.
        bytes: usize,
    },
}

fn joined(findings: &[LintFinding]) -> String {
    let each = findings.iter().map(|finding| format!("{}: {}", finding.file, finding.message));
    each.collect::<Vec<_>>().join("; ")
}

/// The effect of a unit, for the report of a dream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftChange {
    /// Several memories became one, which may be one of them or new.
    Merged {
        /// The resulting memory.
        into: MemoryFile,
        /// The memories that were merged.
        from: Vec<MemoryFile>,
    },
    /// The text changed.
    Corrected(MemoryFile),
    /// A new memory.
    Added(MemoryFile),
    /// The memory was removed.
    Removed {
        /// File of the memory.
        file: MemoryFile,
        /// The reason the model gave.
        reason: String,
    },
}

/// A draft as units that the store can apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftPlan {
    /// The units, each with its effects.
    pub units: Vec<(ChangeUnit, Vec<DraftChange>)>,
    /// Number of unchanged memories.
    pub kept: usize,
}

/// The index and the findings of a copy at one time.
pub(super) struct Condition {
    /// Findings of `doctor`.
    pub(super) findings: Vec<LintFinding>,
    /// How full the index is.
    pub(super) fill: IndexFill,
}

impl Condition {
    pub(super) fn of(store: &Store) -> Result<Self, ChangeError> {
        Ok(Self { findings: store.doctor(None)?, fill: index::fill(&store.index_text()?) })
    }

    /// Whether the index is too long to be loaded whole.
    fn is_index_too_long(&self) -> bool {
        self.fill.lines > index::LOADED_LINES || self.fill.bytes > index::LOADED_BYTES
    }
}

/// A draft whose dream has ended, compared with the memories it was copied from.
pub(super) struct FinishedDraft<'a> {
    /// Content of every memory when it was copied.
    pub(super) base: &'a BTreeMap<MemoryFile, ContentHash>,
    /// Text of every memory now.
    pub(super) now: &'a BTreeMap<MemoryFile, Vec<u8>>,
    /// The operations in between.
    pub(super) steps: &'a Steps,
}

/// Rejects a draft that is in a worse condition than the original; divides the others into units.
pub(super) fn judge(
    draft: &FinishedDraft<'_>,
    before: &Condition,
    after: &Condition,
) -> Result<DraftPlan, DraftRejection> {
    reject_new_findings(&before.findings, &after.findings)?;
    // An index that was too long before may stay so.
    if after.is_index_too_long() && !before.is_index_too_long() {
        let IndexFill { lines, bytes, .. } = after.fill;
        return Err(DraftRejection::IndexTooLong { lines, bytes });
    }
    draft.plan()
}

fn reject_new_findings(
    before: &[LintFinding],
    after: &[LintFinding],
) -> Result<(), DraftRejection> {
    let is_new =
        |finding: &&LintFinding| !before.contains(*finding) && FATAL.contains(&finding.kind);
    let new: Vec<LintFinding> = after.iter().filter(is_new).cloned().collect();
    if new.is_empty() { Ok(()) } else { Err(DraftRejection::Unsound(new)) }
}

impl FinishedDraft<'_> {
    fn plan(&self) -> Result<DraftPlan, DraftRejection> {
        let removed = self.removed()?;
        let written = self.written()?;
        let without_replacement =
            removed.values().filter(|trace| matches!(trace, Trace::Removed(_))).count();
        if without_replacement * 2 > self.base.len() {
            return Err(DraftRejection::TooManyRemoved {
                removed: without_replacement,
                all: self.base.len(),
            });
        }
        let kept = self.base.len()
            - removed.len()
            - written.iter().filter(|file| self.base.contains_key(*file)).count();
        let groups = self.groups(&written, &removed);
        let units = groups.iter().map(|group| self.unit(group, &written, &removed)).collect();
        Ok(DraftPlan { units, kept })
    }

    /// The removed memories, each with the reason or the memory it was merged into.
    fn removed(&self) -> Result<BTreeMap<MemoryFile, Trace>, DraftRejection> {
        let gone = self.base.keys().filter(|file| !self.now.contains_key(*file));
        let traced =
            gone.map(|file| match self.steps.trace(file, |into| self.now.contains_key(into)) {
                Trace::None => Err(DraftRejection::NoTrace(file.clone())),
                trace => Ok((file.clone(), trace)),
            });
        traced.collect()
    }

    /// The memories with a new text. Fails if a text is not the one that the draft's operations left.
    fn written(&self) -> Result<BTreeSet<MemoryFile>, DraftRejection> {
        let mut written = BTreeSet::new();
        for (file, bytes) in self.now {
            let hash = ContentHash::of(bytes);
            if self.base.get(file) == Some(&hash) {
                continue;
            }
            if self.steps.left(file) != Some(&hash) {
                return Err(DraftRejection::NoTrace(file.clone()));
            }
            written.insert(file.clone());
        }
        Ok(written)
    }

    /// Groups of memories that must be applied together: a memory, the memories merged into it, and other memories that
    /// those were merged into.
    fn groups(
        &self,
        written: &BTreeSet<MemoryFile>,
        removed: &BTreeMap<MemoryFile, Trace>,
    ) -> Vec<BTreeSet<MemoryFile>> {
        let mut groups: Vec<BTreeSet<MemoryFile>> = Vec::new();
        let mut join = |members: BTreeSet<MemoryFile>| {
            let (joined, separate): (Vec<_>, Vec<_>) =
                groups.drain(..).partition(|group| !group.is_disjoint(&members));
            groups = separate;
            groups.push(joined.into_iter().flatten().chain(members).collect());
        };
        for file in written {
            let (roots, _) = self.steps.roots(file);
            let changed = roots
                .into_iter()
                .filter(|root| removed.contains_key(root) || written.contains(root));
            join(changed.chain([file.clone()]).collect());
        }
        for file in removed.keys() {
            join(BTreeSet::from([file.clone()]));
        }
        groups.sort();
        groups
    }

    fn unit(
        &self,
        group: &BTreeSet<MemoryFile>,
        written: &BTreeSet<MemoryFile>,
        removed: &BTreeMap<MemoryFile, Trace>,
    ) -> (ChangeUnit, Vec<DraftChange>) {
        let (mut unit, mut drafted) = (ChangeUnit::default(), Vec::new());
        for file in group.iter().filter(|file| written.contains(*file)) {
            let (roots, sources) = self.steps.roots(file);
            let made_of = roots.into_iter().filter(|root| self.base.contains_key(root)).collect();
            let text = self.now.get(file).cloned().unwrap_or_default();
            let before = self.base.get(file).cloned();
            let write = UnitWrite { file: file.clone(), before, text, made_of, sources };
            drafted.push(described(&write));
            unit.writes.push(write);
        }
        for file in group {
            let (Some(trace), Some(hash)) = (removed.get(file), self.base.get(file)) else {
                continue;
            };
            unit.removals.push((file.clone(), hash.clone()));
            drafted.extend(match trace {
                Trace::Removed(reason) => {
                    Some(DraftChange::Removed { file: file.clone(), reason: reason.clone() })
                }
                // The target did not need a new text: it already contained everything.
                Trace::Into(into) if !written.contains(into) => {
                    Some(DraftChange::Merged { into: into.clone(), from: vec![file.clone()] })
                }
                Trace::Into(_) | Trace::None => None,
            });
        }
        (unit, drafted)
    }
}

fn described(write: &UnitWrite) -> DraftChange {
    match (&write.before, write.made_of.is_empty()) {
        (_, false) => DraftChange::Merged { into: write.file.clone(), from: write.made_of.clone() },
        (Some(_), true) => DraftChange::Corrected(write.file.clone()),
        (None, true) => DraftChange::Added(write.file.clone()),
    }
}
