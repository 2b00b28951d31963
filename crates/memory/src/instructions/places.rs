//! Where instruction files are, and in which order they are read.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use dormouse_base::EntryKind;

use super::file::{self, Target};
use super::loader::{Bound, Loader, Source};
use super::{Kind, Problem, Reason, Roots};

/// The files of a project, in every folder from its top to the working directory.
const PROJECT_FILES: [&str; 4] =
    ["AGENTS.md", "CLAUDE.md", ".dormouse/AGENTS.md", ".claude/CLAUDE.md"];
/// Those that the person keeps for themselves in it.
const LOCAL_FILES: [&str; 2] = ["AGENTS.local.md", "CLAUDE.local.md"];
/// The folders that have rules.
const RULE_FOLDERS: [&str; 2] = [".dormouse/rules", ".claude/rules"];
/// How deep folders of rules are looked through, and how many rules one may have.
const MAX_DEPTH: usize = 8;
const MAX_RULES: usize = 500;

/// Loads what belongs to every session.
pub(super) fn load_session(loader: &mut Loader, reason: Reason) {
    let visit = Visit { reason, trigger: None };
    let Roots { managed, dormouse, claude, checkout, working, .. } = loader.roots.clone();
    loader.load(&visit.source(managed, Kind::Managed));
    loader.load(&visit.source(dormouse.join("AGENTS.md"), Kind::User));
    loader.load(&visit.source(claude.join("CLAUDE.md"), Kind::User));
    for folder in [dormouse, claude] {
        visit.load_rules(loader, &folder.join("rules"), Kind::User, &checkout);
    }
    visit.load_folders(loader, &folders_between(&checkout, &working));
}

/// Loads what a touched file brings.
pub(super) fn load_touched(loader: &mut Loader, path: &Path) {
    let working = loader.roots.working.clone();
    let Some(real) = file::real_path(&working.join(path)) else { return };
    let visit = Visit { reason: Reason::NestedTraversal, trigger: Some(real.clone()) };
    if let Some(parent) = real.parent().filter(|parent| parent.starts_with(&working)) {
        let mut folders = folders_between(&working, parent);
        folders.retain(|folder| *folder != working && loader.visited.insert(folder.clone()));
        visit.load_folders(loader, &folders);
    }
    loader.load_matching(&real);
}

/// The folders from one to another below it, both included, the upper first; only the second if it is not below.
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

/// Why folders are looked at.
struct Visit {
    reason: Reason,
    trigger: Option<PathBuf>,
}

impl Visit {
    fn source(&self, path: PathBuf, kind: Kind) -> Source {
        Source { path, kind, reason: self.reason, parent: None, trigger: self.trigger.clone() }
    }

    /// The project's files in these folders, then the person's own in them.
    fn load_folders(&self, loader: &mut Loader, folders: &[PathBuf]) {
        for folder in folders {
            for name in PROJECT_FILES {
                loader.load(&self.source(folder.join(name), Kind::Project));
            }
            for rules in RULE_FOLDERS {
                self.load_rules(loader, &folder.join(rules), Kind::Project, folder);
            }
        }
        for folder in folders {
            for name in LOCAL_FILES {
                loader.load(&self.source(folder.join(name), Kind::Local));
            }
        }
    }

    /// The rules below a folder; their patterns are seen from `base`.
    fn load_rules(&self, loader: &mut Loader, folder: &Path, kind: Kind, base: &Path) {
        let bound = if kind == Kind::User { Bound::Anywhere } else { Bound::Project };
        let mut walk = Walk { bound, walked: HashSet::new(), found: Vec::new() };
        walk.folder(loader, folder, 0);
        for rule in walk.found {
            loader.load_rule(self.source(rule, kind), base);
        }
    }
}

/// A walk through a folder of rules.
struct Walk {
    bound: Bound,
    /// Real paths of folders, so that links can not lead in circles.
    walked: HashSet<PathBuf>,
    found: Vec<PathBuf>,
}

impl Walk {
    fn folder(&mut self, loader: &mut Loader, folder: &Path, depth: usize) {
        let real = match file::resolve(folder) {
            Target::Real(real) => real,
            Target::Absent => return,
            Target::Unusable(problem) => return loader.unusable(folder, problem),
        };
        if !loader.may_read(folder, &real, None, self.bound) || !self.walked.insert(real.clone()) {
            return;
        }
        let entries = match file::list(&real) {
            Ok(entries) => entries,
            Err(problem) => return loader.unusable(folder, problem),
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
            loader.unusable(&path, Problem::Refused(why));
        } else if is_rule {
            self.found.push(path);
        }
    }
}
