//! The memories that a project and its user can reach: several stores, searched and read as one. Sessions, commands
//! and the server for other agents share it.

mod caveat;
mod changes;
mod found;
mod quarantine;
mod recalled_text;
mod unasked;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dormouse_base::{Dir, FileError};
use jiff::Timestamp;
use thiserror::Error;

use crate::draft;
use crate::kind::Scope;
use crate::names::MemoryFile;
use crate::recall::{MemoryHit, MemoryQuery, MemoryRanking, MemorySearch, QuarantineFilter};
use crate::scan::{Scan, ScanCache, Scanned};
use crate::store::{ChangeError, Store};
use dormouse_search::Embedder;

pub use changes::{StoreChange, UndoneChanges, undo_changes};
pub use found::FoundMemory;
use quarantine::QuarantineCache;
pub use quarantine::QuarantinedText;
pub use recalled_text::{RecalledMemoryLine, RecalledMemoryText, RecalledTexts};
pub use unasked::{RecallMessage, UnaskedMemories, UnaskedMemory};

/// Why a memory could not be looked up.
#[derive(Debug, Error)]
pub enum LookupError {
    /// A memory directory cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// No memory has this name, or several of one store do.
    #[error(
        "there is no memory `{0}`, or several share that name; the list of memories shows the file names"
    )]
    Unknown(String),
    /// A name in several scopes.
    #[error("there are {count} memories `{name}`, in different scopes; choose one with `scope`")]
    Ambiguous {
        /// The name.
        name: String,
        /// The number of memories with it.
        count: usize,
    },
    /// No store of that scope.
    #[error("there is no `{0}` memory here; leave `scope` out")]
    NoScope(Scope),
}

/// The text of a memory.
#[derive(Debug, Clone)]
pub struct MemoryText {
    /// Its scope.
    pub scope: Scope,
    /// Its file.
    pub file: MemoryFile,
    /// Description and body.
    pub text: String,
}

/// How the ranking over the stores is opened, when it is first needed.
#[derive(Default)]
pub struct RankingSetup {
    /// The folder of derived indexes; without one they live in memory.
    pub cache: Option<PathBuf>,
    /// Makes vectors, if the user has set up a model for it.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The project's folder, if no store has been opened with it.
    pub project: Option<Dir>,
}

/// The cached results of the last scan of a store.
#[derive(Default)]
struct StoreCaches {
    scans: Mutex<ScanCache>,
    quarantine: QuarantineCache,
}

impl StoreCaches {
    fn scan(&self, store: &Store, quarantined: QuarantineFilter) -> Result<Scan, FileError> {
        let mut cache = self.scans.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scan = store.scan(&mut cache)?;
        if quarantined == QuarantineFilter::Exclude {
            scan.memories.retain(|memory| !memory.header.quarantined);
        }
        Ok(scan)
    }
}

/// A store, its position in the list of stores, and its caches.
struct Reachable<'a> {
    position: usize,
    store: &'a Arc<Store>,
    caches: &'a StoreCaches,
}

impl Reachable<'_> {
    fn scan(&self, quarantined: QuarantineFilter) -> Result<Scan, FileError> {
        self.caches.scan(self.store, quarantined)
    }

    fn found(&self, memory: Arc<Scanned>) -> FoundMemory {
        FoundMemory { position: self.position, store: Arc::clone(self.store), memory }
    }
}

/// The stores that a project and its user can reach.
pub struct ReachableMemories {
    stores: Vec<Arc<Store>>,
    /// One for each store.
    caches: Vec<StoreCaches>,
    setup: RankingSetup,
    recall: OnceLock<MemorySearch>,
}

impl std::fmt::Debug for ReachableMemories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scopes: Vec<_> = self.stores.iter().map(|store| store.scope()).collect();
        f.debug_struct("ReachableMemories").field("scopes", &scopes).finish_non_exhaustive()
    }
}

impl ReachableMemories {
    /// The memories in these stores. Results name a store by its position in the list.
    pub fn new(stores: Vec<Arc<Store>>, setup: RankingSetup) -> Self {
        let caches = stores.iter().map(|_| StoreCaches::default()).collect();
        Self { stores, caches, setup, recall: OnceLock::new() }
    }

    /// The stores, in order.
    pub fn stores(&self) -> &[Arc<Store>] {
        &self.stores
    }

