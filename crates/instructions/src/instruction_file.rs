//! A loaded instruction file: who wrote it and why it was loaded.

use std::path::PathBuf;

/// Who wrote an instruction file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstructionKind {
    /// The organization, for every user of the machine.
    Managed,
    /// The user, for every project.
    User,
    /// The project, kept with its code.
    Project,
    /// The user, for this project only.
    Local,
}

impl InstructionKind {
    /// Name in hook input.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "Managed",
            Self::User => "User",
            Self::Project => "Project",
            Self::Local => "Local",
        }
    }
}

/// Why a file was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoadReason {
    /// Loaded for every session.
    SessionStart,
    /// Loaded again after compaction.
    Compact,
    /// A tool read or wrote a file in its folder.
    NestedTraversal,
    /// A tool read or wrote a file that its `paths:` match.
    PathGlobMatch,
    /// Included by another file.
    Include,
}

impl LoadReason {
    /// Name in hook input.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::Compact => "compact",
            Self::NestedTraversal => "nested_traversal",
            Self::PathGlobMatch => "path_glob_match",
            Self::Include => "include",
        }
    }
}

/// When instructions are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadOccasion {
    /// A session starts or is cleared.
    Start,
    /// After compaction.
    Compaction,
}

/// A loaded instruction file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionFile {
    /// Path where it was found; for an included file, its real path.
    pub path: PathBuf,
    /// An included file has the kind of the file that includes it.
    pub kind: InstructionKind,
    /// What caused the load.
    pub reason: LoadReason,
    /// The including file.
    pub parent: Option<PathBuf>,
    /// The file that a tool read or wrote, if that loaded this file.
    pub trigger: Option<PathBuf>,
    /// Patterns of `paths:`, for a rule.
    pub globs: Vec<String>,
    /// Content without comments and without the frontmatter of a rule.
    pub text: String,
}
