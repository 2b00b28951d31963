//! What the start of a session waits for: git, the model's server and the memories. They take their time side by side.

use std::sync::Arc;

use dormouse_base::{Project, SessionId, Settings, Switches};
use dormouse_engine::{OpenedSession, SessionFolder, Surroundings};

use crate::args::Arguments;
use crate::wiring::connect::{ModelChoice, ModelConnection, ServerLayers, connect};
use crate::wiring::exit::Failure;
use crate::wiring::memory_session::{OpenedMemory, open_memory};
use crate::wiring::world::{World, environment_for_children};

/// The parts of a session that have to be waited for.
pub(super) struct SessionParts {
    pub(super) folder: SessionFolder,
    pub(super) surroundings: Surroundings,
    /// The session that is resumed.
    pub(super) opened: Option<OpenedSession>,
    pub(super) connection: ModelConnection,
    /// None where memory is off or cannot be used.
    pub(super) memory: Option<OpenedMemory>,
}

impl SessionParts {
    /// Waits for them. A session that is resumed is read first: it knows its model.
    pub(super) async fn wait_for(
        project: &Project,
        session: Option<SessionId>,
        arguments: &Arguments,
        world: &World,
        (settings, switches): (&Settings, &Switches),
    ) -> Result<Self, Failure> {
        let folder = SessionFolder::open(&world.home()?, project)?;
        let environment = environment_for_children(&world.environment, settings);
        let look = || Surroundings::look(project, &environment, &*world.clock, &world.deadlines);
        let (opened, looked) = match session {
            Some(session) => {
                let surroundings = look().await;
                let (clock, ids) = (Arc::clone(&world.clock), Arc::clone(&world.ids));
                (Some(folder.reopen(session, &surroundings, clock, ids)?), Some(surroundings))
            }
            None => (None, None),
        };
        let choice = ModelChoice {
            model: arguments.model.as_deref(),
            origin: opened.as_ref().and_then(OpenedSession::origin),
            by_server: ServerLayers::of(switches),
        };
        let looking = async {
            match looked {
                Some(surroundings) => surroundings,
                None => look().await,
            }
        };
        let (surroundings, connection, memory) = tokio::join!(
            looking,
            connect(settings, world, choice, &project.folder),
            open_memory(project, world, (settings, switches)),
        );
        let (connection, memory) = (connection?, memory?);
        Ok(Self { folder, surroundings, opened, connection, memory })
    }
}
