//! Loads files one after another: each once, with its includes, within limits.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::file_access::{self, FileId, ResolvedPath};
use crate::instruction_file::{InstructionFile, InstructionKind, LoadReason};
use crate::limits::{
    MAX_CHARACTERS, MAX_FILES, MAX_HOPS, MAX_INCLUDES, MAX_NOTES, MAX_TOTAL_BYTES,
};
use crate::markdown::{self, Certainty, Mention};
use crate::note::{FileProblem, InstructionNote};
use crate::roots::{ApprovedPaths, InstructionRoots};
use crate::rule_head::{self, PathMatcher};

/// Loading state of one session.
#[derive(Debug)]
pub(crate) struct Loader {
    pub(crate) roots: InstructionRoots,
    approved: ApprovedPaths,
    /// Identities of files already read.
    seen: HashSet<FileId>,
    /// Loaded texts, to skip copies.
    texts: HashSet<String>,
    /// Folders below the working directory whose files were loaded.
    pub(crate) visited: HashSet<PathBuf>,
    pending: Vec<PendingRule>,
    loaded: Vec<InstructionFile>,
    notes: Vec<InstructionNote>,
    bytes: usize,
}

/// A rule with `paths:` that waits for a matching file.
#[derive(Debug)]
struct PendingRule {
    source: FileSource,
    real: PathBuf,
    /// Folder that the patterns are relative to.
    base: PathBuf,
    globs: Vec<String>,
    matcher: PathMatcher,
    body: String,
}

/// Path of a file and why it is loaded.
#[derive(Debug, Clone)]
pub(crate) struct FileSource {
    pub(crate) path: PathBuf,
    pub(crate) kind: InstructionKind,
    pub(crate) reason: LoadReason,
    pub(crate) parent: Option<PathBuf>,
    pub(crate) trigger: Option<PathBuf>,
}

/// Where a file's includes may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadBound {
    /// The user's and the organization's files may include any file.
    Anywhere,
    /// Files from the project may include files of the project and approved ones.
    Project,
}

impl Loader {
    pub(crate) fn new(mut roots: InstructionRoots, approved: ApprovedPaths) -> Self {
        for folder in [&mut roots.checkout, &mut roots.working] {
            if let ResolvedPath::Real(real) = file_access::resolve(folder) {
                *folder = real;
            }
        }
        Self {
            roots,
            approved,
            seen: HashSet::new(),
            texts: HashSet::new(),
            visited: HashSet::new(),
            pending: Vec::new(),
            loaded: Vec::new(),
            notes: Vec::new(),
            bytes: 0,
        }
    }

    pub(crate) fn take_loaded(&mut self) -> Vec<InstructionFile> {
        std::mem::take(&mut self.loaded)
    }

    pub(crate) fn take_notes(&mut self) -> Vec<InstructionNote> {
        std::mem::take(&mut self.notes)
    }

    pub(crate) fn note(&mut self, note: InstructionNote) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(crate) fn note_unusable(&mut self, path: &Path, problem: FileProblem) {
        self.note(InstructionNote::Unusable { path: path.to_owned(), problem });
    }

    /// Loads an instruction file if it exists.
    pub(crate) fn load(&mut self, source: &FileSource) {
        let bound = bound_of(source.kind);
        if let Some((real, text)) = self.read(source, bound) {
            self.accept(source, &real, &text, Vec::new(), 0);
        }
    }

    /// Loads a rule; one with `paths:` is kept until a matching file is read or written.
    pub(crate) fn load_rule(&mut self, source: FileSource, base: &Path) {
        let bound = bound_of(source.kind);
        let Some((real, text)) = self.read(&source, bound) else { return };
        let head = rule_head::split(&text);
        if head.paths.is_empty() {
            return self.accept(&source, &real, head.body, Vec::new(), 0);
        }
        let matcher = PathMatcher::new(&head.paths);
        for why in &matcher.problems {
            self.note(InstructionNote::BadPaths { path: source.path.clone(), why: why.clone() });
        }
        let body = head.body.to_owned();
        let base = base.to_owned();
        self.pending.push(PendingRule { source, real, base, globs: head.paths, matcher, body });
    }

    /// Loads the pending rules that match a file.
    pub(crate) fn load_matching(&mut self, touched: &Path) {
        let (matching, pending) =
            std::mem::take(&mut self.pending).into_iter().partition(|rule: &PendingRule| {
                touched.strip_prefix(&rule.base).is_ok_and(|path| rule.matcher.matches(path))
            });
        self.pending = pending;
        for rule in matching {
            let trigger = Some(touched.to_owned());
            let source = FileSource { reason: LoadReason::PathGlobMatch, trigger, ..rule.source };
            self.accept(&source, &rule.real, &rule.body, rule.globs, 0);
        }
    }

