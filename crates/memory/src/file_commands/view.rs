//! `view`: a folder as a list, a file with line numbers.

use std::collections::BTreeMap;

use super::path::shown;
use super::{CommandPath, Directory, ToolPath};
use dormouse_frontmatter as frontmatter;

use crate::names::{INDEX, MemoryFile};
use crate::store::ContentHash;

/// More lines than this have no number.
const MOST_LINES: usize = 999_999;
/// A model that knows the tool expects a view to end here.
const MOST_CHARS: usize = 16_000;
/// Levels that a list shows.
const LEVELS: usize = 2;
/// What a folder takes, as file systems say.
const FOLDER_SIZE: &str = "4.0K";
/// What the program keeps in the head of a file.
const KEPT_KEYS: [&str; 4] = ["trust", "source", "modified", "anchors"];

impl Directory<'_> {
    pub(super) fn view(&self, path: &ToolPath, range: Option<[i64; 2]>) -> Result<String, String> {
        let missing =
            || format!("The path {} does not exist. Please provide a valid path.", path.written);
        match self.spot(path).ok_or_else(missing)? {
            CommandPath::Root => Ok(self.list(path, "")),
            CommandPath::Folder(folder) => Ok(self.list(path, &format!("{folder}/"))),
            CommandPath::Index => {
                let text = self.store.index_text().map_err(|error| format!("Error: {error}"))?;
                numbered(path, &text, range)
            }
            CommandPath::File(file) => {
                let (text, _) = self.text(&file).map_err(|_| missing())?;
                numbered(path, &text, range)
            }
        }
    }

    /// A file as the agent sees it, and what it is as a whole.
    pub(super) fn text(&self, file: &MemoryFile) -> Result<(String, ContentHash), String> {
        let read = self.store.read(file).map_err(|error| format!("Error: {error}"));
        read.map(|(bytes, hash)| (visible(&String::from_utf8_lossy(&bytes)), hash))
    }

    /// What is in a folder, two levels deep; `prefix` is its path below the root, with a slash.
    fn list(&self, path: &ToolPath, prefix: &str) -> String {
        let mut entries: BTreeMap<String, String> = BTreeMap::new();
        if prefix.is_empty() && self.has_index() {
            let size = self.store.index_text().map_or(0, |text| text.len());
            entries.insert(INDEX.to_owned(), human(size as u64));
        }
        for memory in &self.scan.memories {
            let Some(rest) = shown(&memory.file).strip_prefix(prefix) else { continue };
            let parts: Vec<&str> = rest.split('/').collect();
            if parts.contains(&"node_modules") {
                continue;
            }
            for depth in 1..parts.len().min(LEVELS + 1) {
                let folder = parts.iter().take(depth).copied().collect::<Vec<_>>().join("/");
                entries.insert(format!("{folder}/"), FOLDER_SIZE.to_owned());
            }
            if parts.len() <= LEVELS {
                entries.insert(rest.to_owned(), human(memory.size));
            }
        }
        let root = path.written.trim_end_matches('/');
        let mut lines = vec![format!("{FOLDER_SIZE}\t{root}")];
        lines.extend(entries.iter().map(|(name, size)| format!("{size}\t{root}/{name}")));
        format!(
            "Here're the files and directories up to 2 levels deep in {root}, excluding hidden items and node_modules:\n{}",
            lines.join("\n")
        )
    }
}

/// Sizes as `du -h` has them.
fn human(bytes: u64) -> String {
    const UNITS: [&str; 3] = ["K", "M", "G"];
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    let mut tenths = bytes * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{}{}", tenths / 10, tenths % 10, UNITS.get(unit).unwrap_or(&"G"))
}

/// The text without what the program keeps in its head. Whatever is left of the head is the agent's own.
pub(super) fn visible(text: &str) -> String {
    let without = |text: String, key: &&str| frontmatter::remove(&text, key).unwrap_or(text);
    let stripped = KEPT_KEYS.iter().fold(text.to_owned(), without);
    let parsed = frontmatter::parse(&stripped);
    let has_head = parsed.body.len() < stripped.len();
    if has_head && parsed.problem.is_none() && parsed.fields.is_empty() && stripped != text {
        let gap = ["\r\n", "\n"].iter().find_map(|end| parsed.body.strip_prefix(end));
        return gap.unwrap_or(parsed.body).to_owned();
    }
    stripped
}

/// A line with its number.
pub(super) fn line(number: usize, text: &str) -> String {
    format!("{number:>6}\t{text}")
}

fn numbered(path: &ToolPath, text: &str, range: Option<[i64; 2]>) -> Result<String, String> {
    let lines: Vec<&str> = text.split('\n').collect();
    if lines.len() > MOST_LINES {
        return Err(format!("File {} exceeds maximum line limit of 999,999 lines.", path.written));
    }
    let bound = |number: i64| usize::try_from(number).unwrap_or(0);
    let (first, last) = match range {
        None => (1, lines.len()),
        Some([first, -1]) => (bound(first).max(1), lines.len()),
        Some([first, last]) => (bound(first).max(1), bound(last)),
    };
    let shown = lines.iter().enumerate().skip(first - 1).take((last + 1).saturating_sub(first));
    let body: Vec<String> = shown.map(|(at, text)| line(at + 1, text)).collect();
    let whole =
        format!("Here's the content of {} with line numbers:\n{}", path.written, body.join("\n"));
    if whole.chars().count() <= MOST_CHARS {
        return Ok(whole);
    }
    let cut: String = whole.chars().take(MOST_CHARS).collect();
    Ok(format!("{cut}\n[cut at 16,000 characters; give view_range for the rest]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_for_people() {
        for (bytes, text) in [
            (0, "0B"),
            (999, "999B"),
            (1024, "1.0K"),
            (1536, "1.5K"),
            (4096, "4.0K"),
            (1 << 20, "1.0M"),
        ] {
            assert_eq!(human(bytes), text);
        }
    }

    #[test]
    fn what_the_program_adds_is_not_shown() {
        for text in [
            "plain\n",
            "",
            "\nbegins with an empty line",
            "a\r\nb",
            "---\nname: A\nx: 1\n---\n\nbody\n",
        ] {
            let mut added = frontmatter::set(text, "trust", "concluded").unwrap();
            added = frontmatter::set_list(&added, "source", &["client:x".to_owned()]).unwrap();
            added = frontmatter::set(&added, "modified", "2026-11-15T08:00:00Z").unwrap();
            assert_eq!(visible(&added), text, "{added:?}");
            assert_eq!(visible(text), text);
        }
    }
}
