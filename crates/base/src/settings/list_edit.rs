//! Elements put into and taken out of lists in a text of settings. Every byte that is not ours stays, and what was
//! put in comes out without a trace: what is made for it is told, and goes when it is empty again.

use serde_json::Value;
use thiserror::Error;

use crate::json_text::{JsonContainer, JsonEntry, JsonTextError, indent_of};

/// A text that cannot be changed so.
#[derive(Debug, Error)]
pub enum ListEditError {
    /// Not JSON.
    #[error(transparent)]
    Text(#[from] JsonTextError),
    /// Something else stands where the list, or what it is in, should be.
    #[error("`{0}` is not what it should be: a list below objects")]
    Shape(String),
}

/// A text with one element more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListAddition {
    /// The text.
    pub text: String,
    /// What was put into it.
    pub inserted: String,
    /// Objects and lists that had to be made, by the keys down to them, the outermost first.
    pub created: Vec<Vec<String>>,
}

/// Puts an element at the end of a list, which stands below these keys. None: it is in the list already.
pub fn add_to_list(
    text: &str,
    list: &[String],
    element: &Value,
) -> Result<Option<ListAddition>, ListEditError> {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        let made = (1..=list.len()).filter_map(|depth| Some(list.get(..depth)?.to_vec()));
        let text = format!("{{\n  {}\n}}\n", within(list, &element.to_string()));
        return Ok(Some(ListAddition { inserted: text.clone(), text, created: made.collect() }));
    }
    let (container, depth) = innermost(text, list)?;
    let missing = list.get(depth..).unwrap_or_default();
    if missing.is_empty() && position(text, &container, element).is_some() {
        return Ok(None);
    }
    let opened = if missing.is_empty() { '[' } else { '{' };
    if !text.get(container.open..).is_some_and(|rest| rest.starts_with(opened)) {
        return Err(shape(list));
    }
    let (at, before) = end_of(text, &container);
    let mut longer = text.to_owned();
    let piece = format!("{before}{}", within(missing, &element.to_string()));
    longer.insert_str(at, &piece);
    let made = (depth + 1..=list.len()).filter_map(|depth| Some(list.get(..depth)?.to_vec()));
    Ok(Some(ListAddition { text: longer, inserted: piece, created: made.collect() }))
}

/// The text without an element, wherever in the list it is. None: it is not in there.
pub fn remove_from_list(
    text: &str,
    list: &[String],
    element: &Value,
) -> Result<Option<String>, ListEditError> {
    let Some(container) = container_at(text, list)? else { return Ok(None) };
    Ok(position(text, &container, element).map(|at| without(text, &container, at)))
}

/// Whether a list has an element.
pub fn is_in_list(text: &str, list: &[String], element: &Value) -> bool {
    // What cannot be read has nothing.
    let container = container_at(text, list).ok().flatten();
    container.is_some_and(|container| position(text, &container, element).is_some())
}

/// The text without an object or a list that is empty. None: it does not exist, or not empty.
pub fn remove_if_empty(text: &str, keys: &[String]) -> Result<Option<String>, ListEditError> {
    let Some((last, above)) = keys.split_last() else { return Ok(None) };
    let (Some(own), Some(outer)) = (container_at(text, keys)?, container_at(text, above)?) else {
        return Ok(None);
    };
    if !own.entries.is_empty() {
        return Ok(None);
    }
    let at = outer.entries.iter().rposition(|entry| entry.key.as_deref() == Some(last));
    Ok(at.map(|at| without(text, &outer, at)))
}

/// Whether nothing is left but an empty object.
pub fn is_empty_object(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}').collect();
    bare.is_empty() || bare == "{}"
}

/// The element within a list and objects of these keys; by itself if there are none.
fn within(keys: &[String], element: &str) -> String {
    let mut text = element.to_owned();
    for (depth, key) in keys.iter().rev().enumerate() {
        let (open, close) = if depth == 0 { ('[', ']') } else { ('{', '}') };
        text = format!("{}: {open}{text}{close}", Value::from(key.as_str()));
    }
    text
}

/// Follows the keys as far as they lead. Gives how many there were.
fn innermost(text: &str, keys: &[String]) -> Result<(JsonContainer, usize), ListEditError> {
    let mut container = JsonContainer::root(text)?;
    for (depth, key) in keys.iter().enumerate() {
        let Some(member) = container.member(key) else { return Ok((container, depth)) };
        let below = JsonContainer::at(text, member.value.start);
        container = below.map_err(|_| shape(keys))?;
    }
    Ok((container, keys.len()))
}

fn container_at(text: &str, keys: &[String]) -> Result<Option<JsonContainer>, ListEditError> {
    let (container, depth) = innermost(text, keys)?;
    Ok((depth == keys.len()).then_some(container))
}

fn position(text: &str, container: &JsonContainer, element: &Value) -> Option<usize> {
    let is = |entry: &JsonEntry| {
        let value = text.get(entry.value.clone()).and_then(|text| serde_json::from_str(text).ok());
        entry.key.is_none() && value.as_ref() == Some(element)
    };
    container.entries.iter().rposition(is)
}

/// Where a new last entry goes, and what has to stand before it: as between the two before it.
fn end_of(text: &str, container: &JsonContainer) -> (usize, String) {
    let Some(last) = container.entries.last() else { return (container.open + 1, String::new()) };
    let before_last = container.entries.iter().rev().nth(1).map_or(container.open, |e| e.whole.end);
    let gap = text.get(before_last..last.whole.start).unwrap_or_default();
    let newline = if gap.contains("\r\n") { "\r\n" } else { "\n" };
    let before = if gap.contains('\n') {
        format!(",{newline}{}", indent_of(text, last.whole.start))
    } else {
        ", ".to_owned()
    };
    (last.whole.end, before)
}

/// The text without an entry and the comma that goes with it: the one before it, or, of the first, the one behind.
fn without(text: &str, container: &JsonContainer, at: usize) -> String {
    let entries = &container.entries;
    let Some(entry) = entries.get(at) else { return text.to_owned() };
    let previous = at.checked_sub(1).and_then(|at| entries.get(at));
    let span = match (previous, entries.get(at + 1)) {
        (Some(previous), _) => previous.whole.end..entry.whole.end,
        (None, Some(next)) => entry.whole.start..next.whole.start,
        (None, None) => entry.whole.clone(),
    };
    let (before, after) = (text.get(..span.start), text.get(span.end..));
    format!("{}{}", before.unwrap_or_default(), after.unwrap_or_default())
}

fn shape(keys: &[String]) -> ListEditError {
    ListEditError::Shape(keys.join("."))
}

#[cfg(test)]
#[path = "list_edit_tests.rs"]
mod tests;
