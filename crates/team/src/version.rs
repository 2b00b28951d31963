//! Versions of a repository's memory, and the entity tags that name them.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Number of a version of a repository's memory: each accepted request counts one up.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct RepoVersion(pub u64);

impl fmt::Display for RepoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A version and the history that it is in: `"5f2c-17"`. A database restored from a backup starts another history, so
/// that the same number can never mean two contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EntityTag {
    epoch: String,
    version: RepoVersion,
}

/// A text that is not one of our entity tags.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "this entity tag was not made by a dormouse team server; leave it out and fetch everything"
)]
pub struct EntityTagError;

impl EntityTag {
    /// The tag of a version.
    pub fn new(epoch: &str, version: RepoVersion) -> Self {
        Self { epoch: epoch.to_owned(), version }
    }

    /// The version.
    pub fn version(&self) -> RepoVersion {
        self.version
    }

    /// The version that follows in the same history.
    #[must_use]
    pub fn next(&self) -> Self {
        Self { epoch: self.epoch.clone(), version: RepoVersion(self.version.0 + 1) }
    }

    /// Whether two tags are of one history.
    pub fn shares_history(&self, other: &Self) -> bool {
        self.epoch == other.epoch
    }

    /// Reads the value of a header. A weak tag names the same content.
    pub fn parse(text: &str) -> Result<Self, EntityTagError> {
        let text = text.trim();
        let quoted = text.strip_prefix("W/").unwrap_or(text);
        let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let (epoch, version) =
            inner.and_then(|inner| inner.rsplit_once('-')).ok_or(EntityTagError)?;
        let is_plain = !epoch.is_empty() && epoch.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let version = version.parse().map_err(|_| EntityTagError)?;
        if is_plain { Ok(Self::new(epoch, RepoVersion(version))) } else { Err(EntityTagError) }
    }
}

impl fmt::Display for EntityTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}-{}\"", self.epoch, self.version)
    }
}

impl TryFrom<String> for EntityTag {
    type Error = EntityTagError;

    fn try_from(text: String) -> Result<Self, EntityTagError> {
        Self::parse(&text)
    }
}

impl From<EntityTag> for String {
    fn from(tag: EntityTag) -> Self {
        tag.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_read_as_it_is_written() {
        let tag = EntityTag::new("5f2c", RepoVersion(17));
        assert_eq!(tag.to_string(), "\"5f2c-17\"");
        assert_eq!(EntityTag::parse("\"5f2c-17\""), Ok(tag.clone()));
        assert_eq!(EntityTag::parse("W/\"5f2c-17\" "), Ok(tag));
        for wrong in ["", "*", "5f2c-17", "\"17\"", "\"-17\"", "\"a-\"", "\"a b-1\"", "\"a--1\""] {
            assert_eq!(EntityTag::parse(wrong), Err(EntityTagError), "{wrong}");
        }
    }
}
