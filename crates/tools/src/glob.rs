//! Glob: finds files by name, newest first.
//!
//! Invariant: what git ignores is not listed, links are not followed, and the answer says how many
//! files it does not show.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use dormouse_conversation::known_tools::GLOB;
use futures_util::future::BoxFuture;
use globset::{GlobBuilder, GlobSet};
use ignore::{DirEntry, WalkBuilder, WalkState};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::blocking::{blocking, check};
use crate::{
    CallContext, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, parse_input,
};

/// The most paths shown.
const MAX_PATHS: usize = 100;

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""pattern":{"type":"string","#,
    r#""description":"Such as `src/**/*.{ts,tsx}`."},"#,
    r#""path":{"type":"string","#,
    r#""description":"The folder to search."}"#,
    r#"},"required":["pattern"],"additionalProperties":false}"#,
);

const SHORT: &str = "Finds files whose path matches a glob pattern, newest first.";

const FULL: &str = "\
Finds files whose path matches a pattern, the most recently changed first.

- `*` and `?` match within a name, `**` any number of folders, `{a,b}` either, `[ab]` one of.
- `*.rs` matches names in every folder, `./*.rs` only in the searched one.
- Left out: what git ignores, and hidden files unless the pattern names them (`.github/**`).
- At most 100 paths are listed; the answer counts the others.";

/// The tool. See the module.
#[derive(Debug, Clone, Copy)]
pub struct Glob;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: String,
    path: Option<PathBuf>,
}

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(GLOB.name),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::ReadOnly,
    limit: ResultLimit::OwnBound,
    traits: GLOB.traits,
};

impl Tool for Glob {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn searches(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async {
            let input: Input = parse_input(input)?;
            let pattern = Pattern::new(&input.pattern)?;
            let folder = context.folder.clone();
            let root = input.path.map_or_else(|| folder.clone(), |path| folder.join(path));
            blocking(&context.cancel, move |cancel| {
                let found = search(&root, &pattern, cancel)?;
                Ok(ToolOutput::text(found.report(&folder)))
            })
            .await
        })
    }
}

/// A pattern that was understood.
pub(crate) struct Pattern {
    /// A set of one: a set looks at a name's ending before it looks at anything else.
    pub(crate) matcher: GlobSet,
    pub(crate) hidden: Hidden,
}

/// Whether files and folders whose names begin with a dot are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    Skipped,
    /// All but what is in `.git`.
    Searched,
    /// Even that.
    SearchedWithGit,
}

/// The library that compiles patterns recurses over them, and gives up on large ones by a panic.
const LONGEST_PATTERN: usize = 1_000;
const DEEPEST_BRACES: usize = 10;

fn brace_depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

impl Pattern {
    fn new(text: &str) -> Result<Self, ToolError> {
        Self::of_field("pattern", text)
    }

    /// The pattern in this field of the arguments.
    pub(crate) fn of_field(field: &str, text: &str) -> Result<Self, ToolError> {
        let invalid = |problem: &str| ToolError::invalid(format!("`{field}`: {problem}"));
        if text.starts_with('/') {
            return Err(invalid("is absolute; give the folder as `path` and what follows it here"));
        }
        if Path::new(text).components().any(|part| part == Component::ParentDir) {
            return Err(invalid("contains `..`; give the folder to search as `path`"));
        }
        if text.len() > LONGEST_PATTERN {
            return Err(invalid(&format!(
                "is longer than {LONGEST_PATTERN} bytes; several searches can run side by side"
            )));
        }
        if brace_depth(text) > DEEPEST_BRACES {
            return Err(invalid(&format!("nests braces more than {DEEPEST_BRACES} deep")));
        }
        let below = match text.strip_prefix("./") {
            Some(here) => here.to_owned(),
            None if text.contains('/') => text.to_owned(),
            None => format!("**/{text}"),
        };
        if below.is_empty() || text.is_empty() {
            return Err(invalid("is empty; `**/*` matches every file"));
        }
        let matcher = GlobBuilder::new(&below)
            .literal_separator(true)
            .build()
            .and_then(|glob| GlobSet::builder().add(glob).build())
            .map_err(|error| invalid(&format!("{} in `{text}`", error.kind())))?;
        Ok(Self { matcher, hidden: Hidden::named_by(text) })
    }
}

impl Hidden {
    fn named_by(pattern: &str) -> Self {
        let mut names = pattern.split(['/', '{', ',']).map(|name| name.trim_end_matches('}'));
        let dotted = |name: &str| name.starts_with('.') && name != "." && name != "..";
        if names.clone().any(|name| name == ".git") {
            Self::SearchedWithGit
        } else if names.any(dotted) {
            Self::Searched
        } else {
            Self::Skipped
        }
    }
}

/// What was found: the newest, and how many more there were.
#[derive(Default)]
struct Found {
    /// The oldest of those kept is on top, to go when a newer one comes.
    newest: BinaryHeap<Reverse<(SystemTime, Reverse<PathBuf>)>>,
    more: usize,
    unreadable: usize,
}

fn search(root: &Path, pattern: &Pattern, cancel: &CancellationToken) -> Result<Found, ToolError> {
    check_root(root)?;
    let found = Mutex::new(Found::default());
    let lock = || found.lock().unwrap_or_else(PoisonError::into_inner);
    walker(root, pattern.hidden).threads(walk_threads()).build_parallel().run(|| {
        Box::new(|entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            match entry.map(|entry| matching(root, pattern, entry)) {
                Ok(Some((modified, path))) => lock().add(modified, path),
                Ok(None) => {}
                Err(_) => lock().unreadable += 1,
            }
            WalkState::Continue
        })
    });
    check(cancel)?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A file that matches, and when it changed. Only of such the system is asked that.
