//! The environment of the process: variables, clock, ids. Created once and passed down.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::{
    Clock, Deadlines, Environment, HomeError, IdSource, Project, Settings, SystemClock,
    boolean_variable, clock_from_environment, find_project, home_dir, ids_from_environment, names,
};

use crate::wiring::exit::Failure;

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) environment: Environment,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) deadlines: Deadlines,
}

impl World {
    pub(crate) fn of_process() -> Self {
        let environment = Environment::of_process();
        let clock: Arc<dyn Clock> = Arc::from(clock_from_environment(&environment));
        let ids = Arc::from(ids_from_environment(&environment, Arc::clone(&clock)));
        let deadlines = Deadlines::from_environment(&environment);
        Self { environment, clock, ids, deadlines }
    }

    /// Another environment with the system clock, for the demo.
    pub(crate) fn with_environment(environment: Environment) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        let ids = Arc::from(ids_from_environment(&environment, Arc::clone(&clock)));
        Self { environment, clock, ids, deadlines: Deadlines::default() }
    }

    /// The home folder of the program, `~/.dormouse` by default.
    pub(crate) fn home(&self) -> Result<PathBuf, HomeError> {
        home_dir(&self.environment)
    }
}

/// The project of the working directory.
pub(crate) fn current_project() -> Result<Project, Failure> {
    let folder = std::env::current_dir().map_err(HomeError::NoWorkingDirectory)?;
    Ok(find_project(&folder)?)
}

/// Whether `--bare` or its variable is set.
pub(crate) fn is_bare(environment: &Environment) -> Result<bool, Failure> {
    boolean_variable(environment, names::SIMPLE).map(|on| on == Some(true)).map_err(Failure::usage)
}

/// Whether the program runs on a remote machine (`DORMOUSE_REMOTE`), where background tasks do not run.
pub(crate) fn is_remote(environment: &Environment) -> Result<bool, Failure> {
    boolean_variable(environment, names::REMOTE).map(|on| on == Some(true)).map_err(Failure::usage)
}

/// The environment of child processes: with the variables of the settings, without API keys.
pub(crate) fn environment_for_children(
    environment: &Environment,
    settings: &Settings,
) -> Environment {
    let pairs: Vec<(&str, &str)> =
        settings.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let environment = environment.clone().with(&pairs);
    let keys = [&settings.provider.key_env, &settings.embeddings.key_env];
    keys.into_iter().flatten().fold(environment, |environment, name| environment.without(name))
}
