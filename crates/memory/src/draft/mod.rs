//! A draft: a copy of a memory directory that a dream works on (B-21).
//!
//! The copy is a store of its own, with the same guard against secrets, sizes and escapes; what is done to it is
//! written down with what it rests on. When the dream is over, the draft is judged as a whole and taken apart into
//! units, which the real store applies. Invariants: nothing of a draft counts before that; what waits for the
//! person's word is not in it; a crash leaves a folder that the next dream removes.

mod judge;
mod steps;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{Dir, RelPath};

use crate::doctor::LintFinding;
use crate::entry::{MemoryEntry, NewMemory};
use crate::index::{self, IndexFill};
use crate::names::MemoryFile;
use crate::scan::ScanCache;
use crate::store::{
    ChangeAuthor, ChangeError, ChangeOrigin, ChangeOutcome, ContentHash, Expected, MessageSource,
    Policy, PolicyAction, Store, StoreOptions,
};
use dormouse_frontmatter as frontmatter;

pub use judge::{DraftChange, DraftPlan, DraftRejection};
use steps::{DraftStep, Steps};

/// Where drafts are, in the state folder, each in a folder of its own.
const FOLDER: &str = "dreaming";

/// A copy of a memory directory, to be worked on.
pub struct MemoryDraft {
    /// The state folder of what it is a copy of, and its own folder there.
    state: Dir,
    folder: RelPath,
    store: Arc<Store>,
    /// What every memory was when it was copied.
    base: BTreeMap<MemoryFile, ContentHash>,
    /// What was wrong already.
    findings: Vec<LintFinding>,
    /// How full the index was.
    fill: IndexFill,
    steps: Mutex<Steps>,
}

impl MemoryDraft {
    /// Copies the memories of a store, for the dream of this id. What dreams that died have left is removed first:
    /// the caller holds the dream's lock.
    pub fn of(store: &Store, id: &str) -> Result<Self, ChangeError> {
        let plain = |path: String| {
            RelPath::new(path).map_err(|error| ChangeError::Refused(error.to_string()))
        };
        let state = store.state_dir().clone();
        state.remove_folder(&plain(FOLDER.to_owned())?)?;
        let folder = plain(format!("{FOLDER}/{id}"))?;
        let copy = state.create_folder(&plain(format!("{folder}/memory"))?)?;
        let base = store.copy_to(&copy)?;
        let inner = state.create_folder(&plain(format!("{folder}/state"))?)?;
        let options = StoreOptions { policy: free(), ..store.options().clone() };
        let store = Store::open(copy.path(), inner.path(), options)?;
        let (findings, fill) = (store.doctor(None)?, index::fill(&store.index_text()?));
        let (store, steps) = (Arc::new(store), Mutex::default());
        Ok(Self { state, folder, store, base, findings, fill, steps })
    }

    /// The copy, to look at. What is changed past the draft makes it worthless.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// The folder that goes with the draft.
    pub fn folder(&self) -> PathBuf {
        self.state.path().join(self.folder.as_path())
    }

    /// How many memories there were.
    pub fn memories(&self) -> usize {
        self.base.len()
    }

    /// Saves a memory, under the file name of one that there is or a new one; those that it supersedes go. It rests
    /// on these messages, and on what it takes the place of.
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
                // It was only to find a name: what it inherits is what it supersedes.
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

    /// Removes a memory, for a reason.
    pub fn delete(&self, file: &MemoryFile, reason: &str) -> Result<(), ChangeError> {
        let mut steps = self.steps();
        let by = ChangeOrigin::new(ChangeAuthor::Dream, reason);
        let outcome = self.store.change(&by, |plan| plan.delete(file, &Expected::Present))?;
        written(&outcome)?;
        steps.push(DraftStep::Deleted { file: file.clone(), reason: reason.to_owned() });
        Ok(())
    }

    /// Judges the draft as a whole, and takes it apart.
    pub fn drawn(&self) -> Result<Result<DraftPlan, DraftRejection>, ChangeError> {
        judge::judge(self)
    }

    /// Removes the copy.
    pub fn remove(&self) -> Result<(), ChangeError> {
        Ok(self.state.remove_folder(&self.folder)?)
    }

    /// What the memories are now.
    fn now(&self) -> Result<BTreeMap<MemoryFile, Vec<u8>>, ChangeError> {
        let mut now = BTreeMap::new();
        for memory in self.store.scan(&mut ScanCache::default())?.memories {
            let (bytes, _) = self.store.read(&memory.file)?;
            now.insert(memory.file.clone(), bytes);
        }
        Ok(now)
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MemoryDraft {
    fn drop(&mut self) {
        // Where it fails, the next dream does it.
        let _left_for_the_next = self.remove();
    }
}

impl std::fmt::Debug for MemoryDraft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Draft").field("copy", &self.store.dir().path()).finish_non_exhaustive()
    }
}

/// In the copy nobody is asked: what a person has to see is decided when it is applied.
fn free() -> Policy {
    Policy { default: PolicyAction::Auto, over_a_person: PolicyAction::Auto, ..Policy::default() }
}

/// The head names what the memory takes the place of.
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
    ChangeError::Refused("the copy of the memories took no change; try again".to_owned())
}
