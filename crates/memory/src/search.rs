//! Plain matching over memories: words, without regard to case. Ranking proper comes later.

use std::sync::Arc;

use crate::names::fold;
use crate::{ChangeError, Entry, Scanned, Store};

/// How much a word counts, by where it stands.
const IN_NAME: u32 = 4;
const IN_DESCRIPTION: u32 = 2;
const IN_BODY: u32 = 1;

/// Whether memories in quarantine are looked at: for a person they are, for a model never (M-17).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quarantined {
    /// They are not there.
    LeaveOut,
    /// They are.
    Include,
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Which.
    pub memory: Arc<Scanned>,
    /// How well it fits; more is better.
    pub score: u32,
}

impl Store {
    /// The memories with all words of a query, best first; where none has all, those with some.
    pub fn search(
        &self,
        memories: &[Arc<Scanned>],
        query: &str,
        quarantined: Quarantined,
    ) -> Result<Vec<Hit>, ChangeError> {
        let query = fold(query);
        let words: Vec<&str> = query.split_whitespace().collect();
        let mut found = Vec::new();
        for memory in memories {
            if memory.header.quarantined && quarantined == Quarantined::LeaveOut {
                continue;
            }
            // A memory that went away since the scan is not found.
            let Ok((bytes, _)) = self.read(&memory.file) else { continue };
            let (matched, score) =
                score(memory, &Entry::read(&bytes, bytes.len() as u64).body, &words);
            if matched > 0 {
                found.push((matched, Hit { memory: Arc::clone(memory), score }));
            }
        }
        let most = found.iter().map(|(matched, _)| *matched).max().unwrap_or(0);
        let all = most == words.len();
        let mut hits: Vec<(usize, Hit)> =
            found.into_iter().filter(|(matched, _)| !all || *matched == most).collect();
        // The scan is newest first, and the sort keeps that order among equals.
        hits.sort_by_key(|(matched, hit)| std::cmp::Reverse((*matched, hit.score)));
        Ok(hits.into_iter().map(|(_, hit)| hit).collect())
    }
}

/// How many words occur, and how much they count.
fn score(memory: &Scanned, body: &str, words: &[&str]) -> (usize, u32) {
    let name = fold(memory.name()).into_owned() + " " + &fold(memory.file.stem());
    let description = fold(memory.header.description.as_deref().unwrap_or_default()).into_owned();
    let body = fold(body);
    let mut matched = 0;
    let mut score = 0;
    for word in words {
        let here = [(name.as_str(), IN_NAME), (&description, IN_DESCRIPTION), (&body, IN_BODY)];
        let of_word: u32 =
            here.iter().filter(|(text, _)| text.contains(word)).map(|(_, weight)| *weight).sum();
        matched += usize::from(of_word > 0);
        score += of_word;
    }
    (matched, score)
}
