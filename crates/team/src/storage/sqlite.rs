//! SQLite: one file, a writer and a few readers (T-10).
//!
//! SQLite blocks: every unit of work runs on a blocking thread, where its futures are ready at once.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};
use tokio::sync::broadcast;

use super::error::StorageError;
use super::sql::{RepoChange, SqlAccess, SqlConnection, SqlRow, SqlValue, Statement};

/// How long a write waits for another process, such as `dormouse team token`.
const BUSY: Duration = Duration::from_secs(10);
/// Connections that are kept for readers.
const READERS: usize = 8;
/// News that a slow listener may miss; it then asks for the current version.
const NEWS: usize = 256;

/// A database file.
pub(super) struct SqliteDatabase {
    file: Arc<DatabaseFile>,
    changes: broadcast::Sender<RepoChange>,
}

struct DatabaseFile {
    path: std::path::PathBuf,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
}

impl SqliteDatabase {
    /// Opens a file, or creates it.
    pub(super) fn open(path: &Path) -> Result<Self, StorageError> {
        let writer = connect(path)?;
        let file = DatabaseFile {
            path: path.to_owned(),
            writer: Mutex::new(writer),
            readers: Mutex::new(Vec::new()),
        };
        Ok(Self { file: Arc::new(file), changes: broadcast::channel(NEWS).0 })
    }

    pub(super) fn changes(&self) -> broadcast::Receiver<RepoChange> {
        self.changes.subscribe()
    }

    pub(super) async fn run<T, W>(&self, access: SqlAccess, work: W) -> Result<T, StorageError>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(&'c mut dyn SqlConnection) -> BoxFuture<'c, Result<T, StorageError>>
            + Send
            + 'static,
    {
        let file = Arc::clone(&self.file);
        let task = tokio::task::spawn_blocking(move || match access {
            SqlAccess::Statement | SqlAccess::Snapshot => file.read(access, work),
            SqlAccess::Write | SqlAccess::Migration => file.write(work),
        });
        let (result, news) = task.await.map_err(|_| StorageError::Stopping)??;
        for change in news {
            // Nobody may be listening.
            let _unheard = self.changes.send(change);
        }
        Ok(result)
    }
}

type Done<T> = Result<(T, Vec<RepoChange>), StorageError>;

impl DatabaseFile {
    fn read<T, W>(&self, access: SqlAccess, work: W) -> Done<T>
    where
        W: for<'c> FnOnce(&'c mut dyn SqlConnection) -> BoxFuture<'c, Result<T, StorageError>>,
    {
        let kept = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = match kept {
            Some(connection) => connection,
            None => connect(&self.path)?,
        };
        let begin = (access == SqlAccess::Snapshot).then_some("BEGIN");
        let done = transact(&mut connection, begin, work);
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < READERS {
            readers.push(connection);
        }
        done
    }

    fn write<T, W>(&self, work: W) -> Done<T>
    where
        W: for<'c> FnOnce(&'c mut dyn SqlConnection) -> BoxFuture<'c, Result<T, StorageError>>,
    {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        transact(&mut writer, Some("BEGIN IMMEDIATE"), work)
    }
}

fn transact<T, W>(connection: &mut Connection, begin: Option<&str>, work: W) -> Done<T>
where
    W: for<'c> FnOnce(&'c mut dyn SqlConnection) -> BoxFuture<'c, Result<T, StorageError>>,
{
    if let Some(begin) = begin {
        connection.execute_batch(begin)?;
    }
    let mut open = OpenTransaction { connection: &mut *connection, news: Vec::new() };
    let result = work(&mut open).now_or_never().unwrap_or(Err(StorageError::Stopping));
    let news = open.news;
    match (begin, result) {
        (None, result) => Ok((result?, news)),
        (Some(_), Ok(value)) => {
            if let Err(error) = connection.execute_batch("COMMIT") {
                let _already_rolled_back = connection.execute_batch("ROLLBACK");
                return Err(error.into());
            }
            Ok((value, news))
        }
        (Some(_), Err(error)) => {
            let _already_rolled_back = connection.execute_batch("ROLLBACK");
            Err(error)
        }
    }
}

fn connect(path: &Path) -> Result<Connection, StorageError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    // FULL: what was accepted survives a power failure.
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

struct OpenTransaction<'a> {
    connection: &'a mut Connection,
    news: Vec<RepoChange>,
}

impl OpenTransaction<'_> {
    fn rows(&self, sql: &str, values: Vec<SqlValue>) -> Result<Vec<SqlRow>, StorageError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let columns = statement.column_count();
        let values = values.into_iter().map(|value| match value {
            SqlValue::Null => Value::Null,
            SqlValue::Integer(number) => Value::Integer(number),
            SqlValue::Text(text) => Value::Text(text),
        });
        let mut found = statement.query(params_from_iter(values))?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            let column = |column| match row.get_ref(column)? {
                ValueRef::Null => Ok(SqlValue::Null),
                ValueRef::Integer(number) => Ok(SqlValue::Integer(number)),
                ValueRef::Text(text) => {
                    Ok(SqlValue::Text(String::from_utf8_lossy(text).into_owned()))
                }
                ValueRef::Real(_) | ValueRef::Blob(_) => Err(StorageError::Row { column }),
            };
            rows.push(SqlRow((0..columns).map(column).collect::<Result<_, StorageError>>()?));
        }
        Ok(rows)
    }
}

impl SqlConnection for OpenTransaction<'_> {
    fn query<'a>(
        &'a mut self,
        sql: &'static str,
        values: Vec<SqlValue>,
    ) -> BoxFuture<'a, Result<Vec<SqlRow>, StorageError>> {
        Box::pin(ready(self.rows(sql, values)))
    }

    fn query_all(
        &mut self,
        statements: Vec<Statement>,
    ) -> BoxFuture<'_, Result<Vec<Vec<SqlRow>>, StorageError>> {
        let mut statements = statements.into_iter();
        Box::pin(ready(statements.try_fold(Vec::new(), |mut found, statement| {
            found.push(self.rows(statement.sql, statement.values)?);
            Ok(found)
        })))
    }

    fn announce(&mut self, change: RepoChange) -> BoxFuture<'_, Result<(), StorageError>> {
        self.news.push(change);
        Box::pin(ready(Ok(())))
    }
}
