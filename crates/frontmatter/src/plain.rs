//! Line reader for common frontmatter: `key: value` lines, at most one mapping or list deep.
//!
//! Returns nothing for any text that YAML might read differently (quotes with escapes, blocks, flows, anchors,
//! tags, duplicate keys); the YAML parser reads those. A property test compares the two.

use crate::value::Value;

type Pairs = Vec<(String, Value)>;

/// The fields, if every line is plain.
pub(crate) fn fields(inner: &str) -> Option<Pairs> {
    let mut pairs: Pairs = Vec::new();
    for line in inner.lines().map(|line| line.strip_suffix('\r').unwrap_or(line)) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(item) = line.strip_prefix("  - ") {
            add_item(&mut pairs, item)?;
        } else if let Some(nested) = line.strip_prefix("  ") {
            add_nested(&mut pairs, nested)?;
        } else {
            let (key, value) = pair(line)?;
            add(&mut pairs, key, value)?;
        }
    }
    // `key:` without anything below it is empty, neither a mapping nor a list.
    Some(pairs)
}

fn add(pairs: &mut Pairs, key: &str, value: String) -> Option<()> {
    if pairs.iter().any(|(known, _)| known == key) {
        return None;
    }
    pairs.push((key.to_owned(), Value::Text(value)));
    Some(())
}

fn add_nested(pairs: &mut Pairs, line: &str) -> Option<()> {
    if line.starts_with([' ', '\t', '#']) {
        return None;
    }
    let (key, value) = pair(line)?;
    let (_, outer) = pairs.last_mut()?;
    match outer {
        Value::Text(text) if text.is_empty() => {
            *outer = Value::Map(vec![(key.to_owned(), Value::Text(value))]);
            Some(())
        }
        Value::Map(inner) => add(inner, key, value),
        Value::Text(_) | Value::List(_) => None,
    }
}

fn add_item(pairs: &mut Pairs, item: &str) -> Option<()> {
    // An empty item may start a nested list or mapping.
    let item = scalar(item.trim_matches(' ')).filter(|item| !item.is_empty())?;
    let (_, outer) = pairs.last_mut()?;
    match outer {
        Value::Text(text) if text.is_empty() => *outer = Value::List(vec![Value::Text(item)]),
        Value::List(items) => items.push(Value::Text(item)),
        Value::Text(_) | Value::Map(_) => return None,
    }
    Some(())
}

/// `key: value`, `key: "value"`, `key: 'value'` or `key:`.
fn pair(line: &str) -> Option<(&str, String)> {
    let (key, rest) = line.split_once(':')?;
    let plain_key = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if !plain_key {
        return None;
    }
    if rest.is_empty() {
        return Some((key, String::new()));
    }
    let value = rest.strip_prefix(' ')?.trim_matches(' ');
    scalar(value).map(|value| (key, value))
}

fn scalar(value: &str) -> Option<String> {
    if value.chars().any(char::is_control) {
        return None;
    }
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            let inner = rest.strip_suffix(quote)?;
            // A mapping or list may follow `key:`, but not `key: ""`.
            let whole = !inner.is_empty() && !inner.contains(['\\', quote]);
            return whole.then(|| inner.to_owned());
        }
    }
    is_plain(value).then(|| value.to_owned())
}

/// Whether a value without quotes is text to YAML, empty, or a word of another YAML type that is kept as written
/// (`2026-11-15`, `true`, `1.10`).
fn is_plain(value: &str) -> bool {
    let first_is_safe = match value.chars().next() {
        None => return true,
        Some(first) => {
            first.is_alphanumeric() || matches!(first, '(' | '/' | '.' | '+' | '$' | '_')
        }
    };
    first_is_safe
        && value != "null"
        && !value.eq_ignore_ascii_case("null")
        && !value.contains(": ")
        && !value.contains(" #")
        && !value.ends_with(':')
}
