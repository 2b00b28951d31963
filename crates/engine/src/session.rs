//! Where a project's sessions are kept: `projects/<slug>` in the program's own folder.
//!
//! Two paths may have one slug. The folder's `project.json` says whose it is; a project that finds its
//! slug taken gets a folder with a hash of its path in the name.

use std::path::Path;
use std::sync::Arc;

use dormouse_base::{
    Clock, Dir, FileError, IdSource, Project, RelPath, SessionId, project_folder, project_named_in,
};
use dormouse_checkpoint::RewindReport;
use dormouse_conversation::PrefixOrigin;
use dormouse_conversation::transcript::{LoadedTranscript, Transcript};
use serde::Serialize;

use crate::error::EngineError;
use crate::surroundings::Surroundings;

/// The folder of a project's transcripts.
#[derive(Debug, Clone)]
pub struct SessionFolder {
    dir: Dir,
}

/// Whose folder it is.
#[derive(Debug, Serialize)]
struct ProjectFile {
    root: String,
}

impl SessionFolder {
    /// Opens it, making it if needed.
    pub fn open(home: &Path, project: &Project) -> Result<Self, FileError> {
        let projects = home.join("projects");
        let slug = project_folder(&projects, &project.root);
        let dir = Dir::create(projects.join(slug.as_str()))?;
        // Damaged, or of another project: then it was not chosen by this file.
        if project_named_in(dir.path()).is_none_or(|root| root != project.root) {
            let own = ProjectFile { root: project.root.display().to_string() };
            // A struct of one string has no way to fail to serialise.
            dir.replace(&project_file(), &serde_json::to_vec(&own).unwrap_or_default())?;
        }
        Ok(Self { dir })
    }

    /// This folder, whatever project it is of: for work that is no session of anybody's, and leaves none.
    pub fn of(dir: Dir) -> Self {
        Self { dir }
    }

    /// Opens it if there is one: looking must not make anything.
    pub fn existing(home: &Path, project: &Project) -> Result<Option<Self>, FileError> {
        let projects = home.join("projects");
        match Dir::open(projects.join(project_folder(&projects, &project.root).as_str())) {
            Ok(dir) => Ok(Some(Self { dir })),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The folder.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Opens a session to go on with it.
    pub fn reopen(
        &self,
        session: SessionId,
        surroundings: &Surroundings,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<OpenedSession, EngineError> {
        let (transcript, loaded) =
            Transcript::resume(&self.dir, session, surroundings.line_envelope(), clock, ids)?;
        let mut opened = OpenedSession { transcript, loaded, finished_rewind: None };
        opened.finish_interrupted_rewind()?;
        Ok(opened)
    }
}

/// A session that was opened and read, but does not go on yet.
pub struct OpenedSession {
    pub(crate) transcript: Transcript,
    pub(crate) loaded: LoadedTranscript,
    /// What finishing a rewind that a crash had cut off did.
    pub(crate) finished_rewind: Option<RewindReport>,
}

impl OpenedSession {
    /// The model it was begun with, and where that was.
    pub fn origin(&self) -> Option<&PrefixOrigin> {
        self.loaded.origin.as_ref()
    }

    /// What came from outside and was told in it, in order.
    pub fn delivered(&self) -> &[String] {
        &self.loaded.delivered
    }

    /// Whether the model was told of this tool, which it is again as the session goes on; none where that is not
    /// known.
    pub fn has_tool(&self, name: &str) -> Option<bool> {
        let prefix = self.loaded.prefix.as_ref()?;
        Some(prefix.tools().iter().any(|tool| tool.name == name))
    }
}

#[expect(clippy::expect_used, reason = "a fixed plain name")]
fn project_file() -> RelPath {
    RelPath::new("project.json").expect("a plain name")
}
