//! What is to be said before a memory is trusted.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::ReachableMemories;
use super::found::FoundMemory;
use crate::kind::Scope;
use crate::recall::MemoryQuery;
use crate::repetition::{Claims, TextRelation};

/// So many of the user's own memories, the ones nearest in words, are compared with a note by somebody else.
const COMPARED: usize = 5;

impl ReachableMemories {
    /// Age, author and the state of the code that it names; and, for a note by a member of the team, which memory of the
    /// user's own says the opposite (T-16). Empty if nothing is to be said.
    pub fn caveat(&self, found: &FoundMemory, now: Timestamp) -> String {
        let caveat = found.caveat(now);
        match self.opposite_of(found, now) {
            Some(own) => {
                let path = own.path().display().to_string();
                format!("{caveat} It contradicts the user's own memory {path}, which counts.")
            }
            None => caveat,
        }
    }

    /// The user's own memory that says the opposite of a teammate's. What cannot be read contradicts nothing.
    fn opposite_of(&self, found: &FoundMemory, now: Timestamp) -> Option<FoundMemory> {
        found.teammate()?;
        let note = found.read().ok()?.0;
        let about = found.memory.header.description.as_deref().unwrap_or_default();
        let text = format!("{about} {}", note.body);
        let claims = Claims::of(&note.body);
        let exclude = BTreeSet::new();
        let own = self.stores.iter().enumerate();
        own.filter(|(_, store)| store.scope() != Scope::Team).find_map(|(position, _)| {
            let query = MemoryQuery {
                store_index: Some(position),
                exclude: &exclude,
                ..MemoryQuery::new(&text, COMPARED, now)
            };
            let hits = self.recall().candidates(&query).ok()?;
            hits.iter().filter_map(|hit| self.found(hit)).find(|own| {
                let own = own.read().map(|(own, _)| Claims::of(&own.body));
                let relation = own.ok().and_then(|own| TextRelation::of(&claims, &own));
                relation == Some(TextRelation::Contradicts)
            })
        })
    }
}
