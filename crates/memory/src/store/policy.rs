//! What happens to a write before it happens (M-21): per type, scope and writer.

use serde::{Deserialize, Serialize};

use super::change_origin::ChangeAuthor;
use crate::kind::{MemoryType, Scope};

/// What is done with a change, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyAction {
    /// Written.
    Auto,
    /// Written, and said.
    Notify,
    /// The person is asked first.
    Ask,
    /// Kept as a proposal until the person accepts it.
    Inbox,
}

/// Who writes, as rules name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyWriter {
    /// The model, in a conversation.
    Model,
    /// The extraction.
    Extraction,
    /// The consolidation.
    Dream,
    /// The team's sync.
    Sync,
    /// Another agent.
    Client,
}

/// A rule for some writes; what it does not name, it does not look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRule {
    /// Of this type.
    #[serde(rename = "type")]
    pub kind: Option<MemoryType>,
    /// In this scope.
    pub scope: Option<Scope>,
    /// By this writer.
    pub writer: Option<PolicyWriter>,
    /// What is done.
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
    /// The first that fits counts.
    pub rules: Vec<PolicyRule>,
    /// The first that fits counts where it is stricter than the rest.
    pub restrictions: Vec<PolicyRule>,
    /// Where none fits.
    pub default: PolicyAction,
    /// For what replaces or deletes a memory that a person wrote.
    pub over_a_person: PolicyAction,
    /// Clients whose `user` and `feedback` memories need no acceptance.
    pub trusted_clients: Vec<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            restrictions: Vec::new(),
            default: PolicyAction::Notify,
            over_a_person: PolicyAction::Inbox,
            trusted_clients: Vec::new(),
        }
    }
}

/// The properties of one changed file that the policy depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PolicyCase {
    pub(crate) kind: Option<MemoryType>,
    pub(crate) scope: Scope,
    pub(crate) over_a_person: bool,
}

impl Policy {
    pub(crate) fn decide(&self, author: &ChangeAuthor, case: PolicyCase) -> PolicyAction {
        let Some(writer) = writer(author) else { return PolicyAction::Auto };
        let first = |rules: &[PolicyRule]| {
            rules.iter().find(|rule| rule.fits(writer, case)).map(|rule| rule.rule)
        };
        let rule = first(&self.rules).unwrap_or(self.default);
        let rule = first(&self.restrictions).map_or(rule, |restriction| rule.max(restriction));
        let rule = if case.over_a_person { rule.max(self.over_a_person) } else { rule };
        if self.must_be_accepted(author, case.kind) { rule.max(PolicyAction::Inbox) } else { rule }
    }

    /// What another agent says about the person is a proposal, unless that agent is trusted.
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
        ChangeAuthor::Sync => Some(PolicyWriter::Sync),
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
        let decide = |author: &ChangeAuthor, kind, over_a_person| {
            policy.decide(author, PolicyCase { kind, scope: Scope::User, over_a_person })
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
        let client = ChangeAuthor::Client("other".into());
        assert_eq!(decide(&client, project, false), PolicyAction::Notify);
        assert_eq!(decide(&client, Some(MemoryType::User), false), PolicyAction::Inbox);
    }
}
