//! The memory of a session: its stores, its rules in the system prompt, and its tools.

use std::sync::Arc;

use dormouse_base::{LayerSwitch, MemoryTools, Project, Settings, Switches, names};
use dormouse_conversation::ServerTool;
use dormouse_engine::{
    IndexUse, MemoryRules, MemorySetup, OpenedSession, RecallSetup, Saving, SessionMemory,
};
use dormouse_memory::{
    ChangeError, RankingSetup, ReachableMemories, Scope, Store, StoreScope, file_commands,
};
use dormouse_model::Dialect;

use crate::wiring::embedder;
use crate::wiring::exit::Failure;
use crate::wiring::memory_directories::{DirectoryAccess, MemoryDirectories};
use crate::wiring::print;
use crate::wiring::world::World;

/// The memory of a session; none where it is off, or, with a warning, where its folders cannot be used.
pub(crate) async fn setup(
    world: &World,
    project: &Project,
    set: (&Settings, &Switches),
    saving: Saving,
) -> Result<Option<MemorySetup>, Failure> {
    let opened = open_memory(project, world, set).await?;
    Ok(opened.and_then(|opened| opened.for_session(world, set.1, saving)))
}

/// The memories of a session that is being prepared.
pub(crate) struct OpenedMemory {
    memories: Arc<ReachableMemories>,
    recalls: bool,
}

/// Opens the stores, and begins to open their index on a thread of its own: the first message needs it.
pub(crate) async fn open_memory(
    project: &Project,
    world: &World,
    (settings, switches): (&Settings, &Switches),
) -> Result<Option<OpenedMemory>, Failure> {
    if !switches.is_on(LayerSwitch::Memory) {
        return Ok(None);
    }
    let stores = match open(world, project, (settings, switches)).await? {
        Ok(stores) => stores.into_iter().map(Arc::new).collect::<Vec<_>>(),
        Err(error) => {
            print::note(&format!("warning: memory is not available in this session: {error}"));
            return Ok(None);
        }
    };
    let cache = Some(world.home()?.join("cache"));
    let embedder = embedder::embedder_or_note(settings, world);
    let ranking = RankingSetup { cache, embedder, project: None };
    let memories = Arc::new(ReachableMemories::new(stores, ranking));
    let recalls = switches.is_on(LayerSwitch::Recall);
    if recalls {
        let (memories, clock) = (Arc::clone(&memories), Arc::clone(&world.clock));
        // A search says why an index cannot be opened.
        tokio::task::spawn_blocking(move || drop(memories.recall().age(clock.now())));
    }
    Ok(Some(OpenedMemory { memories, recalls }))
}

impl OpenedMemory {
    /// The setup for a session that saves like this.
    pub(crate) fn for_session(
        self,
        world: &World,
        switches: &Switches,
        saving: Saving,
    ) -> Option<MemorySetup> {
        let stores = self.memories.stores().iter().map(AsRef::as_ref);
        let rules = rules(&stores, world, switches, saving)?;
        let access = SessionMemory::new(self.memories, saving, Arc::clone(&world.clock));
        // The small model is added once there is a connection.
        let recall = self.recalls.then(RecallSetup::default);
        Some(MemorySetup { access, rules: Some(rules), recall })
    }
}

/// The stores of a session. Those of the user and the project are created if missing.
pub(crate) async fn open(
    world: &World,
    project: &Project,
    set: (&Settings, &Switches),
) -> Result<Result<Vec<Store>, ChangeError>, Failure> {
    let directories =
        MemoryDirectories::find(world, project, set, DirectoryAccess::Write(StoreScope::Project))
            .await?;
    if let Some(from) = &directories.taken_over_from {
        print::note(&format!("note: using the memory of {} (same repository)", from.display()));
    }
    let mut stores = Vec::new();
    for directory in directories.list() {
        let opened = match directory.scope {
            StoreScope::User | StoreScope::Project => directories.open(directory).map(Some),
            StoreScope::Team => directories.existing(directory),
            // Written by the repository's authors: the user reads them with `dormouse memory`.
            StoreScope::Repo => continue,
        };
        match opened {
            Ok(store) => stores.extend(store),
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(stores))
}

/// The project's store, if it exists.
pub(crate) async fn project_store(
    world: &World,
    project: &Project,
    set: (&Settings, &Switches),
) -> Result<Option<Store>, Failure> {
    let directories = MemoryDirectories::find(world, project, set, DirectoryAccess::Read).await?;
    match directories.of(StoreScope::Project) {
        Some(directory) => Ok(directories.existing(directory)?),
        None => Ok(None),
    }
}

/// How the memory tools save.
pub(crate) fn saving(switches: &Switches) -> Saving {
    if switches.is_on(LayerSwitch::DailyLog) { Saving::DailyLog } else { Saving::Entries }
}

/// How a session saves: with the memory tool that the model was trained on, if the settings say so. A resumed session
/// keeps the tool it started with.
pub(crate) fn saving_in_session(
    settings: &Settings,
    switches: &Switches,
    dialect: &Dialect,
    opened: Option<&OpenedSession>,
) -> Saving {
    let begun_with = opened.and_then(|opened| opened.has_tool(file_commands::NAME));
    let wanted = settings.memory.tool != MemoryTools::Own
        && dialect.server_tools.contains(&ServerTool::Memory);
    match saving(switches) {
        Saving::Entries if begun_with.unwrap_or(wanted) => Saving::Files,
        saving => saving,
    }
}

/// The memory section of the system prompt.
pub(crate) fn rules<'a>(
    stores: &(impl Iterator<Item = &'a Store> + Clone),
    world: &World,
    switches: &Switches,
    saving: Saving,
) -> Option<MemoryRules> {
    let folder = |scope: Scope| {
        let store = stores.clone().find(|store| store.scope() == scope)?;
        Some(store.dir().path().to_owned())
    };
    let project = folder(Scope::Project)?;
    Some(MemoryRules {
        user: folder(Scope::User).unwrap_or_else(|| project.clone()),
        project,
        team: folder(Scope::Team),
        index: if switches.is_on(LayerSwitch::Index) { IndexUse::Kept } else { IndexUse::LeftOut },
        saving,
        past_sessions: switches.is_on(LayerSwitch::SearchPast),
        extra: world.environment.get(names::MEMORY_EXTRA_GUIDELINES).map(str::to_owned),
    })
}
