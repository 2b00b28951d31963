//! Whether something is said already (B-26): by a memory, or by what stands in the conversation for what was said
//! before, such as a summary, notes or an instruction file.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use dormouse_engine::KnownMemory;
use dormouse_memory::{Claims, MemoryFile, Scope, already_said};

use super::evidence::{Dropped, Proposed};
use super::words::Words;

/// How the part of a memory begins that gives reasons for what stands before it.
const REASONS: &str = "**Why:**";

/// What is known.
pub(super) struct Already {
    memories: Vec<(Scope, MemoryFile, Claims)>,
    standing: Vec<Claims>,
    /// What this run has saved.
    saved: Mutex<Vec<Claims>>,
}

impl Already {
    /// Of memories, and of texts that stand in the conversation.
    pub(super) fn of(known: Vec<KnownMemory>, standing: &[&str]) -> Self {
        let memories =
            known.into_iter().map(|known| (known.scope, known.file, Claims::of(&known.text)));
        let standing = standing.iter().map(|text| Claims::of(text));
        Self { memories: memories.collect(), standing: standing.collect(), saved: Mutex::default() }
    }

    /// Drops what is said already.
    pub(super) fn look(&self, proposed: &Proposed<'_>) -> Result<(), Dropped> {
        let claims = claims(proposed);
        let others: Vec<_> =
            self.memories.iter().filter(|known| is_other(proposed, known)).collect();
        let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        // A memory that is changed may say again what was put into it a moment ago.
        let saved = if proposed.onto.is_some() { &[] } else { saved.as_slice() };
        let memories = others.iter().map(|(_, _, claims)| claims);
        match already_said(&claims, memories.chain(saved).chain(&self.standing)) {
            None => Ok(()),
            Some(place) => Err(match others.get(place) {
                Some((_, file, _)) => Dropped::SaidBy(file.clone()),
                None if place < others.len() + saved.len() => Dropped::SavedNow,
                None => Dropped::SaidInConversation,
            }),
        }
    }

    /// Keeps in mind what was saved.
    pub(super) fn keep(&self, proposed: &Proposed<'_>) {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner).push(claims(proposed));
    }
}

/// What a proposal says: its rule or fact. Reasons alone make no other memory of it, and its description is about
/// what it says.
fn claims(proposed: &Proposed<'_>) -> Claims {
    let rule = proposed.body.split(REASONS).next().unwrap_or_default();
    let claims = Claims::of(rule);
    if claims.is_empty() { Claims::of(proposed.text) } else { claims }
}

/// Whether a memory is neither changed nor replaced by a proposal.
fn is_other(proposed: &Proposed<'_>, (scope, file, _): &(Scope, MemoryFile, Claims)) -> bool {
    !proposed.supersedes.contains(file) && proposed.onto != Some((*scope, file))
}

/// Whether a proposal has anything of what it is said to rest on.
pub(super) fn bears_on(proposed: &Proposed<'_>) -> bool {
    let words = set(proposed.text);
    proposed.quotes.iter().any(|quote| set(quote).iter().any(|word| words.contains(word)))
}

fn set(text: &str) -> HashSet<String> {
    Words::of(text).iter().filter(|word| word.len() > 3).map(str::to_owned).collect()
}
