//! Notices that memories changed, whoever changed them: also another process, or a person with an editor.
//!
//! It looks at times and sizes, and only while somebody wants to know. The more there is to look at, the
//! less often it looks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dormouse_base::RelPath;
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep};

use super::{MemorySource, uri};
use crate::ClientMemories;

/// How often it looks.
const INTERVAL: Duration = Duration::from_millis(500);
/// A look that takes long is followed by a pause so many times as long: two percent of one core.
const PAUSE: u32 = 50;

/// What is there, by address: time and size.
pub(super) type Snapshot = BTreeMap<String, (Timestamp, u64)>;

/// Looks at the memories of a source.
pub(super) struct MemoryWatch {
    source: Option<Arc<MemorySource>>,
    seen: Arc<watch::Sender<Option<Arc<Snapshot>>>>,
    looking: Mutex<JoinSet<()>>,
}

impl Default for MemoryWatch {
    fn default() -> Self {
        let (seen, _) = watch::channel(None);
        Self { source: None, seen: Arc::new(seen), looking: Mutex::default() }
    }
}

impl MemoryWatch {
    pub(super) fn of(source: Arc<MemorySource>) -> Self {
        Self { source: Some(source), ..Self::default() }
    }

    /// What was seen last, if anything was.
    pub(super) fn latest(&self) -> Option<Arc<Snapshot>> {
        let first = || self.source.as_ref().and_then(|source| source.first());
        self.seen.borrow().clone().or_else(first)
    }

    /// Whatever changes from what was seen then, else from what was seen last. None where there is no memory.
    pub(super) async fn follow(&self, since: Option<Arc<Snapshot>>) -> Option<ChangeFollower> {
        let receiver = self.seen.subscribe();
        // Not opened for the sake of watching alone: before, nobody has seen anything that could change.
        let memories = self.source.as_ref()?.opened().await;
        let last = since.or_else(|| self.latest()).unwrap_or_default();
        self.begin(memories);
        Some(ChangeFollower { receiver, last })
    }

    /// Begins to look, unless it does already.
    fn begin(&self, memories: Arc<ClientMemories>) {
        let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        while looking.try_join_next().is_some() {}
        if looking.is_empty() {
            looking.spawn(keep_looking(memories, Arc::clone(&self.seen)));
        }
    }
}

/// Looks until nobody wants to know any more.
async fn keep_looking(
    memories: Arc<ClientMemories>,
    seen: Arc<watch::Sender<Option<Arc<Snapshot>>>>,
) {
    while seen.receiver_count() > 0 {
        let began = Instant::now();
        // A directory that can not be read just now is looked at again later.
        if let Some(now) = look(&memories).await {
            seen.send_if_modified(|last| {
                let changed = last.as_ref() != Some(&now);
                *last = Some(now);
                changed
            });
        }
        sleep(INTERVAL.max(began.elapsed() * PAUSE)).await;
    }
}

async fn look(memories: &Arc<ClientMemories>) -> Option<Arc<Snapshot>> {
    let memories = Arc::clone(memories);
    spawn_blocking(move || snapshot(&memories)).await.ok().flatten().map(Arc::new)
}

pub(super) fn snapshot(memories: &ClientMemories) -> Option<Snapshot> {
    let mut snapshot = Snapshot::new();
    for found in memories.all(None).ok()? {
        let address = uri::of(found.scope(), &found.memory.file);
        snapshot.insert(address, (found.memory.modified, found.memory.size));
    }
    let index = RelPath::new(dormouse_memory::INDEX).ok()?;
    let entries = memories.shelves(None).filter_map(|shelf| shelf.store.dir().entry(&index).ok());
    let (mut newest, mut size) = (Timestamp::MIN, 0);
    for entry in entries {
        newest = newest.max(Timestamp::try_from(entry.modified).unwrap_or(Timestamp::MIN));
        size += entry.size;
    }
    snapshot.insert(uri::INDEX.to_owned(), (newest, size));
    Some(snapshot)
}

/// Somebody who wants to know.
pub(super) struct ChangeFollower {
    receiver: watch::Receiver<Option<Arc<Snapshot>>>,
    last: Arc<Snapshot>,
}

/// What has changed since the last time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MemoryChanges {
    /// Whether there are others than before.
    pub(super) list: bool,
    /// What is not as it was: changed, new or gone.
    pub(super) updated: Vec<String>,
}

impl ChangeFollower {
    /// Waits for the next change; none when there will be none.
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
