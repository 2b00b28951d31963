//! The index of each scope, as it stands in the first message (R-2, M-6).

use dormouse_memory::{ScanCache, Scope};

use super::MemoryAccess;

/// A heading and a text for every scope that has an index, in at most so many bytes each.
pub(crate) fn index_parts(memory: &MemoryAccess, most_bytes: usize) -> Vec<(String, String)> {
    let mut parts = Vec::new();
    for store in memory.stores() {
        // A store that can not be read costs its index, not the session; doctor says why.
        let scanned = store.scan(&mut ScanCache::default());
        let Some(loaded) = scanned.ok().and_then(|scan| store.loaded_index(&scan).ok()) else {
            continue;
        };
        if loaded.text.trim().is_empty() {
            continue;
        }
        let text = bounded(loaded.with_warning(), most_bytes);
        let folder = store.dir().path().display();
        parts.push((format!("{} in {folder}", heading(store.scope())), text));
    }
    parts
}

fn heading(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "Memory of the person, for every project",
        Scope::Project => "Memory of this project",
        Scope::Team => "Memory of the team",
        Scope::Agent => "Memory of this agent",
    }
}

/// For a small window even a short index may be too much.
fn bounded(text: String, most_bytes: usize) -> String {
    if text.len() <= most_bytes {
        return text;
    }
    let (head, _) = text.split_at(text.floor_char_boundary(most_bytes));
    let end = head.rfind('\n').map_or(head.len(), |end| end + 1);
    let (kept, _) = head.split_at(end);
    format!("{kept}[the index goes on; MemoryList shows all of it]\n")
}
