//! Who changes a memory, why, from which messages, and how far those can be trusted (M-15, M-17).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::kind::{MemoryType, Trust};

/// Who makes a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ChangeAuthor {
    /// The user, on the command line or in the interface.
    User,
    /// A person, who brings memories from elsewhere.
    Import,
    /// Another program or an editor: the change was found afterwards, and counts as a person's.
    Outside,
    /// The model, in a conversation.
    Model,
    /// The extraction behind a conversation.
    Extraction,
    /// The consolidation.
    Dream,
    /// The team's sync.
    Sync,
    /// Another agent, by its client's name.
    Client(String),
}

impl ChangeAuthor {
    /// Whether the user made the change, directly or through another program.
    pub fn is_user(&self) -> bool {
        matches!(self, Self::User | Self::Import | Self::Outside)
    }
}

impl fmt::Display for ChangeAuthor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("person"),
            Self::Import => f.write_str("import"),
            Self::Outside => f.write_str("outside"),
            Self::Model => f.write_str("model"),
            Self::Extraction => f.write_str("extraction"),
            Self::Dream => f.write_str("dream"),
            Self::Sync => f.write_str("sync"),
            Self::Client(name) => write!(f, "client:{name}"),
        }
    }
}

impl From<String> for ChangeAuthor {
    fn from(text: String) -> Self {
        match text.as_str() {
            "person" => Self::User,
            "import" => Self::Import,
            "outside" => Self::Outside,
            "model" => Self::Model,
            "extraction" => Self::Extraction,
            "dream" => Self::Dream,
            "sync" => Self::Sync,
            other => Self::Client(other.strip_prefix("client:").unwrap_or(other).to_owned()),
        }
    }
}

impl From<ChangeAuthor> for String {
    fn from(author: ChangeAuthor) -> Self {
        author.to_string()
    }
}

/// A message that a memory came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageSource {
    /// Its session.
    pub session: String,
    /// The message.
    pub message: String,
    /// How far it can be trusted.
    pub trust: Trust,
}

impl fmt::Display for MessageSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.session, self.message)
    }
}

/// Whether the person has seen this very change and said yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Consent {
    /// Not asked.
    NotAsked,
    /// Yes: the write policy has nothing more to ask.
    Given,
}

/// What happens to text that looks like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SecretPolicy {
    /// The change is refused.
    Refuse,
    /// A person was asked and wants it; has no effect for anybody else.
    PersonAllows,
}

/// Who, why, from which messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeOrigin {
    /// Who.
    pub author: ChangeAuthor,
    /// Why, in a few words.
    pub reason: String,
    /// From which messages.
    pub sources: Vec<MessageSource>,
    /// Whether the person agreed to it.
    pub consent: Consent,
    /// What happens to secrets.
    pub secrets: SecretPolicy,
    /// The larger piece of work that it is a part of, such as a dream: what belongs together is undone together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
}

impl ChangeOrigin {
    /// An author with a reason.
    pub fn new(author: ChangeAuthor, reason: impl Into<String>) -> Self {
        Self {
            author,
            reason: reason.into(),
            sources: Vec::new(),
            consent: Consent::NotAsked,
            secrets: SecretPolicy::Refuse,
            part_of: None,
        }
    }

    /// The user with a reason.
    pub fn user(reason: impl Into<String>) -> Self {
        Self::new(ChangeAuthor::User, reason)
    }

    /// The same, from a message.
    #[must_use]
    pub fn from_message(mut self, source: MessageSource) -> Self {
        self.sources.push(source);
        self
    }

    /// The same, as a part of something larger.
    #[must_use]
    pub fn part_of(self, whole: &str) -> Self {
        Self { part_of: Some(whole.to_owned()), ..self }
    }

    /// The same, after the person said yes to it.
    #[must_use]
    pub fn with_consent(self) -> Self {
        Self { consent: Consent::Given, ..self }
    }

    /// The same, where a person was asked about a secret and wants it written.
    #[must_use]
    pub fn allowing_secrets(self) -> Self {
        Self { secrets: SecretPolicy::PersonAllows, ..self }
    }

    /// The lowest trust among its sources.
    pub fn trust(&self) -> Trust {
        if self.author.is_user() {
            return Trust::Typed;
        }
        self.sources.iter().map(|source| source.trust).min().unwrap_or(Trust::Concluded)
    }

    /// Whether everything in it comes from outside.
    pub fn is_only_outside(&self) -> bool {
        let outside = |source: &MessageSource| source.trust == Trust::Outside;
        !self.author.is_user() && !self.sources.is_empty() && self.sources.iter().all(outside)
    }

    /// Whether a memory of this type has the message from the person that it needs.
    pub(crate) fn may_write(&self, kind: Option<MemoryType>) -> bool {
        let about_the_person = matches!(kind, Some(MemoryType::User | MemoryType::Feedback));
        let typed = || self.sources.iter().any(|source| source.trust == Trust::Typed);
        !about_the_person || self.author.is_user() || self.consent == Consent::Given || typed()
    }

    pub(crate) fn allows_secrets(&self) -> bool {
        self.author.is_user() && self.secrets == SecretPolicy::PersonAllows
    }
}