fn matching(root: &Path, pattern: &Pattern, entry: DirEntry) -> Option<(SystemTime, PathBuf)> {
    let is_folder = entry.file_type().is_none_or(|kind| kind.is_dir());
    if is_folder || !pattern.matcher.is_match(below(entry.path(), root)?) {
        return None;
    }
    let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
    Some((modified.unwrap_or(SystemTime::UNIX_EPOCH), entry.into_path()))
}

/// The part of a walked path that is below the root it began with. By bytes: the walk has put the root in
/// front of every path as it is, and comparing name by name takes longer than the match itself.
pub(crate) fn below<'p>(path: &'p Path, root: &Path) -> Option<&'p Path> {
    let rest = path.as_os_str().as_bytes().strip_prefix(root.as_os_str().as_bytes())?;
    Some(Path::new(OsStr::from_bytes(rest.strip_prefix(b"/").unwrap_or(rest))))
}

/// How many threads walk: more than eight wait for the disk.
pub(crate) fn walk_threads() -> usize {
    std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 8))
}

/// How files are looked for: the same for all tools that do.
pub(crate) fn walker(root: &Path, hidden: Hidden) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(hidden == Hidden::Skipped)
        .follow_links(false)
        // A `.gitignore` says what it says, whether or not somebody has run `git init` yet.
        .require_git(false)
        // The user's global ignore file is outside the project and would make results differ by machine.
        .git_global(false)
        .filter_entry(move |entry| hidden != Hidden::Searched || entry.file_name() != ".git");
    builder
}

fn check_root(root: &Path) -> Result<(), ToolError> {
    match root.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(ToolError::Refused {
            path: root.to_owned(),
            reason: "is not a folder; use Read to see a file".to_owned(),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(ToolError::NotFound {
            path: root.to_owned(),
            hint: "leave `path` out to search the working directory".to_owned(),
        }),
        Err(source) => Err(ToolError::Unreadable { path: root.to_owned(), source }),
    }
}

impl Found {
    fn add(&mut self, modified: SystemTime, path: PathBuf) {
        self.newest.push(Reverse((modified, Reverse(path))));
        if self.newest.len() > MAX_PATHS {
            self.newest.pop();
            self.more += 1;
        }
    }

    fn report(self, folder: &Path) -> String {
        let mut lines: Vec<String> = self
            .newest
            .into_sorted_vec()
            .into_iter()
            .map(|Reverse((_, Reverse(path)))| shown(&path, folder))
            .collect();
        if lines.is_empty() {
            lines.push("[no file matches]".to_owned());
        }
        if self.more > 0 {
            lines.push(format!(
                "[{} more files match, all older; make the pattern narrower to see them]",
                self.more
            ));
        }
        if self.unreadable > 0 {
            lines.push(format!("[{} files or folders could not be read]", self.unreadable));
        }
        lines.join("\n")
    }
}

/// A path as the model sees it: relative to the working directory where it is below that.
pub(crate) fn shown(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, path, expected) in [
            ("*.rs", "src/a/b.rs", true),
            ("./*.rs", "b.rs", true),
            ("./*.rs", "src/b.rs", false),
            ("src/*.rs", "src/b.rs", true),
            ("src/*.rs", "src/a/b.rs", false),
            ("src/**/*.{rs,toml}", "src/a/c.toml", true),
            ("**/*.rs", "b.rs", true),
        ] {
            let matcher = Pattern::new(pattern).ok().unwrap().matcher;
            assert_eq!(matcher.is_match(path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn patterns_that_are_a_fault() {
        check_refused(
            &"{".repeat(2_000),
            "is longer than 1000 bytes; several searches can run side by side",
        );
        check_refused(
            &format!("{}a{}", "{".repeat(400), "}".repeat(400)),
            "nests braces more than 10 deep",
        );
        // Within the limits everything is compiled or refused, never a panic.
        let nested = format!("{}a{}", "{b,".repeat(10), "}".repeat(10));
        assert!(Pattern::new(&nested).is_ok());
        let wide = format!("{{{}}}", "*?[a-z]**,".repeat(90));
        drop(Pattern::new(&wide));
    }

    #[track_caller]
    fn check_refused(pattern: &str, expected: &str) {
        let error = Pattern::new(pattern).err().unwrap().to_string();
        assert_eq!(error, format!("invalid arguments: `pattern`: {expected}"));
    }

    #[test]
    fn patterns_that_can_not_work() {
        check_refused("", "is empty; `**/*` matches every file");
        check_refused("/a/*", "is absolute; give the folder as `path` and what follows it here");
        check_refused("../*", "contains `..`; give the folder to search as `path`");
        check_refused("a[b", "unclosed character class; missing ']' in `a[b`");
    }

    #[test]
    fn hidden_files_are_searched_when_named() {
        assert_eq!(Hidden::named_by("**/*.rs"), Hidden::Skipped);
        assert_eq!(Hidden::named_by("./src/*.rs"), Hidden::Skipped);
        assert_eq!(Hidden::named_by("**/.env"), Hidden::Searched);
        assert_eq!(Hidden::named_by("{a,.b}/*"), Hidden::Searched);
        assert_eq!(Hidden::named_by(".git/**"), Hidden::SearchedWithGit);
    }

    #[test]
    fn the_oldest_go_first() {
        let mut found = Found::default();
        let at = |seconds| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        for number in 0..250 {
            found.add(at(number), PathBuf::from(format!("/w/{number}")));
        }
        let report = found.report(Path::new("/w"));
        let lines: Vec<&str> = report.lines().collect();
        assert_eq!((lines[0], lines[99]), ("249", "150"));
        assert!(lines[100].starts_with("[150 more files match"), "{}", lines[100]);
    }
}
