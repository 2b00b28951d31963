//! Where sockets are: a folder that only the user gets into.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, Environment, FileAction, FileError, names, stable_hash};

use super::{SocketError, own_uid};
use crate::messages::AgentName;

/// The longest path of a socket on all systems that we run on, with its closing NUL.
const LONGEST_PATH: usize = 104;

/// A private folder for sockets.
#[derive(Debug, Clone)]
pub struct SocketFolder {
    dir: Dir,
}

impl SocketFolder {
    /// `dormouse` in the user's run-time folder, else `run` in the program's own.
    pub fn open(home: &Path, environment: &Environment) -> Result<Self, SocketError> {
        let runtime = environment.path(names::XDG_RUNTIME_DIR).filter(|path| path.is_absolute());
        let path = runtime.map_or_else(|| home.join("run"), |runtime| runtime.join("dormouse"));
        let dir = Dir::create(path)?;
        refuse_unless_private(dir.path())?;
        Ok(Self { dir })
    }

    /// The folder.
    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The socket of an agent in a project, whose folder this is. Its name is short, for the path must be.
    pub fn socket(&self, project: &Path, name: &AgentName) -> Result<PathBuf, SocketError> {
        let hash = stable_hash(format!("{}\n{name}", project.display()).as_bytes());
        let path = self.dir.path().join(format!("{hash:016x}.sock"));
        if path.as_os_str().len() >= LONGEST_PATH {
            return Err(SocketError::TooLong(path));
        }
        Ok(path)
    }
}

fn refuse_unless_private(path: &Path) -> Result<(), SocketError> {
    let stat =
        rustix::fs::lstat(path).map_err(|error| FileError::new(FileAction::Read, path, error))?;
    let refuse = |why: String| Err(SocketError::NotPrivate { path: path.to_owned(), why });
    if stat.st_uid != own_uid() {
        return refuse(format!("it belongs to the user with id {}", stat.st_uid));
    }
    match stat.st_mode & 0o077 {
        0 => Ok(()),
        _ => refuse(format!("its mode is {:o}", stat.st_mode & 0o777)),
    }
}
