//! Loading one file after another: each once, with what it includes, within bounds.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::file::{self, FileId, Target};
use super::head::{self, Matcher};
use super::markdown::{self, Certainty, Mention};
use super::{Approved, Kind, Loaded, Note, Problem, Reason, Roots};

/// A longer file is loaded, and the person is told.
pub(super) const MAX_CHARACTERS: usize = 40_000;
/// How far includes are followed.
pub(super) const MAX_HOPS: usize = 4;
/// How many includes of one file are followed.
pub(super) const MAX_INCLUDES: usize = 200;
/// How many files a session may have, and how large they may be together.
const MAX_FILES: usize = 1000;
const MAX_TOTAL_BYTES: usize = 16 * 1024 * 1024;
/// Nobody reads more.
const MAX_NOTES: usize = 1000;

/// Everything about the files of one session.
#[derive(Debug)]
pub(super) struct Loader {
    pub(super) roots: Roots,
    approved: Approved,
    /// Files that were read, by what they are.
    seen: HashSet<FileId>,
    /// Texts that were loaded, so that a copy is not.
    texts: HashSet<String>,
    /// Folders below the working directory whose files were loaded.
    pub(super) visited: HashSet<PathBuf>,
    waiting: Vec<Waiting>,
    loaded: Vec<Loaded>,
    notes: Vec<Note>,
    bytes: usize,
}

/// A rule that waits for a file that it is about.
#[derive(Debug)]
struct Waiting {
    source: Source,
    real: PathBuf,
    /// What its patterns are seen from.
    base: PathBuf,
    globs: Vec<String>,
    matcher: Matcher,
    body: String,
}

/// Where a file stands and why it is loaded.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) reason: Reason,
    pub(super) parent: Option<PathBuf>,
    pub(super) trigger: Option<PathBuf>,
}

/// What may be read on behalf of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// The person's own files may name any.
    Anywhere,
    /// What comes from the project stays in it, but for what the person approved.
    Project,
}

impl Loader {
    pub(super) fn new(mut roots: Roots, approved: Approved) -> Self {
        for folder in [&mut roots.checkout, &mut roots.working] {
            if let Target::Real(real) = file::resolve(folder) {
                *folder = real;
            }
        }
        Self {
            roots,
            approved,
            seen: HashSet::new(),
            texts: HashSet::new(),
            visited: HashSet::new(),
            waiting: Vec::new(),
            loaded: Vec::new(),
            notes: Vec::new(),
            bytes: 0,
        }
    }

    pub(super) fn take_loaded(&mut self) -> Vec<Loaded> {
        std::mem::take(&mut self.loaded)
    }

    pub(super) fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    pub(super) fn note(&mut self, note: Note) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(super) fn unusable(&mut self, path: &Path, problem: Problem) {
        self.note(Note::Unusable { path: path.to_owned(), problem });
    }

    /// Loads an instruction file, if it is there.
    pub(super) fn load(&mut self, source: &Source) {
        let bound = bound_of(source.kind);
        if let Some((real, text)) = self.read(source, bound) {
            self.accept(source, &real, &text, Vec::new(), 0);
        }
    }

    /// Loads a rule, or lets it wait if it is about some files only, seen from a folder.
    pub(super) fn load_rule(&mut self, source: Source, base: &Path) {
        let bound = bound_of(source.kind);
        let Some((real, text)) = self.read(&source, bound) else { return };
        let head = head::split(&text);
        if head.paths.is_empty() {
            return self.accept(&source, &real, head.body, Vec::new(), 0);
        }
        let matcher = Matcher::new(&head.paths);
        for why in &matcher.problems {
            self.note(Note::BadPaths { path: source.path.clone(), why: why.clone() });
        }
        let (globs, body, base) = (head.paths, head.body.to_owned(), base.to_owned());
        self.waiting.push(Waiting { source, real, base, globs, matcher, body });
    }

    /// Loads the rules that are about a file.
    pub(super) fn load_matching(&mut self, touched: &Path) {
        let (matching, waiting) =
            std::mem::take(&mut self.waiting).into_iter().partition(|rule: &Waiting| {
                touched.strip_prefix(&rule.base).is_ok_and(|path| rule.matcher.matches(path))
            });
        self.waiting = waiting;
        for rule in matching {
            let trigger = Some(touched.to_owned());
            let source = Source { reason: Reason::PathGlobMatch, trigger, ..rule.source };
            self.accept(&source, &rule.real, &rule.body, rule.globs, 0);
        }
    }

