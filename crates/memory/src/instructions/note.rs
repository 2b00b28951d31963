//! What a person should know about their instruction files.

use std::fmt;
use std::path::{Path, PathBuf};

use dormouse_base::printable;

use super::file::MAX_BYTES;
use super::loader::{MAX_CHARACTERS, MAX_HOPS, MAX_INCLUDES};

/// Something about an instruction file that was not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// It leads outside the project and the person has not approved that: not loaded.
    Outside {
        /// As it is written or found.
        path: PathBuf,
        /// Where it leads: what to approve.
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
    /// It exists, and can not be loaded.
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: Problem,
    },
    /// It is the same file, or says the same, as one that was loaded before: left out.
    Duplicate {
        /// The file.
        path: PathBuf,
    },
    /// It was loaded, but is so long that much of it will go unheeded.
    Long {
        /// The file.
        path: PathBuf,
        /// How long it is.
        characters: usize,
    },
    /// An include beyond the fourth hop: not loaded.
    TooDeep {
        /// The file.
        path: PathBuf,
        /// The file that includes it.
        parent: PathBuf,
    },
    /// A file with more includes than are followed.
    TooManyIncludes {
        /// The file.
        path: PathBuf,
    },
    /// Instruction files were left out because there are too many of them, or they are too large together.
    Full {
        /// The first that was left out.
        path: PathBuf,
    },
    /// The `paths:` of a rule can not be used.
    BadPaths {
        /// The rule.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// Why a file can not be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
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
    /// The system refused, with these words.
    Refused(String),
}

impl Note {
    /// Whether there is something to do about it; the others only explain.
    pub fn is_warning(&self) -> bool {
        !matches!(self, Self::Duplicate { .. })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let included = |parent: &Path| format!("included by {}", shown(parent));
        match self {
            Self::Outside { path, real, parent } => {
                let by = parent
                    .as_deref()
                    .map_or_else(String::new, |parent| format!(", {},", included(parent)));
                write!(
                    f,
                    "{}{by} leads outside the project, to {}: not loaded until you approve it",
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
                    "{} is left out: the same was loaded before under another name",
                    shown(path)
                )
            }
            Self::Long { path, characters } => write!(
                f,
                "{} has {characters} characters, more than {MAX_CHARACTERS}: it is loaded, but shorten it or split it into rules with paths",
                shown(path)
            ),
            Self::TooDeep { path, parent } => write!(
                f,
                "{}, {}, is more than {MAX_HOPS} includes away: not loaded; include it from a file nearer the top",
                shown(path),
                included(parent)
            ),
            Self::TooManyIncludes { path } => {
                write!(
                    f,
                    "{} includes more than {MAX_INCLUDES} files: the rest is not loaded",
                    shown(path)
                )
            }
            Self::Full { path } => write!(
                f,
                "instruction files are too many or too large together: {} and what follows is not loaded; remove some",
                shown(path)
            ),
            Self::BadPaths { path, why } => {
                write!(
                    f,
                    "the `paths` of {} can not be used: {}; correct them",
                    shown(path),
                    printable(why)
                )
            }
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder => f.write_str("it is a folder; a file is expected"),
            Self::Special => {
                f.write_str("it is a pipe, socket or device; a plain file is expected")
            }
            Self::TooLarge(bytes) => write!(f, "it has {bytes} bytes; {MAX_BYTES} are the most"),
            Self::Binary => f.write_str("it is binary; a text file is expected"),
            Self::NotUtf8 => f.write_str("it is not UTF-8; save it in that encoding"),
            Self::Dangling => f.write_str("it is a link to something that does not exist"),
            Self::Refused(why) => write!(f, "{why}; check its owner and permissions"),
        }
    }
}

/// A path from a repository may hold anything.
fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).replace(['\n', '\t'], "\u{fffd}")
}
