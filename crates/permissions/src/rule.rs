//! A permission rule: `Bash(git diff:*)`, `Edit(src/**)`, `Read(.env)`, `WebFetch(domain:example.com)`, `mcp__server__*`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

use crate::host::HostPattern;
use crate::known_commands::known_prefix;
use crate::protected::{lexical, protected_name};
use crate::read_access::{Reach, ReadingNeed, ReadingObjection};
use crate::request::{Access, PermissionRequest};
use crate::rule_names::{MCP_TOOL_PREFIX, READ_RULE};
use crate::rule_pattern::{PatternError, RulePattern};
use crate::shell::ShellCommand;
use crate::write_target::write_target;

/// A rule that cannot be parsed.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RuleError {
    /// Not `Tool` or `Tool(pattern)`.
    #[error("`{0}` is not a rule; expected `Tool` or `Tool(pattern)`, as in `Bash(git diff:*)`")]
    Form(String),
    /// An invalid pattern.
    #[error("invalid pattern in the rule `{rule}`: {problem}")]
    Pattern {
        /// The rule.
        rule: String,
        /// What is wrong with it.
        problem: PatternError,
    },
}

/// A rule for a tool, restricted by a pattern where it has one.
#[derive(Debug, Clone)]
pub struct PermissionRule {
    text: String,
    tool: String,
    pub(crate) pattern: Option<RulePattern>,
}

impl FromStr for PermissionRule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let form = || RuleError::Form(text.to_owned());
        let (tool, pattern) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(form)?)),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        // A final `*` covers all tools of an MCP server whose names begin alike.
        let name = match tool.strip_suffix('*') {
            Some(beginning) if tool.starts_with(MCP_TOOL_PREFIX) => beginning,
            _ => tool,
        };
        if name.is_empty() || !name.chars().all(plain) {
            return Err(form());
        }
        let pattern = match pattern {
            None | Some("" | "*") => None,
            Some(pattern) => Some(
                RulePattern::parse(tool, pattern)
                    .map_err(|problem| RuleError::Pattern { rule: text.to_owned(), problem })?,
            ),
        };
        Ok(Self { text: text.to_owned(), tool: tool.to_owned(), pattern })
    }
}