    /// Whether a real path may be read; if not, that is noted.
    pub(super) fn may_read(
        &mut self,
        path: &Path,
        real: &Path,
        parent: Option<&Path>,
        bound: Bound,
    ) -> bool {
        let allowed = bound == Bound::Anywhere
            || real.starts_with(&self.roots.checkout)
            || self.approved.covers(real);
        if !allowed {
            let parent = parent.map(Path::to_owned);
            self.note(Note::Outside { path: path.to_owned(), real: real.to_owned(), parent });
        }
        allowed
    }

    /// The real path and text of a file that is there, may be read, and was not read before.
    fn read(&mut self, source: &Source, bound: Bound) -> Option<(PathBuf, String)> {
        let real = match file::resolve(&source.path) {
            Target::Real(real) => real,
            Target::Absent => return None,
            Target::Unusable(problem) => {
                self.unusable(&source.path, problem);
                return None;
            }
        };
        if !self.may_read(&source.path, &real, source.parent.as_deref(), bound) {
            return None;
        }
        if self.seen.len() >= MAX_FILES || self.bytes >= MAX_TOTAL_BYTES {
            if !self.notes.iter().any(|note| matches!(note, Note::Full { .. })) {
                self.note(Note::Full { path: source.path.clone() });
            }
            return None;
        }
        match file::read(&real) {
            Ok((id, text)) if self.seen.insert(id) => {
                self.bytes += text.len();
                Some((real, text))
            }
            Ok(_) => {
                self.duplicate(source);
                None
            }
            Err(problem) => {
                self.unusable(&source.path, problem);
                None
            }
        }
    }

    /// That a file is included from several places is its purpose, not worth a note.
    fn duplicate(&mut self, source: &Source) {
        if source.reason != Reason::Include {
            self.note(Note::Duplicate { path: source.path.clone() });
        }
    }

    /// Takes a text in: first what it includes, so that it weighs more than they, then itself.
    fn accept(
        &mut self,
        source: &Source,
        real: &Path,
        text: &str,
        globs: Vec<String>,
        hops: usize,
    ) {
        let cleaned = markdown::clean(text);
        if cleaned.mentions.len() > MAX_INCLUDES {
            self.note(Note::TooManyIncludes { path: source.path.clone() });
        }
        for mention in cleaned.mentions.iter().take(MAX_INCLUDES) {
            self.include(mention, source, real, hops + 1);
        }
        let characters = cleaned.text.chars().count();
        if characters > MAX_CHARACTERS {
            self.note(Note::Long { path: source.path.clone(), characters });
        }
        if cleaned.text.trim().is_empty() {
            return;
        }
        if !self.texts.insert(cleaned.text.clone()) {
            return self.duplicate(source);
        }
        let Source { path, kind, reason, parent, trigger } = source.clone();
        self.loaded.push(Loaded { path, kind, reason, parent, trigger, globs, text: cleaned.text });
    }

    /// Loads what a file includes; its path is seen from where that file really is.
    fn include(&mut self, mention: &Mention, by: &Source, by_real: &Path, hops: usize) {
        let path = match mention.path.strip_prefix("~/") {
            Some(below) => self.roots.home.join(below),
            None => {
                let below = mention.path.strip_prefix("./").unwrap_or(&mention.path);
                by_real.parent().unwrap_or(by_real).join(below)
            }
        };
        let target = file::resolve(&path);
        let parent = by.path.clone();
        match (&target, mention.certainty) {
            (Target::Real(real), Certainty::Perhaps) if !real.is_file() => return,
            (Target::Absent | Target::Unusable(_), Certainty::Perhaps) => return,
            (Target::Absent, Certainty::Sure) => return self.note(Note::Missing { path, parent }),
            (Target::Real(_), _) if hops > MAX_HOPS => {
                return self.note(Note::TooDeep { path, parent });
            }
            _ => {}
        }
        // The person's file may lead into the project; from there on the project's bounds hold.
        let in_project = by_real.starts_with(&self.roots.checkout);
        let bound = if in_project { Bound::Project } else { bound_of(by.kind) };
        let source = Source { path, reason: Reason::Include, parent: Some(parent), ..by.clone() };
        if let Some((real, text)) = self.read(&source, bound) {
            let source = Source { path: real.clone(), ..source };
            self.accept(&source, &real, &text, Vec::new(), hops);
        }
    }
}

fn bound_of(kind: Kind) -> Bound {
    match kind {
        Kind::Managed | Kind::User => Bound::Anywhere,
        Kind::Project | Kind::Local => Bound::Project,
    }
}
