//! Where a project's sessions are kept.

use std::path::Path;

use dormouse_base::{Dir, FileError, Project};

/// The folder of a project's transcripts: `projects/<slug>` in the program's own folder.
#[derive(Debug, Clone)]
pub struct SessionFolder {
    dir: Dir,
}

impl SessionFolder {
    /// Opens it, making it if needed.
    pub fn open(home: &Path, project: &Project) -> Result<Self, FileError> {
        let dir = Dir::create(home.join("projects").join(project.slug().as_str()))?;
        Ok(Self { dir })
    }

    /// Opens it if there is one: looking must not make anything.
    pub fn existing(home: &Path, project: &Project) -> Result<Option<Self>, FileError> {
        match Dir::open(home.join("projects").join(project.slug().as_str())) {
            Ok(dir) => Ok(Some(Self { dir })),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The folder.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }
}
