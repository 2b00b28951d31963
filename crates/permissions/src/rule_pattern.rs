//! The part of a rule in parentheses: a command, files, or a host.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use crate::host::HostPattern;
use crate::known_commands::escapes;
use crate::rule_names::{COMMAND_RULE, HOST_RULE, SEARCH_RULE};
use crate::shell::{ShellCommand, started_commands};
use crate::word_pattern::{PatternEnd, matches_words};

/// Bounds of a file pattern.
const MAX_PATTERN_BYTES: usize = 1_000;
const MAX_BRACES: usize = 20;

/// What a rule is restricted to.
#[derive(Debug, Clone)]
pub(crate) enum RulePattern {
    /// `git diff:*`: a command that begins with these words.
    Prefix(String),
    /// An exact command.
    Exact(String),
    /// Files, by a glob.
    Files(GlobMatcher),
    /// One file, by its real path: for rules that the user grants.
    File(PathBuf),
    /// `domain:example.com`: a host.
    Host(HostPattern),
}

/// Why a pattern cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Too complex.
    #[error("it is longer than {MAX_PATTERN_BYTES} bytes or has more than {MAX_BRACES} braces")]
    TooComplex,
    /// Not a glob.
    #[error("{0}")]
    Glob(globset::ErrorKind),
    /// Not a host.
    #[error("expected the form `WebFetch(domain:example.com)`")]
    Host,
}

impl RulePattern {
    /// Parses the pattern of a rule for this tool.
    pub(crate) fn parse(tool: &str, text: &str) -> Result<Self, PatternError> {
        match tool {
            COMMAND_RULE => Ok(Self::command(text)),
            HOST_RULE | SEARCH_RULE => Self::parse_host(text),
            _ => Self::files(text),
        }
    }

    fn command(text: &str) -> Self {
        match text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")) {
            Some(prefix) => Self::Prefix(prefix.trim_end().to_owned()),
            None => Self::Exact(text.to_owned()),
        }
    }

    fn files(text: &str) -> Result<Self, PatternError> {
        // The glob parser recurses, so a pattern from an untrusted file is bounded first.
        if text.len() > MAX_PATTERN_BYTES || text.matches('{').count() > MAX_BRACES {
            return Err(PatternError::TooComplex);
        }
        let matcher =
            GlobBuilder::new(text.trim_start_matches("./")).literal_separator(true).build();
        matcher
            .map(|glob| Self::Files(glob.compile_matcher()))
            .map_err(|error| PatternError::Glob(error.kind().clone()))
    }

    fn parse_host(text: &str) -> Result<Self, PatternError> {
        let host = text.strip_prefix("domain:").and_then(HostPattern::new);
        host.map(Self::Host).ok_or(PatternError::Host)
    }

    fn words(&self) -> &str {
        match self {
            Self::Prefix(words) | Self::Exact(words) => words,
            Self::File(_) | Self::Files(_) | Self::Host(_) => "",
        }
    }

    /// Whether an allow rule covers a command, compared word by word: a quoted word is one word, whatever it contains. A
    /// prefix does not cover a flag that makes the command start something else, unless it names it.
    pub(crate) fn covers_command(&self, command: &ShellCommand) -> bool {
        match self {
            Self::Prefix(prefix) => {
                let count = prefix.split_whitespace().count();
                prefix.split_whitespace().eq(command.words().take(count))
                    && !escapes(command, count)
            }
            Self::Exact(exact) => exact.split_whitespace().eq(command.words()),
            Self::Files(_) | Self::File(_) | Self::Host(_) => false,
        }
    }

    /// Whether a deny or ask rule applies to a command, or to one that it starts: here `*` stands for any number of words.
    pub(crate) fn applies_to_command(&self, command: &ShellCommand) -> bool {
        let (text, end) = match self {
            Self::Prefix(text) => (text, PatternEnd::Open),
            Self::Exact(text) => (text, PatternEnd::Closed),
            Self::Files(_) | Self::File(_) | Self::Host(_) => return false,
        };
        let words: Vec<&str> = command.words().collect();
        let started = started_commands(&words);
        started.commands.iter().any(|words| matches_words(text, words, end))
            || started.unparsed.iter().any(|line| self.occurs_in(line))
    }

    /// Whether the words occur, in their order, in a line that could not be parsed.
    pub(crate) fn occurs_in(&self, line: &str) -> bool {
        let mut rest = Some(line);
        for part in self.words().split(" * ") {
            rest = rest.and_then(|rest| rest.split_once(part)).map(|(_, after)| after);
        }
        rest.is_some()
    }

    pub(crate) fn matches_path(&self, path: &Path, folder: &Path) -> bool {
        if let Self::File(file) = self {
            return file == path;
        }
        let Self::Files(matcher) = self else { return false };
        matcher.is_match(path)
            || path.strip_prefix(folder).is_ok_and(|below| matcher.is_match(below))
    }
}
