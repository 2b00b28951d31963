//! The arguments of a search, checked and compiled.

use std::num::NonZeroU64;
use std::path::PathBuf;

use grep_matcher::LineTerminator;
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use serde::Deserialize;

use crate::glob::Pattern;
use crate::snippet::cut;
use crate::tool_result::ToolError;

/// The most characters of an answer.
pub(super) const RESULT_CHARS: u32 = 20_000;
/// The most lines of context on either side.
const MAX_CONTEXT: usize = 100;
/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 10_000;
/// The most memory a compiled pattern takes.
const PATTERN_MEMORY: usize = 256 * 1024;
/// The most memory a search takes: for the longest line, or for a whole file when lines are joined.
const SEARCH_MEMORY: usize = 64 * 1024 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrepInput {
    pub(super) pattern: String,
    pub(super) path: Option<PathBuf>,
    pub(super) glob: Option<String>,
    output_mode: Option<GrepMode>,
    after: Option<usize>,
    before: Option<usize>,
    context: Option<usize>,
    ignore_case: Option<bool>,
    multiline: Option<bool>,
    head_limit: Option<NonZeroU64>,
}

/// What a search shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GrepMode {
    Content,
    FilesWithMatches,
    Count,
}

/// A search, checked and compiled.
pub(super) struct GrepQuery {
    pub(super) matcher: RegexMatcher,
    pub(super) glob: Option<Pattern>,
    pub(super) mode: GrepMode,
    before: usize,
    after: usize,
    multiline: bool,
    pub(super) max_hits: usize,
}

impl GrepQuery {
    pub(super) fn new(input: &GrepInput) -> Result<Self, ToolError> {
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
            mode: input.output_mode.unwrap_or(GrepMode::FilesWithMatches),
            before,
            after,
            multiline,
            max_hits: input
                .head_limit
                .map_or(usize::MAX, |limit| usize::try_from(limit.get()).unwrap_or(usize::MAX)),
        })
    }

    pub(super) fn searcher(&self) -> Searcher {
        let around =
            if self.mode == GrepMode::Content { (self.before, self.after) } else { (0, 0) };
        SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            // Counting line ends takes as long as the search itself.
            .line_number(self.mode == GrepMode::Content)
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
        "`pattern`: is not a regular expression that can be used: {error}\nto search for this exact \
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
