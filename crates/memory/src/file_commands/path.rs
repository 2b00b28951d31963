//! Paths of the memory tool: `/memories/…`. No other path is accepted.

use super::error::MemoryCommandError;
use crate::names::{INDEX, MemoryFile, MemoryFileError, fold};
use crate::scan::Scan;

const ROOT: &str = "/memories";

/// A path under `/memories`. It cannot lead out of it.
pub(super) struct ToolPath {
    /// As the model wrote it; results repeat it.
    pub(super) written: String,
    /// The part below the root, normalized; empty for the root itself.
    below: String,
}

/// What a path refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathTarget {
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
    pub(super) fn new(written: &str) -> Result<Self, MemoryCommandError> {
        let below = written
            .strip_prefix(ROOT)
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
            .ok_or_else(|| MemoryCommandError::OutsideRoot(written.to_owned()))?;
        let parts: Vec<&str> =
            below.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.iter().any(|part| leads_out(part)) {
            return Err(MemoryCommandError::Escapes(written.to_owned()));
        }
        Ok(Self { written: written.to_owned(), below: parts.join("/") })
    }

    pub(super) fn is_root(&self) -> bool {
        self.below.is_empty()
    }

    pub(super) fn is_index(&self) -> bool {
        fold(&self.below) == fold(INDEX)
    }

    /// The memory's file. Memories are markdown, so a name with another extension gets `.md` appended on disk.
    pub(super) fn file(&self) -> Result<MemoryFile, MemoryFileError> {
        MemoryFile::new(&on_disk(&self.below))
    }

    /// The new path of a file in this folder after the folder was renamed to `to`.
    pub(super) fn moved(
        &self,
        file: &MemoryFile,
        to: &Self,
    ) -> Result<MemoryFile, MemoryFileError> {
        let rest = file.as_str().strip_prefix(self.below.as_str()).unwrap_or(file.as_str());
        MemoryFile::new(&format!("{}{rest}", to.below))
    }

    pub(super) fn target(&self, scan: &Scan, has_index: bool) -> Option<PathTarget> {
        if self.is_root() {
            return Some(PathTarget::Root);
        }
        if self.is_index() {
            return has_index.then_some(PathTarget::Index);
        }
        let folder = format!("{}/", self.below);
        let wanted = on_disk(&self.below);
        let files = || scan.memories.iter().map(|memory| &memory.file);
        let file = files().find(|file| file.as_str() == wanted).cloned().map(PathTarget::File);
        file.or_else(|| {
            let has = files().any(|file| file.as_str().starts_with(&folder));
            has.then(|| PathTarget::Folder(self.below.clone()))
        })
    }
}

/// Whether a part is the parent folder, contains another separator or a NUL byte, or one of these percent-encoded.
/// Encoded forms are harmless here, but not for a program that decodes them.
fn leads_out(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    part == ".."
        || part.contains(['\\', '\0'])
        || ["%2e", "%2f", "%5c", "%00"].iter().any(|form| lower.contains(form))
}

fn on_disk(below: &str) -> String {
    // Only lower case: the store accepts no other spelling.
    match below.strip_suffix(".md") {
        Some(_) => below.to_owned(),
        None => format!("{below}.md"),
    }
}

/// The name of a file as shown to the model: without the `.md` that was appended to another extension.
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
            let error = ToolPath::new(path).err().unwrap().to_string();
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
            let error = ToolPath::new(path).err().unwrap().to_string();
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
            let error =
                MemoryCommandError::from(ToolPath::new(hidden).unwrap().file().unwrap_err());
            assert!(error.to_string().starts_with("Error: "));
        }
    }
}
