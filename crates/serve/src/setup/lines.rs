//! Blocks of lines in TOML and YAML files: put in whole, taken out whole.

use super::SetupError;
use super::jsonc::EditPosition;

/// A table at the end of a TOML file.
#[derive(Debug, Clone)]
pub(super) struct TomlTable {
    /// Its header, as in `mcp_servers.dormouse`.
    pub(super) header: &'static str,
    /// What it is part of, which may not be written in one line.
    pub(super) parent: &'static str,
    pub(super) lines: Vec<String>,
}

impl TomlTable {
    pub(super) fn place(&self, text: &str) -> Result<EditPosition, SetupError> {
        let header = format!("[{}]", self.header);
        if text.lines().any(|line| is_header(line, &header)) {
            return Ok(EditPosition::There);
        }
        let inline = |line: &str| {
            let rest = line.trim_start().strip_prefix(self.parent);
            rest.is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        if text.lines().any(inline) {
            return Err(SetupError::Shape(self.parent.to_owned()));
        }
        let newline = newline(text);
        let gap = if text.is_empty() {
            String::new()
        } else if text.ends_with('\n') {
            newline.to_owned()
        } else {
            newline.repeat(2)
        };
        let lines: Vec<&str> =
            std::iter::once(header.as_str()).chain(self.lines.iter().map(String::as_str)).collect();
        let block = format!("{gap}{}{newline}", lines.join(newline));
        Ok(EditPosition::Insert { at: text.len(), text: block })
    }

    /// The file without the table, up to the next one; comments before that are not ours.
    pub(super) fn without(&self, text: &str) -> Option<String> {
        let header = format!("[{}]", self.header);
        let below = format!("[{}.", self.header);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let start = lines.iter().position(|line| is_header(line, &header))?;
        let is_other = |line: &&str| {
            let line = line.trim_start();
            line.starts_with('[') && !line.starts_with(&below)
        };
        let end =
            lines.iter().skip(start + 1).position(is_other).map_or(lines.len(), |n| start + 1 + n);
        let ours = lines.get(start..end).unwrap_or_default();
        let kept = ours.iter().rev().take_while(|line| is_blank(line)).count();
        Some(joined(&lines, start, end - kept))
    }
}

/// An entry of a map at the top of a YAML file.
#[derive(Debug, Clone)]
pub(super) struct YamlEntry {
    /// The map.
    pub(super) map: &'static str,
    /// The entry's key.
    pub(super) key: &'static str,
    /// What stands below it.
    pub(super) lines: Vec<String>,
}

impl YamlEntry {
    pub(super) fn place(&self, text: &str) -> Result<EditPosition, SetupError> {
        let newline = newline(text);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let Some(at) = lines.iter().position(|line| top_key(line) == Some(self.map)) else {
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
            let block = self.block("  ", newline);
            let text_in = format!("{gap}{}:{newline}{block}", self.map);
            return Ok(EditPosition::Insert { at: text.len(), text: text_in });
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
        let there =
            below.take_while(|line| is_blank(line) || !self::indent(line).is_empty()).any(|line| {
                self::indent(line) == indent
                    && line.trim_start().starts_with(&format!("{}:", self.key))
            });
        if there {
            return Ok(EditPosition::There);
        }
        let offset = lines.iter().take(at + 1).map(|line| line.len()).sum();
        let gap = if head.ends_with('\n') { "" } else { newline };
        Ok(EditPosition::Insert {
            at: offset,
            text: format!("{gap}{}", self.block(indent, newline)),
        })
    }

    fn block(&self, indent: &str, newline: &str) -> String {
        let below = self.lines.iter().map(|line| format!("{indent}{indent}{line}{newline}"));
        format!("{indent}{}:{newline}{}", self.key, below.collect::<String>())
    }

    /// The file without the entry.
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

fn is_header(line: &str, header: &str) -> bool {
    let line = line.split('#').next().unwrap_or_default();
    line.trim().replace(['"', ' '], "") == header
}

/// Blank, or a comment: it may belong to what follows.
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
