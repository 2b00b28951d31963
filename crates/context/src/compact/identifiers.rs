//! Names worth keeping: paths, identifiers, URLs, hashes, error texts and numbers, found by a scanner
//! that reads every character once; and the index of those that a compaction drops (C-23).

use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_conversation::Message;

use super::texts::each_text;

/// What a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A file or folder.
    Path,
    /// A name in code.
    Identifier,
    /// A URL.
    Url,
    /// A hash, a commit, a UUID.
    Hash,
    /// A number with a meaning: a port, a version, an id.
    Number,
    /// A line that reports an error.
    Error,
}

/// A name in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identifier<'a> {
    /// What it is.
    pub kind: Kind,
    /// The name.
    pub text: &'a str,
}

/// The names in a text, in order, as often as they occur.
pub fn identifiers(text: &str) -> Vec<Identifier<'_>> {
    let mut found = Vec::new();
    for token in text.split(|c: char| c.is_whitespace() || "\"'`()[]{}<>,;|*=".contains(c)) {
        let token = token.trim_end_matches(['.', ':', '!', '?']);
        if let Some(kind) = kind_of(token) {
            found.push(Identifier { kind, text: token });
        }
    }
    found
}

fn kind_of(token: &str) -> Option<Kind> {
    let letters = token.chars().filter(char::is_ascii_alphabetic).count();
    let digits = token.chars().filter(char::is_ascii_digit).count();
    if token.len() < 3 || token.len() > 200 {
        None
    } else if token.contains("://") {
        Some(Kind::Url)
    } else if token.contains('/') && letters > 1 {
        Some(Kind::Path)
    } else if token.len() >= 7 && digits > 0 && token.chars().all(|c| c.is_ascii_hexdigit()) {
        Some(Kind::Hash)
    } else if token.contains(['_', ':']) && letters > 1 {
        Some(Kind::Identifier)
    } else if digits > 2 && letters == 0 {
        Some(Kind::Number)
    } else {
        None
    }
}

/// How often names occur, and where last.
#[derive(Debug, Clone, Default)]
pub struct Census {
    seen: BTreeMap<(Kind, String), Seen>,
    messages: usize,
}

/// How often a name occurs, and where last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    count: u32,
    last: usize,
}

impl Census {
    /// Counts the names of messages.
    pub fn of(messages: &[Arc<Message>]) -> Self {
        let mut census = Self::default();
        for message in messages {
            census.add(message);
        }
        census
    }

    /// Counts the names of the next message.
    pub fn add(&mut self, message: &Message) {
        let last = self.messages;
        self.messages += 1;
        each_text(message, &mut |text| {
            for name in identifiers(text) {
                let seen = self
                    .seen
                    .entry((name.kind, name.text.to_owned()))
                    .or_insert(Seen { count: 0, last });
                seen.count = seen.count.saturating_add(1);
                seen.last = last;
            }
        });
    }

    /// The names, in a fixed order, with how often they occur.
    pub fn names(&self) -> impl Iterator<Item = (Kind, &str, u32)> {
        self.seen.iter().map(|((kind, name), seen)| (*kind, name.as_str(), seen.count))
    }
}

/// The index of what was dropped: the names that `already_said` does not hold, by frequency and recency,
/// grouped, at most `max_chars` characters. Empty if there are none.
pub fn index(dropped: &[Arc<Message>], already_said: &str, max_chars: usize) -> String {
    let census = Census::of(dropped);
    let mut names: Vec<(&(Kind, String), &Seen)> = census.seen.iter().collect();
    names.sort_by_key(|(_, seen)| std::cmp::Reverse((seen.count, seen.last)));
    let mut text = String::new();
    for ((_, name), _) in names {
        if !already_said.contains(name.as_str()) && text.len() + name.len() < max_chars {
            text.push_str(name);
            text.push('\n');
        }
    }
    text
}
