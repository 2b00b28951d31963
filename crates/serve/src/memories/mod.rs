//! The memories that another agent reaches: the stores of a project, what it finds and changes in them.
//!
//! Invariants: what is in quarantine is not found; every change is the client's, by name (M-17).

mod change;
mod client;
mod found;
mod ranking;

use dormouse_memory::recall::MemorySearch;
use dormouse_search::Embedder;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{Clock, FileError};
use dormouse_memory::{ChangeError, MemoryRules, Scan, ScanCache, Scope, Store};
use jiff::Timestamp;
use thiserror::Error;

pub(crate) use change::{ClientChange, MemoryEdit};
pub use client::Client;
pub(crate) use found::{FoundForClient, MemoryRow};
pub(crate) use ranking::{RankedForClient, ranked, recalled};

/// Why something could not be done for another agent.
#[derive(Debug, Error)]
pub enum MemoryRequestError {
    /// The store says no.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// A directory can not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// No such memory.
    #[error(
        "there is no memory `{0}`, or several share that name; memory_list shows the file names"
    )]
    Unknown(String),
    /// A file name in several scopes.
    #[error("there are {count} memories `{name}`, in different scopes; say which with `scope`")]
    Several {
        /// What was asked for.
        name: String,
        /// How many there are.
        count: usize,
    },
    /// No store of that scope.
    #[error("there is no `{0}` memory here; leave `scope` out")]
    NoScope(Scope),
    /// Nothing of the client's own to undo.
    #[error("there is no change of yours to undo; what others changed, the person undoes")]
    NothingOfYours,
}

/// A store, and what the last look at it saw.
pub(crate) struct ScopedStore {
    pub(crate) store: Arc<Store>,
    cache: Mutex<ScanCache>,
}

impl ScopedStore {
    /// Its memories, without those in quarantine.
    pub(crate) fn scan(&self) -> Result<Scan, FileError> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scan = self.store.scan(&mut cache)?;
        scan.memories.retain(|memory| !memory.header.quarantined);
        Ok(scan)
    }
}

/// The stores of a project, one a scope.
pub struct ClientMemories {
    shelves: Vec<ScopedStore>,
    recall: MemorySearch,
    rules: MemoryRules,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for ClientMemories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scopes: Vec<_> = self.shelves.iter().map(|shelf| shelf.store.scope()).collect();
        f.debug_struct("ClientMemories").field("scopes", &scopes).finish_non_exhaustive()
    }
}

impl ClientMemories {
    /// ClientMemories in these stores, with the rules that an agent is told about them. `cache` is the folder of
    /// what can be derived anew.
    pub fn new(
        stores: Vec<Store>,
        cache: &Path,
        rules: MemoryRules,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let stores: Vec<Arc<Store>> = stores.into_iter().map(Arc::new).collect();
        let recall = MemorySearch::open(stores.clone(), Some(cache));
        let shelf = |store| ScopedStore { store, cache: Mutex::default() };
        Self { shelves: stores.into_iter().map(shelf).collect(), recall, rules, clock }
    }

    /// Ranks by vectors as well, where the person has a model for that.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self { recall: self.recall.with_embedder(embedder), ..self }
    }

    /// The place of a scope in the list.
    fn position(&self, scope: Scope) -> Option<usize> {
        self.shelves.iter().position(|shelf| shelf.store.scope() == scope)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The shelves of a scope, or all of them.
    pub(crate) fn shelves(&self, scope: Option<Scope>) -> impl Iterator<Item = &ScopedStore> {
        self.shelves.iter().filter(move |shelf| scope.is_none_or(|s| s == shelf.store.scope()))
    }

    pub(crate) fn shelf(&self, scope: Scope) -> Result<&ScopedStore, MemoryRequestError> {
        self.shelves(Some(scope)).next().ok_or(MemoryRequestError::NoScope(scope))
    }

    /// All memories, newest first.
    pub(crate) fn all(
        &self,
        scope: Option<Scope>,
    ) -> Result<Vec<FoundForClient<'_>>, MemoryRequestError> {
        let mut found = Vec::new();
        for shelf in self.shelves(scope) {
            found.extend(
                shelf.scan()?.memories.into_iter().map(|memory| FoundForClient { shelf, memory }),
            );
        }
        found.sort_by_key(|found| std::cmp::Reverse(found.memory.modified));
        Ok(found)
    }

    /// The memory of this file or name.
    pub(crate) fn find(
        &self,
        name: &str,
        scope: Option<Scope>,
    ) -> Result<FoundForClient<'_>, MemoryRequestError> {
        let mut named = Vec::new();
        for shelf in self.shelves(scope) {
            named.extend(
                shelf
                    .scan()?
                    .find(name)
                    .map(|memory| FoundForClient { shelf, memory: Arc::clone(memory) }),
            );
        }
        let count = named.len();
        match named.pop() {
            Some(found) if count == 1 => Ok(found),
            Some(_) => Err(MemoryRequestError::Several { name: name.to_owned(), count }),
            None => Err(MemoryRequestError::Unknown(name.to_owned())),
        }
    }

    /// The index of every scope as a session gets it (M-6), each under a heading.
    pub(crate) fn index(&self) -> Result<String, MemoryRequestError> {
        let mut parts = Vec::new();
        for shelf in &self.shelves {
            let loaded = shelf.store.loaded_index(|| shelf.scan())?;
            if !loaded.text.trim().is_empty() {
                let folder = shelf.store.dir().path().display();
                let heading = format!("# Memory of scope `{}`, in {folder}", shelf.store.scope());
                parts.push(format!("{heading}\n\n{}", loaded.with_warning()));
            }
        }
        Ok(parts.join("\n"))
    }

    /// The rules, in the words of the tools that other agents have.
    pub(crate) fn rules(&self) -> String {
        in_their_words(self.rules.full())
    }

    /// The same in short.
    pub(crate) fn short_rules(&self) -> String {
        in_their_words(self.rules.short())
    }
}

fn in_their_words(rules: String) -> String {
    let names = [
        ("MemorySave", "memory_save"),
        ("MemorySearch", "memory_search"),
        ("MemoryList", "memory_list"),
    ];
    names.iter().fold(rules, |text, (own, theirs)| text.replace(own, theirs))
}
