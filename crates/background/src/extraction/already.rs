//! Whether something is said already (B-26): by a memory, or by what stands in the conversation for what was said
//! before, such as a summary, notes or an instruction file.

use std::collections::HashSet;

use dormouse_engine::KnownMemory;
use dormouse_memory::{MemoryFile, Scope};

use super::evidence::{Dropped, Proposed};
use super::words::Words;

/// A text says what another says already if it has this share of its words from there.
const SHARE: f64 = 0.85;

/// What is known.
pub(super) struct Already {
    memories: Vec<(Scope, MemoryFile, HashSet<String>)>,
    standing: Vec<HashSet<String>>,
}

impl Already {
    /// Of memories, and of texts that stand in the conversation.
    pub(super) fn of(known: Vec<KnownMemory>, standing: &[&str]) -> Self {
        let memories = known.into_iter().map(|known| (known.scope, known.file, set(&known.text)));
        let lines = standing.iter().flat_map(|text| text.lines());
        let lines = lines.map(set).filter(|line| !line.is_empty());
        Self { memories: memories.collect(), standing: lines.collect() }
    }

    /// Drops what is said already.
    pub(super) fn look(&self, proposed: &Proposed<'_>) -> Result<(), Dropped> {
        let words = set(proposed.text);
        for (scope, file, said) in &self.memories {
            let replaced = proposed.supersedes.contains(file);
            let onto = proposed.onto == Some((*scope, file));
            if !replaced && !onto && covers(said, &words) {
                return Err(Dropped::SaidBy(file.clone()));
            }
        }
        if self.standing.iter().any(|said| covers(said, &words)) {
            return Err(Dropped::SaidInConversation);
        }
        Ok(())
    }
}

/// Whether a proposal has anything of what it is said to rest on.
pub(super) fn bears_on(proposed: &Proposed<'_>) -> bool {
    let words = set(proposed.text);
    proposed.quotes.iter().any(|quote| set(quote).iter().any(|word| words.contains(word)))
}

fn set(text: &str) -> HashSet<String> {
    Words::of(text).iter().filter(|word| word.len() > 3).map(str::to_owned).collect()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of words are small")]
fn covers(said: &HashSet<String>, words: &HashSet<String>) -> bool {
    let shared = words.iter().filter(|word| said.contains(*word)).count();
    !words.is_empty() && shared as f64 >= SHARE * words.len() as f64
}
