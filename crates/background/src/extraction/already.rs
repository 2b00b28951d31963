//! Whether something is said already (B-26): by a memory, by an instruction file, or by what stands in the
//! conversation for what was said before, such as a summary or notes. What the person says is no less news for
//! standing in a summary too: that is no memory.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use dormouse_engine::MemoryText;
use dormouse_memory::{Claims, MemoryFile, Scope, already_said};

use super::evidence::{Dropped, Proposed};
use super::words::Words;

/// How the part of a memory begins that gives reasons for what stands before it.
const REASONS: &str = "**Why:**";

/// What is known.
pub(super) struct Already {
    memories: Vec<(Scope, MemoryFile, Claims)>,
    /// What stood in front of the conversation.
    before: Vec<Claims>,
    /// What the program put into it.
    put_in: Vec<Claims>,
    /// What this run has saved.
    saved: Mutex<Vec<Claims>>,
}

impl Already {
    /// Of memories, of texts in front of the conversation, and of those that the program put into it.
    pub(super) fn of<'t>(
        known: Vec<MemoryText>,
        before: &[String],
        put_in: impl Iterator<Item = &'t str>,
    ) -> Self {
        let memories =
            known.into_iter().map(|known| (known.scope, known.file, Claims::of(&known.text)));
        Self {
            memories: memories.collect(),
            before: before.iter().map(|text| Claims::of(text)).collect(),
            put_in: put_in.map(Claims::of).collect(),
            saved: Mutex::default(),
        }
    }

    /// Drops what is said already. `typed` is what the person has said in the messages that it rests on.
    pub(super) fn look(&self, proposed: &Proposed<'_>, typed: &str) -> Result<(), Dropped> {
        let claims = claims(proposed);
        let is_theirs = already_said(&claims, [&Claims::of(typed)]).is_some();
        let put_in = if is_theirs { &[] } else { self.put_in.as_slice() };
        let others: Vec<_> =
            self.memories.iter().filter(|known| is_other(proposed, known)).collect();
        let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        // A memory that is changed may say again what was put into it a moment ago.
        let saved = if proposed.onto.is_some() { &[] } else { saved.as_slice() };
        let memories = others.iter().map(|(_, _, claims)| claims);
        match already_said(&claims, memories.chain(saved).chain(&self.before).chain(put_in)) {
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

/// Whether a text says what is proposed.
pub(super) fn is_said_by(proposed: &Proposed<'_>, text: &str) -> bool {
    already_said(&claims(proposed), [&Claims::of(text)]).is_some()
}

/// Whether half of a proposal's words are from these texts, and the person did not say them.
pub(super) fn is_mostly_of<'t>(
    proposed: &Proposed<'_>,
    texts: impl Iterator<Item = &'t str>,
    typed: &str,
) -> bool {
    let (words, typed) = (set(proposed.body), set(typed));
    let brought: HashSet<String> = texts.flat_map(set).collect();
    let borrowed = |word: &&String| brought.contains(*word) && !typed.contains(*word);
    !words.is_empty() && 2 * words.iter().filter(borrowed).count() >= words.len()
}

fn set(text: &str) -> HashSet<String> {
    Words::of(text).iter().filter(|word| word.len() > 3).map(str::to_owned).collect()
}
