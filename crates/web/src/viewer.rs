//! What a viewer works on: the stores, sessions and figures that the command line found.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dormouse_base::{Clock, Dir};
use dormouse_memory::recall::RESCAN_INTERVAL;
use dormouse_memory::{ChangeError, ReachableMemories, Store, StoreScope};
use dormouse_team::TeamClient;
use jiff::Timestamp;

use crate::access::ViewerAccess;
use crate::error::ViewerError;
use crate::profile_page::SessionProfile;
use crate::slow_pages::SlowPages;

/// Whether pages may change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewerMode {
    /// Pages have forms that change memories.
    Editing,
    /// Every change is refused.
    ReadOnly,
}

/// A store and the directory it is of.
pub struct ViewerStore {
    /// Which directory.
    pub scope: StoreScope,
    /// The store.
    pub store: Arc<Store>,
}

/// A folder of transcripts.
pub struct TranscriptSource {
    /// Its name in addresses: `dormouse` or `claude`.
    pub name: &'static str,
    /// The folder.
    pub folder: Dir,
}

/// Profiles a transcript with the settings in force.
pub trait SessionProfiler: Send + Sync {
    /// Replays the session through the context layers.
    fn profile(&self, transcript: &Path) -> Result<SessionProfile, ViewerError>;
}

/// Everything that pages are made of.
pub struct ViewerSources {
    /// The stores, in the order of `memories`.
    pub stores: Vec<ViewerStore>,
    /// The memories of these stores.
    pub memories: ReachableMemories,
    /// Folders of transcripts, the program's own first.
    pub sessions: Vec<TranscriptSource>,
    /// The folder of the metrics log.
    pub metrics: PathBuf,
    /// The project's name in the metrics log.
    pub project_key: String,
    /// The project's folder.
    pub project: Dir,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Profiles sessions.
    pub profiler: Box<dyn SessionProfiler>,
    /// The team that the project has joined.
    pub team: Option<TeamClient>,
}

/// A viewer: its sources, and who may ask. Pages are made anew for every request; nothing of them is kept.
pub struct Viewer {
    pub(crate) sources: ViewerSources,
    pub(crate) access: ViewerAccess,
    pub(crate) mode: ViewerMode,
    /// Held while the ranking's index is updated: once at a time is enough.
    updating: Mutex<()>,
    pub(crate) slow_pages: SlowPages,
}

impl Viewer {
    /// A viewer over these sources, within a runtime.
    pub fn new(sources: ViewerSources, access: ViewerAccess, mode: ViewerMode) -> Self {
        Self { sources, access, mode, updating: Mutex::new(()), slow_pages: SlowPages::start() }
    }

    /// The address to open.
    pub fn entry_url(&self) -> String {
        self.access.entry_url()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.sources.clock.now()
    }

    pub(crate) fn memories(&self) -> &ReachableMemories {
        &self.sources.memories
    }

    /// The scope of the store at a position.
    pub(crate) fn scope_at(&self, position: usize) -> StoreScope {
        self.sources.stores.get(position).map_or(StoreScope::Project, |store| store.scope)
    }

    /// The store of a scope, with its position.
    pub(crate) fn store(&self, scope: StoreScope) -> Result<(usize, &Arc<Store>), ViewerError> {
        let mut stores = self.sources.stores.iter().enumerate();
        let found = stores.find(|(_, store)| store.scope == scope);
        found.map(|(position, found)| (position, &found.store)).ok_or(ViewerError::NotFound)
    }

    pub(crate) fn session_source(&self, name: &str) -> Result<&TranscriptSource, ViewerError> {
        let found = self.sources.sessions.iter().find(|source| source.name == name);
        found.ok_or(ViewerError::NotFound)
    }

    /// Takes up what other programs wrote into the ranking's index, unless that was done a moment ago or is being done.
    /// What fails here is seen by the next search.
    pub(crate) fn update_index(&self) {
        let (recall, now) = (self.memories().recall(), self.now());
        if let Ok(_updating) = self.updating.try_lock()
            && recall.age(now).is_ok_and(|age| age > RESCAN_INTERVAL)
        {
            drop(recall.rescan(now));
        }
    }

    /// Adds changes that other programs made to the histories. One that cannot be recorded is left out: the rest of the
    /// page is worth showing.
    pub(crate) fn record_external_changes(&self) -> Result<(), ViewerError> {
        if self.mode == ViewerMode::ReadOnly {
            return Ok(());
        }
        for store in self.memories().stores() {
            match store.history().record_external_changes() {
                Ok(_) | Err(ChangeError::File(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
