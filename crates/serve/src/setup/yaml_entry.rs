//! An entry in a YAML file, as a block of lines.

use super::error::SetupError;
use super::insertion::Insertion;

/// An entry of a map at the top of a YAML file.
#[derive(Debug, Clone)]
pub(super) struct YamlEntry {
    /// Key of the map.
    pub(super) map: &'static str,
    /// Key of the entry.
    pub(super) key: &'static str,
    /// The lines below it.
    pub(super) lines: Vec<String>,
}

impl YamlEntry {
    /// The insertion that adds the entry; `None` if the file already has it.
    pub(super) fn insertion(&self, text: &str) -> Result<Option<Insertion>, SetupError> {
        let newline = newline(text);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let Some(at) = lines.iter().position(|line| top_key(line) == Some(self.map)) else {
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
            let block = self.block("  ", newline);
            let added = format!("{gap}{}:{newline}{block}", self.map);
            return Ok(Some(Insertion { at: text.len(), text: added }));
        };
        let head = lines.get(at).copied().unwrap_or_default();
        let value = head.split_once(':').map_or("", |(_, value)| value.trim());
        if !(value.is_empty() || value.starts_with('#')) {
            return Err(SetupError::Shape(self.map.to_owned()));
        }
        let below = lines.iter().skip(at + 1);
        let first = below.clone().find(|line| !is_blank(line));
        let indent = first.map_or("", |line| indent(line));
        let indent = if indent.is_empty() { "  " } else { indent };
        let exists =
            below.take_while(|line| is_blank(line) || !self::indent(line).is_empty()).any(|line| {
                self::indent(line) == indent
                    && line.trim_start().starts_with(&format!("{}:", self.key))
            });
        if exists {
            return Ok(None);
        }
        let offset = lines.iter().take(at + 1).map(|line| line.len()).sum();
        let gap = if head.ends_with('\n') { "" } else { newline };
        let text = format!("{gap}{}", self.block(indent, newline));
        Ok(Some(Insertion { at: offset, text }))
    }

    fn block(&self, indent: &str, newline: &str) -> String {
        let below = self.lines.iter().map(|line| format!("{indent}{indent}{line}{newline}"));
        format!("{indent}{}:{newline}{}", self.key, below.collect::<String>())
    }

    /// The text without the entry; `None` if it has none.
    pub(super) fn without(&self, text: &str) -> Option<String> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let map = lines.iter().position(|line| top_key(line) == Some(self.map))?;
        let key = format!("{}:", self.key);
        let start =
            lines.iter().enumerate().skip(map + 1).find(|(_, line)| {
                !indent(line).is_empty() && line.trim_start().starts_with(&key)
            })?;
        let (start, own) = (start.0, indent(start.1).len());
        let is_below = |line: &&str| is_blank(line) || indent(line).len() > own;
        let length = lines.iter().skip(start + 1).take_while(|line| is_below(line)).count();
        let ours = lines.get(start..=start + length).unwrap_or_default();
        let kept = ours.iter().rev().take_while(|line| is_blank(line)).count();
        Some(joined(&lines, start, start + 1 + length - kept))
    }
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Blank, or a comment, which may belong to the next entry.
fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn indent(line: &str) -> &str {
    let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..blank).unwrap_or_default()
}

/// The key of a line at the top of a YAML file.
fn top_key(line: &str) -> Option<&str> {
    let (key, _) = line.split_once(':')?;
    (!line.starts_with([' ', '\t', '#', '-'])).then_some(key.trim_matches(['"', '\'', ' ']))
}

fn joined(lines: &[&str], start: usize, end: usize) -> String {
    let kept = lines.iter().enumerate().filter(|(at, _)| !(start..end).contains(at));
    kept.map(|(_, line)| *line).collect()
}
