//! A draft: a copy of a memory directory that a dream works on (B-21).
//!
//! The copy is a store of its own, with the same checks for secrets, sizes and escaping paths. Every operation on it is
//! recorded with its sources. At the end of the dream the draft is checked as a whole and divided into units, which the
//! real store applies. Invariants: nothing of a draft takes effect before that; proposals in the inbox are not part of
//! it; a crash leaves a folder that the next dream removes.

mod judge;
mod steps;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{Dir, RelPath};

use crate::entry::{MemoryEntry, NewMemory};
use crate::names::MemoryFile;
use crate::scan::ScanCache;
use crate::store::{
    ChangeAuthor, ChangeError, ChangeOrigin, ChangeOutcome, ChangeRefusal, ContentHash, Expected,
    MessageSource, Policy, PolicyAction, Store, StoreOptions,
};
use dormouse_frontmatter as frontmatter;

use judge::{Condition, FinishedDraft};
pub use judge::{DraftChange, DraftPlan, DraftRejection};
use steps::{DraftStep, Steps};

/// Folder for drafts in the state folder; each draft has its own folder there.
pub(crate) const FOLDER: &str = "dreaming";

/// A copy of a memory directory that a dream changes.
pub struct MemoryDraft {
    /// State folder of the original.
    state: Dir,
    /// Folder of the draft, in `state`.
    folder: RelPath,
    store: Arc<Store>,
    /// Content of every memory when it was copied.
    base: BTreeMap<MemoryFile, ContentHash>,
    /// Condition of the copy when it was made: a draft is not rejected for what was wrong before.
    before: Condition,
    steps: Mutex<Steps>,
}

impl MemoryDraft {
    /// Copies the memories of a store for the dream `id`. The caller holds the dream lock, so drafts that exist are left
    /// over from interrupted dreams and are removed.
    pub fn of(store: &Store, id: &str) -> Result<Self, ChangeError> {
        let plain = |path: String| RelPath::new(path).map_err(ChangeRefusal::from);
        let state = store.state_dir().clone();
        state.remove_folder(&plain(FOLDER.to_owned())?)?;
        let folder = plain(format!("{FOLDER}/{id}"))?;
        let copy = state.create_folder(&plain(format!("{folder}/memory"))?)?;
        let base = store.copy_to(&copy)?;
        let inner = state.create_folder(&plain(format!("{folder}/state"))?)?;
        let options = StoreOptions { policy: everything_allowed(), ..store.options().clone() };
        let store = Store::open(copy.path(), inner.path(), options)?;
        let before = Condition::of(&store)?;
        Ok(Self { state, folder, store: Arc::new(store), base, before, steps: Mutex::default() })
    }

    /// The copy, for reading. A change that does not go through the draft causes its rejection.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Folder of the draft.
    pub fn folder(&self) -> PathBuf {
        self.state.path().join(self.folder.as_path())
    }

    /// Number of memories when the copy was made.
    pub fn memories(&self) -> usize {
        self.base.len()
    }

    /// Saves a memory, either as `file` or under a new name, and removes those that it supersedes. Its sources are these
    /// messages and the sources of the superseded memories.
    pub fn save(
        &self,
        memory: &NewMemory,
        file: Option<&MemoryFile>,
        supersedes: &[MemoryFile],
        sources: &[MessageSource],
    ) -> Result<MemoryFile, ChangeError> {
        let mut steps = self.steps();
        let mut saved = None;
        let by = ChangeOrigin {
            sources: sources.to_vec(),
            ..ChangeOrigin::new(ChangeAuthor::Dream, "drafted")
        };
        let supersedes: Vec<MemoryFile> =
            supersedes.iter().filter(|one| Some(*one) != file).cloned().collect();
        let outcome = self.store.change(&by, |plan| {
            let into = match file {
                Some(file) => file.clone(),
                None => plan.save(memory)?,
            };
            let text = match file {
                Some(file) => {
                    let old = plan.read(file)?.ok_or_else(|| ChangeError::Missing(file.clone()))?;
                    edited(file, memory.onto(&old))?
                }
                None => plain(plan.read(&into)?),
            };
            let text = with_superseded(&into, text, &supersedes)?;
            if file.is_none() {
                // It was saved only to get a file name. Its provenance is that of the superseded memories.
                plan.delete(&into, &Expected::Present)?;
            }
            plan.merge(&into, &supersedes, &text)?;
            saved = Some(into);
            Ok(())
        })?;
        written(&outcome)?;
        let Some(file) = saved else { return Err(nothing_done()) };
        let (_, left) = self.store.read(&file)?;
        let sources = sources.to_vec();
        steps.push(DraftStep::Saved { file: file.clone(), left, supersedes, sources });
        Ok(file)
    }

