//! Notices changes to memories by anyone: this process, another one, or the user with an editor.
//!
//! It compares times and sizes, and only while a client is subscribed. The longer a scan takes, the rarer they are.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep};

use super::snapshot::{Snapshot, snapshot};
use super::source::MemorySource;
use crate::memories::ClientMemories;

/// The time from one scan to the next.
const INTERVAL: Duration = Duration::from_millis(500);
/// A pause is at least this many times as long as the scan before it: two percent of one core.
const PAUSE: u32 = 50;

/// Watches the memories of a source.
pub(super) struct MemoryWatch {
    source: Option<Arc<MemorySource>>,
    seen: Arc<watch::Sender<Option<Arc<Snapshot>>>>,
    scanning: Mutex<JoinSet<()>>,
}

impl Default for MemoryWatch {
    fn default() -> Self {
        let (seen, _) = watch::channel(None);
        Self { source: None, seen: Arc::new(seen), scanning: Mutex::default() }
    }
}

impl MemoryWatch {
    pub(super) fn of(source: Arc<MemorySource>) -> Self {
        Self { source: Some(source), ..Self::default() }
    }

    /// The last snapshot, if there is one.
    pub(super) fn latest(&self) -> Option<Arc<Snapshot>> {
        let first = || self.source.as_ref().and_then(|source| source.first());
        self.seen.borrow().clone().or_else(first)
    }

    /// The changes since a snapshot, or since the last one. None where memory is off.
    pub(super) async fn follow(&self, since: Option<Arc<Snapshot>>) -> Option<ChangeFollower> {
        let receiver = self.seen.subscribe();
        // Watching alone does not open the memories.
        let memories = self.source.as_ref()?.opened().await;
        let last = since.or_else(|| self.latest()).unwrap_or_default();
        self.begin(memories);
        Some(ChangeFollower { receiver, last })
    }

    /// Starts scanning, unless it runs already.
    fn begin(&self, memories: Arc<ClientMemories>) {
        let mut scanning = self.scanning.lock().unwrap_or_else(PoisonError::into_inner);
        while scanning.try_join_next().is_some() {}
        if scanning.is_empty() {
            scanning.spawn(keep_scanning(memories, Arc::clone(&self.seen)));
        }
    }
}

/// Scans until no client is subscribed.
async fn keep_scanning(
    memories: Arc<ClientMemories>,
    seen: Arc<watch::Sender<Option<Arc<Snapshot>>>>,
) {
    while seen.receiver_count() > 0 {
        let began = Instant::now();
        // A directory that cannot be read now is scanned again later.
        if let Some(now) = scan(&memories).await {
            seen.send_if_modified(|last| {
                let changed = last.as_ref() != Some(&now);
                *last = Some(now);
                changed
            });
        }
        sleep(INTERVAL.max(began.elapsed() * PAUSE)).await;
    }
}

async fn scan(memories: &Arc<ClientMemories>) -> Option<Arc<Snapshot>> {
    let memories = Arc::clone(memories);
    spawn_blocking(move || snapshot(&memories)).await.ok().flatten().map(Arc::new)
}

/// A subscriber.
pub(super) struct ChangeFollower {
    receiver: watch::Receiver<Option<Arc<Snapshot>>>,
    last: Arc<Snapshot>,
}

/// The changes since the last time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MemoryChanges {
    /// Whether memories were added or removed.
    pub(super) list: bool,
    /// The addresses of changed, new and removed memories.
    pub(super) updated: Vec<String>,
}

impl ChangeFollower {
    /// Waits for the next change; none when the watch has ended.
    pub(super) async fn next(&mut self) -> Option<MemoryChanges> {
        loop {
            let now = self.receiver.borrow_and_update().clone();
            if let Some(now) = now {
                let changes = differences(&self.last, &now);
                self.last = now;
                if changes != MemoryChanges::default() {
                    return Some(changes);
                }
            }
            self.receiver.changed().await.ok()?;
        }
    }
}

fn differences(before: &Snapshot, now: &Snapshot) -> MemoryChanges {
    let gone = before.keys().filter(|uri| !now.contains_key(*uri));
    let other = now.iter().filter(|(uri, stamp)| before.get(*uri) != Some(stamp));
    let updated: Vec<String> = gone.chain(other.map(|(uri, _)| uri)).cloned().collect();
    MemoryChanges { list: !before.keys().eq(now.keys()), updated }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    #[test]
    fn differences_are_told_apart() {
        let snapshot = |all: &[(&str, u64)]| -> Snapshot {
            all.iter().map(|(uri, size)| ((*uri).to_owned(), (Timestamp::MIN, *size))).collect()
        };
        let before = snapshot(&[("a", 1), ("b", 1)]);
        assert_eq!(differences(&before, &before), MemoryChanges::default());
        let changed = differences(&before, &snapshot(&[("a", 2), ("b", 1)]));
        assert_eq!(changed, MemoryChanges { list: false, updated: vec!["a".into()] });
        let moved = differences(&before, &snapshot(&[("a", 1), ("c", 1)]));
        assert_eq!(moved, MemoryChanges { list: true, updated: vec!["b".into(), "c".into()] });
    }
}
