//! The write policy (M-21) as the settings say it.

use dormouse_base::{
    MemorySettings, MemoryWriter, RuleMemoryType, RuleScope, WriteDecision, WriteRule,
};
use dormouse_memory::{MemoryType, Policy, PolicyAction, PolicyRule, PolicyWriter, Scope};

/// The policy of these settings: the user's and the organisation's rules, and the project's, which can only
/// make them stricter.
pub(crate) fn policy(settings: &MemorySettings) -> Policy {
    Policy {
        rules: settings.policy.iter().copied().map(rule).collect(),
        restrictions: settings.restrictions.iter().copied().map(rule).collect(),
        trusted_clients: settings.trusted_clients.clone(),
        ..Policy::default()
    }
}

/// What agents write for the whole team needs a confirmation, unless the user's rules say otherwise.
pub(crate) fn team_rules() -> impl Iterator<Item = PolicyRule> {
    let writers = [
        (PolicyWriter::Model, PolicyAction::Ask),
        (PolicyWriter::Extraction, PolicyAction::Inbox),
        (PolicyWriter::Dream, PolicyAction::Inbox),
        (PolicyWriter::Client, PolicyAction::Inbox),
    ];
    let team = Some(Scope::Team);
    writers.into_iter().map(move |(writer, rule)| PolicyRule {
        kind: None,
        scope: team,
        writer: Some(writer),
        rule,
    })
}

fn rule(rule: WriteRule) -> PolicyRule {
    PolicyRule {
        kind: rule.kind.map(kind),
        scope: rule.scope.map(scope),
        writer: rule.writer.map(writer),
        rule: match rule.decision {
            WriteDecision::Auto => PolicyAction::Auto,
            WriteDecision::Notify => PolicyAction::Notify,
            WriteDecision::Ask => PolicyAction::Ask,
            WriteDecision::Inbox => PolicyAction::Inbox,
        },
    }
}

fn kind(kind: RuleMemoryType) -> MemoryType {
    match kind {
        RuleMemoryType::User => MemoryType::User,
        RuleMemoryType::Feedback => MemoryType::Feedback,
        RuleMemoryType::Project => MemoryType::Project,
        RuleMemoryType::Reference => MemoryType::Reference,
    }
}

fn scope(scope: RuleScope) -> Scope {
    match scope {
        RuleScope::User => Scope::User,
        RuleScope::Project => Scope::Project,
        RuleScope::Team => Scope::Team,
        RuleScope::Agent => Scope::Agent,
    }
}

fn writer(writer: MemoryWriter) -> PolicyWriter {
    match writer {
        MemoryWriter::Model => PolicyWriter::Model,
        MemoryWriter::Extraction => PolicyWriter::Extraction,
        MemoryWriter::Dream => PolicyWriter::Dream,
        MemoryWriter::Sync => PolicyWriter::Sync,
        MemoryWriter::Client => PolicyWriter::Client,
    }
}
