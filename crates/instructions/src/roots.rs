//! Where instructions may be loaded from.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Directories and files that instructions are loaded from. All paths are absolute.
#[derive(Debug, Clone)]
pub struct InstructionRoots {
    /// Instructions for every user of the machine: `/etc/dormouse/AGENTS.md`.
    pub managed: PathBuf,
    /// The user's home directory, for includes that begin with `~/`.
    pub home: PathBuf,
    /// `~/.dormouse`.
    pub dormouse: PathBuf,
    /// `~/.claude`.
    pub claude: PathBuf,
    /// Root of the project's checkout.
    pub checkout: PathBuf,
    /// Working directory, inside the checkout.
    pub working: PathBuf,
}

/// Files and folders outside the project that the user allows its instructions to include, by real path. A folder
/// covers everything below it.
#[derive(Debug, Clone, Default)]
pub struct ApprovedPaths(BTreeSet<PathBuf>);

impl ApprovedPaths {
    /// Takes the `real` paths of [`InstructionNote::Outside`](crate::InstructionNote::Outside).
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(paths.into_iter().collect())
    }

    pub(crate) fn covers(&self, real: &Path) -> bool {
        real.ancestors().any(|above| self.0.contains(above))
    }
}
