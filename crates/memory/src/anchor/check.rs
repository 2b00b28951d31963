//! Whether the project still matches anchors.

use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

use dormouse_base::{Dir, DirEntry, EntryKind, RelPath};

use super::claim::Anchor;
use super::project_file::{has_symbol, hash_of, read};

/// Whether the project still matches an anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freshness {
    /// The file is unchanged.
    Fresh,
    /// The file has changed, and the symbol, if there is one, is still in it.
    Touched,
    /// The file exists without the symbol.
    SymbolGone,
    /// The file no longer exists or cannot be read.
    FileGone,
}

impl Freshness {
    /// Whether the anchored file or symbol no longer exists.
    pub fn is_broken(self) -> bool {
        matches!(self, Self::SymbolGone | Self::FileGone)
    }
}

/// Hashes of files that were read before, so that an unchanged file is not read again. Kept by the caller.
#[derive(Debug, Default)]
pub struct AnchorCache {
    /// By path. Iteration order must not influence results.
    files: HashMap<String, CachedFile>,
}

#[derive(Debug)]
struct CachedFile {
    modified: SystemTime,
    size: u64,
    hash: String,
    symbols: BTreeMap<String, bool>,
}

/// Compares anchors with the project; each file and folder is looked up once.
pub fn check(project: &Dir, anchors: &[Anchor], cache: &mut AnchorCache) -> Vec<Freshness> {
    let mut folders = Folders { project, opened: HashMap::new() };
    let mut seen: HashMap<&str, bool> = HashMap::with_capacity(anchors.len());
    anchors
        .iter()
        .map(|anchor| {
            let exists = *seen
                .entry(&anchor.path)
                .or_insert_with(|| refresh(&mut folders, &anchor.path, cache));
            if exists { freshness_of(project, anchor, cache) } else { Freshness::FileGone }
        })
        .collect()
}

/// Maximum number of folders held open at once: the limit on open files is for the whole process.
const MAX_OPEN_FOLDERS: usize = 64;

/// Folders of a project, held open while anchors are checked, because most contain several anchored files.
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
            if self.opened.len() == MAX_OPEN_FOLDERS {
                self.opened.clear();
            }
            // A folder that cannot be opened counts as gone.
            let opened =
                RelPath::new(folder).ok().and_then(|path| self.project.open_folder(&path).ok());
            self.opened.insert(folder.to_owned(), opened);
        }
        self.opened.get(folder)?.as_ref()?.entry(&RelPath::new(name).ok()?).ok()
    }
}

/// Updates the cache for a file. Returns whether the file exists.
fn refresh(folders: &mut Folders<'_>, path: &str, cache: &mut AnchorCache) -> bool {
    let project = folders.project;
    let Ok(relative) = RelPath::new(path) else { return false };
    let Some(entry) = folders.entry(path) else { return false };
    if entry.kind != EntryKind::File {
        return false;
    }
    let known = cache.files.get(path);
    if known.is_some_and(|known| known.modified == entry.modified && known.size == entry.size) {
        return true;
    }
    let Some(bytes) = read(project, &relative) else { return false };
    let known = CachedFile {
        modified: entry.modified,
        size: entry.size,
        hash: hash_of(&bytes),
        symbols: BTreeMap::new(),
    };
    cache.files.insert(path.to_owned(), known);
    true
}

fn freshness_of(project: &Dir, anchor: &Anchor, cache: &mut AnchorCache) -> Freshness {
    let Some(known) = cache.files.get_mut(&anchor.path) else { return Freshness::FileGone };
    if known.hash == anchor.hash {
        return Freshness::Fresh;
    }
    let Some(symbol) = &anchor.symbol else { return Freshness::Touched };
    let found = match known.symbols.get(symbol) {
        Some(found) => *found,
        None => {
            let bytes = RelPath::new(&anchor.path).ok().and_then(|path| read(project, &path));
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
            let found = has_symbol(&text, symbol);
            known.symbols.insert(symbol.clone(), found);
            found
        }
    };
    if found { Freshness::Touched } else { Freshness::SymbolGone }
}

/// The sentence that goes with a recalled memory whose anchors no longer match.
pub fn anchor_caveat(anchors: &[Anchor], states: &[Freshness]) -> Option<String> {
    let mut changes: Vec<String> = anchors
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
    changes.dedup();
    (!changes.is_empty())
        .then(|| format!("Checked against the project just now: {}.", changes.join("; ")))
}
