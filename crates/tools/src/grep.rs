//! Grep: finds text in files, with ripgrep's own libraries.
//!
//! Invariant: the same files give the same answer, in the order of their paths; what git ignores and
//! what is no text is not searched; the answer says how many matches it does not show.

mod line;
mod report;
mod search;

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::path::PathBuf;

use dormouse_permissions::READ_RULE;
use futures_util::future::BoxFuture;
use grep_matcher::LineTerminator;
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::blocking::blocking;
use crate::glob::Pattern;
use crate::snippet::cut;
use crate::{
    CallContext, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, ToolTraits,
    parse_input,
};

/// The most characters of an answer.
const RESULT_CHARS: u32 = 20_000;
/// The most lines of context on either side.
const MAX_CONTEXT: usize = 100;
/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 10_000;
/// The most memory a compiled pattern takes.
const PATTERN_MEMORY: usize = 32 * 1024 * 1024;
/// The most memory a search takes: for the longest line, or for a whole file when lines are joined.
const SEARCH_MEMORY: usize = 64 * 1024 * 1024;

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""pattern":{"type":"string","description":"The regular expression, as ripgrep reads it."},"#,
    r#""path":{"type":"string","#,
    r#""description":"The folder or file to search; the working directory when left out."},"#,
    r#""glob":{"type":"string","#,
    r#""description":"Searches only files that match, such as `*.rs` or `src/**/*.{ts,tsx}`."},"#,
    r#""output_mode":{"type":"string","enum":["content","files_with_matches","count"],"#,
    r#""description":"Matching lines, only the paths (when left out), or the number of matching lines of each file."},"#,
    r#""after":{"type":"integer","minimum":0,"maximum":100,"#,
    r#""description":"Lines to show after each match."},"#,
    r#""before":{"type":"integer","minimum":0,"maximum":100,"#,
    r#""description":"Lines to show before each match."},"#,
    r#""context":{"type":"integer","minimum":0,"maximum":100,"#,
    r#""description":"Lines to show on both sides of each match."},"#,
    r#""ignore_case":{"type":"boolean","description":"Whether small and capital letters are the same."},"#,
    r#""multiline":{"type":"boolean","#,
    r#""description":"Whether a match may go over several lines; `.` then matches line ends too."},"#,
    r#""head_limit":{"type":"integer","minimum":1,"#,
    r#""description":"The most lines of the answer; as many as fit when left out."}"#,
    r#"},"required":["pattern"],"additionalProperties":false}"#,
);

const SHORT: &str = "Searches files for a regular expression; shows lines, paths or counts.";

const FULL: &str = "\
Searches the contents of files for a regular expression.

- The syntax is that of ripgrep: to search for a character such as `(`, `[`, `{` or `.` itself, put a \
backslash in front of it.
- `output_mode` says what is shown: `files_with_matches` the paths (when left out), `content` the \
lines as `path:line:text` (and as `path-line-text` those around them, by `before`, `after` and \
`context`), `count` the number of matching lines of each file.
- `glob` and `path` narrow the search. Files that git ignores, hidden ones (unless `glob` names them) \
and binary ones are not searched. Links are not followed.
- A match lies within a line, unless `multiline` is set. Lines of some files end with CR LF: `\\r?\\n` \
matches both kinds.
- At most 20000 characters are shown, and of long lines 500; what is left out is counted.
- Use it rather than grep or rg in Bash. Several searches can run at the same time.";

/// The tool. See the module.
#[derive(Debug, Clone, Copy)]
pub struct Grep;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: String,
    path: Option<PathBuf>,
    glob: Option<String>,
    output_mode: Option<Mode>,
    after: Option<usize>,
    before: Option<usize>,
    context: Option<usize>,
    ignore_case: Option<bool>,
    multiline: Option<bool>,
    head_limit: Option<NonZeroU64>,
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    FilesWithMatches,
    Count,
}

