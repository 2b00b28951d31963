//! An entry in a JSON file that may have comments and trailing commas; all other bytes stay as they are.

use std::ops::Range;

use dormouse_base::{JsonContainer, JsonEntry, indent_of, skip_blank};

use super::error::SetupError;
use super::insertion::Insertion;

/// A value below these keys, as a member of the innermost object or an element of the innermost array.
#[derive(Debug, Clone)]
pub(super) struct JsonItem {
    /// The keys from the top to the container.
    pub(super) path: &'static [&'static str],
    /// The member's key; none for an element of an array.
    pub(super) key: Option<&'static str>,
    /// The value, on one line.
    pub(super) value: String,
    /// A text by which an element is recognized as ours, since elements have no key.
    pub(super) mark: &'static str,
}

impl JsonItem {
    fn text(&self) -> String {
        match self.key {
            Some(key) => format!("\"{key}\": {}", self.value),
            None => self.value.clone(),
        }
    }

    /// The item within containers for the keys that are missing.
    fn within(&self, missing: &[&str]) -> String {
        let inner = self.text();
        let (open, close) = if self.key.is_some() { ("{", "}") } else { ("[", "]") };
        let mut text = inner;
        for (depth, key) in missing.iter().rev().enumerate() {
            let (open, close) = if depth == 0 { (open, close) } else { ("{", "}") };
            text = format!("\"{key}\": {open}{text}{close}");
        }
        text
    }
}

/// The insertion that adds an item; `None` if the file already has it.
pub(super) fn insertion(text: &str, item: &JsonItem) -> Result<Option<Insertion>, SetupError> {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        let text = format!("{{\n  {}\n}}\n", item.within(item.path));
        return Ok(Some(Insertion { at: 0, text }));
    }
    let mut container = JsonContainer::root(text)?;
    let mut missing: &[&str] = item.path;
    while let Some((key, rest)) = missing.split_first() {
        let Some(member) = container.member(key) else { break };
        container = JsonContainer::at(text, member.value.start)?;
        missing = rest;
    }
    if missing.is_empty() && container.entries.iter().any(|entry| is(entry, text, item)) {
        return Ok(None);
    }
    let wanted = if missing.is_empty() && item.key.is_none() { '[' } else { '{' };
    if !text.split_at(container.open).1.starts_with(wanted) {
        return Err(SetupError::Shape(item.path.join(".")));
    }
    let inner = item.within(missing);
    Ok(Some(Insertion { at: container.open + 1, text: fitted(&container, text, &inner) }))
}

/// The text without an item; `None` if it has none.
pub(super) fn without(text: &str, item: &JsonItem) -> Result<Option<String>, SetupError> {
    let mut container = JsonContainer::root(text)?;
    for key in item.path {
        let Some(member) = container.member(key) else { return Ok(None) };
        container = JsonContainer::at(text, member.value.start)?;
    }
    let Some(at) = container.entries.iter().position(|entry| is(entry, text, item)) else {
        return Ok(None);
    };
    let span = span_of(&container, text, at);
    let (before, rest) = text.split_at(span.start);
    let (_, after) = rest.split_at(span.len());
    Ok(Some(format!("{before}{after}")))
}

/// Whether a text is JSON.
pub(super) fn check(text: &str) -> Result<(), SetupError> {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(());
    }
    Ok(JsonContainer::root(text).map(drop)?)
}

/// Whether a text has at most an empty object.
pub(super) fn is_empty(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}').collect();
    bare.is_empty() || bare == "{}"
}

/// Whether an entry is the item.
fn is(entry: &JsonEntry, text: &str, item: &JsonItem) -> bool {
    match item.key {
        Some(key) => entry.key.as_deref() == Some(key),
        None => text.get(entry.value.clone()).is_some_and(|value| value.contains(item.mark)),
    }
}

/// The text of an item as first entry of a container, formatted like the existing first entry.
fn fitted(container: &JsonContainer, text: &str, item: &str) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let own = indent_of(text, container.open);
    let Some(first) = container.entries.first() else {
        let unit = if text.contains("\n\t") { "\t" } else { "  " };
        return format!("{newline}{own}{unit}{item}{newline}{own}");
    };
    let between = text.get(container.open..first.whole.start).unwrap_or_default();
    if between.contains('\n') {
        format!("{newline}{}{item},", indent_of(text, first.whole.start))
    } else {
        format!("{item}, ")
    }
}

/// The range of an entry with one comma and the whitespace before it.
fn span_of(container: &JsonContainer, text: &str, at: usize) -> Range<usize> {
    let Some(entry) = container.entries.get(at) else { return 0..0 };
    let previous = at.checked_sub(1).and_then(|at| container.entries.get(at));
    let behind = skip_blank(text, entry.whole.end);
    let is_comma = text.get(behind..).is_some_and(|rest| rest.starts_with(','));
    let comma = is_comma.then_some(behind + 1);
    let start = match (previous, comma) {
        // A last entry without its own comma: the comma before it is removed.
        (Some(previous), None) => skip_blank(text, previous.whole.end),
        _ => before_gap(text, entry.whole.start),
    };
    start..comma.unwrap_or(entry.whole.end)
}

/// Start of the whitespace before a position.
fn before_gap(text: &str, at: usize) -> usize {
    text.get(..at).map_or(at, |head| head.trim_end_matches([' ', '\t', '\r', '\n']).len())
}
