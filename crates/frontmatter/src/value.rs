//! Values, fields and the reasons why a frontmatter could not be read.

use thiserror::Error;

/// Longest frontmatter that is read, in bytes.
pub const LONGEST: usize = 64 * 1024;

/// A frontmatter value. Every scalar is kept as its text, whatever type YAML would give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A string, number, date or boolean; a missing value is the empty text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A mapping, in the order of the file.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// The text of a scalar.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::List(_) | Self::Map(_) => None,
        }
    }

    /// The scalars of a list; a single scalar counts as a list of one.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) if text.is_empty() => Vec::new(),
            Self::Text(text) => vec![text],
            Self::List(items) => items.iter().filter_map(Self::as_text).collect(),
            Self::Map(_) => Vec::new(),
        }
    }
}

/// Keys and values of a frontmatter, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrontmatterFields(pub(crate) Vec<(String, Value)>);

impl FrontmatterFields {
    /// The value of a key, of any form.
    pub fn get(&self, key: &str) -> Option<&Value> {
        find(&self.0, key)
    }

    /// The text of a key, if it is a scalar and not empty.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Value::as_text).filter(|text| !text.is_empty())
    }

    /// The text of a key inside a mapping: `metadata.type`.
    pub fn nested_text(&self, outer: &str, inner: &str) -> Option<&str> {
        match self.get(outer)? {
            Value::Map(pairs) => find(pairs, inner)?.as_text().filter(|text| !text.is_empty()),
            Value::Text(_) | Value::List(_) => None,
        }
    }

    /// The keys, in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn find<'a>(pairs: &'a [(String, Value)], key: &str) -> Option<&'a Value> {
    pairs.iter().find(|(known, _)| known == key).map(|(_, value)| value)
}

/// Why a frontmatter could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrontmatterProblem {
    /// Longer than [`LONGEST`], or never closed within it.
    #[error(
        "the frontmatter has no closing `---` within {LONGEST} bytes; close it, or move text into the body"
    )]
    Unclosed,
    /// Invalid YAML, or nested deeper or with more aliases than allowed.
    #[error(
        "the frontmatter cannot be read (line {line}): {reason}; a text with special characters needs quotes"
    )]
    Yaml {
        /// Line in the file, from 1.
        line: u64,
        /// The parser's message.
        reason: String,
    },
    /// A list or a single word instead of keys.
    #[error("the frontmatter has no `key: value` lines")]
    NoMapping,
}
