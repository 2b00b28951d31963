//! How much two texts are about the same.

use std::collections::BTreeMap;

use crate::words::Tokenizer;

/// The terms of a text, each with a weight: the rarer in a collection, the higher.
#[derive(Debug, Clone, PartialEq)]
pub struct TextSubject {
    weights: BTreeMap<String, f64>,
    /// Length of the vector of weights.
    length: f64,
}

impl TextSubject {
    /// `rarity_of` tells how rare a term is in the collection.
    pub(crate) fn read(tokenizer: &Tokenizer, text: &str, rarity_of: impl Fn(&str) -> f64) -> Self {
        let mut weights = BTreeMap::new();
        tokenizer.each_term(text, |term| {
            if !weights.contains_key(term) {
                // Squared: common words are in any two texts.
                weights.insert(term.to_owned(), rarity_of(term).powi(2));
            }
        });
        let length = weights.values().map(|weight| weight * weight).sum::<f64>().sqrt();
        Self { weights, length }
    }

    /// Whether the text has this term.
    pub fn has(&self, term: &str) -> bool {
        self.weights.contains_key(term)
    }

    /// The cosine of the two vectors of weights: 0 if they share no term, 1 if they have the same terms.
    pub fn alike(&self, other: &Self) -> f64 {
        let shared = self.weights.iter().filter(|(term, _)| other.weights.contains_key(*term));
        let product: f64 = shared.map(|(_, weight)| weight * weight).sum();
        product / (self.length * other.length).max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_as_alike_as_their_rare_terms() {
        let tokenizer = Tokenizer::new();
        let rarity_of = |term: &str| if term == "databas" { 1.0 } else { 2.0 };
        let subject = |text: &str| TextSubject::read(&tokenizer, text, rarity_of);
        let port = subject("The staging database listens on port 5433");
        assert!((port.alike(&port) - 1.0).abs() < 1e-9);
        let moved = subject("Staging databases: port 6432");
        let backup = subject("Database backup");
        let staging = subject("Staging backup");
        assert!(port.alike(&backup) < port.alike(&staging), "a common word tells little");
        let oven = subject("Bread is baked in the oven");
        assert!(port.alike(&moved) > 0.3);
        assert!((port.alike(&moved) - moved.alike(&port)).abs() < 1e-9);
        assert!(port.alike(&oven) < 1e-9);
        assert!(subject("").alike(&port) < 1e-9);
        let chinese = subject("数据库迁移之前先备份");
        assert!(
            chinese.alike(&subject("数据库迁移改到夜里")) > chinese.alike(&subject("备份发票"))
        );
    }
}
