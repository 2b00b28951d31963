//! Editing: changes one key and nothing else. The result is parsed again before it is returned; a frontmatter
//! too unusual to edit by line is refused.

use thiserror::Error;

use crate::parse::{parse, yaml_fields};
use crate::scalar::scalar;
use crate::split::{Span, Split, split};
use crate::value::{FrontmatterFields, FrontmatterProblem, Value};

/// Why a key was not changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrontmatterEditError {
    /// The existing frontmatter cannot be read.
    #[error("{0}; fix it by hand first")]
    Unreadable(#[from] FrontmatterProblem),
    /// The lines of the key cannot be separated from the others.
    #[error("`{0}` cannot be changed in this frontmatter automatically; edit it by hand")]
    Unusual(String),
}

/// Sets `key: value`. `outer.inner` sets a key inside an existing mapping.
pub fn set(text: &str, key: &str, value: &str) -> Result<String, FrontmatterEditError> {
    edit(text, key, Some(&Value::Text(value.to_owned())), Position::Own)
}

/// Sets `key: value` as the first key, for programs that read only the first lines of a file.
pub fn set_first(text: &str, key: &str, value: &str) -> Result<String, FrontmatterEditError> {
    let without = remove(text, key)?;
    edit(&without, key, Some(&Value::Text(value.to_owned())), Position::First)
}

/// Sets a key to a list.
pub fn set_list(text: &str, key: &str, items: &[String]) -> Result<String, FrontmatterEditError> {
    let list = items.iter().map(|item| Value::Text(item.clone())).collect();
    edit(text, key, Some(&Value::List(list)), Position::Own)
}

/// Removes a key.
pub fn remove(text: &str, key: &str) -> Result<String, FrontmatterEditError> {
    edit(text, key, None, Position::Own)
}

/// The position of the line for a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Its current line, or the end.
    Own,
    /// Before all other keys; the key must not exist yet.
    First,
}

fn edit(
    text: &str,
    key: &str,
    value: Option<&Value>,
    position: Position,
) -> Result<String, FrontmatterEditError> {
    let before = parse(text);
    if let Some(problem) = before.problem {
        return Err(problem.into());
    }
    let span = match split(text) {
        Split::Block(span) => span,
        Split::None | Split::Unclosed => match value {
            None => return Ok(text.to_owned()),
            Some(value) => return Ok(with_new_block(text, key, value)),
        },
    };
    let changed = edited(&span, key, value, position);
    match split(&changed) {
        Split::Block(after)
            if after.body == span.body && matches(after.inner, span.inner, key, value) =>
        {
            Ok(changed)
        }
        Split::Block(_) | Split::None | Split::Unclosed => {
            Err(FrontmatterEditError::Unusual(key.to_owned()))
        }
    }
}

/// A byte-order mark stays first.
fn with_new_block(text: &str, key: &str, value: &Value) -> String {
    let unmarked = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = if unmarked.len() == text.len() { "" } else { "\u{feff}" };
    let end = line_end(unmarked);
    let lines = rendered(key, value, "", end);
    let gap = if unmarked.is_empty() { "" } else { end };
    format!("{mark}---{end}{lines}---{end}{gap}{unmarked}")
}

fn edited(span: &Span<'_>, key: &str, value: Option<&Value>, position: Position) -> String {
    let end = line_end(span.head);
    let lines: Vec<&str> = span.inner.split_inclusive('\n').collect();
    let (path_end, indent, from, to) = match key.split_once('.') {
        Some((outer, inner)) => {
            let (from, to) = lines_of(&lines, outer, 0, lines.len());
            let indent = if from < to { indent_below(&lines, from) } else { "" };
            let (from, to) = lines_of_indented(&lines, inner, indent, (from + 1).min(to), to);
            (inner, indent, from, to)
        }
        None if position == Position::First => (key, "", 0, 0),
        None => {
            let (from, to) = lines_of(&lines, key, 0, lines.len());
            (key, "", from, to)
        }
    };
    let new = value.map(|value| rendered(path_end, value, indent, end)).unwrap_or_default();
    let head: String = lines.iter().take(from).copied().collect();
    let tail: String = lines.iter().skip(to).copied().collect();
    format!("{}{head}{new}{tail}{}{}", span.head, span.fence, span.body)
}

/// The range of lines of a key; an empty range at the end if there is none.
fn lines_of(lines: &[&str], key: &str, from: usize, to: usize) -> (usize, usize) {
    lines_of_indented(lines, key, "", from, to)
}

fn lines_of_indented(
    lines: &[&str],
    key: &str,
    indent: &str,
    from: usize,
    to: usize,
) -> (usize, usize) {
    let is_key = |line: &str| {
        line.strip_prefix(indent)
            .and_then(|rest| rest.strip_prefix(key))
            .is_some_and(|rest| rest.trim_start_matches(' ').starts_with(':'))
    };
    let range = || lines.iter().enumerate().take(to).skip(from);
    let Some((start, _)) = range().find(|(_, line)| is_key(line)) else { return (to, to) };
    let belongs = |line: &str| {
        let deeper = line.strip_prefix(indent).unwrap_or_default();
        deeper.starts_with([' ', '\t']) || deeper.starts_with("- ")
    };
    let after = range().skip(start + 1 - from).find(|(_, line)| !belongs(line));
    (start, after.map_or(to, |(index, _)| index))
}

/// The white space that the first line below a key begins with.
fn indent_below<'a>(lines: &[&'a str], key_line: usize) -> &'a str {
    let Some(line) = lines.get(key_line + 1) else { return "" };
    let length = line.len() - line.trim_start_matches(' ').len();
    line.get(..length).unwrap_or_default()
}

fn rendered(key: &str, value: &Value, indent: &str, end: &str) -> String {
    match value {
        Value::Text(text) => format!("{indent}{key}: {}{end}", scalar(text)),
        Value::List(items) if items.is_empty() => format!("{indent}{key}: []{end}"),
        Value::List(_) | Value::Map(_) => {
            let item = |text: &str| format!("{indent}  - {}{end}", scalar(text));
            let items: String = value.texts().into_iter().map(item).collect();
            format!("{indent}{key}:{end}{items}")
        }
    }
}

fn line_end(text: &str) -> &'static str {
    if text.split_inclusive('\n').next().is_some_and(|line| line.ends_with("\r\n")) {
        "\r\n"
    } else {
        "\n"
    }
}

/// Whether two blocks differ only in the key. Both are read by the YAML parser, which sees more than the line
/// reader.
fn matches(after: &str, before: &str, key: &str, value: Option<&Value>) -> bool {
    let (Ok(after), Ok(before)) = (yaml_fields(after), yaml_fields(before)) else { return false };
    let (after, before) = (FrontmatterFields(after), FrontmatterFields(before));
    let Some((outer, inner)) = key.split_once('.') else {
        return after.get(key) == value && others(&after, key) == others(&before, key);
    };
    let expected = value.and_then(Value::as_text).filter(|text| !text.is_empty());
    after.nested_text(outer, inner) == expected && others(&after, outer) == others(&before, outer)
}

fn others<'a>(fields: &'a FrontmatterFields, key: &str) -> Vec<&'a (String, Value)> {
    fields.0.iter().filter(|(known, _)| known != key).collect()
}
