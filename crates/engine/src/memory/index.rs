//! The index of each scope as the first message shows it (R-2, M-6).

use dormouse_memory::index::{self, IndexLimits, LOADED_BYTES, LOADED_LINES};
use dormouse_memory::{ScanCache, Scope, Store};

use super::session_memory::SessionMemory;

/// The indexes for the first message, and warnings about them for the user.
#[derive(Debug, Default)]
pub(crate) struct IndexParts {
    /// A heading and a text for every scope that has an index.
    pub(crate) parts: Vec<(String, String)>,
    /// About indexes that are nearly full.
    pub(crate) warnings: Vec<String>,
}

/// The index of each scope, each in at most `most_bytes`.
pub(crate) fn index_parts(
    memory: &SessionMemory,
    limits: IndexLimits,
    most_bytes: usize,
) -> IndexParts {
    let mut index = IndexParts::default();
    for store in memory.memories().stores() {
        // A store that cannot be read costs its index, not the session; doctor shows why.
        let scan = || store.scan(&mut ScanCache::default());
        let Ok(loaded) = store.loaded_index(limits, scan) else { continue };
        if loaded.text.trim().is_empty() {
            continue;
        }
        index.warnings.extend(nearly_full(store));
        let text = bounded(loaded.with_warning(), most_bytes);
        let folder = store.dir().path().display();
        index.parts.push((format!("{} in {folder}", heading(store.scope())), text));
    }
    index
}

/// A warning from 80 % of a limit on (M-6).
fn nearly_full(store: &Store) -> Option<String> {
    let fill = index::fill(&store.index_text().ok()?);
    fill.is_nearly_full().then(|| {
        format!(
            "the index of {} memory has {} of {LOADED_LINES} lines and {} of {LOADED_BYTES} bytes; lines \
             beyond that are not shown to the model at the start; `dormouse memory doctor` helps to shorten it",
            store.scope(),
            fill.lines,
            fill.bytes
        )
    })
}

fn heading(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "Memory of the user, for every project",
        Scope::Project => "Memory of this project",
        Scope::Team => "Memory of the team",
        Scope::Agent => "Memory of this agent",
    }
}

/// Cuts an index between lines.
fn bounded(text: String, most_bytes: usize) -> String {
    if text.len() <= most_bytes {
        return text;
    }
    let (head, _) = text.split_at(text.floor_char_boundary(most_bytes));
    let end = head.rfind('\n').map_or(head.len(), |end| end + 1);
    let (kept, _) = head.split_at(end);
    format!("{kept}[the index goes on; MemoryList shows all of it]\n")
}
