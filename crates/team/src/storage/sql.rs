//! Values, rows and the one trait between the store's rules and a database.

use futures_util::future::BoxFuture;

use super::error::StorageError;
use crate::repository_name::RepositoryName;
use crate::version::RepoVersion;

/// A value in a statement or a row. Times are milliseconds, booleans 0 and 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SqlValue {
    Null,
    Integer(i64),
    Text(String),
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SqlValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for SqlValue {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<RepoVersion> for SqlValue {
    fn from(version: RepoVersion) -> Self {
        Self::Integer(i64::try_from(version.0).unwrap_or(i64::MAX))
    }
}

impl<T: Into<SqlValue>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A row of a result.
#[derive(Debug)]
pub(super) struct SqlRow(pub(super) Vec<SqlValue>);

impl SqlRow {
    pub(super) fn text(&self, column: usize) -> Result<String, StorageError> {
        self.optional_text(column)?.ok_or(StorageError::Row { column })
    }

    pub(super) fn optional_text(&self, column: usize) -> Result<Option<String>, StorageError> {
        match self.0.get(column) {
            Some(SqlValue::Text(text)) => Ok(Some(text.clone())),
            Some(SqlValue::Null) => Ok(None),
            Some(SqlValue::Integer(_)) | None => Err(StorageError::Row { column }),
        }
    }

    pub(super) fn integer(&self, column: usize) -> Result<i64, StorageError> {
        match self.0.get(column) {
            Some(SqlValue::Integer(number)) => Ok(*number),
            Some(SqlValue::Text(_) | SqlValue::Null) | None => Err(StorageError::Row { column }),
        }
    }

    pub(super) fn version(&self, column: usize) -> Result<RepoVersion, StorageError> {
        let number = u64::try_from(self.integer(column)?);
        number.map(RepoVersion).map_err(|_| StorageError::Row { column })
    }

    /// A text that must be a valid value of a type.
    pub(super) fn parsed<T: TryFrom<String>>(&self, column: usize) -> Result<T, StorageError> {
        T::try_from(self.text(column)?).map_err(|_| StorageError::Row { column })
    }
}

/// A new version of a repository, for clients that wait for news (T-15).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoChange {
    /// The repository.
    pub repo: RepositoryName,
    /// Its new version.
    pub version: RepoVersion,
}

/// What a unit of work needs of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SqlAccess {
    /// One statement that reads.
    Statement,
    /// Several statements that see one state.
    Snapshot,
    /// Writing: all of it is durable, or none of it happened.
    Write,
    /// Writing that no other server does at the same time.
    Migration,
}

/// A statement with its values.
pub(super) struct Statement {
    pub(super) sql: &'static str,
    pub(super) values: Vec<SqlValue>,
}

impl Statement {
    pub(super) fn new(sql: &'static str, values: Vec<SqlValue>) -> Self {
        Self { sql, values }
    }
}

/// An open transaction. Statements use `$1`, `$2`, … in the order of their first use, which both databases read alike.
pub(super) trait SqlConnection: Send {
    fn query<'a>(
        &'a mut self,
        sql: &'static str,
        values: Vec<SqlValue>,
    ) -> BoxFuture<'a, Result<Vec<SqlRow>, StorageError>>;

    /// Runs statements in their order, and gives the rows of each. Over a network they travel together.
    fn query_all(
        &mut self,
        statements: Vec<Statement>,
    ) -> BoxFuture<'_, Result<Vec<Vec<SqlRow>>, StorageError>>;

    /// Tells every server of this database about a new version, if the transaction is committed.
    fn announce(&mut self, change: RepoChange) -> BoxFuture<'_, Result<(), StorageError>>;
}

/// Values of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::storage::sql::SqlValue::from($value)),*] };
}
pub(super) use values;
