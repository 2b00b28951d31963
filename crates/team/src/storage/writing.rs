//! Changes of entries: what is asked for, and what comes of it.

use jiff::Timestamp;

use super::change_key::ChangeKey;
use crate::api::WriteResponse;
use crate::checksum::Checksum;
use crate::entry_name::EntryName;
use crate::person::PersonName;
use crate::repository_name::RepositoryName;
use crate::version::EntityTag;

/// A change of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryChange {
    /// Add or replace it.
    Put {
        /// The entry.
        name: EntryName,
        /// Its new content.
        content: String,
    },
    /// Delete it for all (T-7).
    Delete {
        /// The entry.
        name: EntryName,
    },
}

impl EntryChange {
    /// The entry.
    pub fn name(&self) -> &EntryName {
        match self {
            Self::Put { name, .. } | Self::Delete { name } => name,
        }
    }

    pub(super) fn content(&self) -> Option<&str> {
        match self {
            Self::Put { content, .. } => Some(content),
            Self::Delete { .. } => None,
        }
    }

    pub(super) fn checksum(&self) -> Option<Checksum> {
        self.content().map(|content| Checksum::of(content.as_bytes()))
    }
}

/// A change of several entries: all of it is accepted, or none.
#[derive(Debug, Clone)]
pub struct WriteRequest {
    /// The repository.
    pub repo: RepositoryName,
    /// The token's holder.
    pub person: PersonName,
    /// Whether the changes only become proposals (T-16).
    pub as_proposals: bool,
    /// The version that the client knows: none of the entries may have changed since. Without one, any will do.
    pub if_match: Option<EntityTag>,
    /// Names the request: a second one with the same key changes nothing and gets the first one's answer. Changes that
    /// the server makes itself have none.
    pub key: Option<String>,
    /// The changes.
    pub changes: Vec<EntryChange>,
    /// The time.
    pub now: Timestamp,
    /// The most entries that the repository may have.
    pub most_entries: usize,
}

impl WriteRequest {
    /// Names the change, and says all that it asks for.
    pub(super) fn change_key(&self) -> Option<ChangeKey> {
        let key = self.key.as_ref()?;
        let mut asked = format!("{}\n", self.as_proposals);
        for change in &self.changes {
            let checksum = change.checksum().map_or_else(|| "-".to_owned(), String::from);
            asked.push_str(&format!("{checksum} {}\n", change.name()));
        }
        Some(ChangeKey::new(Some(&self.repo), &self.person, key, &asked, self.now))
    }
}

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Done now, or by an earlier request with the same key.
    Done(WriteResponse),
    /// One of the entries has changed since the version that the client knows, or it knows another history (T-5).
    OtherVersion(EntityTag),
    /// The repository would have too many entries.
    TooManyEntries,
}
