//! Names and folders of instruction files, in loading order.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use dormouse_base::EntryKind;

use crate::file_access::{self, ResolvedPath};
use crate::instruction_file::{InstructionKind, LoadReason};
use crate::loader::{FileSource, Loader, ReadBound};
use crate::note::FileProblem;
use crate::roots::InstructionRoots;

/// Project files, in every folder from the checkout to the working directory.
pub const PROJECT_FILES: [&str; 4] =
    ["AGENTS.md", "CLAUDE.md", ".dormouse/AGENTS.md", ".claude/CLAUDE.md"];
/// The user's own files for one project.
const LOCAL_FILES: [&str; 2] = ["AGENTS.local.md", "CLAUDE.local.md"];
/// Folders with rules.
const RULE_FOLDERS: [&str; 2] = [".dormouse/rules", ".claude/rules"];
/// Depth and number of rules in one folder of rules.
const MAX_DEPTH: usize = 8;
const MAX_RULES: usize = 500;

/// Loads the files that every session has.
pub(crate) fn load_session(loader: &mut Loader, reason: LoadReason) {
    let visit = Visit { reason, trigger: None };
    let InstructionRoots { managed, dormouse, claude, checkout, working, .. } =
        loader.roots.clone();
    loader.load(&visit.source(managed, InstructionKind::Managed));
    loader.load(&visit.source(dormouse.join("AGENTS.md"), InstructionKind::User));
    loader.load(&visit.source(claude.join("CLAUDE.md"), InstructionKind::User));
    for folder in [dormouse, claude] {
        visit.load_rules(loader, &folder.join("rules"), InstructionKind::User, &checkout);
    }
    visit.load_folders(loader, &folders_between(&checkout, &working));
}

/// Loads the instructions for a file that a tool reads or writes.
pub(crate) fn load_for_file(loader: &mut Loader, path: &Path) {
    let working = loader.roots.working.clone();
    let Some(real) = file_access::real_path(&working.join(path)) else { return };
    let visit = Visit { reason: LoadReason::NestedTraversal, trigger: Some(real.clone()) };
    if let Some(parent) = real.parent().filter(|parent| parent.starts_with(&working)) {
        let mut folders = folders_between(&working, parent);
        folders.retain(|folder| *folder != working && loader.visited.insert(folder.clone()));
        visit.load_folders(loader, &folders);
    }
    loader.load_matching(&real);
}

/// The folders from `upper` down to `lower`, both included; only `lower` if it is not below `upper`.
fn folders_between(upper: &Path, lower: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = lower
        .ancestors()
        .take_while(|folder| folder.starts_with(upper))
        .map(Path::to_owned)
        .collect();
    if folders.is_empty() {
        folders.push(lower.to_owned());
    }
    folders.reverse();
    folders
}

/// Why folders are visited.
struct Visit {
    reason: LoadReason,
    trigger: Option<PathBuf>,
}

impl Visit {
    fn source(&self, path: PathBuf, kind: InstructionKind) -> FileSource {
        FileSource { path, kind, reason: self.reason, parent: None, trigger: self.trigger.clone() }
    }

    /// Loads the project's files in these folders, then the user's own.
    fn load_folders(&self, loader: &mut Loader, folders: &[PathBuf]) {
        for folder in folders {
            for name in PROJECT_FILES {
                loader.load(&self.source(folder.join(name), InstructionKind::Project));
            }
            for rules in RULE_FOLDERS {
                self.load_rules(loader, &folder.join(rules), InstructionKind::Project, folder);
            }
        }
        for folder in folders {
            for name in LOCAL_FILES {
                loader.load(&self.source(folder.join(name), InstructionKind::Local));
            }
        }
    }

    /// Loads the rules below a folder; their patterns are relative to `base`.
    fn load_rules(&self, loader: &mut Loader, folder: &Path, kind: InstructionKind, base: &Path) {
        let bound =
            if kind == InstructionKind::User { ReadBound::Anywhere } else { ReadBound::Project };
        let mut walk = Walk { bound, walked: HashSet::new(), found: Vec::new() };
        walk.folder(loader, folder, 0);
        for rule in walk.found {
            loader.load_rule(self.source(rule, kind), base);
        }
    }
}

/// A walk through a folder of rules.
struct Walk {
    bound: ReadBound,
    /// Real paths of visited folders, against link cycles.
    walked: HashSet<PathBuf>,
    found: Vec<PathBuf>,
}

impl Walk {
    fn folder(&mut self, loader: &mut Loader, folder: &Path, depth: usize) {
        let real = match file_access::resolve(folder) {
            ResolvedPath::Real(real) => real,
            ResolvedPath::Absent => return,
            ResolvedPath::Unusable(problem) => return loader.note_unusable(folder, problem),
        };
        if !loader.may_read(folder, &real, None, self.bound) || !self.walked.insert(real.clone()) {
            return;
        }
        let entries = match file_access::list(&real) {
            Ok(entries) => entries,
            Err(problem) => return loader.note_unusable(folder, problem),
        };
        for (path, kind) in entries {
            self.entry(loader, path, kind, depth);
        }
    }

    fn entry(&mut self, loader: &mut Loader, path: PathBuf, kind: EntryKind, depth: usize) {
        let is_rule = path.extension().is_some_and(|extension| extension == "md");
        let is_folder = match kind {
            EntryKind::Folder => true,
            EntryKind::File => false,
            EntryKind::Other => path.is_dir(),
        };
        if is_folder && depth < MAX_DEPTH {
            self.folder(loader, &path, depth + 1);
        } else if is_folder || (is_rule && self.found.len() >= MAX_RULES) {
            let why = format!("more than {MAX_RULES} rules, or more than {MAX_DEPTH} folders deep");
            loader.note_unusable(&path, FileProblem::Refused(why));
        } else if is_rule {
            self.found.push(path);
        }
    }
}
