//! Changing one key and nothing else. The result is read again before it is handed out: a frontmatter
//! too unusual for editing by line is refused, not damaged.

use thiserror::Error;

use super::scalar::scalar;
use super::{Fields, FrontmatterProblem, Span, Split, Value, parse, split, yaml};

/// Why a key was not changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// What is there can not be read.
    #[error("{0}; mend it by hand first")]
    Unreadable(#[from] FrontmatterProblem),
    /// It can be read, but the key's lines can not be told from the others.
    #[error("`{0}` can not be changed in this frontmatter; change it by hand")]
    Unusual(String),
}

/// The text with `key: value`. `outer.inner` changes a key inside a mapping that is there.
pub fn set(text: &str, key: &str, value: &str) -> Result<String, EditError> {
    edit(text, key, Some(&Value::Text(value.to_owned())), Place::Own)
}

/// The same, with the key before all others: for what must be seen by those who read only the first lines.
pub fn set_first(text: &str, key: &str, value: &str) -> Result<String, EditError> {
    let without = remove(text, key)?;
    edit(&without, key, Some(&Value::Text(value.to_owned())), Place::First)
}

/// The text with a list under a key.
pub fn set_list(text: &str, key: &str, items: &[String]) -> Result<String, EditError> {
    let list = items.iter().map(|item| Value::Text(item.clone())).collect();
    edit(text, key, Some(&Value::List(list)), Place::Own)
}

/// The text without a key.
pub fn remove(text: &str, key: &str) -> Result<String, EditError> {
    edit(text, key, None, Place::Own)
}

/// Where a key's line goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Where it is, or at the end.
    Own,
    /// Before all others; it is nowhere else.
    First,
}

fn edit(text: &str, key: &str, value: Option<&Value>, place: Place) -> Result<String, EditError> {
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
    let changed = edited(&span, key, value, place);
    match split(&changed) {
        Split::Block(after)
            if after.body == span.body && matches(after.inner, span.inner, key, value) =>
        {
            Ok(changed)
        }
        Split::Block(_) | Split::None | Split::Unclosed => Err(EditError::Unusual(key.to_owned())),
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

fn edited(span: &Span<'_>, key: &str, value: Option<&Value>, place: Place) -> String {
    let end = line_end(span.head);
    let lines: Vec<&str> = span.inner.split_inclusive('\n').collect();
    let (path_end, indent, from, to) = match key.split_once('.') {
        Some((outer, inner)) => {
            let (from, to) = lines_of(&lines, outer, 0, lines.len());
            let indent = if from < to { indent_below(&lines, from) } else { "" };
            let (from, to) = lines_of_indented(&lines, inner, indent, (from + 1).min(to), to);
            (inner, indent, from, to)
        }
        None if place == Place::First => (key, "", 0, 0),
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

/// From the line of a key to the line after its last; an empty range at the end if it is not there.
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

/// Whether one block is the other but for the key. Both are read by the parser, which sees what a reading
/// line by line might not.
fn matches(after: &str, before: &str, key: &str, value: Option<&Value>) -> bool {
    let (Ok(after), Ok(before)) = (yaml::fields(after), yaml::fields(before)) else { return false };
    let (after, before) = (Fields(after), Fields(before));
    let Some((outer, inner)) = key.split_once('.') else {
        return after.get(key) == value && others(&after, key) == others(&before, key);
    };
    let expected = value.and_then(Value::as_text).filter(|text| !text.is_empty());
    after.nested_text(outer, inner) == expected && others(&after, outer) == others(&before, outer)
}

fn others<'a>(fields: &'a Fields, key: &str) -> Vec<&'a (String, Value)> {
    fields.0.iter().filter(|(known, _)| known != key).collect()
}
