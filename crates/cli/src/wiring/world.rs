//! What the program gets from outside: environment, clock, ids. Made once, handed down.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::{
    Clock, Environment, HomeError, IdSource, Project, Settings, SystemClock, boolean_variable,
    clock_from_environment, find_project, home_dir, ids_from_environment, names,
};

use crate::wiring::exit::Failure;

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) environment: Environment,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

impl World {
    pub(crate) fn of_process() -> Self {
        let environment = Environment::of_process();
        let clock: Arc<dyn Clock> = Arc::from(clock_from_environment(&environment));
        let ids = Arc::from(ids_from_environment(&environment, Arc::clone(&clock)));
        Self { environment, clock, ids }
    }

    /// The same world with another environment and the machine's clock: for the demo's temporary one.
    pub(crate) fn with_environment(environment: Environment) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        let ids = Arc::from(ids_from_environment(&environment, Arc::clone(&clock)));
        Self { environment, clock, ids }
    }

    /// The program's own folder.
    pub(crate) fn home(&self) -> Result<PathBuf, HomeError> {
        home_dir(&self.environment)
    }
}

/// The project of the working directory.
pub(crate) fn current_project() -> Result<Project, Failure> {
    let folder = std::env::current_dir().map_err(HomeError::NoWorkingDirectory)?;
    Ok(find_project(&folder)?)
}

/// `--bare`, or its variable.
pub(crate) fn is_bare(world: &World) -> Result<bool, Failure> {
    boolean_variable(&world.environment, names::SIMPLE)
        .map(|on| on == Some(true))
        .map_err(Failure::usage)
}

/// Whether the machine is somebody else's: nothing is done there beside a conversation.
pub(crate) fn is_remote(world: &World) -> Result<bool, Failure> {
    boolean_variable(&world.environment, names::REMOTE)
        .map(|on| on == Some(true))
        .map_err(Failure::usage)
}

/// The key is no business of a child process, git included.
pub(crate) fn environment_for_children(world: &World, settings: &Settings) -> Environment {
    let pairs: Vec<(&str, &str)> =
        settings.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let environment = world.environment.clone().with(&pairs);
    let keys = [&settings.provider.key_env, &settings.embeddings.key_env];
    keys.into_iter().flatten().fold(environment, |environment, name| environment.without(name))
}