    /// Removes a memory; the reason is recorded.
    pub fn delete(&self, file: &MemoryFile, reason: &str) -> Result<(), ChangeError> {
        let mut steps = self.steps();
        let by = ChangeOrigin::new(ChangeAuthor::Dream, reason);
        let outcome = self.store.change(&by, |plan| plan.delete(file, &Expected::Present))?;
        written(&outcome)?;
        steps.push(DraftStep::Deleted { file: file.clone(), reason: reason.to_owned() });
        Ok(())
    }

    /// Checks the draft as a whole and divides it into units.
    pub fn plan(&self) -> Result<Result<DraftPlan, DraftRejection>, ChangeError> {
        let now = self.texts()?;
        let after = Condition::of(&self.store)?;
        let steps = self.steps();
        let draft = FinishedDraft { base: &self.base, now: &now, steps: &steps };
        Ok(judge::judge(&draft, &self.before, &after))
    }

    /// Removes the copy.
    pub fn remove(&self) -> Result<(), ChangeError> {
        Ok(self.state.remove_folder(&self.folder)?)
    }

    /// Texts of the memories now.
    fn texts(&self) -> Result<BTreeMap<MemoryFile, Vec<u8>>, ChangeError> {
        let mut texts = BTreeMap::new();
        for memory in self.store.scan(&mut ScanCache::default())?.memories {
            let (bytes, _) = self.store.read(&memory.file)?;
            texts.insert(memory.file.clone(), bytes);
        }
        Ok(texts)
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MemoryDraft {
    fn drop(&mut self) {
        // If this fails, the next dream removes it.
        let _left_for_the_next = self.remove();
    }
}

impl std::fmt::Debug for MemoryDraft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryDraft")
            .field("copy", &self.store.dir().path())
            .finish_non_exhaustive()
    }
}

/// The copy takes every change: the policy is applied when the units are.
fn everything_allowed() -> Policy {
    Policy {
        default: PolicyAction::Auto,
        over_user_memory: PolicyAction::Auto,
        ..Policy::default()
    }
}

/// Adds the superseded memories to the frontmatter.
fn with_superseded(
    file: &MemoryFile,
    text: String,
    supersedes: &[MemoryFile],
) -> Result<String, ChangeError> {
    if supersedes.is_empty() {
        return Ok(text);
    }
    let mut names = MemoryEntry::from_text(&text).header.supersedes;
    names.extend(supersedes.iter().map(ToString::to_string));
    names.dedup();
    edited(file, frontmatter::set_list(&text, "supersedes", &names))
}

fn edited(
    file: &MemoryFile,
    result: Result<String, frontmatter::FrontmatterEditError>,
) -> Result<String, ChangeError> {
    result.map_err(|source| ChangeError::Frontmatter { file: file.clone(), source })
}

fn plain(bytes: Option<Vec<u8>>) -> String {
    String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
}

fn written(outcome: &ChangeOutcome) -> Result<(), ChangeError> {
    match outcome {
        ChangeOutcome::Written(_) | ChangeOutcome::Unchanged => Ok(()),
        ChangeOutcome::Ask(_) | ChangeOutcome::InInbox(_) => Err(nothing_done()),
    }
}

fn nothing_done() -> ChangeError {
    ChangeRefusal::DraftUnchanged.into()
}
