//! Paths as the memory tool writes them: `/memories/…`. Nothing that is not under it is ever looked at.

use crate::names::{INDEX, MemoryFile, fold};
use crate::scan::Scan;

const ROOT: &str = "/memories";

/// A path under `/memories`, as it was written and taken apart. It can not lead out.
pub(super) struct ToolPath {
    /// As it was written; the answers repeat it.
    pub(super) written: String,
    /// Below the root, without empty parts; empty for the root itself.
    below: String,
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommandPath {
    /// The directory itself.
    Root,
    /// The index.
    Index,
    /// A memory.
    File(MemoryFile),
    /// A folder with memories, by its path below the root.
    Folder(String),
}

impl ToolPath {
    /// Checks a path.
    pub(super) fn new(written: &str) -> Result<Self, String> {
        let below = written
            .strip_prefix(ROOT)
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
            .ok_or_else(|| format!("Path must start with {ROOT}, got: {written}"))?;
        let parts: Vec<&str> =
            below.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.iter().any(|part| leads_out(part)) {
            return Err(format!("Path {written} would escape {ROOT} directory"));
        }
        Ok(Self { written: written.to_owned(), below: parts.join("/") })
    }

    pub(super) fn is_root(&self) -> bool {
        self.below.is_empty()
    }

    pub(super) fn is_index(&self) -> bool {
        fold(&self.below) == fold(INDEX)
    }

    /// The file that it names. A memory is markdown: any other name gets that ending on disk.
    pub(super) fn file(&self) -> Result<MemoryFile, String> {
        let file = on_disk(&self.below);
        MemoryFile::new(&file).map_err(|error| format!("Error: {error}"))
    }

    /// The file that it would name with another beginning: a folder got another name.
    pub(super) fn moved(&self, file: &MemoryFile, to: &Self) -> Result<MemoryFile, String> {
        let rest = file.as_str().strip_prefix(self.below.as_str()).unwrap_or(file.as_str());
        let moved = format!("{}{rest}", to.below);
        MemoryFile::new(&moved).map_err(|error| format!("Error: {error}"))
    }

    pub(super) fn spot(&self, scan: &Scan, has_index: bool) -> Option<CommandPath> {
        if self.is_root() {
            return Some(CommandPath::Root);
        }
        if self.is_index() {
            return has_index.then_some(CommandPath::Index);
        }
        let folder = format!("{}/", self.below);
        let wanted = on_disk(&self.below);
        let files = || scan.memories.iter().map(|memory| &memory.file);
        let file = files().find(|file| file.as_str() == wanted).cloned().map(CommandPath::File);
        file.or_else(|| {
            let has = files().any(|file| file.as_str().starts_with(&folder));
            has.then(|| CommandPath::Folder(self.below.clone()))
        })
    }
}

/// Up, another separator, a byte that ends names, or one of these in percent form: harmless here, and a way
/// out for whoever decodes it.
fn leads_out(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    part == ".."
        || part.contains(['\\', '\0'])
        || ["%2e", "%2f", "%5c", "%00"].iter().any(|form| lower.contains(form))
}

fn on_disk(below: &str) -> String {
    // In lower case, as every agent writes it and the store wants it.
    match below.strip_suffix(".md") {
        Some(_) => below.to_owned(),
        None => format!("{below}.md"),
    }
}

/// How a file is shown: a name that has an ending of its own is shown without ours.
pub(super) fn shown(file: &MemoryFile) -> &str {
    let inner = file.as_str().strip_suffix(".md").unwrap_or(file.as_str());
    let own_ending = inner.rsplit('/').next().is_some_and(|name| {
        name.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty() && (1..=5).contains(&ending.len()) && !ending.contains(' ')
        })
    });
    if own_ending { inner } else { file.as_str() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leads_out() {
        for path in [
            "/etc/passwd",
            "memories/a.md",
            "",
            "/memoriesx/a.md",
            "/Memories",
            "~/x",
            "../memories",
        ] {
            let error = ToolPath::new(path).err().unwrap();
            assert_eq!(error, format!("Path must start with /memories, got: {path}"));
        }
        for path in [
            "/memories/../secrets.md",
            "/memories/a/../../b.md",
            "/memories/%2e%2e%2fb.md",
            "/memories/..%2Fb.md",
            "/memories/%2E%2E/b.md",
            "/memories/..\\b.md",
            "/memories/a%00.md",
            "/memories/a\0b.md",
            "/memories/a%5c..%5cb.md",
        ] {
            let error = ToolPath::new(path).err().unwrap();
            assert_eq!(error, format!("Path {path} would escape /memories directory"));
        }
    }

    #[test]
    fn names_go_to_disk_and_back() {
        for (path, disk, back) in [
            ("/memories/a.md", "a.md", "a.md"),
            ("/memories//sub/./a.md", "sub/a.md", "sub/a.md"),
            ("/memories/notes.txt", "notes.txt.md", "notes.txt"),
            ("/memories/guidelines.xml", "guidelines.xml.md", "guidelines.xml"),
            ("/memories/notes", "notes.md", "notes.md"),
            ("/memories/v1.0 plan.md", "v1.0 plan.md", "v1.0 plan.md"),
        ] {
            let file = ToolPath::new(path).unwrap().file().unwrap();
            assert_eq!((file.as_str(), shown(&file)), (disk, back), "{path}");
        }
        for hidden in ["/memories/.git/config", "/memories/.hidden.md", "/memories/logs/a.md"] {
            assert!(ToolPath::new(hidden).unwrap().file().unwrap_err().starts_with("Error: "));
        }
    }
}
