//! Many known texts, and which of them a new one repeats or contradicts.

use std::collections::HashMap;

use super::claims::Claims;
use super::items::Id;
use super::relation::TextRelation;

/// So many texts, those that share most words, are compared closely.
const COMPARED: usize = 20;
/// A text with fewer words in common says something else.
const LEAST_SHARED: usize = 2;

/// Texts by name. Comparing with them costs what the words in common cost, however many texts there are.
#[derive(Debug, Default)]
pub struct KnownTexts {
    texts: Vec<(String, Claims)>,
    by_word: HashMap<Id, Vec<usize>>,
}

impl KnownTexts {
    /// Adds a text.
    pub fn add(&mut self, name: impl Into<String>, claims: Claims) {
        let position = self.texts.len();
        for id in &claims.all {
            self.by_word.entry(*id).or_default().push(position);
        }
        self.texts.push((name.into(), claims));
    }

    /// The texts that this one repeats or contradicts, the most similar first.
    pub fn related(&self, claims: &Claims) -> Vec<(TextRelation, &str)> {
        let nearest = self.nearest(claims).into_iter();
        let related = nearest.filter_map(|position| {
            let (name, known) = self.texts.get(position)?;
            Some((TextRelation::of(claims, known)?, name.as_str()))
        });
        related.collect()
    }

    fn nearest(&self, claims: &Claims) -> Vec<usize> {
        let mut shared: HashMap<usize, usize> = HashMap::new();
        let texts = claims.all.iter().filter_map(|id| self.by_word.get(id)).flatten();
        for position in texts {
            *shared.entry(*position).or_default() += 1;
        }
        let mut nearest: Vec<(usize, usize)> =
            shared.into_iter().filter(|(_, count)| *count >= LEAST_SHARED).collect();
        nearest.sort_by_key(|(position, count)| (std::cmp::Reverse(*count), *position));
        nearest.into_iter().take(COMPARED).map(|(position, _)| position).collect()
    }
}
