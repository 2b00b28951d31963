//! The search itself: a walk on several threads, and what each file gave.
//!
//! Invariant: what is kept is bounded by what can be shown: the files first by path until the answer is
//! full; of the others only the numbers.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dormouse_permissions::PermissionGate;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use ignore::{DirEntry, WalkState};
use rustix::fs::OFlags;
use tokio_util::sync::CancellationToken;

use super::line::matching;
use super::query::{GrepMode, GrepQuery, RESULT_CHARS};
use crate::ToolError;
use crate::blocking::check;
use crate::glob::{Hidden, Pattern, below, shown, walk_threads, walker};
use crate::snippet::shown_line;

/// More than this is never shown.
const KEPT_CHARS: usize = RESULT_CHARS as usize;

/// What stands in a line besides path and text, at the least.
const LINE_FRAME: usize = 3;

/// What was found.
#[derive(Default)]
pub(super) struct Results {
    /// By the path as it is shown. In the order of paths, so that the answer does not depend on which
    /// thread was quicker.
    pub(super) files: BTreeMap<PathBuf, Hits>,
    chars: usize,
    /// Files found but not kept, and the matches in them.
    pub(super) dropped_files: u64,
    pub(super) dropped_matches: u64,
    pub(super) unreadable: u64,
    pub(super) binary: u64,
    /// Files that rules deny reading.
    pub(super) denied: u64,
    /// Whether it was stopped before everything was searched.
    pub(super) is_stopped: bool,
}

/// When a search answers with what it has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(Instant);

impl Deadline {
    #[expect(
        clippy::disallowed_methods,
        reason = "it measures how long the search takes, and shows no time"
    )]
    pub(super) fn after(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "it measures how long the search takes, and shows no time"
    )]
    fn is_over(self) -> bool {
        Instant::now() >= self.0
    }
}

/// Where a search starts, and what ends it or keeps it from a file.
#[derive(Clone, Copy)]
pub(super) struct SearchLimits<'a> {
    /// The working directory.
    pub(super) folder: &'a Path,
    pub(super) gate: Option<&'a PermissionGate>,
    pub(super) cancel: &'a CancellationToken,
    pub(super) deadline: Deadline,
}

impl SearchLimits<'_> {
    fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.deadline.is_over()
    }

    /// Whether a rule denies reading a file. Links are not followed, so the path leads where it says.
    pub(super) fn denies(&self, path: &Path) -> bool {
        self.gate.is_some_and(|gate| gate.denies_reading(path, self.folder))
    }
}

/// What one file gave.
#[derive(Default)]
pub(super) struct Hits {
    pub(super) matches: u64,
    pub(super) lines: Vec<OutputLine>,
    /// What it takes to show them, at the least.
    chars: usize,
}

/// A line to show.
pub(super) struct OutputLine {
    pub(super) kind: LineKind,
    pub(super) number: u64,
    pub(super) text: String,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// The first line of a match.
    Match,
    /// A further one.
    Continued,
    /// One near a match.
    Context,
    /// None: here lines were left out.
    Break,
}

impl Results {
    /// Whether everything was searched, and nothing matches.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.dropped_files == 0 && !self.is_stopped
    }

    fn add(&mut self, path: PathBuf, hits: Hits) {
        let path_chars = path.to_string_lossy().chars().count();
        let lines = hits.lines.iter().filter(|line| line.kind != LineKind::Break).count();
        let hits = Hits { chars: hits.chars + path_chars * lines.max(1), ..hits };
        self.chars += hits.chars;
        self.files.insert(path, hits);
        while let Some(last) = self.files.last_entry() {
            if self.chars - last.get().chars < KEPT_CHARS {
                break;
            }
            let last = last.remove();
            self.chars -= last.chars;
            self.dropped_files += 1;
            self.dropped_matches += last.matches;
        }
    }
}

/// Searches a folder or a file.
pub(super) fn search(
    root: &Path,
    query: &GrepQuery,
    limits: SearchLimits<'_>,
) -> Result<Results, ToolError> {
    let metadata = root.metadata().map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ToolError::NotFound {
            path: root.to_owned(),
            hint: "leave `path` out to search the working directory".to_owned(),
        },
        _ => ToolError::Unreadable { path: root.to_owned(), source },
    })?;
    let results = Mutex::new(Results::default());
    let task = Task { root, query, limits, results: &results, secrets: holds_secrets(root) };
    if metadata.is_dir() {
        task.walk();
    } else {
        let file = crate::read::open(root)?.reader.into_inner();
        task.search_file(&mut query.searcher(), root, file);
    }
    check(limits.cancel)?;
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Results { is_stopped: limits.deadline.is_over(), ..results })
}

/// Whether it is where the system shows the environments of processes, which hold keys.
fn holds_secrets(root: &Path) -> bool {
    root.canonicalize().is_ok_and(|root| root.starts_with("/proc"))
}

struct Task<'a> {
    root: &'a Path,
    query: &'a GrepQuery,
    limits: SearchLimits<'a>,
    results: &'a Mutex<Results>,
    secrets: bool,
}

