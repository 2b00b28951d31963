//! The store of one memory directory.

use std::path::Path;

use dormouse_base::{Dir, FileAction, FileError, ProjectSlug};
use jiff::Timestamp;

use super::change::change;
use super::change_origin::ChangeOrigin;
use super::content::ContentHash;
use super::context::StoreContext;
use super::disk_file;
use super::dream_records::DreamRecords;
use super::error::ChangeError;
use super::fixed_path::name;
use super::inbox::StoreInbox;
use super::last_known::{LastKnownCache, LastKnownFile};
use super::locked::Locked;
use super::never_helped::NeverHelpedCache;
use super::options::{SecretScan, StoreOptions};
use super::outcome::ChangeOutcome;
use super::plan::ChangePlan;
use super::store_history::StoreHistory;
use super::usage_counts::StoreUsage;
use crate::kind::Scope;
use crate::names::{INDEX, MemoryFile};
use crate::scan::{NewestMemories, Scan, ScanCache, Scanned, newest, scan};

/// A memory directory with its state folder.
///
/// Invariant: every write to a memory goes through [`Store::change`], under one lock, recorded before the first file is
/// touched. History, inbox, usage counts and dream records are separate views.
pub struct Store {
    pub(super) context: StoreContext,
}

impl Store {
    /// Opens a memory directory, creating it and its state folder (`<state_root>/<id>`) if needed, and finishes an
    /// interrupted change.
    pub fn open(
        directory: &Path,
        state_root: &Path,
        options: StoreOptions,
    ) -> Result<Self, ChangeError> {
        let store = Self::on(Dir::create(directory)?, state_root, options)?;
        drop(Locked::acquire(&store.context)?);
        Ok(store)
    }

    /// Opens a memory directory if it exists; never creates it.
    pub fn existing(
        directory: &Path,
        state_root: &Path,
        options: StoreOptions,
    ) -> Result<Option<Self>, ChangeError> {
        match Dir::open(directory) {
            Ok(memory) => Self::on(memory, state_root, options).map(Some),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn on(memory: Dir, state_root: &Path, options: StoreOptions) -> Result<Self, ChangeError> {
        let real = memory
            .path()
            .canonicalize()
            .map_err(|error| FileError::new(FileAction::Read, memory.path(), error))?;
        let state = Dir::create(state_root.join(state_folder(&real)))?;
        let context = StoreContext {
            memory,
            state,
            options,
            last_known: LastKnownCache::default(),
            never_helped: NeverHelpedCache::default(),
        };
        Ok(Self { context })
    }

    /// The memory directory.
    pub fn dir(&self) -> &Dir {
        &self.context.memory
    }

    /// The folder of the state folders of all stores.
    pub fn state_root(&self) -> Option<&Path> {
        self.context.state.path().parent()
    }

    /// Who the memories are for.
    pub fn scope(&self) -> Scope {
        self.context.options.scope
    }

    /// Root of the project that memories refer to.
    pub fn project_root(&self) -> Option<&Dir> {
        self.context.options.project.as_ref().map(|project| &project.root)
    }

    /// The secret rules.
    pub(crate) fn secret_scan(&self) -> SecretScan {
        self.context.options.secrets
    }

    /// Top-level folders that belong to other stores.
    pub(crate) fn excluded_folders(&self) -> &[String] {
        &self.context.options.excluded_folders
    }

    /// All memories, newest first.
    pub fn scan(&self, cache: &mut ScanCache) -> Result<Scan, FileError> {
        scan(&self.context.memory, &self.context.excluded_folders(), cache)
    }

    /// The newest memories by the times of their files, and how many there are; the others are not opened.
    pub fn newest(&self, most: usize) -> Result<NewestMemories, FileError> {
        newest(&self.context.memory, &self.context.excluded_folders(), most)
    }

    /// Reads a memory; the hash can be passed to a later change as [`Expected::Content`](super::Expected::Content).
    pub fn read(&self, file: &MemoryFile) -> Result<(Vec<u8>, ContentHash), ChangeError> {
        match disk_file::read(&self.context.memory, file.path())? {
            Some(current) => Ok((current.bytes, current.hash)),
            None => Err(ChangeError::Missing(file.clone())),
        }
    }

    /// Text of `MEMORY.md`; empty if there is none.
    pub fn index_text(&self) -> Result<String, ChangeError> {
        let current = disk_file::read(&self.context.memory, &name(INDEX))?;
        let bytes = current.map(|current| current.bytes).unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// When the content of a memory last changed: from the history if it saw this content come about, otherwise from the
    /// frontmatter, otherwise the modification time of the file (M-9).
    pub fn changed_at(&self, memory: &Scanned) -> Timestamp {
        let stated = memory.header.modified;
        match self.last_known(memory) {
            Some((known, true)) if known.is_adopted => stated.unwrap_or(known.modified),
            Some((known, true)) => known.modified,
            // An edit by hand leaves the frontmatter as it was.
            Some((known, false)) if stated.is_some_and(|stated| stated <= known.modified) => {
                memory.modified
            }
            _ => stated.unwrap_or(memory.modified),
        }
    }

    /// The member of the team who wrote the content of a memory; none if it was the user, or nobody knows.
    pub fn teammate(&self, memory: &Scanned) -> Option<String> {
        self.last_known(memory).filter(|(_, is_same)| *is_same)?.0.teammate
    }

    /// What the history knows about the file of a memory, and whether it still has that content.
    fn last_known(&self, memory: &Scanned) -> Option<(LastKnownFile, bool)> {
        let known = self.context.last_known.read(&self.context.state, memory.file.as_str())?;
        let untouched = known.modified == memory.modified && known.size == memory.size;
        let same = || {
            let current = disk_file::read(&self.context.memory, memory.file.path()).ok().flatten();
            current.is_some_and(|current| Some(current.hash) == known.hash)
        };
        let is_same = untouched || same();
        Some((known, is_same))
    }

    /// Changes, undo and trash.
    pub fn history(&self) -> StoreHistory<'_> {
        StoreHistory::new(&self.context)
    }

    /// Proposals that wait for the user.
    pub fn inbox(&self) -> StoreInbox<'_> {
        StoreInbox::new(&self.context)
    }

    /// How often memories were recalled and helped.
    pub fn usage(&self) -> StoreUsage<'_> {
        StoreUsage::new(&self.context)
    }

    /// Lock, reports and progress of dreams.
    pub fn dream_records(&self) -> DreamRecords<'_> {
        DreamRecords::new(&self.context)
    }

    /// Makes a change: `build` adds its parts to the plan. All of it is written, proposed or refused as one.
    pub fn change(
        &self,
        origin: &ChangeOrigin,
        build: impl FnOnce(&mut ChangePlan<'_>) -> Result<(), ChangeError>,
    ) -> Result<ChangeOutcome, ChangeError> {
        change(&self.context, origin, build)
    }
}

/// Name of the state folder of a memory directory.
pub(crate) fn state_folder(real_path: &Path) -> String {
    ProjectSlug::distinct(real_path).as_str().to_owned()
}
