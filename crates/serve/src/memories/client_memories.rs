//! The memories that another agent reaches.
//!
//! Invariant: memories in quarantine are not found.

use std::path::Path;
use std::sync::Arc;

use dormouse_base::Clock;
use dormouse_memory::index::IndexLimits;
use dormouse_memory::recall::QuarantineFilter;
use dormouse_memory::{
    FoundMemory, MemoryRules, RankingSetup, ReachableMemories, ScanCache, Scope, Store,
};
use dormouse_search::Embedder;
use jiff::Timestamp;

use super::error::MemoryRequestError;

/// The memories in reach, with the rules that an agent gets about them.
pub struct ClientMemories {
    reachable: ReachableMemories,
    rules: MemoryRules,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for ClientMemories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientMemories").field("reachable", &self.reachable).finish_non_exhaustive()
    }
}

impl ClientMemories {
    /// Memories in these stores. `cache` is the folder of derived indexes; `embedder` makes vectors, if the user has set
    /// up a model for it.
    pub fn new(
        stores: Vec<Store>,
        cache: &Path,
        embedder: Option<Arc<dyn Embedder>>,
        rules: MemoryRules,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let stores = stores.into_iter().map(Arc::new).collect();
        let setup = RankingSetup { cache: Some(cache.to_owned()), embedder, project: None };
        Self { reachable: ReachableMemories::new(stores, setup), rules, clock }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn reachable(&self) -> &ReachableMemories {
        &self.reachable
    }

    /// All memories, newest first.
    pub(crate) fn list(
        &self,
        scope: Option<Scope>,
    ) -> Result<Vec<FoundMemory>, MemoryRequestError> {
        let mut found = self.reachable.list(scope, QuarantineFilter::Exclude)?;
        found.sort_by_key(|found| std::cmp::Reverse(found.memory.modified));
        Ok(found)
    }

    /// The memory with this file name or name.
    pub(crate) fn find(
        &self,
        name: &str,
        scope: Option<Scope>,
    ) -> Result<FoundMemory, MemoryRequestError> {
        Ok(self.reachable.find(name, scope, QuarantineFilter::Exclude)?)
    }

    /// The index of every scope as a session gets it (M-6), each under a heading.
    pub(crate) fn index(&self) -> Result<String, MemoryRequestError> {
        let mut parts = Vec::new();
        for store in self.reachable.stores() {
            let scope = store.scope();
            let scan = || store.scan(&mut ScanCache::default());
            let loaded = store.loaded_index(IndexLimits::FULL, scan)?;
            if !loaded.text.trim().is_empty() {
                let folder = store.dir().path().display();
                let heading = format!("# Memory of scope `{scope}`, in {folder}");
                parts.push(format!("{heading}\n\n{}", loaded.with_warning()));
            }
        }
        Ok(parts.join("\n"))
    }

    /// The rules, with the names of the tools that other agents have.
    pub(crate) fn rules(&self) -> String {
        with_served_tool_names(self.rules.full())
    }

    /// The short form of the rules.
    pub(crate) fn short_rules(&self) -> String {
        with_served_tool_names(self.rules.short())
    }
}

fn with_served_tool_names(rules: String) -> String {
    let names = [
        ("MemorySave", "memory_save"),
        ("MemorySearch", "memory_search"),
        ("MemoryList", "memory_list"),
    ];
    names.iter().fold(rules, |text, (own, served)| text.replace(own, served))
}
