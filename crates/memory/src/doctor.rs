//! Problems of a memory directory or of any markdown files: found, reported, and fixed where that is safe (M-5, M-18,
//! M-19).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dormouse_base::{Dir, EntryKind, RelPath};
use dormouse_frontmatter as frontmatter;

use crate::anchor::{Anchor, AnchorCache, Freshness, check as check_anchors};
use crate::entry::{MemoryEntry, as_text};
use crate::index::{self, LONGEST_LINE, MemoryIndex};
use crate::kind::{MemoryType, Scope, Trust};
use crate::names::fold;
use crate::names::{INDEX, MemoryFile};
use crate::repetition::{Claims, KnownTexts, TextRelation};
use crate::scan::{Scan, ScanCache, Scanned};
use crate::store::link_to;
use crate::store::{
    ChangeError, ChangeOrigin, ChangeOutcome, ContentHash, Expected, SecretScan, Store,
};

/// The kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// A memory without a line in the index.
    NoLine,
    /// An index line for a file that does not exist.
    NoFile,
    /// Several index lines for one memory.
    DoubleLine,
    /// Two memories with the same text.
    DoubleMemory,
    /// A memory that says only what another one, or an instruction file, says.
    Repeats,
    /// A memory that says the opposite of another one, or of an instruction file.
    Contradicts,
    /// A file that is unusual or unreadable (M-18).
    Odd,
    /// A text that looks like a secret.
    Secret,
    /// An anchor that no longer matches.
    Anchor,
    /// The index is nearly full, or too long.
    Full,
    /// An index line that is longer than advised.
    LongLine,
}

impl FindingKind {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoLine => "not-in-index",
            Self::NoFile => "missing-file",
            Self::DoubleLine => "duplicate-line",
            Self::DoubleMemory => "duplicate",
            Self::Repeats => "repetition",
            Self::Contradicts => "contradiction",
            Self::Odd => "invalid-file",
            Self::Secret => "secret",
            Self::Anchor => "anchor",
            Self::Full => "index-full",
            Self::LongLine => "long-line",
        }
    }

    /// Whether [`Store::fix_index`] fixes it.
    pub fn is_fixable(self) -> bool {
        matches!(self, Self::NoLine | Self::NoFile | Self::DoubleLine)
    }
}

/// A problem and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFinding {
    /// Kind of the problem.
    pub kind: FindingKind,
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// What is wrong and what to do; never the value of a secret.
    pub message: String,
}

impl LintFinding {
    fn new(kind: FindingKind, file: &str, message: impl Into<String>) -> Self {
        Self { kind, file: file.to_owned(), line: None, message: message.into() }
    }
}

impl Store {
    /// All problems of the directory. Anchors are checked in `project`, except those of the user's memories: these are for
    /// all projects, and not about the files of one.
    pub fn doctor(&self, project: Option<&Dir>) -> Result<Vec<LintFinding>, ChangeError> {
        let project = project.filter(|_| self.scope() != Scope::User);
        let mut findings = Vec::new();
        let scan = self.scan(&mut ScanCache::default())?;
        for skipped in &scan.skipped {
            findings.push(LintFinding::new(FindingKind::Odd, &skipped.path, &*skipped.reason));
        }
        let mut texts = Texts::default();
        for memory in by_name(&scan) {
            let bytes = match self.read(&memory.file) {
                Ok((bytes, _)) => bytes,
                Err(error) => {
                    findings.push(LintFinding::new(
                        FindingKind::Odd,
                        memory.file.as_str(),
                        error.to_string(),
                    ));
                    continue;
                }
            };
            findings.extend(of_text(memory.file.as_str(), &bytes, self.secret_scan()));
            findings.extend(texts.add(memory.file.as_str(), &bytes));
            if let Some(project) = project {
                findings.extend(of_anchors(memory.file.as_str(), &memory.header.anchors, project));
            }
        }
        findings.extend(of_index(&self.index_text()?, &scan, |_| true));
        Ok(findings)
    }

    /// Corrects the index: one line for every memory, none for missing files. Everything else in it stays.
    pub fn fix_index(&self, by: &ChangeOrigin) -> Result<ChangeOutcome, ChangeError> {
        let memories = self.scan(&mut ScanCache::default())?.memories;
        self.change(by, |plan| {
            let text = self.index_text()?;
            let index =
                corrected_index(&text, &memories, |file| Ok(plan.read(file)?.unwrap_or_default()))?;
            plan.write_index(&index, &Expected::Anything)
        })
    }
}

/// The index with one line for every memory and none for missing files; everything else stays.
pub(crate) fn corrected_index(
    text: &str,
    memories: &[Arc<Scanned>],
    mut read: impl FnMut(&MemoryFile) -> Result<Vec<u8>, ChangeError>,
) -> Result<String, ChangeError> {
    let mut index = MemoryIndex::parse(text);
    index.remove_duplicates();
    let files = folded_files(memories);
    index.remove_where(|file| !files.contains(file));
    let listed: BTreeSet<String> = index.files().into_iter().map(str::to_owned).collect();
    for memory in memories.iter().filter(|memory| !memory.header.quarantined) {
        if !listed.contains(fold(memory.file.as_str()).as_ref()) {
            index.put(&link_to(&memory.file, &read(&memory.file)?));
        }
    }
    Ok(index.to_text())
}

