//! Tells when a file in a folder changed.

use std::path::Path;
use std::sync::Arc;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

/// A folder that is watched as long as this exists.
///
/// The system may not tell (a network file system, no watches left), and may lose an event: who relies on it looks at the
/// folder now and then.
pub(crate) struct FolderWatch {
    watcher: Option<RecommendedWatcher>,
    changed: Arc<Notify>,
}

impl FolderWatch {
    /// Watches a folder and those in it.
    pub(crate) fn start(folder: &Path) -> Self {
        let changed = Arc::new(Notify::new());
        let told = Arc::clone(&changed);
        // Looking at a folder is an event as well, and would cause the next look.
        let on_event = move |event: notify::Result<notify::Event>| {
            if !event.is_ok_and(|event| event.kind.is_access()) {
                told.notify_one();
            }
        };
        let watching = notify::recommended_watcher(on_event).and_then(|mut watcher| {
            watcher.watch(folder, RecursiveMode::Recursive)?;
            Ok(watcher)
        });
        Self { watcher: watching.ok(), changed }
    }

    /// Whether the system tells of changes.
    pub(crate) fn is_told(&self) -> bool {
        self.watcher.is_some()
    }

    /// Waits for the next change, or for one that nobody has waited for.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}
