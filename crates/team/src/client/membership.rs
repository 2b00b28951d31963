//! What the user's state folder knows about a team: server, repository, token. Never in the project.

use dormouse_base::{Dir, FileError};
use serde::{Deserialize, Serialize};

use super::server_url::ServerUrl;
use super::state_files::{SYNC_STATE, path};
use crate::person::{PersonName, TeamRole};
use crate::repository_name::RepositoryName;
use crate::token::TeamToken;

/// A joined team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// The server.
    pub server: ServerUrl,
    /// The repository.
    pub repository: RepositoryName,
    /// The token's holder, when the team was joined.
    pub person: PersonName,
    /// What the token allowed then.
    pub role: TeamRole,
    /// Layers that the organization has turned off (T-13).
    #[serde(default)]
    pub switched_off: Vec<String>,
}

/// The folder of a project's membership: two files with mode 600, and the state of the sync.
#[derive(Debug, Clone)]
pub struct MembershipFile {
    folder: Dir,
}

const MEMBERSHIP: &str = "membership.json";
const TOKEN: &str = "token";

impl MembershipFile {
    /// In a folder of its own.
    pub fn new(folder: Dir) -> Self {
        Self { folder }
    }

    pub(super) fn folder(&self) -> &Dir {
        &self.folder
    }

    /// The joined team, if there is one. A file that cannot be read counts as none.
    pub fn read(&self) -> Option<Membership> {
        serde_json::from_slice(&self.folder.read(&path(MEMBERSHIP)?).ok()?).ok()
    }

    /// The token.
    pub fn token(&self) -> Option<TeamToken> {
        let bytes = self.folder.read(&path(TOKEN)?).ok()?;
        TeamToken::parse(&String::from_utf8_lossy(&bytes)).ok()
    }

    /// Stores a membership.
    pub fn write(&self, membership: &Membership) -> Result<(), FileError> {
        // A struct of texts always serializes.
        let text = serde_json::to_vec_pretty(membership).unwrap_or_default();
        match path(MEMBERSHIP) {
            Some(path) => self.folder.replace(&path, &text),
            None => Ok(()),
        }
    }

    /// Stores the token; only the user can read it.
    pub fn write_token(&self, token: &TeamToken) -> Result<(), FileError> {
        match path(TOKEN) {
            Some(path) => self.folder.replace(&path, format!("{}\n", token.expose()).as_bytes()),
            None => Ok(()),
        }
    }

    /// Forgets team and token. The memories stay.
    pub fn remove(&self) -> Result<(), FileError> {
        for name in [MEMBERSHIP, TOKEN, SYNC_STATE] {
            let Some(path) = path(name) else { continue };
            match self.folder.remove_file(&path) {
                Err(error) if !error.is_not_found() => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }
}