    /// Whether a real path may be read; adds a note if not.
    pub(crate) fn may_read(
        &mut self,
        path: &Path,
        real: &Path,
        parent: Option<&Path>,
        bound: ReadBound,
    ) -> bool {
        let allowed = bound == ReadBound::Anywhere
            || real.starts_with(&self.roots.checkout)
            || self.approved.covers(real);
        if !allowed {
            let parent = parent.map(Path::to_owned);
            self.note(InstructionNote::Outside {
                path: path.to_owned(),
                real: real.to_owned(),
                parent,
            });
        }
        allowed
    }

    /// Reads a file that exists, may be read and was not read before.
    fn read(&mut self, source: &FileSource, bound: ReadBound) -> Option<(PathBuf, String)> {
        let real = match file_access::resolve(&source.path) {
            ResolvedPath::Real(real) => real,
            ResolvedPath::Absent => return None,
            ResolvedPath::Unusable(problem) => {
                self.note_unusable(&source.path, problem);
                return None;
            }
        };
        if !self.may_read(&source.path, &real, source.parent.as_deref(), bound) {
            return None;
        }
        if self.seen.len() >= MAX_FILES || self.bytes >= MAX_TOTAL_BYTES {
            if !self.notes.iter().any(|note| matches!(note, InstructionNote::Full { .. })) {
                self.note(InstructionNote::Full { path: source.path.clone() });
            }
            return None;
        }
        match file_access::read(&real) {
            Ok((id, text)) if self.seen.insert(id) => {
                self.bytes += text.len();
                Some((real, text))
            }
            Ok(_) => {
                self.note_duplicate(source);
                None
            }
            Err(problem) => {
                self.note_unusable(&source.path, problem);
                None
            }
        }
    }

    /// Adds a note, except for includes: including one file several times is normal.
    fn note_duplicate(&mut self, source: &FileSource) {
        if source.reason != LoadReason::Include {
            self.note(InstructionNote::Duplicate { path: source.path.clone() });
        }
    }

    /// Loads the includes of a text, then the text itself, which takes precedence over them.
    fn accept(
        &mut self,
        source: &FileSource,
        real: &Path,
        text: &str,
        globs: Vec<String>,
        hops: usize,
    ) {
        let cleaned = markdown::clean(text);
        if cleaned.mentions.len() > MAX_INCLUDES {
            self.note(InstructionNote::TooManyIncludes { path: source.path.clone() });
        }
        for mention in cleaned.mentions.iter().take(MAX_INCLUDES) {
            self.include(mention, source, real, hops + 1);
        }
        let characters = cleaned.text.chars().count();
        if characters > MAX_CHARACTERS {
            self.note(InstructionNote::Long { path: source.path.clone(), characters });
        }
        if cleaned.text.trim().is_empty() {
            return;
        }
        if !self.texts.insert(cleaned.text.clone()) {
            return self.note_duplicate(source);
        }
        let FileSource { path, kind, reason, parent, trigger } = source.clone();
        self.loaded.push(InstructionFile {
            path,
            kind,
            reason,
            parent,
            trigger,
            globs,
            text: cleaned.text,
        });
    }

    /// Loads an included file; its path is relative to the real location of the including file.
    fn include(&mut self, mention: &Mention, by: &FileSource, by_real: &Path, hops: usize) {
        let path = match mention.path.strip_prefix("~/") {
            Some(below) => self.roots.home.join(below),
            None => {
                let below = mention.path.strip_prefix("./").unwrap_or(&mention.path);
                by_real.parent().unwrap_or(by_real).join(below)
            }
        };
        let target = file_access::resolve(&path);
        let parent = by.path.clone();
        match (&target, mention.certainty) {
            (ResolvedPath::Real(real), Certainty::Perhaps) if !real.is_file() => return,
            (ResolvedPath::Absent | ResolvedPath::Unusable(_), Certainty::Perhaps) => return,
            (ResolvedPath::Absent, Certainty::Sure) => {
                return self.note(InstructionNote::Missing { path, parent });
            }
            (ResolvedPath::Real(_), _) if hops > MAX_HOPS => {
                return self.note(InstructionNote::TooDeep { path, parent });
            }
            _ => {}
        }
        // A user's file may include a file of the project; from there on the project's bound applies.
        let in_project = by_real.starts_with(&self.roots.checkout);
        let bound = if in_project { ReadBound::Project } else { bound_of(by.kind) };
        let source =
            FileSource { path, reason: LoadReason::Include, parent: Some(parent), ..by.clone() };
        if let Some((real, text)) = self.read(&source, bound) {
            let source = FileSource { path: real.clone(), ..source };
            self.accept(&source, &real, &text, Vec::new(), hops);
        }
    }
}

fn bound_of(kind: InstructionKind) -> ReadBound {
    match kind {
        InstructionKind::Managed | InstructionKind::User => ReadBound::Anywhere,
        InstructionKind::Project | InstructionKind::Local => ReadBound::Project,
    }
}
