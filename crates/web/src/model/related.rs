//! Memories that have to do with one: about the same files, saying nearly the same, saying the opposite.

use std::collections::BTreeSet;

use dormouse_memory::recall::{MemoryQuery, QuarantineFilter};
use dormouse_memory::{Anchor, Claims, FoundMemory, MemoryEntry, StoreScope, TextRelation};
use dormouse_search::RecallTier;

use crate::error::ViewerError;
use crate::viewer::Viewer;

/// The nearest memories that are compared sentence by sentence.
const COMPARED: usize = 20;
/// The most memories of each relation.
const SHOWN: usize = 8;

/// How a memory relates to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Relation {
    /// It says the opposite.
    Contradicts,
    /// All of one is in the other.
    SaysTheSame,
    /// It is about the same files.
    SameFiles,
    /// The ranking finds it for this one's words.
    Similar,
}

/// A memory that has to do with another.
pub(crate) struct RelatedMemory {
    pub(crate) relation: Relation,
    pub(crate) scope: StoreScope,
    pub(crate) found: FoundMemory,
}

/// The memories that have to do with this one, the most telling relation first.
pub(crate) fn related(
    viewer: &Viewer,
    found: &FoundMemory,
    entry: &MemoryEntry,
) -> Result<Vec<RelatedMemory>, ViewerError> {
    let mut related = Vec::new();
    let mut known = BTreeSet::from([(found.position, found.memory.file.clone())]);
    let mut add = |relation, other: FoundMemory| {
        if known.insert((other.position, other.memory.file.clone())) {
            related.push(RelatedMemory {
                relation,
                scope: viewer.scope_at(other.position),
                found: other,
            });
        }
    };
    for (relation, other) in compared(viewer, found, entry)? {
        add(relation, other);
    }
    for other in with_same_files(viewer, found)? {
        add(Relation::SameFiles, other);
    }
    related.sort_by_key(|related| related.relation);
    Ok(related)
}

/// The nearest memories, as far as they say something about the same.
fn compared(
    viewer: &Viewer,
    found: &FoundMemory,
    entry: &MemoryEntry,
) -> Result<Vec<(Relation, FoundMemory)>, ViewerError> {
    let text = text_of(entry);
    let exclude = BTreeSet::from([(found.position, found.memory.file.clone())]);
    let query = MemoryQuery {
        exclude: &exclude,
        quarantined: QuarantineFilter::Include,
        ..MemoryQuery::new(&text, COMPARED, viewer.now())
    };
    let own = Claims::of(entry.text());
    let mut relations = Vec::new();
    for hit in viewer.memories().recall().query(&query)?.hits {
        let Some(other) = viewer.memories().found(&hit) else { continue };
        // A memory that was removed since is no longer related.
        let Ok((other_entry, _)) = other.read() else { continue };
        let theirs = Claims::of(other_entry.text());
        let both = [TextRelation::of(&own, &theirs), TextRelation::of(&theirs, &own)];
        if both.contains(&Some(TextRelation::Contradicts)) {
            relations.push((Relation::Contradicts, other));
        } else if both.contains(&Some(TextRelation::Repeats)) {
            relations.push((Relation::SaysTheSame, other));
        } else if hit.tier == RecallTier::Sure && relations.len() < SHOWN {
            relations.push((Relation::Similar, other));
        }
    }
    Ok(relations)
}

fn with_same_files(viewer: &Viewer, found: &FoundMemory) -> Result<Vec<FoundMemory>, ViewerError> {
    let own = paths(found);
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let all = viewer.memories().list(None, QuarantineFilter::Include)?;
    let shares = |other: &FoundMemory| !paths(other).is_disjoint(&own);
    Ok(all.into_iter().filter(shares).take(SHOWN + 1).collect())
}

/// The files that a memory is about.
fn paths(found: &FoundMemory) -> BTreeSet<String> {
    let anchors = found.memory.header.anchors.iter();
    anchors.filter_map(|text| Anchor::parse(text)).map(|anchor| anchor.path).collect()
}

fn text_of(entry: &MemoryEntry) -> String {
    let header = &entry.header;
    let name = header.name.as_deref().unwrap_or_default();
    format!("{name} {}", header.description.as_deref().unwrap_or_default())
}