/// Problems of one text.
fn of_text(file: &str, bytes: &[u8], secrets: SecretScan) -> Vec<LintFinding> {
    let entry = MemoryEntry::read(bytes, bytes.len() as u64);
    let odd = entry
        .problems
        .iter()
        .map(|problem| LintFinding::new(FindingKind::Odd, file, problem.to_string()));
    let mut findings: Vec<LintFinding> = odd.collect();
    let unknown = unknown_words(bytes);
    findings.extend(
        unknown.into_iter().map(|message| LintFinding::new(FindingKind::Odd, file, message)),
    );
    if entry.problems.is_empty() && entry.body.trim().is_empty() {
        let message = "has no text; write what is to be remembered, or delete it";
        findings.push(LintFinding::new(FindingKind::Odd, file, message));
    }
    for found in secrets(&String::from_utf8_lossy(bytes)) {
        let message = format!("looks like a secret ({}); take the value out", found.rule);
        let finding = LintFinding::new(FindingKind::Secret, file, message);
        findings.push(LintFinding { line: Some(found.line), ..finding });
    }
    findings
}

/// Values of the frontmatter that mean nothing.
fn unknown_words(bytes: &[u8]) -> Vec<String> {
    let text = as_text(bytes);
    let fields = frontmatter::parse(&text).fields;
    let kind = fields.text("type").filter(|word| MemoryType::from_word(word).is_none());
    let kind = kind.map(|word| {
        format!("its type `{word}` is unknown; use user, feedback, project or reference")
    });
    let trust = fields.text("trust").filter(|word| Trust::from_word(word).is_none());
    let trust = trust.map(|word| {
        format!("its trust `{word}` is unknown and counts as the lowest; remove it or correct it")
    });
    kind.into_iter().chain(trust).collect()
}

/// Texts seen so far.
#[derive(Default)]
struct Texts {
    by_hash: BTreeMap<ContentHash, String>,
    /// The instruction files and the texts, where more than duplicates is looked for.
    known: Option<KnownTexts>,
}

impl Texts {
    /// Compares what texts say as well: before a change is shared, that is worth a second look.
    fn beside(project: Option<&Dir>) -> Self {
        let mut known = KnownTexts::default();
        let files = project.into_iter().flat_map(instruction_files);
        files.for_each(|(name, text)| known.add(name, Claims::of(&text)));
        Self { by_hash: BTreeMap::new(), known: Some(known) }
    }

    fn add(&mut self, file: &str, bytes: &[u8]) -> Vec<LintFinding> {
        let entry = MemoryEntry::read(bytes, bytes.len() as u64);
        let text = entry.body.trim();
        if text.is_empty() {
            return Vec::new();
        }
        let hash = ContentHash::of(text.as_bytes());
        if let Some(other) = self.by_hash.get(&hash) {
            let message =
                format!("has the same text as {other}; if it is a duplicate, delete one of them");
            return vec![LintFinding::new(FindingKind::DoubleMemory, file, message)];
        }
        self.by_hash.insert(hash, file.to_owned());
        let Some(known) = &mut self.known else { return Vec::new() };
        let claims = Claims::of(text);
        let related = known.related(&claims).into_iter();
        let findings = related.map(|(relation, other)| match relation {
            TextRelation::Repeats => {
                let message = format!("says nothing that {other} does not say; delete or merge it");
                LintFinding::new(FindingKind::Repeats, file, message)
            }
            TextRelation::Contradicts => {
                let message = format!("contradicts {other}; correct one of them");
                LintFinding::new(FindingKind::Contradicts, file, message)
            }
        });
        let findings = findings.collect();
        known.add(file, claims);
        findings
    }
}

/// The files of a project that instruct every agent, with their texts.
pub fn instruction_files(project: &Dir) -> Vec<(&'static str, String)> {
    let read = |name: &&'static str| {
        let bytes = project.read(&RelPath::new(*name).ok()?).ok()?;
        Some((*name, String::from_utf8_lossy(&bytes).into_owned()))
    };
    ["AGENTS.md", "CLAUDE.md"].iter().filter_map(read).collect()
}

fn of_anchors(file: &str, anchors: &[String], project: &Dir) -> Vec<LintFinding> {
    let anchors: Vec<Anchor> = anchors.iter().filter_map(|text| Anchor::parse(text)).collect();
    let states = check_anchors(project, &anchors, &mut AnchorCache::default());
    let said = anchors.iter().zip(states).filter_map(|(anchor, state)| {
        let symbol = anchor.symbol.as_deref().unwrap_or_default();
        let message = match state {
            Freshness::Fresh => return None,
            Freshness::Touched => {
                format!("{} has changed since; check what the memory says", anchor.path)
            }
            Freshness::SymbolGone => {
                format!("`{symbol}` is no longer in {}; correct the memory", anchor.path)
            }
            Freshness::FileGone => format!("{} is gone; correct the memory", anchor.path),
        };
        Some(LintFinding::new(FindingKind::Anchor, file, message))
    });
    said.collect()
}

