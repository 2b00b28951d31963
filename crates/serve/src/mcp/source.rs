//! The memories of the server, opened when they are first needed.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::{Notify, OnceCell};
use tokio::task::spawn_blocking;

use super::snapshot::{Snapshot, snapshot};
use crate::memories::ClientMemories;

/// Why the memories could not be opened: the caller's own error, whose message the client reads.
pub type OpeningError = Box<dyn Error + Send + Sync>;

/// The opening of the memories.
pub type MemoryOpening = Pin<Box<dyn Future<Output = Result<ClientMemories, OpeningError>> + Send>>;

/// Memories that are opened once, with the first request for them.
pub struct MemorySource {
    open: Box<dyn Fn() -> MemoryOpening + Send + Sync>,
    opened: OnceCell<Opened>,
    now_open: Notify,
}

struct Opened {
    memories: Arc<ClientMemories>,
    /// The memories before any client has seen them.
    first: Arc<Snapshot>,
}

impl MemorySource {
    /// Memories that `open` opens.
    pub fn new(open: impl Fn() -> MemoryOpening + Send + Sync + 'static) -> Self {
        Self { open: Box::new(open), opened: OnceCell::new(), now_open: Notify::new() }
    }

    /// The memories. After a failure the next call tries again.
    pub(super) async fn get(&self) -> Result<Arc<ClientMemories>, OpeningError> {
        let opened = self.opened.get_or_try_init(|| self.open()).await;
        let memories = opened.map(|opened| Arc::clone(&opened.memories));
        self.now_open.notify_waiters();
        memories
    }

    async fn open(&self) -> Result<Opened, OpeningError> {
        let memories = Arc::new((self.open)().await?);
        let looked_at = Arc::clone(&memories);
        let first = spawn_blocking(move || snapshot(&looked_at)).await;
        // Without a snapshot, everything that is seen later is a change.
        let first = Arc::new(first.ok().flatten().unwrap_or_default());
        Ok(Opened { memories, first })
    }

    /// Waits until a request has opened the memories.
    pub(super) async fn opened(&self) -> Arc<ClientMemories> {
        loop {
            let now_open = self.now_open.notified();
            if let Some(opened) = self.opened.get() {
                return Arc::clone(&opened.memories);
            }
            now_open.await;
        }
    }

    /// The snapshot from when they were opened.
    pub(super) fn first(&self) -> Option<Arc<Snapshot>> {
        self.opened.get().map(|opened| Arc::clone(&opened.first))
    }
}
