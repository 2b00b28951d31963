//! A backup of everything as lines of JSON: the same for both databases, so that one can be restored into the other.
//!
//! A restored database starts new histories (epochs): clients notice, and send what the backup did not have yet.

use serde::{Deserialize, Serialize};

use super::error::StorageError;
use super::sql::{SqlAccess, SqlRow, SqlValue};
use super::store::TeamStore;
use super::write_batch::new_epoch;

/// A line of a backup.
#[derive(Serialize, Deserialize)]
struct BackupLine {
    table: String,
    row: Vec<BackupValue>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum BackupValue {
    Null,
    Integer(i64),
    Text(String),
}

/// What is saved. Answers to earlier requests are not: a client that repeats one after a restore finds its content there
/// already, or sends it again.
const TABLES: &[BackupTable] = &[
    BackupTable {
        name: "repositories",
        read: "SELECT name, epoch, version, entries, review, switches FROM repositories ORDER BY name",
        write: "INSERT INTO repositories (name, epoch, version, entries, review, switches) VALUES ($1, $2, $3, $4, $5, $6)",
    },
    BackupTable {
        name: "tokens",
        read: "SELECT hash, id, person, role, repo, created, revoked FROM tokens ORDER BY hash",
        write: "INSERT INTO tokens (hash, id, person, role, repo, created, revoked) VALUES ($1, $2, $3, $4, $5, $6, $7)",
    },
    BackupTable {
        name: "entries",
        read: "SELECT repo, name, version, checksum FROM entries ORDER BY repo, name",
        write: "INSERT INTO entries (repo, name, version, checksum) VALUES ($1, $2, $3, $4)",
    },
    BackupTable {
        name: "history",
        read: "SELECT repo, name, version, checksum, content, person, time FROM history ORDER BY repo, version, name",
        write: "INSERT INTO history (repo, name, version, checksum, content, person, time) VALUES ($1, $2, $3, $4, $5, $6, $7)",
    },
    BackupTable {
        name: "proposals",
        read: "SELECT repo, id, name, checksum, content, person, time, state, decided_by, decided FROM proposals ORDER BY repo, id",
        write: "INSERT INTO proposals (repo, id, name, checksum, content, person, time, state, decided_by, decided) \
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    },
];

struct BackupTable {
    name: &'static str,
    read: &'static str,
    write: &'static str,
}

impl TeamStore {
    /// Everything, as lines of JSON, from one state of the database.
    pub async fn backup(&self) -> Result<String, StorageError> {
        let work = self.database.run(SqlAccess::Snapshot, |db| {
            Box::pin(async {
                let mut text = String::new();
                for table in TABLES {
                    for row in db.query(table.read, vec![]).await? {
                        text.push_str(&line(table.name, row));
                        text.push('\n');
                    }
                }
                Ok(text)
            })
        });
        work.await
    }

    /// Fills an empty database from a backup.
    pub async fn restore(&self, backup: String) -> Result<(), StorageError> {
        let work = self.database.run(SqlAccess::Write, move |db| {
            Box::pin(async move {
                for sql in
                    ["SELECT name FROM repositories LIMIT 1", "SELECT id FROM tokens LIMIT 1"]
                {
                    if !db.query(sql, vec![]).await?.is_empty() {
                        return Err(StorageError::NotEmpty);
                    }
                }
                for (index, text) in backup.lines().enumerate() {
                    let wrong = || StorageError::Backup { line: index + 1 };
                    let line: BackupLine = serde_json::from_str(text).map_err(|_| wrong())?;
                    let table = TABLES.iter().find(|table| table.name == line.table);
                    let table = table.ok_or_else(wrong)?;
                    let mut values: Vec<SqlValue> =
                        line.row.into_iter().map(SqlValue::from).collect();
                    if let ("repositories", Some(epoch)) = (table.name, values.get_mut(1)) {
                        *epoch = SqlValue::Text(new_epoch());
                    }
                    if values.len() != table.write.matches('$').count() {
                        return Err(wrong());
                    }
                    db.query(table.write, values).await?;
                }
                Ok(())
            })
        });
        work.await
    }
}

fn line(table: &str, row: SqlRow) -> String {
    let line = BackupLine {
        table: table.to_owned(),
        row: row.0.into_iter().map(BackupValue::from).collect(),
    };
    // Texts and numbers always serialize.
    serde_json::to_string(&line).unwrap_or_default()
}

impl From<SqlValue> for BackupValue {
    fn from(value: SqlValue) -> Self {
        match value {
            SqlValue::Null => Self::Null,
            SqlValue::Integer(number) => Self::Integer(number),
            SqlValue::Text(text) => Self::Text(text),
        }
    }
}

impl From<BackupValue> for SqlValue {
    fn from(value: BackupValue) -> Self {
        match value {
            BackupValue::Null => Self::Null,
            BackupValue::Integer(number) => Self::Integer(number),
            BackupValue::Text(text) => Self::Text(text),
        }
    }
}
