//! The block between two `---` lines at the head of a memory: read within bounds, changed line by line.
//!
//! Reading never fails: what can not be read is a [`FrontmatterProblem`] and the text counts as having no
//! fields. Changing touches only the lines of the key in question, so that unknown keys, comments, order
//! and line ends stay as the person left them.

mod edit;
mod plain;
mod scalar;
mod yaml;

use thiserror::Error;

pub use edit::{EditError, remove, set, set_first, set_list};

/// The most frontmatter that is looked at, in bytes.
pub const LONGEST: usize = 64 * 1024;

/// A value of the frontmatter. Scalars are text, whatever YAML makes of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A string, number, date or boolean; nothing at all is the empty text.
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

    /// The scalars of a list; a single scalar is a list of one.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) if text.is_empty() => Vec::new(),
            Self::Text(text) => vec![text],
            Self::List(items) => items.iter().filter_map(Self::as_text).collect(),
            Self::Map(_) => Vec::new(),
        }
    }
}

/// The keys and values of a frontmatter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, Value)>);

impl Fields {
    /// The value of a key.
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn find<'a>(pairs: &'a [(String, Value)], key: &str) -> Option<&'a Value> {
    pairs.iter().find(|(known, _)| known == key).map(|(_, value)| value)
}

/// Why a frontmatter was not read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrontmatterProblem {
    /// Longer than [`LONGEST`], or never closed within it.
    #[error(
        "the frontmatter has no closing `---` within {LONGEST} bytes; close it, or move text into the body"
    )]
    Unclosed,
    /// Not what YAML allows, or deeper or with more aliases than a memory needs.
    #[error("the frontmatter can not be read (line {line}): {reason}")]
    Yaml {
        /// Line in the file, from 1.
        line: u64,
        /// What the parser says.
        reason: String,
    },
    /// A list or a single word instead of keys.
    #[error("the frontmatter has no `key: value` lines")]
    NoMapping,
}

/// A text taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// The fields; empty if there are none, or none could be read.
    pub fields: Fields,
    /// What follows the frontmatter.
    pub body: &'a str,
    /// Why fields are missing.
    pub problem: Option<FrontmatterProblem>,
}

/// Takes a text apart.
pub fn parse(text: &str) -> Parsed<'_> {
    let span = match split(text) {
        Split::None => {
            // A byte-order mark belongs to the file, not to what it says.
            let body = text.strip_prefix('\u{feff}').unwrap_or(text);
            return Parsed { fields: Fields::default(), body, problem: None };
        }
        Split::Unclosed => {
            let problem = Some(FrontmatterProblem::Unclosed);
            return Parsed { fields: Fields::default(), body: text, problem };
        }
        Split::Block(span) => span,
    };
    match fields_of(span.inner) {
        Ok(fields) => Parsed { fields: Fields(fields), body: span.body, problem: None },
        Err(problem) => {
            Parsed { fields: Fields::default(), body: span.body, problem: Some(problem) }
        }
    }
}

/// The fields in the first lines of a file. A frontmatter that goes on behind them gives what it has.
pub fn parse_head(head: &str) -> Fields {
    let parsed = parse(head);
    if parsed.problem != Some(FrontmatterProblem::Unclosed) {
        return parsed.fields;
    }
    let inner = head.split_once('\n').map_or("", |(_, inner)| inner);
    let whole_lines = inner.rsplit_once('\n').map_or("", |(lines, _)| lines);
    if whole_lines.len() > LONGEST {
        return Fields::default();
    }
    // What can not be read here is named when the whole file is read.
    fields_of(whole_lines).map(Fields).unwrap_or_default()
}

/// Most files need no YAML parser; that is what makes a scan of thousands quick.
fn fields_of(inner: &str) -> Result<Vec<(String, Value)>, FrontmatterProblem> {
    match plain::fields(inner) {
        Some(fields) => Ok(fields),
        None => yaml::fields(inner),
    }
}

/// Where the block is: `head + inner + fence + body` is the text.
#[derive(Debug, Clone, Copy)]
struct Span<'a> {
    /// A byte-order mark, if any, and the opening line.
    head: &'a str,
    inner: &'a str,
    /// The closing line.
    fence: &'a str,
    body: &'a str,
}

enum Split<'a> {
    None,
    Unclosed,
    Block(Span<'a>),
}

fn split(text: &str) -> Split<'_> {
    let unmarked = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(first) = unmarked.split_inclusive('\n').next().filter(|line| is_fence(line, "---"))
    else {
        return Split::None;
    };
    let head_length = text.len() - unmarked.len() + first.len();
    let Some((head, rest)) = text.split_at_checked(head_length) else { return Split::None };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if is_fence(line, "---") || is_fence(line, "...") {
            return block(head, rest, at, line.len());
        }
        at += line.len();
        if at > LONGEST {
            break;
        }
    }
    Split::Unclosed
}

fn block<'a>(head: &'a str, rest: &'a str, at: usize, fence_length: usize) -> Split<'a> {
    let Some((inner, after)) = rest.split_at_checked(at) else { return Split::None };
    let Some((fence, body)) = after.split_at_checked(fence_length) else { return Split::None };
    Split::Block(Span { head, inner, fence, body })
}

fn is_fence(line: &str, fence: &str) -> bool {
    line.trim_end() == fence
}

#[cfg(test)]
#[path = "frontmatter_tests.rs"]
mod tests;
