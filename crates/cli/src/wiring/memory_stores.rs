//! The existing memory stores of a project and its user, opened for reading and for changes by the user.

use std::sync::Arc;

use dormouse_base::{Dir, Project, Settings};
use dormouse_memory::{RankingSetup, ReachableMemories, Store, StoreScope};
use dormouse_search::Embedder;

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::memory_directories::{DirectoryAccess, MemoryDirectories};
use crate::wiring::print;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

/// A store with its scope.
pub(crate) struct ScopedStore {
    pub(crate) scope: StoreScope,
    pub(crate) store: Arc<Store>,
}

/// The stores that exist.
pub(crate) struct OpenedStores {
    pub(crate) list: Vec<ScopedStore>,
    /// The memories of the stores in `list`, in the same order.
    pub(crate) reachable: ReachableMemories,
    pub(crate) directories: MemoryDirectories,
    pub(crate) project: Project,
}

impl OpenedStores {
    /// Opens the existing stores of a scope, or of all scopes. Memories are also ranked by the vectors of an embedder.
    pub(crate) async fn open(
        world: &World,
        scope: Option<StoreScope>,
        embedder: impl FnOnce(&Settings) -> Result<Option<Arc<dyn Embedder>>, Failure>,
    ) -> Result<Self, Failure> {
        let (directories, project, settings) = find(DirectoryAccess::Read, world).await?;
        let mut list = Vec::new();
        let selected = scope.map(|scope| directories.of(scope));
        for directory in directories.list() {
            if selected.is_some_and(|selected| selected != Some(directory)) {
                continue;
            }
            if let Some(store) = directories.existing(directory)? {
                list.push(ScopedStore { scope: directory.scope, store: Arc::new(store) });
            }
        }
        let setup = RankingSetup {
            cache: Some(world.home()?.join("cache")),
            embedder: embedder(&settings)?,
            project: Some(Dir::open(&project.checkout)?),
        };
        let stores = list.iter().map(|scoped| Arc::clone(&scoped.store)).collect();
        let reachable = ReachableMemories::new(stores, setup);
        Ok(Self { list, reachable, directories, project })
    }
}

/// The memory directories of this project, with the settings in force.
pub(crate) async fn find(
    access: DirectoryAccess,
    world: &World,
) -> Result<(MemoryDirectories, Project, Settings), Failure> {
    let project = current_project()?;
    let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
    let directories =
        MemoryDirectories::find(world, &project, (&in_force.settings, &in_force.switches), access)
            .await?;
    if let Some(old) = &directories.taken_over_from {
        print::note(&msg!("memory-repository-moved", path = old.display().to_string()));
    }
    Ok((directories, project, in_force.settings))
}
