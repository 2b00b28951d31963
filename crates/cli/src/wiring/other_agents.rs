//! What other agents know about a project: Claude Code's and Codex' memories, Cursor's rules. Only reads.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, Environment, Project, ProjectSlug, names};
use dormouse_memory::{Imported, from_codex, from_cursor_rule, from_folder};

use crate::args::OtherAgent;
use crate::wiring::exit::Failure;
use crate::wiring::input::{read_file, unreadable};

/// What an agent knows about a project, and where it keeps that.
pub(crate) struct ForeignMemories {
    pub(crate) agent: OtherAgent,
    pub(crate) path: PathBuf,
    pub(crate) memories: Vec<Imported>,
    /// Files that were left out, with the reasons.
    pub(crate) skipped: Vec<String>,
}

impl OtherAgent {
    pub(crate) const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::Cursor];

    /// As the command line calls it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
        }
    }

    /// As people call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
        }
    }

    /// What it knows about a project; no memories if it was never used there.
    pub(crate) fn memories(
        self,
        project: &Project,
        environment: &Environment,
    ) -> Result<ForeignMemories, Failure> {
        let home = environment.path(names::USER_HOME).unwrap_or_default();
        let path = match self {
            Self::ClaudeCode => {
                let slug = ProjectSlug::of(&project.root);
                home.join(".claude/projects").join(slug.as_str()).join("memory")
            }
            Self::Codex => home.join(".codex/memories/MEMORY.md"),
            Self::Cursor => project.checkout.join(".cursor/rules"),
        };
        let (memories, skipped) = match self {
            Self::ClaudeCode => memory_folder(&path)?,
            Self::Codex => {
                let text = text_of(&path)?.unwrap_or_default();
                (from_codex(&text, &project.root), Vec::new())
            }
            Self::Cursor => (cursor_rules(&project.checkout, &path)?, Vec::new()),
        };
        Ok(ForeignMemories { agent: self, path, memories, skipped })
    }
}

/// The memories of a folder, and the files that were left out with the reasons; nothing if there is no folder.
pub(crate) fn memory_folder(path: &Path) -> Result<(Vec<Imported>, Vec<String>), Failure> {
    let folder = match Dir::open(path) {
        Ok(folder) => folder,
        Err(error) if error.is_not_found() => return Ok((Vec::new(), Vec::new())),
        Err(error) => return Err(error.into()),
    };
    let (memories, scan) = from_folder(&folder)?;
    let skipped = scan.skipped.iter().map(|file| format!("{}: {}", file.path, file.reason));
    Ok((memories, skipped.collect()))
}

/// The rules in the folder, in the order of their names, and the file that came before folders.
fn cursor_rules(checkout: &Path, folder: &Path) -> Result<Vec<Imported>, Failure> {
    let mut files = match std::fs::read_dir(folder) {
        Ok(entries) => entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| unreadable(folder, &error))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(unreadable(folder, &error)),
    };
    files.retain(|file| file.extension() == Some(OsStr::new("mdc")));
    files.sort();
    files.push(checkout.join(".cursorrules"));
    let mut rules = Vec::new();
    for file in files {
        let Some(text) = text_of(&file)? else { continue };
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        rules.extend(from_cursor_rule(stem.trim_start_matches('.'), &text));
    }
    Ok(rules)
}

fn text_of(path: &Path) -> Result<Option<String>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&read_file(path)?).into_owned()))
}