impl Task<'_> {
    fn walk(&self) {
        let hidden = self.query.glob.as_ref().map_or(Hidden::Skipped, |glob| glob.hidden);
        walker(self.root, hidden).threads(walk_threads()).build_parallel().run(|| {
            let mut searcher = self.query.searcher();
            Box::new(move |entry| {
                if self.limits.is_over() {
                    return WalkState::Quit;
                }
                match entry {
                    Ok(entry) => self.visit(&mut searcher, &entry),
                    Err(_) => self.note(|results| results.unreadable += 1),
                }
                WalkState::Continue
            })
        });
    }

    fn visit(&self, searcher: &mut Searcher, entry: &DirEntry) {
        let matches = |glob: &Pattern| {
            below(entry.path(), self.root).is_some_and(|path| glob.matcher.is_match(path))
        };
        let wanted = self.query.glob.as_ref().is_none_or(matches);
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let is_secret = self.secrets && entry.file_name() == "environ";
        if !wanted || !is_file || is_secret {
            return;
        }
        if self.limits.denies(entry.path()) {
            self.note(|results| results.denied += 1);
            return;
        }
        match open(entry.path()) {
            Ok(file) => self.search_file(searcher, entry.path(), file),
            Err(_) => self.note(|results| results.unreadable += 1),
        }
    }

    fn search_file(&self, searcher: &mut Searcher, path: &Path, file: File) {
        let mut collector = Collector { task: self, hits: Hits::default(), binary: false };
        let searched = collector.run(searcher, file);
        let Collector { hits, binary, .. } = collector;
        if binary {
            self.note(|results| results.binary += 1);
        } else if searched.is_err() {
            self.note(|results| results.unreadable += 1);
        } else if hits.matches > 0 {
            let path = PathBuf::from(shown(path, self.limits.folder));
            self.note(|results| results.add(path, hits));
        }
    }

    fn note(&self, note: impl FnOnce(&mut Results)) {
        note(&mut self.results.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A plain file by now, without waiting for one that became a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Takes in what the searcher finds in one file.
struct Collector<'a, 'b> {
    task: &'a Task<'b>,
    hits: Hits,
    binary: bool,
}

impl Collector<'_, '_> {
    fn run(&mut self, searcher: &mut Searcher, file: File) -> io::Result<()> {
        let file = Watched { inner: file, limits: self.task.limits };
        searcher.search_reader(&self.task.query.matcher, file, self)
    }

    fn push(&mut self, kind: LineKind, number: Option<u64>, text: String) {
        // Behind this nothing of the file can be shown; the matches are still counted.
        if self.hits.chars <= KEPT_CHARS {
            self.hits.chars += text.chars().count() + LINE_FRAME;
            self.hits.lines.push(OutputLine { kind, number: number.unwrap_or(0), text });
        }
    }
}

impl Sink for &mut Collector<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.hits.matches += 1;
        match self.task.query.mode {
            GrepMode::FilesWithMatches => return Ok(false),
            GrepMode::Count => return Ok(true),
            GrepMode::Content => {}
        }
        let mut kind = LineKind::Match;
        for (line, offset) in found.lines().zip(0..) {
            let number = found.line_number().map(|number| number + offset);
            self.push(kind, number, matching(line, &self.task.query.matcher));
            kind = LineKind::Continued;
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.push(LineKind::Context, line.line_number(), shown_line(line.bytes()));
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.push(LineKind::Break, None, String::new());
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }
}

/// A file whose reading stops when the call is to stop.
struct Watched<'a> {
    inner: File,
    limits: SearchLimits<'a>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.limits.is_over() {
            return Err(io::Error::other("the search was stopped"));
        }
        self.inner.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolError;

    fn query() -> GrepQuery {
        let input = serde_json::from_str(r#"{"pattern":"x","output_mode":"content"}"#).unwrap();
        GrepQuery::new(&input).unwrap()
    }

    /// Whoever waits is answered at once anyway; this is about the threads that would go on.
    #[test]
    fn the_work_itself_stops() {
        let folder = tempfile::tempdir().unwrap();
        let dir = dormouse_base::Dir::open(folder.path()).unwrap();
        dir.replace(&dormouse_base::RelPath::new("a").unwrap(), b"x\n").unwrap();
        let cancel = CancellationToken::new();
        let deadline = Deadline::after(Duration::from_mins(10));
        let limits = SearchLimits { folder: folder.path(), gate: None, cancel: &cancel, deadline };
        let found = search(folder.path(), &query(), limits).unwrap();
        assert_eq!(found.files.len(), 1);
        let file = open(&folder.path().join("a")).unwrap();
        cancel.cancel();
        assert!(Watched { inner: file, limits }.read(&mut [0; 8]).is_err());
        let stopped = search(folder.path(), &query(), limits);
        assert!(matches!(stopped, Err(ToolError::Interrupted { .. })));
    }

    #[test]
    fn a_search_that_takes_too_long_answers_with_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let dir = dormouse_base::Dir::open(folder.path()).unwrap();
        dir.replace(&dormouse_base::RelPath::new("a").unwrap(), b"x\n").unwrap();
        let (cancel, deadline) = (CancellationToken::new(), Deadline::after(Duration::ZERO));
        let limits = SearchLimits { folder: folder.path(), gate: None, cancel: &cancel, deadline };
        let found = search(folder.path(), &query(), limits).unwrap();
        assert!(found.is_stopped);
        let said = crate::grep::report::report(&found, &query());
        assert!(said.contains("stopped before everything was searched"), "{said}");
    }

    #[test]
    fn what_can_not_be_shown_is_only_counted() {
        let mut results = Results::default();
        let hits = || Hits { matches: 2, lines: Vec::new(), chars: 15_000 };
        for name in ["c", "a", "d", "b"] {
            results.add(PathBuf::from(name), hits());
        }
        let kept: Vec<&Path> = results.files.keys().map(PathBuf::as_path).collect();
        assert_eq!(kept, [Path::new("a"), Path::new("b")]);
        assert_eq!((results.dropped_files, results.dropped_matches), (2, 4));
    }
}
