//! Unified diffs of memory files.

use dormouse_memory::FileDiff;
use dormouse_tui::style::{Color, Style};
use similar::TextDiff;

use crate::terminal::color::ColorMode;

/// A unified diff that other programs can read; colored for a terminal.
pub(crate) fn unified_diff(diff: &FileDiff, color: ColorMode) -> String {
    let file = diff.file.as_str();
    let text =
        |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let name = |prefix: &str, exists: bool| {
        if exists { format!("{prefix}/{file}") } else { "/dev/null".to_owned() }
    };
    let old = text(diff.before.as_deref());
    let new = text(diff.after.as_deref());
    let header = (name("a", diff.before.is_some()), name("b", diff.after.is_some()));
    let unified = unified_texts((&header.0, &header.1), &old, &new);
    if color == ColorMode::Plain {
        return unified;
    }
    let painted = unified.lines().map(|line| {
        let style = match line.chars().next() {
            Some('+') => Style::PLAIN.color(Color::Green),
            Some('-') => Style::PLAIN.color(Color::Red),
            Some('@') => Style::DIM,
            _ => Style::PLAIN,
        };
        color.paint(line, style) + "\n"
    });
    painted.collect()
}

/// A unified diff of two texts with these names.
pub(crate) fn unified_texts((old_name, new_name): (&str, &str), old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new).unified_diff().header(old_name, new_name).to_string()
}
