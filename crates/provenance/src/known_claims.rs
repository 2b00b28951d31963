//! Whether a proposed memory only repeats what is known (B-26): a memory, an instruction file, or a text that the
//! program put into the conversation, such as a summary or notes. What the user says is news even if a summary says
//! it too: a summary is no memory.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use dormouse_memory::{Claims, MemoryFile, MemoryText, Scope, find_repeated};

use crate::check::{ProposedMemory, ProvenanceError};
use crate::words::WordSequence;

/// Begins the part of a memory that gives reasons for the part before it.
const REASONS: &str = "**Why:**";
/// Shorter words, in bytes, are not compared.
const LEAST_WORD_BYTES: usize = 4;

/// The claims that proposals are compared with.
pub(crate) struct KnownClaims {
    memories: Vec<(Scope, MemoryFile, Claims)>,
    /// Of texts in front of the conversation.
    preceding: Vec<Claims>,
    /// Of texts that the program put into the conversation.
    inserted: Vec<Claims>,
    /// Of memories saved in this run.
    saved: Mutex<Vec<Claims>>,
}

impl KnownClaims {
    pub(crate) fn new<'t>(
        memories: Vec<MemoryText>,
        preceding: &[String],
        inserted: impl Iterator<Item = &'t str>,
    ) -> Self {
        let memories =
            memories.into_iter().map(|known| (known.scope, known.file, Claims::of(&known.text)));
        Self {
            memories: memories.collect(),
            preceding: preceding.iter().map(|text| Claims::of(text)).collect(),
            inserted: inserted.map(Claims::of).collect(),
            saved: Mutex::default(),
        }
    }

    /// Fails if everything in a proposal is known. `typed` is the user's text in the messages that it rests on.
    pub(crate) fn check_new(
        &self,
        proposed: &ProposedMemory<'_>,
        typed: &str,
    ) -> Result<(), ProvenanceError> {
        let claims = claims(proposed);
        let is_typed = find_repeated(&claims, [&Claims::of(typed)]).is_some();
        let inserted = if is_typed { &[] } else { self.inserted.as_slice() };
        let others: Vec<_> =
            self.memories.iter().filter(|known| is_other(proposed, known)).collect();
        let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        // A change to a memory may repeat what this run has just saved in it.
        let saved = if proposed.file.is_some() { &[] } else { saved.as_slice() };
        let memories = others.iter().map(|(_, _, claims)| claims);
        let known = memories.chain(saved).chain(&self.preceding).chain(inserted);
        match find_repeated(&claims, known) {
            None => Ok(()),
            Some(index) => Err(match others.get(index) {
                Some((_, file, _)) => ProvenanceError::RepeatsMemory(file.clone()),
                None if index < others.len() + saved.len() => ProvenanceError::RepeatsSaved,
                None => ProvenanceError::RepeatsContext,
            }),
        }
    }

    /// A proposal was saved: proposing it again fails.
    pub(crate) fn add_saved(&self, proposed: &ProposedMemory<'_>) {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner).push(claims(proposed));
    }
}

/// The rule or fact of a proposal. Its reasons alone make no other memory, and its description only repeats it.
fn claims(proposed: &ProposedMemory<'_>) -> Claims {
    let rule = proposed.memory.body.split(REASONS).next().unwrap_or_default();
    let claims = Claims::of(rule);
    if claims.is_empty() { Claims::of(&proposed.text()) } else { claims }
}

/// Whether a known memory is neither changed nor replaced by a proposal.
fn is_other(proposed: &ProposedMemory<'_>, (scope, file, _): &(Scope, MemoryFile, Claims)) -> bool {
    let changed = proposed.file == Some(file) && proposed.scope == *scope;
    !changed && !proposed.supersedes.contains(file)
}

/// Whether a proposal shares a word with the quotations that it rests on.
pub(crate) fn shares_words_with_quotes(proposed: &ProposedMemory<'_>) -> bool {
    let words = word_set(&proposed.text());
    proposed.quotes.iter().any(|quote| !word_set(quote).is_disjoint(&words))
}

/// Whether a text contains everything that is proposed.
pub(crate) fn is_said_by(proposed: &ProposedMemory<'_>, text: &str) -> bool {
    find_repeated(&claims(proposed), [&Claims::of(text)]).is_some()
}

/// Whether half of a proposal's words occur in `texts` and not in the user's text.
pub(crate) fn is_mostly_from<'t>(
    proposed: &ProposedMemory<'_>,
    texts: impl Iterator<Item = &'t str>,
    typed: &str,
) -> bool {
    let words = word_set(&proposed.memory.body);
    let typed = word_set(typed);
    let theirs: HashSet<String> = texts.flat_map(word_set).collect();
    let borrowed = |word: &&String| theirs.contains(*word) && !typed.contains(*word);
    !words.is_empty() && 2 * words.iter().filter(borrowed).count() >= words.len()
}

fn word_set(text: &str) -> HashSet<String> {
    let words = WordSequence::of(text);
    words.iter().filter(|word| word.len() >= LEAST_WORD_BYTES).map(str::to_owned).collect()
}
