//! The allow, ask and deny rules in force.
//!
//! A rule for commands is matched against each command of a line: an `allow` rule has to cover every one of them (or the
//! command only reads), a `deny` or `ask` rule just one. In `deny` and `ask` rules a `*` between words stands for any
//! number of words, since a flag is the same flag wherever it stands; an `allow` rule is taken literally. A rule for files
//! is matched against the path as written and against where it leads.

use crate::request::{Access, PermissionRequest};
use crate::rule::PermissionRule;
use crate::rule_pattern::RulePattern;
use crate::shell::{ShellVerdict, classify, quote_command};

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
        self.deny
            .iter()
            .find(|rule| rule.applies_to(request))
            .or_else(|| self.deny.iter().find(|rule| rule.hides_file_from(request)))
    }

    /// A rule that asks; for a line that could not be parsed, any rule of the tool that might apply to it.
    pub(crate) fn asks(&self, request: &PermissionRequest) -> Option<&PermissionRule> {
        let is_unparsed = matches!(request.access, Access::Runs(_)) && request.commands().is_none();
        let possible =
            || self.deny.iter().chain(&self.ask).find(|rule| rule.is_for_tool_of(request));
        self.ask
            .iter()
            .find(|rule| rule.applies_to(request))
            .or_else(|| if is_unparsed { possible() } else { None })
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
        let covering = candidates
            .clone()
            .find(|rule| rule.pattern.as_ref().is_some_and(|p| p.covers_command(command)));
        match covering {
            Some(rule) => used = Some(rule),
            None if classify(&quote_command(command)) == ShellVerdict::ReadOnly => {}
            None => return None,
        }
    }
    used
}
