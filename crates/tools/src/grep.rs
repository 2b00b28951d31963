//! Grep: finds text in files, with ripgrep's own libraries.
//!
//! Invariant: the same files give the same answer, in the order of their paths; what git ignores and
//! what is no text is not searched; the answer says how many matches it does not show.

mod line;
mod query;
mod report;
mod search;

use std::borrow::Cow;
use std::path::{Component, Path};
use std::time::Duration;

use dormouse_conversation::known_tools::GREP;
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use crate::blocking::blocking;
use crate::{
    CallContext, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, parse_input,
};
use query::{GrepInput, GrepQuery, RESULT_CHARS};
use search::{Deadline, Results, SearchLimits};

/// After this time a search answers with what it has found.
const PATIENCE: Duration = Duration::from_secs(20);
/// How much longer one file may take.
const GRACE: Duration = Duration::from_secs(10);

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""pattern":{"type":"string","description":"The regular expression."},"#,
    r#""path":{"type":"string","#,
    r#""description":"A folder or file."},"#,
    r#""glob":{"type":"string","#,
    r#""description":"Only files that match, such as `*.{ts,tsx}`."},"#,
    r#""output_mode":{"type":"string","enum":["content","files_with_matches","count"],"#,
    r#""description":"What is shown."},"#,
    r#""after":{"type":"integer","minimum":0,"#,
    r#""description":"Lines after each match."},"#,
    r#""before":{"type":"integer","minimum":0,"#,
    r#""description":"Lines before each match."},"#,
    r#""context":{"type":"integer","minimum":0,"#,
    r#""description":"Lines on both sides."},"#,
    r#""ignore_case":{"type":"boolean","description":"Ignore case."},"#,
    r#""multiline":{"type":"boolean","#,
    r#""description":"Match over several lines; `.` matches line ends."},"#,
    r#""head_limit":{"type":"integer","minimum":1,"#,
    r#""description":"The most matches, or files."}"#,
    r#"},"required":["pattern"],"additionalProperties":false}"#,
);

const SHORT: &str = "Searches files for a regular expression; shows lines, paths or counts.";

const FULL: &str = "\
Searches the contents of files for a regular expression in ripgrep's syntax; use it rather than \
grep or rg in Bash.

- Put a backslash in front of `(`, `[`, `{` or `.` to search for the character itself.
- `output_mode`: `files_with_matches` (when left out) shows the paths, `content` the lines as \
`path:line:text` (those around them as `path-line-text`), `count` the number of matching lines of \
each file.
- Not searched: what git ignores, binary files, and hidden ones unless `glob` names them.
- At most 20000 characters are shown, and 500 of a line; the answer counts what is left out.";

/// The tool. See the module.
#[derive(Debug, Clone, Copy)]
pub struct Grep;

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(GREP.name),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::ReadOnly,
    limit: ResultLimit::Chars(RESULT_CHARS),
    traits: GREP.traits,
};

impl Tool for Grep {
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
            let input: GrepInput = parse_input(input)?;
            let folder = context.folder.clone();
            let gate = context.gate.clone();
            let searching = blocking(&context.cancel, move |cancel| {
                let deadline = Deadline::after(PATIENCE);
                let query = GrepQuery::new(&input)?;
                let root =
                    input.path.as_ref().map_or_else(|| folder.clone(), |path| folder.join(path));
                let limits =
                    SearchLimits { folder: &folder, gate: gate.as_ref(), cancel, deadline };
                let results = search::search(&root, &query, limits)?;
                let text = report::report(&results, &query);
                Ok(ToolOutput::text(match file_to_read(&input, &root, &results, limits) {
                    Some(file) => format!("{text}\n[Read shows what {file} says]"),
                    None => text,
                }))
            });
            // A pattern may take long before the first file is read, or in one line of it.
            match tokio::time::timeout(PATIENCE + GRACE, searching).await {
                Ok(result) => result,
                Err(_) => Err(ToolError::invalid(format!(
                    "`pattern`: the search was stopped after {} s without a result; use a simpler pattern, or \
                     narrow it with `path` or `glob`",
                    (PATIENCE + GRACE).as_secs()
                ))),
            }
        })
    }
}

/// The one file that a call without matches is about: the one it searches, or whose name it searches for.
fn file_to_read(
    input: &GrepInput,
    root: &Path,
    results: &Results,
    limits: SearchLimits<'_>,
) -> Option<String> {
    if !results.is_empty() {
        return None;
    }
    if root.is_file() {
        return (results.binary == 0).then(|| "the file".to_owned());
    }
    let is_below = |name: &&String| {
        let is_plain =
            Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        is_plain && root.join(name).is_file() && !limits.denies(&root.join(name))
    };
    let name = input.glob.iter().chain([&input.pattern]).find(is_below)?;
    let path = root.join(name);
    Some(format!("`{}`", path.strip_prefix(limits.folder).unwrap_or(&path).display()))
}
