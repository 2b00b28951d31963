//! The texts of a document that are given to an embedding model.
//!
//! The whole says what a document is about; a sentence may say just what a message asks, and is drowned in the whole.

use crate::clause::split_clauses;

/// Small models read no more, and the beginning says what a document is about.
const LONGEST_TEXT: usize = 2000;
/// Sentences of a document with a vector of their own; further ones are in that of the whole only.
const MOST_SENTENCES: usize = 8;
const LONGEST_SENTENCE: usize = 600;
/// Changes with [`EmbeddingTexts`]: vectors of other texts are treated like those of another model.
pub(super) const TEXT_VERSION: &str = "text 2";

/// The texts of a document of which vectors are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingTexts {
    /// Name, description and body.
    pub(super) whole: String,
    /// The first sentences of the body.
    pub(super) sentences: Vec<String>,
}

impl EmbeddingTexts {
    /// The texts of a document with these fields, up to a maximum length.
    pub fn of(name: &str, description: Option<&str>, body: &str) -> Self {
        let mut whole = name.to_owned();
        for part in description.into_iter().chain([body.trim()]) {
            whole.push('\n');
            whole.push_str(part);
        }
        let clauses = split_clauses(body).into_iter().take(MOST_SENTENCES);
        Self {
            whole: beginning(&whole, LONGEST_TEXT),
            sentences: clauses.map(|clause| beginning(clause.text, LONGEST_SENTENCE)).collect(),
        }
    }
}

fn beginning(text: &str, longest: usize) -> String {
    text.get(..text.floor_char_boundary(longest)).unwrap_or_default().to_owned()
}
