//! `view`: a folder as a list, a file with line numbers.

use std::collections::BTreeMap;

use super::directory::CommandDirectory;
use super::error::MemoryCommandError;
use super::path::{PathTarget, ToolPath, shown};
use dormouse_frontmatter as frontmatter;

use crate::names::{INDEX, MemoryFile};
use crate::store::ContentHash;

/// Maximum number of lines: numbers have six digits.
const MAX_LINES: usize = 999_999;
/// Maximum length of a view, as models that know the tool expect.
const MAX_CHARS: usize = 16_000;
/// Depth of a list.
const LEVELS: usize = 2;
/// Size shown for folders, as `du` prints it.
const FOLDER_SIZE: &str = "4.0K";
/// Frontmatter keys that the program keeps.
const KEPT_KEYS: [&str; 4] = ["trust", "source", "modified", "anchors"];

impl CommandDirectory<'_> {
    pub(super) fn view(
        &self,
        path: &ToolPath,
        range: Option<[i64; 2]>,
    ) -> Result<String, MemoryCommandError> {
        let missing = || MemoryCommandError::NothingToView(path.written.clone());
        match self.target(path).ok_or_else(missing)? {
            PathTarget::Root => Ok(self.list(path, "")),
            PathTarget::Folder(folder) => Ok(self.list(path, &format!("{folder}/"))),
            PathTarget::Index => {
                let text = self.store.index_text().map_err(MemoryCommandError::Read)?;
                numbered(path, &text, range)
            }
            PathTarget::File(file) => {
                let (text, _) = self.text(&file).map_err(|_| missing())?;
                numbered(path, &text, range)
            }
        }
    }

    /// The text of a file as shown to the model, and the hash of the whole file.
    pub(super) fn text(
        &self,
        file: &MemoryFile,
    ) -> Result<(String, ContentHash), MemoryCommandError> {
        let (bytes, hash) = self.store.read(file).map_err(MemoryCommandError::Read)?;
        Ok((visible(&String::from_utf8_lossy(&bytes)), hash))
    }

    /// The content of a folder, two levels deep; `prefix` is its path below the root, with a slash.
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

/// Sizes in the format of `du -h`.
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

/// The text without the frontmatter keys that the program keeps. The rest of the frontmatter is the agent's own.
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

fn numbered(
    path: &ToolPath,
    text: &str,
    range: Option<[i64; 2]>,
) -> Result<String, MemoryCommandError> {
    let lines: Vec<&str> = text.split('\n').collect();
    if lines.len() > MAX_LINES {
        return Err(MemoryCommandError::TooManyLines(path.written.clone()));
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
    if whole.chars().count() <= MAX_CHARS {
        return Ok(whole);
    }
    let cut: String = whole.chars().take(MAX_CHARS).collect();
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
