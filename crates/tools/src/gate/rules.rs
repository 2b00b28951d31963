//! Rules: `Bash(git diff:*)`, `Edit(src/**)`, `Read(.env)`, `WebFetch(domain:example.com)`, `mcp__server__*`.
//!
//! A rule for `Bash` is matched against each command of a line: an `allow` rule has to cover every one
//! of them (or the command only reads), a `deny` rule just one. In a rule that denies or asks a `*` between words
//! stands for any number of words: a flag is the same flag wherever it stands. A permission says what it opens to
//! the letter. A rule for files is matched against
//! the path as written and against where it leads, and one for `Edit` covers Write as well.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use globset::{GlobBuilder, GlobMatcher};
use serde_json::value::RawValue;
use thiserror::Error;

use super::Touch;
use super::paths::{lexical, protected_name};
use super::words::{Ending, fits};
use crate::mcp::PREFIX;
use crate::shell::{ShellVerdict, classify};
use crate::{Access, HostPattern, Tool, write_target};

/// A rule that can not be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RuleError {
    /// Not `Tool` or `Tool(pattern)`.
    #[error("`{0}` is not a rule; one reads `Tool` or `Tool(pattern)`, as in `Bash(git diff:*)`")]
    Form(String),
    /// A pattern that means nothing.
    #[error("the pattern of the rule `{rule}` can not be read: {problem}")]
    Pattern {
        /// The rule.
        rule: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// A rule.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    tool: String,
    pattern: Option<Pattern>,
}

/// Bounds of a pattern for files.
const LONGEST_PATTERN: usize = 1_000;
const MOST_BRACES: usize = 20;

#[derive(Debug, Clone)]
enum Pattern {
    /// `git diff:*`: a command that begins with these words.
    Prefix(String),
    /// A command, to the letter.
    Exact(String),
    /// Files.
    Files(GlobMatcher),
    /// One file, by its real path: what the person said "always" to.
    File(PathBuf),
    /// `domain:example.com`: a host.
    Host(HostPattern),
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let form = || RuleError::Form(text.to_owned());
        let (tool, pattern) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(form)?)),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        // All tools of an MCP server, or all whose names begin alike.
        let named =
            if tool.starts_with(PREFIX) { tool.strip_suffix('*').unwrap_or(tool) } else { tool };
        if named.is_empty() || !named.chars().all(plain) {
            return Err(form());
        }
        let pattern = match pattern {
            None | Some("" | "*") => None,
            Some(pattern) if tool == "Bash" => Some(Pattern::command(pattern)),
            Some(pattern) if tool == "WebFetch" => Some(
                Pattern::host(pattern)
                    .map_err(|problem| RuleError::Pattern { rule: text.to_owned(), problem })?,
            ),
            Some(pattern) => Some(
                Pattern::files(pattern)
                    .map_err(|problem| RuleError::Pattern { rule: text.to_owned(), problem })?,
            ),
        };
        Ok(Self { text: text.to_owned(), tool: tool.to_owned(), pattern })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Pattern {
    fn command(text: &str) -> Self {
        match text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")) {
            Some(prefix) => Self::Prefix(prefix.trim_end().to_owned()),
            None => Self::Exact(text.to_owned()),
        }
    }

    fn files(text: &str) -> Result<Self, String> {
        // The matcher's own parser recurses: a pattern from a stranger is bounded first.
        if text.len() > LONGEST_PATTERN || text.matches('{').count() > MOST_BRACES {
            return Err(format!(
                "it is longer than {LONGEST_PATTERN} bytes or has more than {MOST_BRACES} braces"
            ));
        }
        let matcher =
            GlobBuilder::new(text.trim_start_matches("./")).literal_separator(true).build();
        matcher
            .map(|glob| Self::Files(glob.compile_matcher()))
            .map_err(|error| error.kind().to_string())
    }

    fn host(text: &str) -> Result<Self, String> {
        let host = text.strip_prefix("domain:").and_then(HostPattern::new);
        host.map(Self::Host).ok_or_else(|| "one reads `WebFetch(domain:example.com)`".to_owned())
    }

    fn words(&self) -> &str {
        match self {
            Self::Prefix(words) | Self::Exact(words) => words,
            Self::File(_) | Self::Files(_) | Self::Host(_) => "",
        }
    }

    /// Word by word: a word that came out of quotes is one, whatever stands in it.
    fn matches_command(&self, command: &[String]) -> bool {
        let same = |text: &str, words: &[String]| {
            text.split_whitespace().eq(words.iter().map(String::as_str))
        };
        match self {
            Self::Prefix(prefix) => {
                let count = prefix.split_whitespace().count();
                command.get(..count).is_some_and(|first| same(prefix, first))
            }
            Self::Exact(exact) => same(exact, command),
            Self::Files(_) | Self::File(_) | Self::Host(_) => false,
        }
    }

    /// The same, where `*` stands for any number of words.
    fn touches_command(&self, command: &[String]) -> bool {
        match self {
            Self::Prefix(text) => fits(text, command, Ending::Open),
            Self::Exact(text) => fits(text, command, Ending::Closed),
            Self::Files(_) | Self::File(_) | Self::Host(_) => false,
        }
    }

    /// Whether the words stand somewhere in a line that is not understood.
    fn touches_line(&self, line: &str) -> bool {
        let mut rest = Some(line);
        for part in self.words().split(" * ") {
            rest = rest.and_then(|rest| rest.split_once(part)).map(|(_, behind)| behind);
        }
        rest.is_some()
    }

    fn matches_path(&self, path: &Path, folder: &Path) -> bool {
        if let Self::File(file) = self {
            return file == path;
        }
        let Self::Files(matcher) = self else { return false };
        matcher.is_match(path)
            || path.strip_prefix(folder).is_ok_and(|below| matcher.is_match(below))
    }
}

