//! What the program gets from outside: environment, clock, ids. Made once, handed down.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::{
    Clock, Dir, Environment, HomeError, IdSource, Project, RelPath, Settings, SystemClock,
    clock_from_environment, home_dir, ids_from_environment, project_of,
};

use crate::exit::Failure;
use crate::show;

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

    /// The person's settings, with those of the command line over them.
    pub(crate) fn settings(&self, from_command_line: Option<&str>) -> Result<Settings, Failure> {
        let user = self.user_settings()?;
        let Some(given) = from_command_line else { return Ok(user) };
        let (place, text) = if given.trim_start().starts_with('{') {
            (PathBuf::from(INLINE), given.as_bytes().to_vec())
        } else {
            let bytes = std::fs::read(given).map_err(|error| {
                Failure::usage(anyhow::anyhow!("can not read the settings file {given}: {error}"))
            })?;
            (PathBuf::from(given), bytes)
        };
        Ok(parse(place, &text)?.over(user))
    }

    fn user_settings(&self) -> Result<Settings, Failure> {
        let home = self.home()?;
        let (Ok(dir), Ok(file)) = (Dir::open(&home), RelPath::new("settings.json")) else {
            return Ok(Settings::default());
        };
        match dir.read(&file) {
            Ok(bytes) => parse(home.join("settings.json"), &bytes),
            Err(error) if error.is_not_found() => Ok(Settings::default()),
            Err(error) => Err(Failure::usage(error)),
        }
    }
}

/// The project of the working directory.
pub(crate) fn current_project() -> Result<Project, Failure> {
    let folder = std::env::current_dir().map_err(HomeError::NoWorkingDirectory)?;
    Ok(project_of(&folder)?)
}

/// The place of settings that stand on the command line.
const INLINE: &str = "--settings";

fn parse(place: PathBuf, text: &[u8]) -> Result<Settings, Failure> {
    let shown = place.display().to_string();
    let (settings, warnings) = Settings::parse(place, text).map_err(|error| {
        let hint = if shown == INLINE {
            "mend the JSON given to --settings"
        } else {
            "mend the file, or move it away to go on with the defaults"
        };
        Failure::usage(error).hint(hint)
    })?;
    for warning in warnings {
        show::note(&format!("warning: {shown}: {warning}"));
    }
    Ok(settings)
}
