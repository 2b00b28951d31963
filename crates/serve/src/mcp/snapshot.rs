//! Which memories exist, with their times and sizes.

use std::collections::BTreeMap;

use dormouse_base::RelPath;
use jiff::Timestamp;

use super::uri;
use crate::memories::ClientMemories;

/// Time and size of each memory, by address.
pub(super) type Snapshot = BTreeMap<String, (Timestamp, u64)>;

pub(super) fn snapshot(memories: &ClientMemories) -> Option<Snapshot> {
    let mut snapshot = Snapshot::new();
    for found in memories.list(None).ok()? {
        let address = uri::of(found.scope(), &found.memory.file);
        snapshot.insert(address, (found.memory.modified, found.memory.size));
    }
    let index = RelPath::new(dormouse_memory::INDEX).ok()?;
    let stores = memories.reachable().stores().iter();
    let entries = stores.filter_map(|store| store.dir().entry(&index).ok());
    let mut newest = Timestamp::MIN;
    let mut size = 0;
    for entry in entries {
        newest = newest.max(Timestamp::try_from(entry.modified).unwrap_or(Timestamp::MIN));
        size += entry.size;
    }
    snapshot.insert(uri::INDEX.to_owned(), (newest, size));
    Some(snapshot)
}
