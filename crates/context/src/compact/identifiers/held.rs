//! Which names and texts stand in a text: what a summary already says, what survived a compaction.

use std::collections::BTreeSet;

use super::scan::{IdentifierKind, each_identifier};
use super::unfold::unfold;

/// What a text holds, ready to be asked many times.
#[derive(Debug, Clone, Default)]
pub struct HeldIdentifiers {
    text: String,
    words: BTreeSet<String>,
    names: BTreeSet<String>,
    /// Every path, from each of its parts to its end.
    paths: BTreeSet<String>,
}

impl HeldIdentifiers {
    /// Reads a text. Names that were folded into braces count like any other.
    pub fn in_text(text: &str) -> Self {
        let mut held = Self { text: text.to_owned(), ..Self::default() };
        each_identifier(text, &mut |name| held.add(name.kind, name.text));
        unfold(text, &mut |folded| {
            each_identifier(folded, &mut |name| held.add(name.kind, name.text));
        });
        held.words = words(text).map(str::to_owned).collect();
        held
    }

    /// Counts a name as held.
    pub fn add(&mut self, kind: IdentifierKind, name: &str) {
        match kind {
            IdentifierKind::Path => self.add_path(name),
            IdentifierKind::Identifier => {
                self.names.insert(name.to_owned());
                self.names.extend(name.split("::").map(str::to_owned));
            }
            IdentifierKind::Url | IdentifierKind::Hash | IdentifierKind::Number => {
                self.names.insert(name.to_owned());
            }
            IdentifierKind::Error => {}
        }
    }

    fn add_path(&mut self, path: &str) {
        let mut rest = path;
        loop {
            if !self.paths.insert(rest.to_owned()) {
                // Its own parts came with it.
                return;
            }
            match rest.split_once('/') {
                Some((_, after)) if !after.is_empty() => rest = after,
                _ => return,
            }
        }
    }

    /// Whether a name is held. A path is if it is the end of a longer one, or a folder on the way to it.
    pub fn name(&self, kind: IdentifierKind, name: &str) -> bool {
        match kind {
            IdentifierKind::Path => self.path(name),
            IdentifierKind::Identifier
            | IdentifierKind::Url
            | IdentifierKind::Hash
            | IdentifierKind::Number => self.names.contains(name),
            IdentifierKind::Error => self.text(name),
        }
    }

    fn path(&self, path: &str) -> bool {
        let path = path.strip_prefix("./").unwrap_or(path);
        let inside = format!("{path}/");
        self.paths.contains(path)
            || self
                .paths
                .range(inside.clone()..)
                .next()
                .is_some_and(|next| next.starts_with(&inside))
    }

    /// Whether a text is held, word for word. Its words are looked up first: most that are not held have
    /// one that is nowhere, and the text is not searched for them.
    pub fn text(&self, text: &str) -> bool {
        let text = text.trim();
        words(text).all(|word| self.words.contains(word)) && self.text.contains(text)
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}
