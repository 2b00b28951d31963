//! Writers of one repository share a transaction: while one is made durable, the next requests gather.
//!
//! A request that comes alone is written at once. With 50 writers, a flush to disk serves many of them, and they do not
//! wait for one another's lock in the database.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::database::Database;
use super::error::StorageError;
use super::sql::SqlAccess;
use super::write_batch::{write_all, write_one};
use super::writing::WriteRequest;
use crate::api::WriteResponse;
use crate::repository_name::RepositoryName;

/// The most requests in one transaction.
const MOST: usize = 64;

type Written = Result<WriteResponse, StorageError>;

struct Waiting {
    request: WriteRequest,
    answer: oneshot::Sender<Written>,
}

/// Requests that wait, and the tasks that work on them. Dropped, it ends those tasks.
#[derive(Default)]
pub(super) struct WriteQueue {
    waiting: Arc<WaitingRequests>,
    tasks: Mutex<JoinSet<()>>,
}

impl WriteQueue {
    /// Writes, and answers when that is durable. A caller that no longer waits does not undo it.
    pub(super) async fn write(&self, database: &Arc<Database>, request: WriteRequest) -> Written {
        let (answer, answered) = oneshot::channel();
        let repo = request.repo.clone();
        if self.waiting.add(Waiting { request, answer }) {
            let work = work_off(Arc::clone(&self.waiting), Arc::clone(database), repo);
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            while tasks.try_join_next().is_some() {}
            tasks.spawn(work);
        }
        answered.await.map_err(|_| StorageError::Stopping)?
    }
}

/// Requests that wait, by repository. A repository is in the map as long as a task works on it.
#[derive(Default)]
struct WaitingRequests(Mutex<HashMap<RepositoryName, Vec<Waiting>>>);

impl WaitingRequests {
    /// Adds a request; true if nobody works on its repository yet.
    fn add(&self, new: Waiting) -> bool {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = !waiting.contains_key(&new.request.repo);
        waiting.entry(new.request.repo.clone()).or_default().push(new);
        is_first
    }

    /// The next requests of a repository; with none left, the work on it is over.
    fn take(&self, repo: &RepositoryName) -> Option<Vec<Waiting>> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_repo = waiting.get_mut(repo)?;
        if of_repo.is_empty() {
            waiting.remove(repo);
            return None;
        }
        Some(of_repo.drain(..of_repo.len().min(MOST)).collect())
    }
}

async fn work_off(waiting: Arc<WaitingRequests>, database: Arc<Database>, repo: RepositoryName) {
    while let Some(batch) = waiting.take(&repo) {
        // In a task of its own: a panic must not leave the repository without anybody who works on it. Who waits for
        // an answer then hears that the server is stopping.
        let mut task = JoinSet::new();
        task.spawn(write_batch(Arc::clone(&database), batch));
        let _panicked = task.join_next().await;
    }
}

/// Writes requests in one transaction. Where that fails, each is tried alone, and so gets its own error.
async fn write_batch(database: Arc<Database>, batch: Vec<Waiting>) {
    let (requests, answers): (Vec<_>, Vec<_>) =
        batch.into_iter().map(|waiting| (waiting.request, waiting.answer)).unzip();
    let alone = if requests.len() > 1 { requests.clone() } else { Vec::new() };
    let written = match write_together(&database, requests).await {
        Ok(written) => written,
        Err(error) if alone.is_empty() => vec![Err(error)],
        Err(_) => {
            let mut written = Vec::new();
            for request in alone {
                written.push(write_alone(&database, request).await);
            }
            written
        }
    };
    for (answer, written) in answers.into_iter().zip(written) {
        // The caller may have gone.
        let _unheard = answer.send(written);
    }
}

async fn write_together(
    database: &Database,
    requests: Vec<WriteRequest>,
) -> Result<Vec<Written>, StorageError> {
    let work = database
        .run(SqlAccess::Write, move |db| Box::pin(async move { write_all(db, &requests).await }));
    work.await
}

async fn write_alone(database: &Database, request: WriteRequest) -> Written {
    let work =
        database.run(SqlAccess::Write, |db| Box::pin(async move { write_one(db, request).await }));
    work.await
}
