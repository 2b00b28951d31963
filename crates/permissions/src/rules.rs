//! The allow, ask and deny rules in force.
//!
//! A rule for commands is matched against each command of a line: an `allow` rule has to cover every one of them (or the
//! command only reads), a `deny` or `ask` rule just one. In `deny` and `ask` rules a `*` between words stands for any
//! number of words, since a flag is the same flag wherever it stands; an `allow` rule is taken literally. A rule for files
//! is matched against the path as written and against where it leads.

use std::fmt;
use std::path::PathBuf;

use crate::read_access::Reach;
use crate::request::{Access, PermissionRequest};
use crate::rule::PermissionRule;
use crate::rule_pattern::RulePattern;

/// The rules in force.
#[derive(Debug, Clone, Default)]
pub struct PermissionRules {
    /// Calls that need no confirmation.
    pub allow: Vec<PermissionRule>,
    /// Calls that need confirmation even where they would be allowed.
    pub ask: Vec<PermissionRule>,
    /// Calls that never run.
    pub deny: Vec<PermissionRule>,
}

impl PermissionRules {
    pub(crate) fn denies(&self, request: &PermissionRequest) -> Option<&PermissionRule> {
        self.deny.iter().find(|rule| rule.applies_to(request))
    }

    /// The rule that denies reading a file which a command can reach, and the file.
    pub(crate) fn hides<'r>(
        &self,
        request: &PermissionRequest,
        reached: impl Fn() -> &'r [Reach],
    ) -> Option<(&PermissionRule, PathBuf)> {
        let hidden = |rule: &PermissionRule| {
            rule.is_for_reading().then(|| rule.hidden_file(request, reached())).flatten()
        };
        self.deny.iter().find_map(|rule| Some((rule, hidden(rule)?)))
    }

    pub(crate) fn asks(&self, request: &PermissionRequest) -> Option<&PermissionRule> {
        self.ask.iter().find(|rule| rule.applies_to(request))
    }

    /// A deny or ask rule for the tool of a call that may apply to it: for lines that could not be parsed.
    pub(crate) fn may_restrict(&self, request: &PermissionRequest) -> Option<PossibleRule<'_>> {
        let for_tool = |rule: &&PermissionRule| rule.is_for_tool_of(request);
        let denying = self.deny.iter().find(for_tool).map(PossibleRule::Deny);
        denying.or_else(|| self.ask.iter().find(for_tool).map(PossibleRule::Ask))
    }
}

/// A rule that may apply to a line that could not be parsed.
pub(crate) enum PossibleRule<'a> {
    Deny(&'a PermissionRule),
    Ask(&'a PermissionRule),
}

impl fmt::Display for PossibleRule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deny(rule) => write!(f, "the deny rule `{rule}`"),
            Self::Ask(rule) => write!(f, "the ask rule `{rule}`"),
        }
    }
}

/// The rule that allows a call entirely. Of a line of several commands each must be covered.
pub(crate) fn allowed_by<'a>(
    rules: &'a [PermissionRule],
    request: &PermissionRequest,
) -> Option<&'a PermissionRule> {
    let mut candidates = rules.iter().filter(|rule| rule.is_for_tool_of(request));
    let Access::Runs(line) = &request.access else {
        return candidates.find(|rule| rule.allows_paths(request));
    };
    // A line that the user has allowed exactly need not be understood.
    let is_exact = |rule: &&PermissionRule| match &rule.pattern {
        None => true,
        Some(RulePattern::Exact(text)) => text.trim() == line.trim(),
        Some(_) => false,
    };
    if let Some(rule) = candidates.clone().find(is_exact) {
        return Some(rule);
    }
    let mut used = None;
    for command in request.commands()? {
        let covering = candidates.clone().find(|rule| {
            rule.pattern.as_ref().is_some_and(|pattern| pattern.covers_command(command))
        });
        match covering {
            Some(rule) => used = Some(rule),
            None if command.is_read_only() => {}
            None => return None,
        }
    }
    used
}
