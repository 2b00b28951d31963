//! Whether a draft can be applied at all, and what it comes to: units that are right as a whole, and what to call
//! each.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::MemoryDraft;
use super::steps::{Steps, Trace};
use crate::doctor::{FindingKind, LintFinding};
use crate::index::{self, IndexFill};
use crate::names::MemoryFile;
use crate::store::{ChangeError, ChangeUnit, ContentHash, UnitWrite};

/// What would be new in a draft and must not be.
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
    #[error("it removes {removed} of {all} memories without putting anything in their place")]
    TooManyRemoved {
        /// How many would go.
        removed: usize,
        /// Of how many.
        all: usize,
    },
    /// Something was done past the tools.
    #[error("`{0}` was changed or removed, and nobody said why")]
    NoTrace(MemoryFile),
    /// It is no longer sound.
    #[error("{}", said(.0))]
    Unsound(Vec<LintFinding>),
    /// The index would no longer be loaded whole.
    #[error("the index would have {lines} lines and {bytes} bytes, more than are loaded")]
    IndexTooLong {
        /// Its lines.
        lines: usize,
        /// Its bytes.
        bytes: usize,
    },
}

fn said(findings: &[LintFinding]) -> String {
    let each = findings.iter().map(|finding| format!("{}: {}", finding.file, finding.message));
    each.collect::<Vec<_>>().join("; ")
}

/// What a unit does, for a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftChange {
    /// These became that one, which is among them or new.
    Merged {
        /// What it is now.
        into: MemoryFile,
        /// What went into it.
        from: Vec<MemoryFile>,
    },
    /// It says something else.
    Corrected(MemoryFile),
    /// It is new.
    Added(MemoryFile),
    /// It is gone.
    Removed {
        /// Which.
        file: MemoryFile,
        /// Why.
        reason: String,
    },
}

/// A draft, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftPlan {
    /// The units, each with what it does.
    pub units: Vec<(ChangeUnit, Vec<DraftChange>)>,
    /// How many memories are as they were.
    pub kept: usize,
}

pub(super) fn judge(draft: &MemoryDraft) -> Result<Result<DraftPlan, DraftRejection>, ChangeError> {
    let now = draft.now()?;
    let findings = draft.store.doctor(None)?;
    let fill = index::fill(&draft.store.index_text()?);
    let steps = draft.steps();
    let state = State { base: &draft.base, now: &now, steps: &steps };
    let checked = sound(&draft.findings, findings)
        .and_then(|()| index_fits(draft, &fill))
        .and_then(|()| state.drawn());
    Ok(checked)
}

fn sound(before: &[LintFinding], after: Vec<LintFinding>) -> Result<(), DraftRejection> {
    let is_new = |finding: &LintFinding| !before.contains(finding) && FATAL.contains(&finding.kind);
    let new: Vec<LintFinding> = after.into_iter().filter(is_new).collect();
    if new.is_empty() { Ok(()) } else { Err(DraftRejection::Unsound(new)) }
}

/// An index that is too long already may stay so; none becomes so.
fn index_fits(draft: &MemoryDraft, fill: &IndexFill) -> Result<(), DraftRejection> {
    let is_over =
        |fill: &IndexFill| fill.lines > index::LOADED_LINES || fill.bytes > index::LOADED_BYTES;
    if is_over(fill) && !is_over(&draft.fill) {
        return Err(DraftRejection::IndexTooLong { lines: fill.lines, bytes: fill.bytes });
    }
    Ok(())
}

/// What there was, what there is, and what was done.
struct State<'a> {
    base: &'a BTreeMap<MemoryFile, ContentHash>,
    now: &'a BTreeMap<MemoryFile, Vec<u8>>,
    steps: &'a Steps,
}

impl State<'_> {
    fn drawn(&self) -> Result<DraftPlan, DraftRejection> {
        let removed = self.removed()?;
        let written = self.written()?;
        let without = removed.values().filter(|trace| matches!(trace, Trace::Removed(_))).count();
        if without * 2 > self.base.len() {
            return Err(DraftRejection::TooManyRemoved { removed: without, all: self.base.len() });
        }
        let kept = self.base.len()
            - removed.len()
            - written.iter().filter(|file| self.base.contains_key(*file)).count();
        let groups = self.groups(&written, &removed);
        let units = groups.iter().map(|group| self.unit(group, &written, &removed)).collect();
        Ok(DraftPlan { units, kept })
    }

    /// What is gone, and where to.
    fn removed(&self) -> Result<BTreeMap<MemoryFile, Trace>, DraftRejection> {
        let gone = self.base.keys().filter(|file| !self.now.contains_key(*file));
        let traced =
            gone.map(|file| match self.steps.trace(file, |into| self.now.contains_key(into)) {
                Trace::None => Err(DraftRejection::NoTrace(file.clone())),
                trace => Ok((file.clone(), trace)),
            });
        traced.collect()
    }

    /// What has another text, or is new: as the tools left it.
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

    /// What belongs together: a memory, all that went into it, and what else that went into.
    fn groups(
        &self,
        written: &BTreeSet<MemoryFile>,
        removed: &BTreeMap<MemoryFile, Trace>,
    ) -> Vec<BTreeSet<MemoryFile>> {
        let mut groups: Vec<BTreeSet<MemoryFile>> = Vec::new();
        let mut join = |members: BTreeSet<MemoryFile>| {
            let (joined, apart): (Vec<_>, Vec<_>) =
                groups.drain(..).partition(|group| !group.is_disjoint(&members));
            groups = apart;
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
            drafted.push(called(&write));
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
                // What it went into stays as it was: it said all of this already.
                Trace::Into(into) if !written.contains(into) => {
                    Some(DraftChange::Merged { into: into.clone(), from: vec![file.clone()] })
                }
                Trace::Into(_) | Trace::None => None,
            });
        }
        (unit, drafted)
    }
}

fn called(write: &UnitWrite) -> DraftChange {
    match (&write.before, write.made_of.is_empty()) {
        (_, false) => DraftChange::Merged { into: write.file.clone(), from: write.made_of.clone() },
        (Some(_), true) => DraftChange::Corrected(write.file.clone()),
        (None, true) => DraftChange::Added(write.file.clone()),
    }
}
