//! The folder of sockets, which only the user can access.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, Environment, FileAction, FileError, names, stable_hash};

use super::{SocketError, own_uid};
use crate::messages::AgentName;

/// Maximum length of a socket path on all supported systems, with the final NUL.
const MAX_PATH_BYTES: usize = 104;

/// A private folder for sockets.
#[derive(Debug, Clone)]
pub struct SocketFolder {
    dir: Dir,
}

impl SocketFolder {
    /// Opens `dormouse` in the user's runtime folder, or else `run` in the program's home.
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

    /// The path of the socket of an agent in a project. The file name is a hash, because socket paths must be short.
    pub fn socket(&self, project: &Path, name: &AgentName) -> Result<PathBuf, SocketError> {
        let hash = stable_hash(format!("{}\n{name}", project.display()).as_bytes());
        let path = self.dir.path().join(format!("{hash:016x}.sock"));
        if path.as_os_str().len() >= MAX_PATH_BYTES {
            return Err(SocketError::TooLong(path));
        }
        Ok(path)
    }
}

/// Whether a path is named as the sockets of sessions are.
pub(crate) fn is_session_socket(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    let name = path.file_name().and_then(std::ffi::OsStr::to_str);
    let hash = name.and_then(|name| name.strip_suffix(".sock"));
    folder.is_some_and(|folder| folder == "dormouse" || folder == "run")
        && hash.is_some_and(|hash| {
            hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
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
