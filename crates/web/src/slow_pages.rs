//! Pages that read much: a whole session, or all of the history.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};

use axum::response::Response;
use tokio::sync::oneshot;

use crate::error::ViewerError;

type Job = Box<dyn FnOnce() + Send>;

/// Makes pages one after the other, on one thread. A thread keeps the memory that its work needed; among several, each page
/// would take as much again.
pub(crate) struct SlowPages {
    jobs: Sender<Job>,
}

impl SlowPages {
    /// Starts the thread, which ends with this value.
    pub(crate) fn start() -> Self {
        let (jobs, waiting) = channel();
        drop(tokio::task::spawn_blocking(move || work_off(&waiting)));
        Self { jobs }
    }

    /// Makes a page when those before it are done.
    pub(crate) async fn make(
        &self,
        work: impl FnOnce() -> Response + Send + 'static,
    ) -> Result<Response, ViewerError> {
        let (done, result) = oneshot::channel();
        let job = Box::new(move || {
            // Nobody takes a page whose reader has left while it waited, or while it was made.
            if !done.is_closed() {
                drop(done.send(work()));
            }
        });
        self.jobs.send(job).map_err(|_| ViewerError::CutOff)?;
        result.await.map_err(|_| ViewerError::CutOff)
    }
}

fn work_off(waiting: &Receiver<Job>) {
    for job in waiting {
        // A page that fails has dropped its sender, which tells who asked; the next ones are made all the same.
        let _failed = catch_unwind(AssertUnwindSafe(job));
    }
}
