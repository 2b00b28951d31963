//! Rules: `Bash(git diff:*)`, `Edit(src/**)`, `Read(.env)`, `WebFetch(domain:example.com)`.
//!
//! A rule for `Bash` is matched against each command of a line: an `allow` rule has to cover every one
//! of them (or the command only reads), a `deny` rule just one. A rule for files is matched against
//! the path as written and against where it leads, and one for `Edit` covers Write as well.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use globset::{GlobBuilder, GlobMatcher};
use serde_json::value::RawValue;
use thiserror::Error;

use super::Touch;
use super::paths::lexical;
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

#[derive(Debug, Clone)]
enum Pattern {
    /// `git diff:*`: a command that begins with these words.
    Prefix(String),
    /// A command, to the letter.
    Exact(String),
    /// Files.
    Files(GlobMatcher),
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
        if tool.is_empty() || !tool.chars().all(plain) {
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
            Self::Files(_) | Self::Host(_) => "",
        }
    }

    fn matches_command(&self, command: &str) -> bool {
        match self {
            Self::Prefix(prefix) => command
                .strip_prefix(prefix.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
            Self::Exact(exact) => command == exact,
            Self::Files(_) | Self::Host(_) => false,
        }
    }

    fn matches_path(&self, path: &Path, folder: &Path) -> bool {
        let Self::Files(matcher) = self else { return false };
        matcher.is_match(path)
            || path.strip_prefix(folder).is_ok_and(|below| matcher.is_match(below))
    }
}

impl Rule {
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
        first_match(std::slice::from_ref(self), tool.name(), &touch, folder).is_some()
    }

    /// A rule for `Edit` covers every tool that writes files, one for `Read` those that look into them.
    fn is_for(&self, tool: &str) -> bool {
        self.tool == tool
            || (self.tool == "Edit" && tool == "Write")
            || (self.tool == "Read" && matches!(tool, "Grep" | "Glob"))
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
        return mine.find(|rule| rule.matches_paths(touch, folder));
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
        let text = command.join(" ");
        let covering = mine
            .clone()
            .find(|rule| rule.pattern.as_ref().is_some_and(|p| p.matches_command(&text)));
        match covering {
            Some(rule) => used = Some(rule),
            None if classify(&text) == ShellVerdict::ReadOnly => {}
            None => return None,
        }
    }
    used.or_else(|| mine.next())
}

/// Programs whose second word says what they do.
const WITH_SUBCOMMANDS: &[&str] = &[
    "bun", "bundle", "cargo", "deno", "docker", "dotnet", "git", "go", "gradle", "just", "kubectl",
    "make", "mvn", "npm", "pip", "pnpm", "poetry", "rake", "uv", "yarn",
];

/// The pattern of a rule for a command line: the same program and subcommand, or the line itself.
pub(super) fn covering(line: &str, commands: Option<&[Vec<String>]>) -> String {
    let words = match commands {
        Some([only]) => only.as_slice(),
        Some(_) | None => &[],
    };
    let plain = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c));
    match words {
        [program, action, ..]
            if WITH_SUBCOMMANDS.contains(&program.as_str())
                && !action.starts_with('-')
                && plain(action) =>
        {
            format!("{program} {action}:*")
        }
        _ => line.to_owned(),
    }
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
            commands.iter().any(|command| pattern.matches_command(&command.join(" ")))
        }
        (Some(pattern), None) => line.contains(pattern.words()),
    })
}
