//! PostgreSQL: any number of servers on one database (T-10, T-19). Connections are pooled; news travels by `NOTIFY`.

use std::future::Future;
use std::task::Poll;
use std::time::Duration;

use bytes::BytesMut;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod};
use dormouse_base::Secret;
use futures_util::future::{BoxFuture, maybe_done, poll_fn};
use tokio::sync::broadcast;
use tokio::task::JoinSet;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{AsyncMessage, Config, Row};

use super::error::StorageError;
use super::postgres_tls::{self, PostgresTls};
use super::sql::{RepoChange, SqlAccess, SqlConnection, SqlRow, SqlValue, Statement};
use crate::repository_name::RepositoryName;
use crate::version::RepoVersion;

/// Connections of one server.
const CONNECTIONS: usize = 16;
/// News that a slow listener may miss; it then asks for the current version.
const NEWS: usize = 256;
/// The channel of news.
const CHANNEL: &str = "dormouse_team";
/// Before the listener connects again.
const RECONNECT: Duration = Duration::from_secs(1);
/// Servers that start at once bring the tables up to date one after the other.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(7311200)";

/// A database that several servers share.
pub(super) struct PostgresDatabase {
    pool: Pool,
    changes: broadcast::Sender<RepoChange>,
    _listener: JoinSet<()>,
}

impl PostgresDatabase {
    /// Connects. The address may contain a password.
    pub(super) async fn open(address: &Secret) -> Result<Self, StorageError> {
        let (config, tls) = postgres_tls::parse(address.expose())?;
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(config.clone(), tls.clone(), recycling);
        let pool = Pool::builder(manager).max_size(CONNECTIONS).build();
        let pool = pool.map_err(|_| StorageError::Stopping)?;
        drop(pool.get().await?);
        let changes = broadcast::channel(NEWS).0;
        let mut listener = JoinSet::new();
        listener.spawn(listen_for_ever((config, tls), changes.clone()));
        Ok(Self { pool, changes, _listener: listener })
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
        let client = self.pool.get().await?;
        let mut open = OpenTransaction { client: Some(client), is_open: false };
        let begin = match access {
            SqlAccess::Statement => None,
            SqlAccess::Snapshot => Some("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            SqlAccess::Write | SqlAccess::Migration => Some("BEGIN"),
        };
        if let Some(begin) = begin {
            open.is_open = true;
            open.batch(begin).await?;
        }
        if access == SqlAccess::Migration {
            open.batch(MIGRATION_LOCK).await?;
        }
        let result = work(&mut open).await;
        if open.is_open {
            open.batch(if result.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
            open.is_open = false;
        }
        result
    }
}

/// A connection that is not given back to the pool in the middle of a transaction: a request may be dropped at any time.
struct OpenTransaction {
    client: Option<Object>,
    is_open: bool,
}

impl Drop for OpenTransaction {
    fn drop(&mut self) {
        if let Some(client) = self.client.take().filter(|_| self.is_open) {
            drop(Object::take(client));
        }
    }
}

impl OpenTransaction {
    fn client(&self) -> Result<&Object, StorageError> {
        self.client.as_ref().ok_or(StorageError::Stopping)
    }

    async fn batch(&self, sql: &str) -> Result<(), StorageError> {
        Ok(self.client()?.batch_execute(sql).await?)
    }

    async fn rows(&self, sql: &str, values: &[SqlValue]) -> Result<Vec<SqlRow>, StorageError> {
        let client = self.client()?;
        let statement = client.prepare_cached(sql).await?;
        client.query(&statement, &parameters(values)).await?.iter().map(row).collect()
    }

    /// Sends all statements before the first answer is awaited.
    async fn rows_of_all(
        &self,
        statements: &[Statement],
    ) -> Result<Vec<Vec<SqlRow>>, StorageError> {
        let client = self.client()?;
        let mut prepared = Vec::new();
        for statement in statements {
            prepared.push(client.prepare_cached(statement.sql).await?);
        }
        let mut answers: Vec<_> = statements
            .iter()
            .zip(&prepared)
            .map(|(statement, prepared)| {
                let values = parameters(&statement.values);
                Box::pin(maybe_done(async move { client.query(prepared, &values).await }))
            })
            .collect();
        // A statement is sent when its answer is first asked for: asked for in their order, they are sent in it.
        poll_fn(|context| {
            for answer in &mut answers {
                let _sent = answer.as_mut().poll(context);
            }
            Poll::Ready(())
        })
        .await;
        let mut found = Vec::new();
        for mut answer in answers {
            answer.as_mut().await;
            let rows = answer.as_mut().take_output().ok_or(StorageError::Stopping)??;
            found.push(rows.iter().map(row).collect::<Result<_, _>>()?);
        }
        Ok(found)
    }
}

fn parameters(values: &[SqlValue]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

fn row(row: &Row) -> Result<SqlRow, StorageError> {
    let column = |(index, column): (usize, &tokio_postgres::Column)| match *column.type_() {
        Type::INT8 => Ok(row.try_get::<_, Option<i64>>(index)?.into()),
        Type::TEXT => Ok(row.try_get::<_, Option<String>>(index)?.into()),
        Type::VOID => Ok(SqlValue::Null),
        _ => Err(StorageError::Row { column: index }),
    };
    row.columns().iter().enumerate().map(column).collect::<Result<_, _>>().map(SqlRow)
}

impl SqlConnection for OpenTransaction {
    fn query<'a>(
        &'a mut self,
        sql: &'static str,
        values: Vec<SqlValue>,
    ) -> BoxFuture<'a, Result<Vec<SqlRow>, StorageError>> {
        Box::pin(async move { self.rows(sql, &values).await })
    }

    fn query_all(
        &mut self,
        statements: Vec<Statement>,
    ) -> BoxFuture<'_, Result<Vec<Vec<SqlRow>>, StorageError>> {
        Box::pin(async move { self.rows_of_all(&statements).await })
    }

    fn announce(&mut self, change: RepoChange) -> BoxFuture<'_, Result<(), StorageError>> {
        let payload = format!("{} {}", change.version, change.repo);
        Box::pin(async move {
            let values = [SqlValue::from(CHANNEL), SqlValue::from(payload)];
            self.rows("SELECT pg_notify($1, $2)", &values).await.map(|_| ())
        })
    }
}

impl ToSql for SqlValue {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::INT8 || *kind == Type::TEXT
    }

    to_sql_checked!();
}

/// Passes news on, and connects again when the connection is lost. What was missed meanwhile is found by the listeners, who
/// look now and then.
async fn listen_for_ever(server: (Config, PostgresTls), changes: broadcast::Sender<RepoChange>) {
    loop {
        let _lost = listen(&server, &changes).await;
        tokio::time::sleep(RECONNECT).await;
    }
}

async fn listen(
    (config, tls): &(Config, PostgresTls),
    changes: &broadcast::Sender<RepoChange>,
) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = config.connect(tls.clone()).await?;
    let messages = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(news) = message?
                && let Some(change) = parsed(news.payload())
            {
                // Nobody may be listening.
                let _unheard = changes.send(change);
            }
        }
        Ok(())
    };
    let subscribe = async {
        client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
        std::future::pending::<Result<(), tokio_postgres::Error>>().await
    };
    tokio::select! {
        ended = messages => ended,
        failed = subscribe => failed,
    }
}

fn parsed(payload: &str) -> Option<RepoChange> {
    let (version, repo) = payload.split_once(' ')?;
    let version = RepoVersion(version.parse().ok()?);
    Some(RepoChange { repo: RepositoryName::new(repo).ok()?, version })
}
