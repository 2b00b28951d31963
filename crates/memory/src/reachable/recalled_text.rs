//! Recalled memories as a model reads them: cut to a length, with age, name, description and the state of the code
//! that they name. Sessions, MCP clients and hooks show the same text.

use jiff::Timestamp;

use super::ReachableMemories;
use super::found::FoundMemory;
use crate::entry::MemoryEntry;
use crate::excerpt::beginning;
use crate::names::slug;

/// What stands around a memory's age and path.
const BEGIN: &str = "Memory (saved ";
const MIDDLE: &str = "): ";
/// Before memories that are only named.
const LINES: &str = "These may bear on it too; read one if it does,";

/// A memory whose text is shown. It is made once and stays the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecalledMemoryText {
    /// Its file.
    pub path: String,
    /// How old it is, in words.
    pub age: String,
    /// Its name and description.
    pub about: String,
    /// What is to be said before it is trusted; empty if nothing is.
    pub caveat: String,
    /// Its text, bounded already.
    pub text: String,
}

impl RecalledMemoryText {
    /// Reads a memory; none if it was removed since it was found.
    pub fn read(memories: &ReachableMemories, found: &FoundMemory, now: Timestamp) -> Option<Self> {
        let (bytes, _) = found.store.read(&found.memory.file).ok()?;
        let entry = MemoryEntry::read(&bytes, bytes.len() as u64);
        let age = match found.teammate() {
            Some(name) => format!("{} by {name}", found.age(now)),
            None => found.age(now).to_string(),
        };
        let path = found.path().display().to_string();
        let text = bounded(entry.body.trim(), &path);
        let about = match &entry.header.description {
            Some(description) => format!("{}: {description}", found.memory.name()),
            None => found.memory.name().to_owned(),
        };
        let caveat = memories.caveat(found, now);
        Some(Self { path, age, about, caveat, text })
    }

    /// How it reads.
    pub fn render(&self) -> String {
        let Self { path, age, about, caveat, text } = self;
        let caveat = if caveat.is_empty() { String::new() } else { format!("{caveat}\n") };
        format!("{caveat}{BEGIN}{age}{MIDDLE}{path}:\n{about}\n{text}")
    }
}

/// The beginning of a text, and how to read the rest.
fn bounded(text: &str, path: &str) -> String {
    let shown = beginning(text);
    match text.len() - shown.len() {
        0 => text.to_owned(),
        left => format!("{}\n[{left} more bytes: read {path} for all of it]", shown.trim_end()),
    }
}

/// A memory that is only named: it may bear on the message, and the model decides whether to read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecalledMemoryLine {
    /// The folder of its file.
    pub folder: String,
    /// The name of its file.
    pub file: String,
    /// Its description.
    pub about: String,
}

impl RecalledMemoryLine {
    /// Names a memory. The name of its file is often that of the memory: then the description says more.
    pub fn of(found: &FoundMemory) -> Self {
        let memory = &found.memory;
        let name = memory.name();
        let about = match &memory.header.description {
            Some(description) if slug(name) == memory.file.stem() => description.clone(),
            Some(description) => format!("{name}: {description}"),
            None => name.to_owned(),
        };
        let path = found.path();
        let text = |part: Option<&std::ffi::OsStr>| {
            part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let folder = text(path.parent().map(std::path::Path::as_os_str));
        Self { folder, file: text(path.file_name()), about }
    }

    /// How it reads below the name of its folder.
    pub fn render(&self) -> String {
        format!("- {}: {}", self.file, self.about)
    }
}

/// All memories of one recall.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecalledTexts {
    /// Those whose text is shown.
    pub memories: Vec<RecalledMemoryText>,
    /// Those that are only named.
    pub lines: Vec<RecalledMemoryLine>,
}

impl RecalledTexts {
    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.memories.is_empty() && self.lines.is_empty()
    }

    /// How they read: the texts, then a line for each that is named, below its folder.
    pub fn render(&self) -> String {
        let texts = self.memories.iter().map(RecalledMemoryText::render);
        let named = (!self.lines.is_empty()).then(|| format!("{LINES}{}", self.named()));
        texts.chain(named).collect::<Vec<_>>().join("\n\n")
    }

    fn named(&self) -> String {
        let mut text = String::new();
        let mut folder = None;
        for line in &self.lines {
            if folder != Some(&line.folder) {
                text.push_str(&format!("\nin {}:", line.folder));
                folder = Some(&line.folder);
            }
            text.push_str(&format!("\n{}", line.render()));
        }
        text
    }

    /// The files of the memories whose text is in a rendered text.
    pub fn shown_in(text: &str) -> Vec<&str> {
        text.lines().filter_map(path_in).collect()
    }

    /// The files of the memories that a rendered text only names.
    pub fn named_in(text: &str) -> Vec<String> {
        let Some((_, lines)) = text.rsplit_once(LINES) else { return Vec::new() };
        let mut folder = "";
        let mut files = Vec::new();
        for line in lines.lines() {
            if let Some(named) = line.strip_prefix("in ").and_then(|line| line.strip_suffix(':')) {
                folder = named;
            } else if let Some((file, _)) =
                line.strip_prefix("- ").and_then(|line| line.split_once(": "))
            {
                files.push(format!("{folder}/{file}"));
            }
        }
        files
    }
}

/// The path in the line before a memory.
fn path_in(line: &str) -> Option<&str> {
    let (_, path) = line.strip_prefix(BEGIN)?.split_once(MIDDLE)?;
    path.strip_suffix(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_shown_can_be_told_from_its_text() {
        let memory = |path: &str, caveat: &str| RecalledMemoryText {
            path: path.into(),
            age: "today".into(),
            about: "Tabs: indents with tabs".into(),
            caveat: caveat.into(),
            text: "Use tabs.".into(),
        };
        let line = |file: &str| RecalledMemoryLine {
            folder: "/m".to_owned(),
            file: file.to_owned(),
            about: "spaces in YAML".to_owned(),
        };
        let memories = vec![memory("/m/a.md", ""), memory("/m/名 (2).md", "It is old.")];
        let text = RecalledTexts { memories, lines: vec![line("b.md"), line("c.md")] }.render();
        assert_eq!(
            text,
            "Memory (saved today): /m/a.md:\nTabs: indents with tabs\nUse tabs.\n\n\
             It is old.\nMemory (saved today): /m/名 (2).md:\nTabs: indents with tabs\nUse tabs.\n\n\
             These may bear on it too; read one if it does,\nin /m:\n- b.md: spaces in YAML\n- c.md: spaces in YAML"
        );
        assert_eq!(RecalledTexts::shown_in(&text), ["/m/a.md", "/m/名 (2).md"]);
        assert_eq!(RecalledTexts::named_in(&text), ["/m/b.md", "/m/c.md"]);
    }
}
