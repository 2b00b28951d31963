//! Notes for the user about instruction files that were not loaded, or not as expected.

use std::fmt;
use std::path::{Path, PathBuf};

use dormouse_base::printable;

use crate::limits::{MAX_BYTES, MAX_CHARACTERS, MAX_HOPS, MAX_INCLUDES};

/// A note about one instruction file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstructionNote {
    /// Outside the project and not approved by the user: not loaded.
    Outside {
        /// Path as written or found.
        path: PathBuf,
        /// Real path, the one to approve.
        real: PathBuf,
        /// The file that includes it.
        parent: Option<PathBuf>,
    },
    /// An include of a file that does not exist.
    Missing {
        /// The file.
        path: PathBuf,
        /// The file that includes it.
        parent: PathBuf,
    },
    /// Exists but cannot be loaded.
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: FileProblem,
    },
    /// Same file or same content as one already loaded: skipped.
    Duplicate {
        /// The file.
        path: PathBuf,
    },
    /// Loaded, but so long that the model will ignore much of it.
    Long {
        /// The file.
        path: PathBuf,
        /// Its length.
        characters: usize,
    },
    /// An include beyond the fourth hop: not loaded.
    TooDeep {
        /// The file.
        path: PathBuf,
        /// The file that includes it.
        parent: PathBuf,
    },
    /// Has more includes than are followed.
    TooManyIncludes {
        /// The file.
        path: PathBuf,
    },
    /// The limit on number or total size is reached; this file and the following are not loaded.
    Full {
        /// The first file that was not loaded.
        path: PathBuf,
    },
    /// The `paths:` of a rule are invalid.
    BadPaths {
        /// The rule.
        path: PathBuf,
        /// The reason.
        why: String,
    },
}

/// Why a file cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileProblem {
    /// A folder has the name of a file.
    Folder,
    /// A pipe, socket or device.
    Special,
    /// More than 4 MiB.
    TooLarge(u64),
    /// It has NUL bytes.
    Binary,
    /// It is not UTF-8.
    NotUtf8,
    /// A link to something that does not exist.
    Dangling,
    /// The operating system's error message.
    Refused(String),
}

impl InstructionNote {
    /// Whether the user should act on it; other notes only explain.
    pub fn is_warning(&self) -> bool {
        !matches!(self, Self::Duplicate { .. })
    }
}

impl fmt::Display for InstructionNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let included = |parent: &Path| format!("included by {}", shown(parent));
        match self {
            Self::Outside { path, real, parent } => {
                let by = parent
                    .as_deref()
                    .map_or_else(String::new, |parent| format!(", {},", included(parent)));
                write!(
                    f,
                    "{}{by} is outside the project, at {}: not loaded until you approve it",
                    shown(path),
                    shown(real)
                )
            }
            Self::Missing { path, parent } => {
                write!(
                    f,
                    "{}, {}, does not exist: correct the path or remove the @",
                    shown(path),
                    included(parent)
                )
            }
            Self::Unusable { path, problem } => {
                write!(f, "{} is not loaded: {problem}", shown(path))
            }
            Self::Duplicate { path } => {
                write!(
                    f,
                    "{} is skipped: its content was already loaded from another file",
                    shown(path)
                )
            }
            Self::Long { path, characters } => write!(
                f,
                "{} has {characters} characters, more than {MAX_CHARACTERS}: it was loaded; shorten it or split it into rules with `paths`",
                shown(path)
            ),
            Self::TooDeep { path, parent } => write!(
                f,
                "{}, {}, is nested more than {MAX_HOPS} includes deep: not loaded; include it from a higher file",
                shown(path),
                included(parent)
            ),
            Self::TooManyIncludes { path } => {
                write!(
                    f,
                    "{} includes more than {MAX_INCLUDES} files: the rest were not loaded",
                    shown(path)
                )
            }
            Self::Full { path } => write!(
                f,
                "instruction files exceed the total limit: {} and the following files were not loaded; remove some",
                shown(path)
            ),
            Self::BadPaths { path, why } => {
                write!(
                    f,
                    "the `paths` of {} are invalid: {}; correct them",
                    shown(path),
                    printable(why)
                )
            }
        }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder => f.write_str("it is a folder; a file is expected"),
            Self::Special => {
                f.write_str("it is a pipe, socket or device; a regular file is expected")
            }
            Self::TooLarge(bytes) => write!(f, "it has {bytes} bytes; the limit is {MAX_BYTES}"),
            Self::Binary => f.write_str("it is binary; a text file is expected"),
            Self::NotUtf8 => f.write_str("it is not UTF-8; save it in that encoding"),
            Self::Dangling => f.write_str("it is a link to something that does not exist"),
            Self::Refused(why) => write!(f, "{why}; check its owner and permissions"),
        }
    }
}

/// Makes a path from a repository safe to print.
fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).replace(['\n', '\t'], "\u{fffd}")
}
