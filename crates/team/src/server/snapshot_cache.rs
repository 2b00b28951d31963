//! Snapshots as they were last sent: all members fetch the same one after a change.
//!
//! A tag names one content for ever, so a kept body is never wrong, whichever server of the database keeps it. Who asks is
//! checked before it is looked up.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::repository_name::RepositoryName;
use crate::version::{EntityTag, RepoVersion};

/// The most bytes that are kept.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Which entries a body has: all, or those that changed since a version.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SnapshotKey {
    repo: RepositoryName,
    since: Option<RepoVersion>,
}

impl SnapshotKey {
    /// The key of an answer. A version of another history changes nothing: everything is sent.
    pub(super) fn new(
        repo: &RepositoryName,
        since: Option<&EntityTag>,
        current: &EntityTag,
    ) -> Self {
        let since = since
            .filter(|since| since.shares_history(current) && since.version() <= current.version());
        Self { repo: repo.clone(), since: since.map(EntityTag::version) }
    }
}

/// Bodies of snapshots, at most 16 MiB.
#[derive(Default)]
pub(super) struct SnapshotCache {
    kept: Mutex<KeptBodies>,
}

#[derive(Default)]
struct KeptBodies {
    bodies: HashMap<SnapshotKey, (EntityTag, Bytes)>,
    bytes: usize,
}

impl SnapshotCache {
    /// The body for a version, if it is kept.
    pub(super) fn get(&self, key: &SnapshotKey, etag: &EntityTag) -> Option<Bytes> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bodies.get(key).filter(|(of, _)| of == etag).map(|(_, body)| body.clone())
    }

    /// Keeps a body, in the place of an older one. When there are too many, all others are let go: they are made again
    /// when they are asked for.
    pub(super) fn keep(&self, key: SnapshotKey, etag: EntityTag, body: Bytes) {
        if body.len() > MOST_BYTES {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + body.len() > MOST_BYTES {
            *kept = KeptBodies::default();
        }
        kept.bytes += body.len();
        if let Some((_, older)) = kept.bodies.insert(key, (etag, body)) {
            kept.bytes -= older.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(version: u64) -> EntityTag {
        EntityTag::new("e", RepoVersion(version))
    }

    fn key(repo: &str, since: Option<u64>) -> SnapshotKey {
        let repo = RepositoryName::new(repo).unwrap();
        SnapshotKey::new(&repo, since.map(tag).as_ref(), &tag(9))
    }

    #[test]
    fn a_body_is_only_for_its_repository_version_and_range() {
        let cache = SnapshotCache::default();
        cache.keep(key("h/o/a", None), tag(9), Bytes::from_static(b"all"));
        assert_eq!(cache.get(&key("h/o/a", None), &tag(9)).unwrap(), "all");
        assert!(cache.get(&key("h/o/a", None), &tag(10)).is_none());
        assert!(cache.get(&key("h/o/a", Some(3)), &tag(9)).is_none());
        assert!(cache.get(&key("h/o/b", None), &tag(9)).is_none());
        let restored = EntityTag::new("f", RepoVersion(9));
        assert!(cache.get(&key("h/o/a", None), &restored).is_none());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let cache = SnapshotCache::default();
        for version in 0..100 {
            let body = Bytes::from(vec![0; 3 * 1024 * 1024]);
            cache.keep(key("h/o/a", Some(version)), tag(9), body);
            let kept = cache.kept.lock().unwrap();
            assert!(kept.bytes <= MOST_BYTES);
            assert_eq!(kept.bytes, kept.bodies.values().map(|(_, body)| body.len()).sum::<usize>());
        }
        cache.keep(key("h/o/b", None), tag(9), Bytes::from(vec![0; MOST_BYTES + 1]));
        assert!(cache.get(&key("h/o/b", None), &tag(9)).is_none());
    }
}
