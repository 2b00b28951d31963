//! What a memory says about the project's files, bound to those files (M-11).
//!
//! An anchor is made when a memory is written and looked at when it is recalled: age is a guess, this is a
//! fact. Looking costs one question to the file system for each file, unless the file has changed.

mod extract;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::Read;
use std::time::SystemTime;

use dormouse_base::{Dir, DirEntry, EntryKind, RelPath};

pub use extract::extract;

/// Files beyond this are not read for an anchor.
const LONGEST: u64 = 4 * 1024 * 1024;

/// A claim about a file: that it exists, has this content, and holds this symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// The file, relative to the project.
    pub path: String,
    /// A function, type or flag in it.
    pub symbol: Option<String>,
    /// The hash of its content.
    pub hash: String,
    /// The commit at that time.
    pub commit: Option<String>,
}

/// `src/lib.rs#parse 0123456789abcdef @abcdef0`: as it stands in the frontmatter.
impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(symbol) = &self.symbol {
            write!(f, "#{symbol}")?;
        }
        write!(f, " {}", self.hash)?;
        match &self.commit {
            Some(commit) => write!(f, " @{commit}"),
            None => Ok(()),
        }
    }
}

impl Anchor {
    /// Reads an anchor; anything else is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (text, commit) = match text.rsplit_once(" @") {
            Some((text, commit)) => (text, Some(commit.to_owned())),
            None => (text, None),
        };
        let (place, hash) = text.trim().rsplit_once(' ')?;
        let (path, symbol) = match place.split_once('#') {
            Some((path, symbol)) => (path, Some(symbol.to_owned())),
            None => (place, None),
        };
        let is_hash =
            hash.len() == HASH_LENGTH && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_hash && RelPath::new(path).is_ok()).then(|| Self {
            path: path.to_owned(),
            symbol,
            hash: hash.to_owned(),
            commit,
        })
    }
}

/// What became of an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freshness {
    /// Nothing changed.
    Fresh,
    /// The file changed since.
    Touched,
    /// The file is there, the symbol is not.
    SymbolGone,
    /// The file is gone.
    FileGone,
}

impl Freshness {
    /// Whether what the memory says can no longer be found.
    pub fn is_broken(self) -> bool {
        matches!(self, Self::SymbolGone | Self::FileGone)
    }
}

/// What is known of the project's files; the caller keeps it.
#[derive(Debug, Default)]
pub struct AnchorCache {
    /// By path; the order in it never shows.
    known: HashMap<String, Known>,
}

#[derive(Debug)]
struct Known {
    modified: SystemTime,
    size: u64,
    hash: String,
    symbols: BTreeMap<String, bool>,
}

const HASH_LENGTH: usize = 16;

fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(HASH_LENGTH).collect()
}

/// Looks at anchors, each file and each folder once.
pub fn check(project: &Dir, anchors: &[Anchor], cache: &mut AnchorCache) -> Vec<Freshness> {
    let mut folders = Folders { project, opened: HashMap::new() };
    let mut seen: HashMap<&str, bool> = HashMap::with_capacity(anchors.len());
    anchors
        .iter()
        .map(|anchor| {
            let there = *seen
                .entry(&anchor.path)
                .or_insert_with(|| look(&mut folders, &anchor.path, cache));
            if there { judge(project, anchor, cache) } else { Freshness::FileGone }
        })
        .collect()
}

/// A process may have few files open, and others need some of them.
const MOST_OPEN: usize = 64;

/// The folders of a project, held open while anchors are looked at: most are asked for many files.
struct Folders<'a> {
    project: &'a Dir,
    opened: HashMap<String, Option<Dir>>,
}

impl Folders<'_> {
    fn entry(&mut self, path: &str) -> Option<DirEntry> {
        let Some((folder, name)) = path.rsplit_once('/') else {
            return self.project.entry(&RelPath::new(path).ok()?).ok();
        };
        if !self.opened.contains_key(folder) {
            if self.opened.len() == MOST_OPEN {
                self.opened.clear();
            }
            // A folder that can not be opened is as good as gone.
            let opened =
                RelPath::new(folder).ok().and_then(|path| self.project.open_folder(&path).ok());
            self.opened.insert(folder.to_owned(), opened);
        }
        self.opened.get(folder)?.as_ref()?.entry(&RelPath::new(name).ok()?).ok()
    }
}

/// Brings the cache up to date for a file; says whether it is there.
fn look(folders: &mut Folders<'_>, path: &str, cache: &mut AnchorCache) -> bool {
    let project = folders.project;
    let Ok(relative) = RelPath::new(path) else { return false };
    let Some(entry) = folders.entry(path) else { return false };
    if entry.kind != EntryKind::File {
        return false;
    }
    let known = cache.known.get(path);
    if known.is_some_and(|known| known.modified == entry.modified && known.size == entry.size) {
        return true;
    }
    let Some(bytes) = read(project, &relative) else { return false };
    let known = Known {
        modified: entry.modified,
        size: entry.size,
        hash: hash_of(&bytes),
        symbols: BTreeMap::new(),
    };
    cache.known.insert(path.to_owned(), known);
    true
}

fn judge(project: &Dir, anchor: &Anchor, cache: &mut AnchorCache) -> Freshness {
    let Some(known) = cache.known.get_mut(&anchor.path) else { return Freshness::FileGone };
    if known.hash == anchor.hash {
        return Freshness::Fresh;
    }
    let Some(symbol) = &anchor.symbol else { return Freshness::Touched };
    let found = match known.symbols.get(symbol) {
        Some(found) => *found,
        None => {
            let bytes = RelPath::new(&anchor.path).ok().and_then(|path| read(project, &path));
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
            let found = extract::has_symbol(&text, symbol);
            known.symbols.insert(symbol.clone(), found);
            found
        }
    };
    if found { Freshness::Touched } else { Freshness::SymbolGone }
}

fn read(project: &Dir, path: &RelPath) -> Option<Vec<u8>> {
    // A file that can not be read can not be judged: it counts as gone.
    let file = project.open_file(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// What to say of anchors that are no longer fresh.
pub fn anchor_caveat(anchors: &[Anchor], states: &[Freshness]) -> Option<String> {
    let said: Vec<String> = anchors
        .iter()
        .zip(states)
        .filter_map(|(anchor, state)| {
            let symbol = anchor.symbol.as_deref().unwrap_or_default();
            match state {
                Freshness::Fresh => None,
                Freshness::Touched => Some(format!("{} has changed since", anchor.path)),
                Freshness::SymbolGone => {
                    Some(format!("`{symbol}` is no longer in {}", anchor.path))
                }
                Freshness::FileGone => Some(format!("{} is gone", anchor.path)),
            }
        })
        .collect();
    let mut said = said;
    said.dedup();
    (!said.is_empty())
        .then(|| format!("Checked against the project just now: {}.", said.join("; ")))
}

#[cfg(test)]
#[path = "anchor_tests.rs"]
mod tests;