impl Rule {
    /// A rule for a whole tool.
    pub(super) fn whole(tool: &str) -> Self {
        Self { text: tool.to_owned(), tool: tool.to_owned(), pattern: None }
    }

    /// A rule for one command line, to the letter, or for a program with a subcommand that is known.
    pub(super) fn command(tool: &str, line: &str, commands: Option<&[Vec<String>]>) -> Self {
        let (shown, pattern) = match known_subcommand(commands) {
            Some(prefix) => (format!("{prefix}:*"), Pattern::Prefix(prefix)),
            None => (line.to_owned(), Pattern::Exact(line.to_owned())),
        };
        Self { text: format!("{tool}({shown})"), tool: tool.to_owned(), pattern: Some(pattern) }
    }

    /// A rule for one file, by where its path leads.
    pub(super) fn file(tool: &str, path: &Path, folder: &Path) -> Self {
        let real = write_target(folder, path).unwrap_or_else(|_| path.to_owned());
        let text = format!("{tool}({})", path.display());
        Self { text, tool: tool.to_owned(), pattern: Some(Pattern::File(real)) }
    }

    /// A rule for one host.
    pub(super) fn of_host(tool: &str, host: &str) -> Self {
        let text = format!("{tool}(domain:{host})");
        let pattern = HostPattern::new(host).map(Pattern::Host);
        // A host that can not be named is covered by nothing.
        let pattern = pattern.unwrap_or_else(|| Pattern::Exact(String::new()));
        Self { text, tool: tool.to_owned(), pattern: Some(pattern) }
    }

    /// The tool it is for.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The host that the rule names, if it names one.
    pub(super) fn host(&self) -> Option<&HostPattern> {
        match &self.pattern {
            Some(Pattern::Host(host)) => Some(host),
            _ => None,
        }
    }

    /// Whether a call is one that this rule speaks of: of a line of several commands, any one.
    pub fn touches(&self, tool: &dyn Tool, input: &RawValue, folder: &Path) -> bool {
        let touch = Touch::of(tool, input, folder);
        first_match(std::slice::from_ref(self), &tool.called_as(input), &touch, folder).is_some()
    }

    /// Whether it speaks of a tool at all. A rule for `Edit` covers every tool that writes files, one for `Read` those
    /// that look into them.
    pub fn is_for(&self, tool: &str) -> bool {
        self.tool == tool
            || self.is_for_server_of(tool)
            || (self.tool == "Edit" && tool == "Write")
            || (self.tool == "Read" && matches!(tool, "Grep" | "Glob"))
    }

    /// `mcp__server` and `mcp__server__*` cover all tools of the server, `mcp__*` all tools of all.
    fn is_for_server_of(&self, tool: &str) -> bool {
        let Some(server) = self.tool.strip_prefix(PREFIX) else { return false };
        match self.tool.strip_suffix('*') {
            Some(beginning) => tool.starts_with(beginning),
            None if server.contains("__") => false,
            None => tool.strip_prefix(&self.tool).is_some_and(|rest| rest.starts_with("__")),
        }
    }

    /// Whether a command names a file that this rule keeps from being read.
    fn hides_from(&self, touch: &Touch, folder: &Path) -> bool {
        let Some(pattern @ Pattern::Files(_)) = &self.pattern else { return false };
        if self.tool != "Read" {
            return false;
        }
        let root = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let names = |word: &str| {
            let written = lexical(&folder.join(word));
            let real = write_target(folder, &written).ok();
            pattern.matches_path(&written, folder)
                || real.is_some_and(|real| pattern.matches_path(&real, &root))
        };
        let words = touch.commands().into_iter().flatten().flatten();
        // What stands behind `=` may be a file as well.
        words
            .flat_map(|word| [Some(word.as_str()), word.split_once('=').map(|(_, file)| file)])
            .flatten()
            .any(names)
    }

    /// A permission is for where a path really leads; what steers programs has to be named in it.
    fn allows_paths(&self, touch: &Touch, folder: &Path) -> bool {
        let (Some(pattern), Access::Writes(path)) = (&self.pattern, &touch.access) else {
            return self.matches_paths(touch, folder);
        };
        let root = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let Ok(real) = write_target(folder, path) else { return false };
        let named = |name: String| matches!(pattern, Pattern::File(_)) || self.text.contains(&name);
        pattern.matches_path(&real, &root) && protected_name(&real, &root).is_none_or(named)
    }