/// Rules are equal if they are written in the same way.
impl PartialEq for PermissionRule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PermissionRule {}

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PermissionRule {
    /// The narrowest rule that would allow a call.
    pub(crate) fn suggested_for(request: &PermissionRequest) -> Self {
        let tool = &request.tool;
        match &request.access {
            Access::Runs(line) => Self::for_command(tool, line, request.commands()),
            Access::Writes(path) => Self::for_file(tool, path, &request.folder),
            Access::Fetches(host) => Self::for_host(tool, host),
            Access::Reads | Access::Internal(_) | Access::Other => {
                Self { text: tool.clone(), tool: tool.clone(), pattern: None }
            }
        }
    }

    /// A rule for one exact command line, or for a program with a well-known subcommand.
    fn for_command(tool: &str, line: &str, commands: Option<&[ShellCommand]>) -> Self {
        let known = match commands {
            Some([command]) => known_prefix(command),
            Some(_) | None => None,
        };
        let (shown, pattern) = match known {
            Some(prefix) => (format!("{prefix}:*"), RulePattern::Prefix(prefix)),
            None => (line.to_owned(), RulePattern::Exact(line.to_owned())),
        };
        Self { text: format!("{tool}({shown})"), tool: tool.to_owned(), pattern: Some(pattern) }
    }

    /// A rule for reading what needs confirmation: the folder, or the one file that holds credentials.
    pub(crate) fn for_reading(objection: &ReadingObjection) -> Self {
        let (path, end) = match objection.need {
            ReadingNeed::Credentials => (objection.path.clone(), ""),
            ReadingNeed::Outside => (objection.folder(), "/**"),
        };
        let files = format!("{}{end}", globset::escape(&path.to_string_lossy()));
        let pattern = RulePattern::parse(READ_RULE, &files);
        // A rule for a path that is no pattern covers nothing.
        let pattern = pattern.unwrap_or_else(|_| RulePattern::Exact(String::new()));
        let text = format!("{READ_RULE}({files})");
        Self { text, tool: READ_RULE.to_owned(), pattern: Some(pattern) }
    }

    /// Whether the rule allows reading what needs confirmation. Credentials have to be meant: by a rule for files, or by the
    /// very line.
    pub(crate) fn allows_reading(
        &self,
        objection: &ReadingObjection,
        request: &PermissionRequest,
    ) -> bool {
        let is_outside = objection.need == ReadingNeed::Outside;
        match (&self.pattern, &request.access) {
            (Some(pattern @ (RulePattern::Files(_) | RulePattern::File(_))), _)
                if self.tool == READ_RULE =>
            {
                pattern.matches_path(&objection.path, &request.folder)
                    || (objection.path.is_dir()
                        && pattern.matches_path(&objection.path.join("x"), &request.folder))
            }
            (Some(RulePattern::Exact(line)), Access::Runs(asked))
                if self.is_for_tool_of(request) =>
            {
                line.trim() == asked.trim()
            }
            (Some(pattern), Access::Runs(_)) if is_outside && self.is_for_tool_of(request) => {
                let commands = request.commands().unwrap_or_default();
                !commands.is_empty()
                    && commands.iter().all(|command| pattern.covers_command(command))
            }
            (None, _) => is_outside && self.is_for_tool_of(request),
            _ => false,
        }
    }

    /// A rule for one file, by its real path.
    fn for_file(tool: &str, path: &Path, folder: &Path) -> Self {
        let real = write_target(folder, path).unwrap_or_else(|_| path.to_owned());
        let text = format!("{tool}({})", path.display());
        Self { text, tool: tool.to_owned(), pattern: Some(RulePattern::File(real)) }
    }

    fn for_host(tool: &str, host: &str) -> Self {
        let text = format!("{tool}(domain:{host})");
        let pattern = HostPattern::new(host).map(RulePattern::Host);
        // A rule for an invalid host covers nothing.
        let pattern = pattern.unwrap_or_else(|| RulePattern::Exact(String::new()));
        Self { text, tool: tool.to_owned(), pattern: Some(pattern) }
    }

    /// The tool that the rule names.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The host that the rule names, if it names one.
    pub(crate) fn host(&self) -> Option<&HostPattern> {
        match &self.pattern {
            Some(RulePattern::Host(host)) => Some(host),
            _ => None,
        }
    }

    /// Whether the rule is for a tool, by its name or by that of the family whose rules cover it.
    pub fn is_for_tool(&self, tool: &str, family: Option<&str>) -> bool {
        self.tool == tool || Some(self.tool.as_str()) == family || self.is_for_server_of(tool)
    }

    /// `mcp__server` and `mcp__server__*` cover all tools of the server, `mcp__*` all tools of all servers.
    fn is_for_server_of(&self, tool: &str) -> bool {
        let Some(server) = self.tool.strip_prefix(MCP_TOOL_PREFIX) else { return false };
        match self.tool.strip_suffix('*') {
            Some(beginning) => tool.starts_with(beginning),
            None if server.contains("__") => false,
            None => tool.strip_prefix(&self.tool).is_some_and(|rest| rest.starts_with("__")),
        }
    }

    pub(crate) fn is_for_tool_of(&self, request: &PermissionRequest) -> bool {
        self.is_for_tool(&request.tool, request.rule_family)
    }

    /// Whether the rule applies to a call as a deny or ask rule: of a line of several commands, to any one. In a line
    /// that could not be parsed, its words count wherever they occur.
    pub fn applies_to(&self, request: &PermissionRequest) -> bool {
        if !self.is_for_tool_of(request) {
            return false;
        }
        let Access::Runs(line) = &request.access else { return self.matches_paths(request) };
        match (&self.pattern, request.commands()) {
            (None, _) => true,
            (Some(pattern), Some(commands)) => {
                commands.iter().any(|command| pattern.applies_to_command(command))
            }
            (Some(pattern), None) => pattern.occurs_in(line),
        }
    }

    pub(crate) fn is_for_reading(&self) -> bool {
        self.tool == READ_RULE
    }

    /// The file that this rule for reading denies and a command can reach.
    pub(crate) fn hidden_file(
        &self,
        request: &PermissionRequest,
        reached: &[Reach],
    ) -> Option<PathBuf> {
        let (Some(pattern @ RulePattern::Files(_)), Access::Runs(_)) =
            (&self.pattern, &request.access)
        else {
            return None;
        };
        let folder = request.folder.as_path();
        let root = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let denied =
            |path: &Path| pattern.matches_path(path, folder) || pattern.matches_path(path, &root);
        reached.iter().find_map(|reach| reach.find(denied))
    }

    /// Whether this rule denies reading a file, given by its real path.
    pub(crate) fn denies_file(&self, path: &Path, folder: &Path) -> bool {
        self.is_for_reading()
            && match &self.pattern {
                Some(pattern) => pattern.matches_path(path, folder),
                None => true,
            }
    }

    /// Whether the rule allows the paths of a call: by where a path really leads, and only if a protected name occurs in
    /// the rule itself.
    pub(crate) fn allows_paths(&self, request: &PermissionRequest) -> bool {
        let (Some(pattern), Access::Writes(path)) = (&self.pattern, &request.access) else {
            return self.matches_paths(request);
        };
        let folder = request.folder.as_path();
        let root = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let Ok(real) = write_target(folder, path) else { return false };
        let named =
            |name: String| matches!(pattern, RulePattern::File(_)) || self.text.contains(&name);
        pattern.matches_path(&real, &root) && protected_name(&real, &root).is_none_or(named)
    }

    fn matches_paths(&self, request: &PermissionRequest) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        if let (RulePattern::Host(pattern), Access::Fetches(host)) = (pattern, &request.access) {
            return pattern.matches(host);
        }
        let folder = request.folder.as_path();
        let root = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let written = match &request.access {
            Access::Writes(path) => Some(lexical(path)),
            Access::Reads
            | Access::Runs(_)
            | Access::Fetches(_)
            | Access::Internal(_)
            | Access::Other => request.path.clone(),
        };
        let Some(written) = written else { return false };
        let real = write_target(folder, &written).ok();
        pattern.matches_path(&written, folder)
            || real.is_some_and(|real| pattern.matches_path(&real, &root))
    }
}