    /// The store of a scope.
    pub fn store(&self, scope: Scope) -> Result<&Arc<Store>, LookupError> {
        let found = self.stores.iter().find(|store| store.scope() == scope);
        found.ok_or(LookupError::NoScope(scope))
    }

    /// The directories of the stores, as text.
    pub fn folders(&self) -> Vec<String> {
        self.stores.iter().map(|store| store.dir().path().display().to_string()).collect()
    }

    /// The folders in which dreams work on copies of the stores.
    pub fn draft_folders(&self) -> impl Iterator<Item = PathBuf> {
        self.stores.iter().map(|store| store.state_dir().path().join(draft::FOLDER))
    }

    /// The store whose directory a path is in, and the rest of the path. Links are followed.
    pub fn store_of<'p>(&self, path: &'p Path) -> Option<(&Arc<Store>, &'p Path)> {
        let within = |store: &Arc<Store>| {
            let real = store.dir().path().canonicalize();
            path.strip_prefix(real.as_deref().unwrap_or(store.dir().path())).ok()
        };
        // The team's directory is inside the project's: the innermost counts.
        let found = self.stores.iter().filter_map(|store| Some((store, within(store)?)));
        found.min_by_key(|(_, rest)| rest.as_os_str().len())
    }

    /// The memory whose file a path is.
    pub fn memory_at(&self, path: &Path) -> Option<(Arc<Store>, MemoryFile)> {
        let within = |store: &Arc<Store>| {
            let rest = path.strip_prefix(store.dir().path()).ok()?.to_str()?;
            Some((Arc::clone(store), MemoryFile::existing(rest).ok()?))
        };
        // The team's directory is inside the project's: the innermost counts.
        self.stores.iter().filter_map(within).min_by_key(|(_, file)| file.as_str().len())
    }

    /// The memories of one scope or all, store by store, each newest first.
    pub fn list(
        &self,
        scope: Option<Scope>,
        quarantined: QuarantineFilter,
    ) -> Result<Vec<FoundMemory>, FileError> {
        let mut found = Vec::new();
        for reachable in self.of_scope(scope) {
            let scan = reachable.scan(quarantined)?;
            found.extend(scan.memories.into_iter().map(|memory| reachable.found(memory)));
        }
        Ok(found)
    }

    /// The newest memories of all stores by the times of their files, newest first, and how many there are. The others
    /// are not opened: for a first look at many memories.
    pub fn newest(&self, most: usize) -> Result<(Vec<FoundMemory>, usize), FileError> {
        let (mut found, mut count) = (Vec::new(), 0);
        for reachable in self.of_scope(None) {
            let newest = reachable.store.newest(most)?;
            count += newest.files;
            found.extend(newest.memories.into_iter().map(|memory| reachable.found(memory)));
        }
        found.sort_by_key(|found| std::cmp::Reverse(found.memory.modified));
        found.truncate(most);
        Ok((found, count))
    }

    /// The number of files that no memory could be read from.
    pub fn unreadable(&self) -> Result<usize, FileError> {
        let skipped =
            |store: Reachable<'_>| Ok(store.scan(QuarantineFilter::Include)?.skipped.len());
        self.of_scope(None).map(skipped).sum()
    }

    /// The memory with this file name, or this name if only one has it.
    pub fn find(
        &self,
        name: &str,
        scope: Option<Scope>,
        quarantined: QuarantineFilter,
    ) -> Result<FoundMemory, LookupError> {
        let mut named = Vec::new();
        for reachable in self.of_scope(scope) {
            let scan = reachable.scan(quarantined)?;
            named.extend(scan.find(name).map(|memory| reachable.found(Arc::clone(memory))));
        }
        let count = named.len();
        match named.pop() {
            Some(found) if count == 1 => Ok(found),
            Some(_) => Err(LookupError::Ambiguous { name: name.to_owned(), count }),
            None => Err(LookupError::Unknown(name.to_owned())),
        }
    }

    /// The memory with this very file name.
    pub fn find_file(
        &self,
        scope: Scope,
        file: &MemoryFile,
        quarantined: QuarantineFilter,
    ) -> Result<Option<FoundMemory>, LookupError> {
        let reachable = self.first_of(scope)?;
        let scan = reachable.scan(quarantined)?;
        let memory = scan.memories.into_iter().find(|memory| memory.file == *file);
        Ok(memory.map(|memory| reachable.found(memory)))
    }

    /// A scan of one scope.
    pub fn scan(&self, scope: Scope, quarantined: QuarantineFilter) -> Result<Scan, LookupError> {
        Ok(self.first_of(scope)?.scan(quarantined)?)
    }

    /// The texts of all memories, for finding duplicates. Memories that cannot be read are left out.
    pub fn texts(&self) -> Result<Vec<MemoryText>, FileError> {
        let text = |found: FoundMemory| {
            let (entry, _) = found.read().ok()?;
            let description = entry.header.description.clone().unwrap_or_default();
            let text = format!("{description}\n{}", entry.text());
            Some(MemoryText { scope: found.scope(), file: found.memory.file.clone(), text })
        };
        Ok(self.list(None, QuarantineFilter::Include)?.into_iter().filter_map(text).collect())
    }

    /// The texts of the memories in quarantine. After a change through a store, only the changed files are read again.
    pub fn quarantined(&self, now: Timestamp) -> Vec<QuarantinedText> {
        let texts = |reachable: Reachable<'_>| {
            let StoreCaches { scans, quarantine } = reachable.caches;
            quarantine.texts(reachable.store, scans, now)
        };
        self.of_scope(None).flat_map(texts).collect()
    }

    /// The ranking over the stores, opened when it is first needed.
    pub fn recall(&self) -> &MemorySearch {
        self.recall.get_or_init(|| {
            let of_store = self.stores.iter().find_map(|store| store.project_root());
            let root = of_store.or(self.setup.project.as_ref()).cloned();
            let mut recall = MemorySearch::open(self.stores.clone(), self.setup.cache.as_deref());
            if let Some(embedder) = &self.setup.embedder {
                recall = recall.with_embedder(Arc::clone(embedder));
            }
            match root {
                Some(root) => recall.with_project(root),
                None => recall,
            }
        })
    }

    /// Ranks the memories of one scope or all by a query. A server may be asked for its vector.
    pub fn search(
        &self,
        query: &str,
        scope: Option<Scope>,
        limit: usize,
        now: Timestamp,
    ) -> Result<MemoryRanking, LookupError> {
        let position = match scope {
            None => None,
            Some(scope) => Some(self.first_of(scope)?.position),
        };
        let exclude = BTreeSet::new();
        let quarantined = QuarantineFilter::Exclude;
        let query = MemoryQuery {
            store_index: position,
            exclude: &exclude,
            quarantined,
            ..MemoryQuery::new(query, limit, now)
        };
        Ok(self.recall().search(&query)?)
    }

    /// The memory of a hit.
    pub fn found(&self, hit: &MemoryHit) -> Option<FoundMemory> {
        let store = Arc::clone(self.stores.get(hit.store_index)?);
        Some(FoundMemory { position: hit.store_index, store, memory: Arc::clone(&hit.memory) })
    }

    /// These files, as a query names memories to leave out. Paths that are no memory's are ignored.
    pub fn excluded<'p>(
        &self,
        paths: &(impl Iterator<Item = &'p Path> + Clone),
    ) -> BTreeSet<(usize, MemoryFile)> {
        let mut excluded = BTreeSet::new();
        for (position, store) in self.stores.iter().enumerate() {
            let inside =
                paths.clone().filter_map(|path| path.strip_prefix(store.dir().path()).ok());
            let files = inside.filter_map(|file| MemoryFile::existing(file.to_str()?).ok());
            excluded.extend(files.map(|file| (position, file)));
        }
        excluded
    }

    /// The number of changes that wait for the user in the inboxes (M-21).
    pub fn waiting(&self) -> Result<usize, ChangeError> {
        self.stores.iter().map(|store| Ok(store.inbox().list()?.len())).sum()
    }

    fn of_scope(&self, scope: Option<Scope>) -> impl Iterator<Item = Reachable<'_>> {
        let stores = self.stores.iter().zip(&self.caches).enumerate();
        let reachable =
            stores.map(|(position, (store, caches))| Reachable { position, store, caches });
        reachable.filter(move |reachable| scope.is_none_or(|s| s == reachable.store.scope()))
    }

    fn first_of(&self, scope: Scope) -> Result<Reachable<'_>, LookupError> {
        self.of_scope(Some(scope)).next().ok_or(LookupError::NoScope(scope))
    }
}
