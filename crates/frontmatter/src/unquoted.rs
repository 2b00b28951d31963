//! Values that YAML wants in quotes and people write without: `description: Deploys: only on Mondays`, or one that begins
//! with a backtick.
//!
//! Only used for a block that is not valid YAML, and only on lines that are not valid by themselves: what YAML understands
//! keeps its meaning.

use crate::scalar::quoted;
use crate::yaml::is_valid;

/// The same block, with quotes around the values that need them.
pub(crate) fn with_quotes(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    // The indentation of a key whose value is in a form of YAML: it may go on in deeper lines.
    let mut open: Option<usize> = None;
    for line in inner.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        let indent = content.len() - content.trim_start_matches(' ').len();
        if open.is_some_and(|key| indent > key || content.is_empty()) {
            out.push_str(line);
            continue;
        }
        let pair = key_and_value(content);
        open = pair.filter(|(_, value)| is_yaml_form(value)).map(|_| indent);
        match pair {
            Some((key, value)) if open.is_none() && !is_valid(&format!("key: {value}")) => {
                let end = line.strip_prefix(content).unwrap_or_default();
                out.push_str(&format!("{key}: {}{end}", quoted(value)));
            }
            _ => out.push_str(line),
        }
    }
    out
}

fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_pair = key.trim_start_matches(' ').chars().all(is_key) && value.starts_with([' ', '\t']);
    is_pair.then_some((key, value.trim()))
}

/// Whether the value is meant as a block, an alias, a list, a mapping, or a quoted text that is not closed in its line.
fn is_yaml_form(value: &str) -> bool {
    let rest = value.get(1..).unwrap_or_default();
    match value.chars().next() {
        Some('|' | '>') => is_valid(&format!("key: {value}")),
        Some('*') => !value.contains(' '),
        Some(quote @ ('"' | '\'')) => !rest.contains(quote),
        Some('[') => !rest.contains(']') || rest.ends_with(']'),
        Some('{') => !rest.contains('}') || rest.ends_with('}'),
        _ => false,
    }
}
