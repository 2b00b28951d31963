//! What the conversation has read, so that an edit can demand a prior read and notice a change since.
//!
//! Invariant: never more than [`MAX_FILES`] files or [`MAX_BYTES`] of content; what was used longest
//! ago goes first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::editor_files::TextFingerprint;

/// The most files remembered.
const MAX_FILES: usize = 100;
/// The most content remembered.
const MAX_BYTES: usize = 25 * 1024 * 1024;

/// How much of a file was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadExtent {
    /// All of it: `content` is the file, byte for byte.
    Whole,
    /// Some lines, or lines that were cut or repaired.
    Part,
    /// A form made from it, as for a notebook.
    Rendered,
}

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedFile {
    /// When it had last changed.
    pub modified: SystemTime,
    /// Its size in bytes.
    pub size: u64,
    /// How much of it was shown.
    pub extent: ReadExtent,
    /// What was shown, without line numbers.
    pub content: String,
    /// All of the editor's text, if it was read there.
    pub in_editor: Option<TextFingerprint>,
}

/// The files read, by their canonical path.
#[derive(Debug, Clone, Default)]
pub struct ReadCache {
    files: BTreeMap<PathBuf, (u64, CachedFile)>,
    bytes: usize,
    uses: u64,
}

impl ReadCache {
    /// Remembers a file, in place of what was known of it.
    pub fn insert(&mut self, path: PathBuf, file: CachedFile) {
        self.remove(&path);
        if file.content.len() > MAX_BYTES {
            return;
        }
        self.uses += 1;
        self.bytes += file.content.len();
        self.files.insert(path, (self.uses, file));
        while self.files.len() > MAX_FILES || self.bytes > MAX_BYTES {
            let Some(oldest) = self.oldest() else { break };
            self.remove(&oldest);
        }
    }

    /// What is known of a file. Asking counts as a use.
    pub fn get(&mut self, path: &Path) -> Option<&CachedFile> {
        let (used, file) = self.files.get_mut(path)?;
        self.uses += 1;
        *used = self.uses;
        Some(file)
    }

    /// Forgets a file.
    pub fn remove(&mut self, path: &Path) {
        if let Some((_, file)) = self.files.remove(path) {
            self.bytes -= file.content.len();
        }
    }

    /// The files that were used last, the newest first.
    pub fn newest(&self, most: usize) -> Vec<PathBuf> {
        let mut files: Vec<(&PathBuf, u64)> =
            self.files.iter().map(|(path, (used, _))| (path, *used)).collect();
        files.sort_by_key(|(_, used)| std::cmp::Reverse(*used));
        files.into_iter().take(most).map(|(path, _)| path.clone()).collect()
    }

    /// Forgets all files but these.
    pub fn keep_only(&mut self, paths: &[PathBuf]) {
        let others: Vec<PathBuf> =
            self.files.keys().filter(|path| !paths.contains(path)).cloned().collect();
        for path in &others {
            self.remove(path);
        }
    }

    /// How many files are remembered.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether nothing was read yet.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    fn oldest(&self) -> Option<PathBuf> {
        self.files.iter().min_by_key(|(_, (used, _))| *used).map(|(path, _)| path.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(length: usize) -> CachedFile {
        CachedFile {
            modified: SystemTime::UNIX_EPOCH,
            size: length as u64,
            extent: ReadExtent::Whole,
            content: "x".repeat(length),
            in_editor: None,
        }
    }

    fn path(number: usize) -> PathBuf {
        PathBuf::from(format!("/f{number}"))
    }

    #[test]
    fn the_least_used_file_goes_first() {
        let mut cache = ReadCache::default();
        (0..MAX_FILES).for_each(|number| cache.insert(path(number), file(1)));
        assert!(cache.get(&path(0)).is_some());
        cache.insert(path(1_000), file(1));
        assert_eq!((cache.len(), cache.bytes), (MAX_FILES, MAX_FILES));
        assert!(cache.get(&path(0)).is_some() && cache.get(&path(1_000)).is_some());
        assert!(cache.get(&path(1)).is_none());
    }

    #[test]
    fn content_is_bounded() {
        let mut cache = ReadCache::default();
        (0..6).for_each(|number| cache.insert(path(number), file(5 * 1024 * 1024)));
        assert_eq!((cache.len(), cache.bytes), (5, MAX_BYTES));
        assert!(cache.get(&path(0)).is_none());
        cache.insert(path(9), file(MAX_BYTES + 1));
        assert!(cache.get(&path(9)).is_none());
        assert_eq!(cache.len(), 5);
    }

    #[test]
    fn the_last_read_counts() {
        let mut cache = ReadCache::default();
        cache.insert(path(1), file(10));
        cache.insert(path(1), file(3));
        assert_eq!((cache.len(), cache.bytes), (1, 3));
        assert_eq!(cache.get(&path(1)), Some(&file(3)));
        cache.remove(&path(1));
        assert!(cache.is_empty() && cache.bytes == 0);
    }
}
