//! A memory directory of one's own, with a clock that stands still.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::ManualClock;
use dormouse_memory::index::MemoryIndex;
use dormouse_memory::{
    ChangeAuthor, ChangeOrigin, ChangeOutcome, MemoryFile, MemoryType, MessageSource, NewMemory,
    Receipt, ScanCache, Scope, Store, StoreOptions, Trust,
};
use dormouse_secrets::SecretFinding;

pub(crate) struct World {
    _keep: Option<tempfile::TempDir>,
    pub(crate) root: PathBuf,
    pub(crate) clock: Arc<ManualClock>,
}

impl World {
    pub(crate) fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        Self { root: keep.path().canonicalize().unwrap(), _keep: Some(keep), clock: clock() }
    }

    /// In a folder that somebody else keeps.
    pub(crate) fn at(root: &Path) -> Self {
        Self { _keep: None, root: root.to_owned(), clock: clock() }
    }

    pub(crate) fn memory(&self) -> PathBuf {
        self.root.join("memory")
    }

    pub(crate) fn options(&self) -> StoreOptions {
        StoreOptions::new(Scope::User, secrets, self.clock.clone())
    }

    pub(crate) fn store(&self) -> Store {
        self.store_with(self.options())
    }

    pub(crate) fn store_with(&self, options: StoreOptions) -> Store {
        Store::open(&self.memory(), &self.root.join("state"), options).unwrap()
    }

    pub(crate) fn days_later(&self, days: u64) {
        self.clock.advance(Duration::from_secs(days * 24 * 60 * 60));
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.memory().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.memory().join(path)).unwrap()
    }

    /// Every file in the memory directory, hidden ones too.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files_below(&self.memory())
    }
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new("2026-11-15T08:00:00Z".parse().unwrap()))
}

pub(crate) fn files_below(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                files.insert(name, fs::read(&path).unwrap_or_default());
            }
        }
    }
    files
}

/// A stand-in for the rules: lines with `hunter2` look like a secret.
pub(crate) fn secrets(text: &str) -> Vec<SecretFinding> {
    let lines = text.lines().enumerate().filter(|(_, line)| line.contains("hunter2"));
    lines
        .map(|(at, _)| SecretFinding {
            rule: "test-password",
            what: "a test password",
            line: at + 1,
            column: 1,
            span: 0..0,
        })
        .collect()
}

pub(crate) fn file(path: &str) -> MemoryFile {
    MemoryFile::new(path).unwrap()
}

pub(crate) fn note(name: &str, body: &str) -> NewMemory {
    NewMemory::new(name, &format!("about {name}"), body).with_kind(MemoryType::Project)
}

pub(crate) fn person() -> ChangeOrigin {
    ChangeOrigin::user("asked to")
}

pub(crate) fn model() -> ChangeOrigin {
    ChangeOrigin::new(ChangeAuthor::Model, "worth keeping").from_message(message(Trust::Typed))
}

pub(crate) fn message(trust: Trust) -> MessageSource {
    MessageSource { session: "s1".into(), message: "m1".into(), trust }
}

pub(crate) fn written(outcome: ChangeOutcome) -> Receipt {
    match outcome {
        ChangeOutcome::Written(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

/// The index has one line for each memory and no other, nothing of ours lies about, the history counts up.
#[track_caller]
pub(crate) fn assert_sound(store: &Store) {
    let scan = store.scan(&mut ScanCache::default()).unwrap();
    let mut memories: Vec<&str> = scan
        .memories
        .iter()
        .filter(|memory| !memory.header.quarantined)
        .map(|memory| memory.file.as_str())
        .collect();
    memories.sort_unstable();
    let text = store.index_text().unwrap();
    let mut lines: Vec<String> = MemoryIndex::parse(&text).links().map(|link| link.file).collect();
    lines.sort_unstable();
    assert_eq!(lines, memories, "the index is equal to the files");
    let hidden: Vec<String> =
        files_below(store.dir().path()).into_keys().filter(|name| name.starts_with('.')).collect();
    assert_eq!(hidden, Vec::<String>::new());
    let mut ids: Vec<u64> = store.history().log().unwrap().iter().map(|entry| entry.id.0).collect();
    ids.reverse();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
}
