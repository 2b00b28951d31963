//! The write policy (M-21): what happens to a write, by type, scope and writer.

use serde::{Deserialize, Serialize};

use super::change_origin::ChangeAuthor;
use crate::kind::{MemoryType, Scope};

/// What happens to a change, the most permissive first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyAction {
    /// Written.
    Auto,
    /// Written, with a notice.
    Notify,
    /// Written after confirmation.
    Ask,
    /// Kept as a proposal until the user accepts it.
    Inbox,
}

/// The writer, as in rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyWriter {
    /// The model, in a conversation.
    Model,
    /// Extraction.
    Extraction,
    /// A dream.
    Dream,
    /// Team sync.
    Sync,
    /// Another agent.
    Client,
}

/// A rule for some writes; a key that is not set matches everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRule {
    /// Memories of this type.
    #[serde(rename = "type")]
    pub kind: Option<MemoryType>,
    /// Memories of this scope.
    pub scope: Option<Scope>,
    /// Writes by this writer.
    pub writer: Option<PolicyWriter>,
    /// What happens to the write.
    pub rule: PolicyAction,
}

impl PolicyRule {
    fn fits(self, writer: PolicyWriter, case: PolicyCase) -> bool {
        self.kind.is_none_or(|kind| Some(kind) == case.kind)
            && self.scope.is_none_or(|scope| scope == case.scope)
            && self.writer.is_none_or(|known| known == writer)
    }
}

/// The write policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The first matching rule applies.
    pub rules: Vec<PolicyRule>,
    /// The first matching rule applies if it is stricter than the result of `rules`.
    pub restrictions: Vec<PolicyRule>,
    /// The action without a matching rule.
    pub default: PolicyAction,
    /// The minimum for changes that replace or delete a memory by the user.
    pub over_user_memory: PolicyAction,
    /// Clients whose `user` and `feedback` memories need no acceptance.
    pub trusted_clients: Vec<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            restrictions: Vec::new(),
            default: PolicyAction::Notify,
            over_user_memory: PolicyAction::Inbox,
            trusted_clients: Vec::new(),
        }
    }
}

/// The properties of one changed file that the policy depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PolicyCase {
    pub(crate) kind: Option<MemoryType>,
    pub(crate) scope: Scope,
    pub(crate) over_user_memory: bool,
}

impl Policy {
    pub(crate) fn decide(&self, author: &ChangeAuthor, case: PolicyCase) -> PolicyAction {
        let Some(writer) = writer(author) else { return PolicyAction::Auto };
        let first = |rules: &[PolicyRule]| {
            rules.iter().find(|rule| rule.fits(writer, case)).map(|rule| rule.rule)
        };
        let rule = first(&self.rules).unwrap_or(self.default);
        let rule = first(&self.restrictions).map_or(rule, |restriction| rule.max(restriction));
        // Members of a team edit each other's memories: what a sync replaces is in the history of both sides.
        let is_protected = case.over_user_memory && !author.is_sync();
        let rule = if is_protected { rule.max(self.over_user_memory) } else { rule };
        if self.must_be_accepted(author, case.kind) { rule.max(PolicyAction::Inbox) } else { rule }
    }

    /// A memory about the user by another agent is only proposed, unless that agent is trusted.
    pub(crate) fn must_be_accepted(&self, author: &ChangeAuthor, kind: Option<MemoryType>) -> bool {
        let about_the_person = matches!(kind, Some(MemoryType::User | MemoryType::Feedback));
        match author {
            ChangeAuthor::Client(name) => about_the_person && !self.trusted_clients.contains(name),
            _ => false,
        }
    }
}

fn writer(author: &ChangeAuthor) -> Option<PolicyWriter> {
    match author {
        ChangeAuthor::User | ChangeAuthor::Import | ChangeAuthor::Outside => None,
        ChangeAuthor::Model => Some(PolicyWriter::Model),
        ChangeAuthor::Extraction => Some(PolicyWriter::Extraction),
        ChangeAuthor::Dream => Some(PolicyWriter::Dream),
        ChangeAuthor::Sync | ChangeAuthor::Teammate(_) => Some(PolicyWriter::Sync),
        ChangeAuthor::Client(_) => Some(PolicyWriter::Client),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_that_applies_counts() {
        let rule = PolicyRule {
            kind: Some(MemoryType::Project),
            scope: None,
            writer: Some(PolicyWriter::Dream),
            rule: PolicyAction::Auto,
        };
        let strict =
            PolicyRule { kind: Some(MemoryType::Reference), rule: PolicyAction::Ask, ..rule };
        let mild = PolicyRule { writer: None, ..rule };
        let policy =
            Policy { rules: vec![rule], restrictions: vec![strict, mild], ..Policy::default() };
        let decide = |author: &ChangeAuthor, kind, over_user_memory| {
            policy.decide(author, PolicyCase { kind, scope: Scope::User, over_user_memory })
        };
        let project = Some(MemoryType::Project);
        assert_eq!(decide(&ChangeAuthor::User, project, true), PolicyAction::Auto);
        assert_eq!(decide(&ChangeAuthor::Model, project, false), PolicyAction::Notify);
        assert_eq!(decide(&ChangeAuthor::Dream, project, false), PolicyAction::Auto);
        assert_eq!(decide(&ChangeAuthor::Dream, project, true), PolicyAction::Inbox);
        assert_eq!(
            decide(&ChangeAuthor::Dream, Some(MemoryType::Reference), false),
            PolicyAction::Ask
        );
        let sync = ChangeAuthor::Teammate("ana".into());
        assert_eq!(decide(&sync, project, true), PolicyAction::Notify);
        let client = ChangeAuthor::Client("other".into());
        assert_eq!(decide(&client, project, false), PolicyAction::Notify);
        assert_eq!(decide(&client, Some(MemoryType::User), false), PolicyAction::Inbox);
    }
}