    fn matches_paths(&self, touch: &Touch, folder: &Path) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        if let (Pattern::Host(pattern), Access::Fetches(host)) = (pattern, &touch.access) {
            return pattern.matches(host);
        }
        let root = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let written = match &touch.access {
            Access::Writes(path) => Some(lexical(path)),
            Access::Reads | Access::Runs(_) | Access::Fetches(_) | Access::Other => {
                touch.path.clone()
            }
        };
        let Some(written) = written else { return false };
        let real = write_target(folder, &written).ok();
        pattern.matches_path(&written, folder)
            || real.is_some_and(|real| pattern.matches_path(&real, &root))
    }
}

/// The rules in force.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// What needs no question.
    pub allow: Vec<Rule>,
    /// What asks even where it would be allowed.
    pub ask: Vec<Rule>,
    /// What never runs.
    pub deny: Vec<Rule>,
}

impl Rules {
    pub(super) fn denies(&self, tool: &str, touch: &Touch, folder: &Path) -> Option<&Rule> {
        first_match(&self.deny, tool, touch, folder)
            .or_else(|| self.deny.iter().find(|rule| rule.hides_from(touch, folder)))
    }

    /// A rule that asks; or, for a line that is not understood, one that might be meant by it.
    pub(super) fn asks(&self, tool: &str, touch: &Touch, folder: &Path) -> Option<&Rule> {
        let hidden = || match &touch.access {
            Access::Runs(_) if touch.commands().is_none() => {
                self.deny.iter().chain(&self.ask).find(|rule| rule.is_for(tool))
            }
            Access::Runs(_)
            | Access::Reads
            | Access::Writes(_)
            | Access::Fetches(_)
            | Access::Other => None,
        };
        first_match(&self.ask, tool, touch, folder).or_else(hidden)
    }
}

/// The rule that allows all of a call. Of a line of several commands each must be covered.
pub(super) fn allowed_by<'a>(
    rules: &'a [Rule],
    tool: &str,
    touch: &Touch,
    folder: &Path,
) -> Option<&'a Rule> {
    let mut mine = rules.iter().filter(|rule| rule.is_for(tool));
    let Access::Runs(line) = &touch.access else {
        return mine.find(|rule| rule.allows_paths(touch, folder));
    };
    // A line that the person has allowed to the letter need not be understood.
    let to_the_letter = |rule: &&Rule| match &rule.pattern {
        None => true,
        Some(Pattern::Exact(text)) => text.trim() == line.trim(),
        Some(_) => false,
    };
    if let Some(rule) = mine.clone().find(to_the_letter) {
        return Some(rule);
    }
    let mut used = None;
    for command in touch.commands()? {
        let covering = mine
            .clone()
            .find(|rule| rule.pattern.as_ref().is_some_and(|p| p.matches_command(command)));
        match covering {
            Some(rule) => used = Some(rule),
            None if classify(&quoted(command)) == ShellVerdict::ReadOnly => {}
            None => return None,
        }
    }
    used
}

/// A command as a line that means just these words.
pub(crate) fn quoted(command: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    let quote = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    command.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Subcommands that do what they say and start nothing that their arguments name.
const KNOWN_SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("cargo", &["bench", "build", "check", "clippy", "doc", "fmt", "test"]),
    ("dotnet", &["build", "test"]),
    ("git", &["add", "commit", "stash", "tag"]),
    ("go", &["build", "fmt", "test", "vet"]),
    ("npm", &["ci", "install", "test"]),
    ("pnpm", &["install", "test"]),
    ("yarn", &["install", "test"]),
];

/// Program and subcommand of a line that is one command with a known one.
fn known_subcommand(commands: Option<&[Vec<String>]>) -> Option<String> {
    let [command] = commands? else { return None };
    let [program, action, ..] = command.as_slice() else { return None };
    let (_, actions) = KNOWN_SUBCOMMANDS.iter().find(|(known, _)| known == program)?;
    actions.contains(&action.as_str()).then(|| format!("{program} {action}"))
}

/// The first rule that touches a call at all: of a line of several commands, any one. In a line that is
/// not understood the words of a rule count wherever they stand.
fn first_match<'a>(
    rules: &'a [Rule],
    tool: &str,
    touch: &Touch,
    folder: &Path,
) -> Option<&'a Rule> {
    let mut mine = rules.iter().filter(|rule| rule.is_for(tool));
    let Access::Runs(line) = &touch.access else {
        return mine.find(|rule| rule.matches_paths(touch, folder));
    };
    mine.find(|rule| match (&rule.pattern, touch.commands()) {
        (None, _) => true,
        (Some(pattern), Some(commands)) => {
            commands.iter().any(|command| pattern.touches_command(command))
        }
        (Some(pattern), None) => pattern.touches_line(line),
    })
}
