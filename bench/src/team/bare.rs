//! The database alone, doing the reads and writes of one request: what the server is compared with.

use dormouse_team::Checksum;
use rusqlite::Connection;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, Statement};

use super::request::{ENTRY_TEXT, Operation, REPOSITORY};

const ACCESS: &str = "SELECT t.person, t.role, t.repo, r.epoch, r.version, r.review, r.switches FROM tokens t \
    LEFT JOIN repositories r ON r.name = $1 WHERE t.hash = $2 AND t.revoked IS NULL";
const ENTRIES: &str = "SELECT h.name, h.version, h.checksum, h.content, h.person, h.time FROM entries e \
    JOIN history h ON h.repo = e.repo AND h.name = e.name AND h.version = e.version \
    WHERE e.repo = $1 AND e.version > $2 ORDER BY e.name";
const LOCK: &str =
    "UPDATE repositories SET version = version WHERE name = $1 RETURNING epoch, version, entries";
const KNOWN: &str =
    "SELECT response FROM requests WHERE repo = $1 AND person = $2 AND request_key = $3";
const LATEST: &str = "SELECT checksum FROM entries WHERE repo = $1 AND name = $2";
const HISTORY: &str = "INSERT INTO history (repo, name, version, checksum, content, person, time) \
    VALUES ($1, $2, $3, $4, $5, 'bare', 0)";
const ENTRY: &str = "INSERT INTO entries (repo, name, version, checksum) VALUES ($1, $2, $3, $4) \
    ON CONFLICT (repo, name) DO UPDATE SET version = excluded.version, checksum = excluded.checksum";
const ADVANCE: &str = "UPDATE repositories SET version = $1 WHERE name = $2";
const REMEMBER: &str = "INSERT INTO requests (repo, person, request_key, digest, response, time) \
    VALUES ($1, 'bare', $2, 'x', 'an answer of about this length', 4102444800000)";

/// One connection to a database.
pub(crate) enum BareDatabase {
    Sqlite(Connection),
    Postgres(Box<BarePostgres>),
}

pub(crate) struct BarePostgres {
    runtime: Runtime,
    client: Client,
    statements: [Statement; 9],
}

/// Who asks, and for which of their requests.
pub(crate) struct BareRequest<'a> {
    pub(crate) hash: &'a str,
    pub(crate) entry: &'a str,
    pub(crate) key: &'a str,
}

impl BareDatabase {
    /// Opens a connection of its own.
    pub(crate) fn open(address: &str) -> Self {
        if address.starts_with("postgres") {
            return Self::Postgres(Box::new(BarePostgres::open(address)));
        }
        let connection = Connection::open(address).expect("the database opens");
        connection.busy_timeout(std::time::Duration::from_mins(1)).expect("a timeout is set");
        connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
            .expect("the settings of the server");
        Self::Sqlite(connection)
    }

    /// Does what one request of the server makes the database do.
    pub(crate) fn run(&mut self, operation: Operation, request: &BareRequest<'_>) {
        match self {
            Self::Sqlite(connection) => sqlite(connection, operation, request).expect("SQLite"),
            Self::Postgres(postgres) => postgres.run(operation, request),
        }
    }
}

fn sqlite(
    connection: &Connection,
    operation: Operation,
    request: &BareRequest<'_>,
) -> rusqlite::Result<()> {
    let rows = |sql: &str, values: &[&dyn rusqlite::ToSql]| -> rusqlite::Result<i64> {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let mut version = 0;
        while let Some(row) = rows.next()? {
            version = row.get(1).unwrap_or(0);
            let _read: Option<String> = row.get(3).unwrap_or(None);
        }
        Ok(version)
    };
    rows(ACCESS, &[&REPOSITORY, &request.hash])?;
    match operation {
        Operation::Unchanged => Ok(()),
        Operation::Snapshot => rows(ENTRIES, &[&REPOSITORY, &0_i64]).map(|_| ()),
        Operation::Push => {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            let version = rows(LOCK, &[&REPOSITORY])? + 1;
            rows(KNOWN, &[&REPOSITORY, &"bare", &request.key])?;
            rows(LATEST, &[&REPOSITORY, &request.entry])?;
            // The server reads these rows afterwards: they must be what it would have written.
            let checksum = checksum();
            rows(HISTORY, &[&REPOSITORY, &request.entry, &version, &checksum, &ENTRY_TEXT])?;
            rows(ENTRY, &[&REPOSITORY, &request.entry, &version, &checksum])?;
            rows(ADVANCE, &[&version, &REPOSITORY])?;
            rows(REMEMBER, &[&REPOSITORY, &request.key])?;
            connection.execute_batch("COMMIT")
        }
    }
}

fn checksum() -> String {
    Checksum::of(ENTRY_TEXT.as_bytes()).into()
}

impl BarePostgres {
    fn open(address: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let (client, statements) = runtime.block_on(async {
            let (client, connection) =
                tokio_postgres::connect(address, NoTls).await.expect("PostgreSQL answers");
            tokio::spawn(connection);
            let mut prepared = Vec::new();
            for sql in [ACCESS, ENTRIES, LOCK, KNOWN, LATEST, HISTORY, ENTRY, ADVANCE, REMEMBER] {
                prepared.push(client.prepare(sql).await.expect("the statement is valid"));
            }
            let Ok(statements) = <[Statement; 9]>::try_from(prepared) else {
                unreachable!("nine are prepared")
            };
            (client, statements)
        });
        Self { runtime, client, statements }
    }

    fn run(&mut self, operation: Operation, request: &BareRequest<'_>) {
        let Self { runtime, client, statements } = self;
        let [access, entries, lock, known, latest, history, entry, advance, remember] = statements;
        let work = async {
            client.query(&*access, &[&REPOSITORY, &request.hash]).await?;
            match operation {
                Operation::Unchanged => {}
                Operation::Snapshot => {
                    client.query(&*entries, &[&REPOSITORY, &0_i64]).await?;
                }
                Operation::Push => {
                    client.batch_execute("BEGIN").await?;
                    let locked = client.query_one(&*lock, &[&REPOSITORY]).await?;
                    let version: i64 = locked.get::<_, i64>(1) + 1;
                    client.query(&*known, &[&REPOSITORY, &"bare", &request.key]).await?;
                    client.query(&*latest, &[&REPOSITORY, &request.entry]).await?;
                    let checksum = checksum();
                    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
                        [&REPOSITORY, &request.entry, &version, &checksum, &ENTRY_TEXT];
                    client.query(&*history, &values).await?;
                    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
                        [&REPOSITORY, &request.entry, &version, &checksum];
                    client.query(&*entry, &values).await?;
                    client.query(&*advance, &[&version, &REPOSITORY]).await?;
                    client.query(&*remember, &[&REPOSITORY, &request.key]).await?;
                    client.batch_execute("COMMIT").await?;
                }
            }
            Ok::<(), tokio_postgres::Error>(())
        };
        runtime.block_on(work).expect("PostgreSQL");
    }
}
