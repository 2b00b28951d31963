//! Where the files of settings are, and reading them all.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::parse::SettingsError;
use super::stack::{SettingsLayer, SettingsSource};
use crate::dir::{Dir, FileAction, FileError};
use crate::environment::{Environment, names};
use crate::home::Project;
use crate::rel_path::RelPath;

/// Where an organization puts what holds for everybody on the machine.
const MANAGED_FOLDER: &str = "/etc/dormouse";
/// More is no settings file.
const LARGEST: u64 = 1024 * 1024;
const FILE: &str = "settings.json";
const LOCAL_FILE: &str = "settings.local.json";

/// The folder of a project's own settings.
pub fn project_settings_folder(project: &Project) -> PathBuf {
    project.checkout.join(".dormouse")
}

/// The folders in which settings are looked for.
#[derive(Debug, Clone)]
pub struct SettingsFiles {
    managed: PathBuf,
    home: PathBuf,
    /// None where it is the home itself: the user's own file is no project's.
    project: Option<PathBuf>,
}

impl SettingsFiles {
    /// Those of this home and project.
    pub fn new(environment: &Environment, home: &Path, project: Option<&Project>) -> Self {
        let managed =
            if cfg!(debug_assertions) { environment.path(names::TEST_MANAGED) } else { None };
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let project =
            project.map(project_settings_folder).filter(|folder| real(folder) != real(home));
        Self {
            managed: managed.unwrap_or_else(|| PathBuf::from(MANAGED_FOLDER)),
            home: home.to_owned(),
            project,
        }
    }

    /// The folder and name of a source's file; none for the command line, which has none.
    fn place(&self, source: SettingsSource) -> Option<(&Path, &'static str)> {
        match source {
            SettingsSource::User => Some((&self.home, FILE)),
            SettingsSource::Project => Some((self.project.as_deref()?, FILE)),
            SettingsSource::Local => Some((self.project.as_deref()?, LOCAL_FILE)),
            SettingsSource::Managed => Some((&self.managed, FILE)),
            SettingsSource::CommandLine => None,
        }
    }

    /// The file of a source.
    pub fn file(&self, source: SettingsSource) -> Option<PathBuf> {
        self.place(source).map(|(folder, name)| folder.join(name))
    }

    /// Reads the files that exist.
    pub fn read(&self) -> Result<Vec<SettingsLayer>, SettingsError> {
        let mut layers = Vec::new();
        for source in SettingsSource::ALL {
            layers.extend(self.read_one(source)?);
        }
        Ok(layers)
    }

    /// Reads the file of a source, if it exists.
    pub fn read_one(&self, source: SettingsSource) -> Result<Option<SettingsLayer>, SettingsError> {
        let Some((folder, name)) = self.place(source) else { return Ok(None) };
        let Some(bytes) = read(folder, name)? else { return Ok(None) };
        SettingsLayer::parse(source, folder.join(name), &bytes).map(Some)
    }
}

fn read(folder: &Path, name: &str) -> Result<Option<Vec<u8>>, SettingsError> {
    let (Ok(dir), Ok(file)) = (Dir::open(folder), RelPath::new(name)) else { return Ok(None) };
    let opened = match dir.open_file(&file) {
        Ok(opened) => opened,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let path = folder.join(name);
    let mut bytes = Vec::new();
    let read = opened.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| FileError::new(FileAction::Read, &path, error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(SettingsError::TooLarge { path });
    }
    Ok(Some(bytes))
}
