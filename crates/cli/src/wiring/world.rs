//! What the program gets from outside: environment, clock, ids. Made once, handed down.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::{
    Clock, Environment, HomeError, IdSource, Project, SystemClock, clock_from_environment,
    home_dir, ids_from_environment, project_of,
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
    Ok(project_of(&folder)?)
}