/// What is looked for, understood and compiled.
struct Query {
    matcher: RegexMatcher,
    glob: Option<Pattern>,
    mode: Mode,
    before: usize,
    after: usize,
    multiline: bool,
    max_lines: usize,
}

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed("Grep"),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::ReadOnly,
    limit: ResultLimit::Chars(RESULT_CHARS),
    traits: ToolTraits { rule_family: Some(READ_RULE), ..ToolTraits::DEFAULT },
};

impl Tool for Grep {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async {
            let input: Input = parse_input(input)?;
            let folder = context.folder.clone();
            blocking(&context.cancel, move |cancel| {
                let query = Query::new(&input)?;
                let root = input.path.map_or_else(|| folder.clone(), |path| folder.join(path));
                let results = search::search(&root, &query, &folder, cancel)?;
                Ok(ToolOutput::text(report::report(&results, &query)))
            })
            .await
        })
    }
}

impl Query {
    fn new(input: &Input) -> Result<Self, ToolError> {
        let both = input.context.unwrap_or(0);
        let (before, after) = (input.before.unwrap_or(both), input.after.unwrap_or(both));
        if before.max(after) > MAX_CONTEXT {
            return Err(ToolError::invalid(format!(
                "`before`, `after` and `context` are at most {MAX_CONTEXT} lines; use Read to see more"
            )));
        }
        let multiline = input.multiline == Some(true);
        let glob = input.glob.as_deref().map(|glob| Pattern::of_field("glob", glob)).transpose()?;
        Ok(Self {
            matcher: compile(&input.pattern, input.ignore_case == Some(true), multiline)?,
            glob,
            mode: input.output_mode.unwrap_or(Mode::FilesWithMatches),
            before,
            after,
            multiline,
            max_lines: input
                .head_limit
                .map_or(usize::MAX, |limit| usize::try_from(limit.get()).unwrap_or(usize::MAX)),
        })
    }

    fn searcher(&self) -> Searcher {
        let around = if self.mode == Mode::Content { (self.before, self.after) } else { (0, 0) };
        SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            // Counting line ends takes as long as the search itself.
            .line_number(self.mode == Mode::Content)
            .multi_line(self.multiline)
            .before_context(around.0)
            .after_context(around.1)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(SEARCH_MEMORY))
            .build()
    }
}

fn compile(pattern: &str, ignore_case: bool, multiline: bool) -> Result<RegexMatcher, ToolError> {
    if pattern.is_empty() {
        return Err(ToolError::invalid("`pattern`: is empty"));
    }
    if pattern.len() > MAX_PATTERN {
        return Err(ToolError::invalid(format!("`pattern`: is longer than {MAX_PATTERN} bytes")));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .case_insensitive(ignore_case)
        .size_limit(PATTERN_MEMORY)
        .dfa_size_limit(PATTERN_MEMORY)
        // `$` matches before CR LF too: the model never sees the CR.
        .crlf(true)
        .dot_matches_new_line(multiline);
    if multiline {
        // `crlf` has set one, and a match may contain it here.
        builder.line_terminator(None);
    }
    builder.build(pattern).map_err(|error| invalid(pattern, &error))
}

fn invalid(pattern: &str, error: &grep_regex::Error) -> ToolError {
    if matches!(error.kind(), ErrorKind::NotAllowed(_)) {
        return ToolError::invalid(
            "`pattern`: matches a line end, which needs `multiline` to be true",
        );
    }
    ToolError::invalid(format!(
        "`pattern`: is not a regular expression that can be used: {error}\nto search for this very \
         text, put a backslash before each special character: {}",
        cut(&escaped(pattern), 200)
    ))
}

fn escaped(pattern: &str) -> String {
    let special = |letter: char| r"\.+*?()|[]{}^$".contains(letter);
    pattern
        .chars()
        .flat_map(|letter| special(letter).then_some('\\').into_iter().chain([letter]))
        .collect()
}