/// The memories in an order that does not depend on when they were written: of two, the same one is reported.
fn by_name(scan: &Scan) -> Vec<&Arc<Scanned>> {
    let mut memories: Vec<&Arc<Scanned>> = scan.memories.iter().collect();
    memories.sort_by_key(|memory| memory.file.as_str());
    memories
}

/// The names of memories, in the form for comparison.
fn folded_files(memories: &[Arc<Scanned>]) -> BTreeSet<String> {
    memories.iter().map(|memory| fold(memory.file.as_str()).into_owned()).collect()
}

fn of_index(text: &str, scan: &Scan, needs_line: impl Fn(&MemoryFile) -> bool) -> Vec<LintFinding> {
    let index = MemoryIndex::parse(text);
    let mut findings = Vec::new();
    let (files, listed) = (folded_files(&scan.memories), index.files());
    // Quarantined memories have no line: their text comes from outside.
    for memory in scan.memories.iter().filter(|memory| !memory.header.quarantined) {
        if needs_line(&memory.file) && !listed.contains(fold(memory.file.as_str()).as_ref()) {
            let message = "MEMORY.md has no line for it";
            findings.push(LintFinding::new(FindingKind::NoLine, memory.file.as_str(), message));
        }
    }
    let mut seen = BTreeSet::new();
    for link in index.links() {
        let file = fold(&link.file);
        if !files.contains(file.as_ref()) {
            let message = "listed in MEMORY.md, but the file does not exist";
            findings.push(LintFinding::new(FindingKind::NoFile, &link.file, message));
        } else if !seen.insert(file.clone().into_owned()) {
            let message = "MEMORY.md has several lines for it";
            findings.push(LintFinding::new(FindingKind::DoubleLine, &link.file, message));
        }
    }
    for (at, line) in
        text.lines().enumerate().filter(|(_, line)| line.chars().count() > LONGEST_LINE)
    {
        let message =
            format!("{} characters; {LONGEST_LINE} are enough for a hook", line.chars().count());
        findings.push(LintFinding {
            line: Some(at + 1),
            ..LintFinding::new(FindingKind::LongLine, INDEX, message)
        });
    }
    let fill = index::fill(text);
    if fill.is_nearly_full() {
        let message = format!(
            "{} of {} lines and {} of {} bytes that are loaded; merge or delete memories",
            fill.lines,
            index::LOADED_LINES,
            fill.bytes,
            index::LOADED_BYTES
        );
        findings.push(LintFinding::new(FindingKind::Full, INDEX, message));
    }
    findings
}

/// Checks all markdown files below a folder, whether or not they are memories; also the index, if there is one.
pub fn lint(
    folder: &Dir,
    project: Option<&Dir>,
    secrets: SecretScan,
) -> Result<Vec<LintFinding>, ChangeError> {
    let scan = crate::scan(folder, &[], &mut ScanCache::default())?;
    let odd = scan
        .skipped
        .iter()
        .map(|file| LintFinding::new(FindingKind::Odd, &file.path, &*file.reason));
    let mut findings: Vec<LintFinding> = odd.collect();
    let mut texts = Texts::beside(project);
    for memory in by_name(&scan) {
        match read_plain(folder, &memory.file) {
            Ok(bytes) => {
                findings.extend(of_text(memory.file.as_str(), &bytes, secrets));
                findings.extend(texts.add(memory.file.as_str(), &bytes));
            }
            Err(reason) => {
                findings.push(LintFinding::new(FindingKind::Odd, memory.file.as_str(), reason));
            }
        }
        if let Some(project) = project {
            findings.extend(of_anchors(memory.file.as_str(), &memory.header.anchors, project));
        }
    }
    if let Some(index) = index_in(folder, None) {
        let text = String::from_utf8_lossy(&folder.read(&index)?).into_owned();
        // Folders with their own index, such as the team's, need no line in this one.
        findings.extend(of_index(&text, &scan, |file| {
            file.folder().is_none_or(|below| index_in(folder, Some(below)).is_none())
        }));
    }
    Ok(findings)
}

/// The index of a folder or of a parent folder.
fn index_in(folder: &Dir, below: Option<&str>) -> Option<RelPath> {
    let name = below.map_or_else(|| INDEX.to_owned(), |below| format!("{below}/{INDEX}"));
    let index = RelPath::new(name).ok()?;
    folder.entry(&index).is_ok_and(|entry| entry.kind == EntryKind::File).then_some(index)
}

/// Checks one text.
pub fn lint_text(name: &str, bytes: &[u8], secrets: SecretScan) -> Vec<LintFinding> {
    of_text(name, bytes, secrets)
}

fn read_plain(folder: &Dir, file: &MemoryFile) -> Result<Vec<u8>, String> {
    folder.read(file.path()).map_err(|error| error.to_string())
}
