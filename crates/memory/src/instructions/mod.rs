//! Instruction files: what a person, a project or an organisation wants every session to know (L-20, L-21).
//!
//! Lowest to highest, later ones weighing more: managed, user, project, local. Rules with `paths:` and files in
//! folders below the working directory wait until a file there is touched. Every file is reached by its real
//! path and read through one door (`file`), so that a project can not have anything outside of it read without
//! the person's approval: not by a link, not by `..`, not by a race.
//!
//! Nothing here fails. What can not be loaded, or should be known, is a [`Note`].

mod file;
mod head;
mod loader;
mod markdown;
mod note;
mod parts;
mod places;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use note::{Note, Problem};
pub use parts::parts;

use loader::Loader;

/// Where instruction files are looked for. All paths are absolute.
#[derive(Debug, Clone)]
pub struct Roots {
    /// The file that holds for everybody on the machine: `/etc/dormouse/AGENTS.md`.
    pub managed: PathBuf,
    /// The person's home, for includes that begin with `~/`.
    pub home: PathBuf,
    /// The person's folder for this program: `~/.dormouse`.
    pub dormouse: PathBuf,
    /// The person's folder for Claude Code: `~/.claude`.
    pub claude: PathBuf,
    /// The top of the project's checkout.
    pub checkout: PathBuf,
    /// The working directory, in the checkout.
    pub working: PathBuf,
}

/// Files and folders outside the project that the person lets its instructions read, by their real paths. A
/// folder covers what is below it.
#[derive(Debug, Clone, Default)]
pub struct Approved(BTreeSet<PathBuf>);

impl Approved {
    /// These; as they stand in [`Note::Outside`].
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(paths.into_iter().collect())
    }

    fn covers(&self, real: &Path) -> bool {
        real.ancestors().any(|above| self.0.contains(above))
    }
}

/// Whose instructions they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The organisation's, for everybody on the machine.
    Managed,
    /// The person's, in every project.
    User,
    /// The project's.
    Project,
    /// The person's, in this project.
    Local,
}

impl Kind {
    /// The name that hooks know it by.
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
pub enum Reason {
    /// It belongs to every session.
    SessionStart,
    /// It belongs to every session, and the conversation was compacted.
    Compact,
    /// A file in its folder was touched.
    NestedTraversal,
    /// A file that its `paths:` match was touched.
    PathGlobMatch,
    /// Another file includes it.
    Include,
}

impl Reason {
    /// The name that hooks know it by.
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

/// When instructions are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// A session starts, or starts over.
    Start,
    /// The conversation was compacted.
    Compaction,
}

/// An instruction file that was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// Where it was found; for an included file, where it really is.
    pub path: PathBuf,
    /// Whose it is; an included file is of the kind of the file that includes it.
    pub kind: Kind,
    /// Why it was loaded.
    pub reason: Reason,
    /// The file that includes it.
    pub parent: Option<PathBuf>,
    /// The touched file that brought it.
    pub trigger: Option<PathBuf>,
    /// Its `paths:`, if it is a rule that has some.
    pub globs: Vec<String>,
    /// What it says, without comments and without the head of a rule.
    pub text: String,
}

/// The instruction files of a session.
#[derive(Debug)]
pub struct Instructions {
    loader: Loader,
    loaded: Vec<Loaded>,
}

impl Instructions {
    /// Collects what belongs to every session, and remembers what waits for a file to be touched.
    pub fn load(roots: Roots, approved: Approved, occasion: Occasion) -> Self {
        let reason = match occasion {
            Occasion::Start => Reason::SessionStart,
            Occasion::Compaction => Reason::Compact,
        };
        let mut loader = Loader::new(roots, approved);
        places::load_session(&mut loader, reason);
        let loaded = loader.take_loaded();
        Self { loader, loaded }
    }

    /// What every session has, in its order.
    pub fn loaded(&self) -> &[Loaded] {
        &self.loaded
    }

    /// What a file brings that a tool has read or is about to write: instruction files of the folders between the
    /// working directory and it, and rules whose `paths:` match it; each once.
    pub fn touched(&mut self, path: &Path) -> Vec<Loaded> {
        places::load_touched(&mut self.loader, path);
        self.loader.take_loaded()
    }

    /// What a person should know, since the last time this was asked.
    pub fn take_notes(&mut self) -> Vec<Note> {
        self.loader.take_notes()
    }
}

/// For fuzzing: the head of a rule and the markdown below it, through everything that reads them.
#[doc(hidden)]
pub fn read_rule_for_fuzzing(text: &str) -> (Vec<String>, String, Vec<String>) {
    let head = head::split(text);
    let globs = head.paths.clone();
    let _matcher = head::Matcher::new(&globs);
    let cleaned = markdown::clean(head.body);
    let mentions = cleaned.mentions.into_iter().map(|mention| mention.path).collect();
    (globs, cleaned.text, mentions)
}
