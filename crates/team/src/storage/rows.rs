//! Values of the team's types in the rows of a database.

use jiff::Timestamp;

use super::error::StorageError;
use super::sql::SqlRow;
use crate::api::TeamEntry;
use crate::person::TeamRole;
use crate::version::{EntityTag, RepoVersion};

/// The version of a repository that nobody has written to.
pub(super) fn no_version() -> EntityTag {
    EntityTag::new("0", RepoVersion(0))
}

pub(super) fn role(row: &SqlRow, column: usize) -> Result<TeamRole, StorageError> {
    TeamRole::from_word(&row.text(column)?).ok_or(StorageError::Row { column })
}

pub(super) fn time(row: &SqlRow, column: usize) -> Result<Timestamp, StorageError> {
    Timestamp::from_millisecond(row.integer(column)?).map_err(|_| StorageError::Row { column })
}

/// A row of name, version, checksum, content, person and time.
pub(super) fn entry(row: &SqlRow) -> Result<TeamEntry, StorageError> {
    Ok(TeamEntry {
        name: row.parsed(0)?,
        version: row.version(1)?,
        checksum: optional(row, 2)?,
        content: row.optional_text(3)?,
        author: row.parsed(4)?,
        time: time(row, 5)?,
    })
}

/// A value that may be missing.
pub(super) fn optional<T: TryFrom<String>>(
    row: &SqlRow,
    column: usize,
) -> Result<Option<T>, StorageError> {
    match row.optional_text(column)? {
        Some(_) => row.parsed(column).map(Some),
        None => Ok(None),
    }
}
