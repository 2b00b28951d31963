//! The index of each scope as the first message shows it (R-2, M-6).

use dormouse_conversation::estimate_text;
use dormouse_memory::index::{self, IndexLimits, LOADED_BYTES, LOADED_LINES};
use dormouse_memory::{ScanCache, Scope, Store};

use super::session_memory::SessionMemory;

/// The indexes for the first message, and warnings about them for the user.
#[derive(Debug, Default)]
pub(crate) struct IndexParts {
    /// A heading and a text for every scope that has an index.
    pub(crate) parts: Vec<(String, String)>,
    /// How many memories they list.
    pub(crate) listed: usize,
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
        index.listed += index::MemoryIndex::parse(&text).links().count();
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

/// The tokens that the indexes take in the text of a first message, estimated.
pub(crate) fn index_tokens(first_message: &str) -> u64 {
    let scopes = [Scope::User, Scope::Project, Scope::Team, Scope::Agent];
    let starts = scopes.map(|scope| format!("# {} in ", heading(scope)));
    let mut in_index = false;
    let lines = first_message.split_inclusive('\n').filter(|line| {
        if line.starts_with("# ") {
            in_index = starts.iter().any(|start| line.starts_with(start));
        }
        in_index
    });
    u64::from(estimate_text(&lines.collect::<String>()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_sections_of_indexes_count() {
        let rules = "# Project instructions\n# Build\nuse make\n";
        let index =
            "# Memory of this project in /home/u/memory\n- [Deploys](deploys.md): from main\n";
        let both = format!("{rules}{index}# Skills\nmany of them\n");
        assert_eq!(index_tokens(rules), 0);
        assert_eq!(index_tokens(&both), u64::from(estimate_text(index)));
    }
}
