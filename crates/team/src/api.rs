//! The JSON of the HTTP API (T-17): what server and client exchange, and nothing else. `docs/team.md` and the `OpenAPI`
//! document describe it. Unknown fields are ignored, so that either side can be newer.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::checksum::Checksum;
use crate::entry_name::EntryName;
use crate::person::{PersonName, TeamRole};
use crate::repository_name::RepositoryName;
use crate::version::{EntityTag, RepoVersion};

/// The header of every snapshot, changed or not, with the layers that are off for everybody, separated by spaces (T-13).
pub(crate) const SWITCHED_OFF: &str = "dormouse-switched-off";

/// A version of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamEntry {
    /// Its name.
    pub name: EntryName,
    /// The version of the repository that it came with.
    pub version: RepoVersion,
    /// Checksum of its content; none if it was deleted.
    pub checksum: Option<Checksum>,
    /// Its content; none if it was deleted or purged, or in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Its author, from the token that it was sent with (T-16).
    pub author: PersonName,
    /// When the server accepted it.
    pub time: Timestamp,
}

/// `GET …/memory`: all entries, or those that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotResponse {
    /// The version that the entries are of.
    pub etag: EntityTag,
    /// Whether these are all entries, or only those that changed since the requested version.
    pub complete: bool,
    /// The entries, deleted ones included.
    pub entries: Vec<TeamEntry>,
}

/// `GET …/memory/checksums`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecksumsResponse {
    /// The version that the checksums are of.
    pub etag: EntityTag,
    /// The entries.
    pub entries: Vec<EntryChecksum>,
}

/// The checksum of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryChecksum {
    /// Its name.
    pub name: EntryName,
    /// Its checksum; none if it was deleted.
    pub checksum: Option<Checksum>,
}

/// `GET …/history` and `GET …/log`: versions, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionsResponse {
    /// The versions.
    pub versions: Vec<TeamEntry>,
}

/// `POST …/memory`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadRequest {
    /// The entries to add or replace.
    pub entries: Vec<UploadedEntry>,
}

/// An entry of an upload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadedEntry {
    /// Its name.
    pub name: EntryName,
    /// Its content.
    pub content: String,
}

/// `POST …/restore`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreRequest {
    /// The version whose content comes back.
    pub version: RepoVersion,
}

/// The answer to every change of entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteResponse {
    /// The version after it.
    pub etag: EntityTag,
    /// Entries that are changed for all.
    pub written: Vec<EntryName>,
    /// Entries whose change waits for a review (T-16).
    pub proposed: Vec<EntryName>,
    /// The versions that were replaced, without their contents: they stay in the history (T-5).
    pub replaced: Vec<TeamEntry>,
}

/// `GET /v1/repos/{repo}`: the repository, as the token's holder may use it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryResponse {
    /// The repository.
    pub repository: RepositoryName,
    /// The token's holder.
    pub person: PersonName,
    /// What the token allows.
    pub role: TeamRole,
    /// The current version.
    pub etag: EntityTag,
    /// Whether changes by writers wait for an admin.
    pub review: bool,
    /// Layers that are off for everybody (T-13).
    pub switched_off: Vec<String>,
    /// The most entries that the repository may have.
    pub most_entries: usize,
    /// The server's version.
    pub server: String,
}

/// `PUT /v1/repos/{repo}/settings`: fields that are left out stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsRequest {
    /// Whether changes by writers wait for an admin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<bool>,
    /// Layers that are off for everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switched_off: Option<Vec<String>>,
}

/// How a proposal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewState {
    /// Undecided.
    Open,
    /// Accepted: it is an entry's version now.
    Accepted,
    /// Rejected.
    Rejected,
    /// Its author has sent another.
    Replaced,
}

impl ReviewState {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Replaced => "replaced",
        }
    }

    /// The state with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Open, Self::Accepted, Self::Rejected, Self::Replaced];
        all.into_iter().find(|state| state.as_str() == word)
    }
}

/// A change that waits, or waited, for a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamProposal {
    /// Its number in the repository.
    pub id: u64,
    /// The entry.
    pub name: EntryName,
    /// Checksum of the proposed content; none if the entry is to be deleted.
    pub checksum: Option<Checksum>,
    /// The proposed content.
    pub content: Option<String>,
    /// Its author.
    pub author: PersonName,
    /// When it was sent.
    pub time: Timestamp,
    /// How it stands.
    pub state: ReviewState,
    /// Who decided.
    pub decided_by: Option<PersonName>,
}

/// `GET …/proposals`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalsResponse {
    /// The open ones, the oldest first. Only admins see those of others.
    pub proposals: Vec<TeamProposal>,
}

/// `POST /v1/tokens`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRequest {
    /// Its holder.
    pub person: PersonName,
    /// What it allows.
    pub role: TeamRole,
    /// The only repository that it is for; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<RepositoryName>,
}

/// The answer to it: the only time that the token is shown.
#[derive(Serialize, Deserialize)]
pub struct TokenCreated {
    /// The token's name in lists.
    pub id: String,
    /// The token.
    pub token: String,
}

/// A token as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenInfo {
    /// Its name in lists.
    pub id: String,
    /// Its holder.
    pub person: PersonName,
    /// What it allows.
    pub role: TeamRole,
    /// The only repository that it is for.
    pub repository: Option<RepositoryName>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

/// `GET /v1/tokens`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokensResponse {
    /// The tokens, the oldest first.
    pub tokens: Vec<TokenInfo>,
}

/// `POST /v1/people/{person}/purge`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeRequest {
    /// Whether the contents that the person wrote are removed as well.
    pub entries: bool,
}

/// The answer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeResponse {
    /// Tokens that were revoked.
    pub tokens: u64,
    /// Versions whose content was removed.
    pub versions: u64,
}

/// Every error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorResponse {
    /// The error.
    pub error: ApiErrorBody,
}

/// What happened, why and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiErrorBody {
    /// A word for programs.
    pub code: String,
    /// What happened, for people.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// The request's id, which the server's log shows as well.
    pub request_id: String,
    /// The limit that was exceeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}
