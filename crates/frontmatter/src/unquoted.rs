//! Values that YAML wants in quotes and people write without: `description: Deploys: only on Mondays`, or one that begins
//! with a backtick.
//!
//! Only used for a block that is not valid YAML, so it never changes how a valid one is read.

use crate::scalar::quoted;
use crate::yaml::is_scalar;

/// The same block, with quotes around the values that need them.
pub(crate) fn with_quotes(inner: &str) -> String {
    inner.split_inclusive('\n').map(line_with_quotes).collect()
}

fn line_with_quotes(line: &str) -> String {
    let content = line.trim_end_matches(['\r', '\n']);
    let Some((key, value)) = content.split_once(": ") else { return line.to_owned() };
    let value = value.trim();
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !key.trim_start_matches(' ').chars().all(is_key) || is_started(value) || is_scalar(value) {
        return line.to_owned();
    }
    let end = line.strip_prefix(content).unwrap_or_default();
    format!("{key}: {}{end}", quoted(value))
}

/// Whether the value is meant as quoted, as a list, a mapping or a block, which may go on in the next lines.
fn is_started(value: &str) -> bool {
    let closing = match value.chars().next() {
        None | Some('|' | '>' | '&' | '!') => return true,
        Some(quote @ ('"' | '\'')) => quote,
        Some('[') => ']',
        Some('{') => '}',
        Some(_) => return false,
    };
    let rest = value.get(1..).unwrap_or_default();
    !rest.contains(closing) || rest.ends_with(closing)
}
