//! The claims of a text, in the form in which texts are compared.

use super::items::{Id, Sentence};
use super::read;

/// The claims of a text, prepared for comparison.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    pub(super) sentences: Vec<Sentence>,
    /// All ids of all sentences, sorted.
    pub(super) all: Vec<Id>,
}

impl Claims {
    /// Reads a text: a sentence, a memory with its description, or a whole instruction file.
    pub fn of(text: &str) -> Self {
        let sentences = read::sentences(text);
        let mut all: Vec<Id> = sentences.iter().flat_map(Sentence::ids).collect();
        all.sort_unstable();
        all.dedup();
        Self { sentences, all }
    }

    /// How many different words, names and numbers the sentences of the text have.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether the text makes no claim at all.
    pub fn is_empty(&self) -> bool {
        !self.sentences.iter().any(Sentence::has_content)
    }
}
