//! Author, reason and source messages of a change, and how far those can be trusted (M-15, M-17).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::kind::{MemoryType, Trust};

/// The author of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ChangeAuthor {
    /// The user, on the command line or in the interface.
    User,
    /// The user, importing memories.
    Import,
    /// Another program or an editor: the change was found afterwards and counts as the user's.
    Outside,
    /// The model, in a conversation.
    Model,
    /// Extraction from a conversation.
    Extraction,
    /// A dream.
    Dream,
    /// Team sync.
    Sync,
    /// Another member of the team, whose change a sync brought.
    Teammate(String),
    /// Another agent, by the name of its client.
    Client(String),
}

impl ChangeAuthor {
    /// Whether a sync brought the change.
    pub fn is_sync(&self) -> bool {
        matches!(self, Self::Sync | Self::Teammate(_))
    }

    /// Whether the user made the change, directly or through another program.
    pub fn is_user(&self) -> bool {
        matches!(self, Self::User | Self::Import | Self::Outside)
    }
}

impl fmt::Display for ChangeAuthor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("user"),
            Self::Import => f.write_str("import"),
            Self::Outside => f.write_str("external"),
            Self::Model => f.write_str("model"),
            Self::Extraction => f.write_str("extraction"),
            Self::Dream => f.write_str("dream"),
            Self::Sync => f.write_str("sync"),
            Self::Teammate(name) => write!(f, "team:{name}"),
            Self::Client(name) => write!(f, "client:{name}"),
        }
    }
}

impl From<String> for ChangeAuthor {
    fn from(text: String) -> Self {
        match text.as_str() {
            // Earlier releases wrote `person` and `outside`.
            "user" | "person" => Self::User,
            "import" => Self::Import,
            "external" | "outside" => Self::Outside,
            "model" => Self::Model,
            "extraction" => Self::Extraction,
            "dream" => Self::Dream,
            "sync" => Self::Sync,
            other if other.starts_with("team:") => {
                Self::Teammate(other.strip_prefix("team:").unwrap_or_default().to_owned())
            }
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
    /// Id of the session.
    pub session: String,
    /// Id of the message.
    pub message: String,
    /// How far it can be trusted.
    pub trust: Trust,
}

impl fmt::Display for MessageSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.session, self.message)
    }
}

/// Whether the user has confirmed this change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Consent {
    /// Not asked.
    NotAsked,
    /// Confirmed: the write policy is not applied.
    Given,
}

/// What happens to text that looks like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SecretPolicy {
    /// The change is refused.
    Refuse,
    /// Accepted after the user's confirmation; only if the user is the author.
    PersonAllows,
}

/// Author, reason and sources of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeOrigin {
    /// The author.
    pub author: ChangeAuthor,
    /// The reason, in a few words.
    pub reason: String,
    /// The source messages.
    pub sources: Vec<MessageSource>,
    /// Whether the user has confirmed it.
    pub consent: Consent,
    /// What happens to secrets.
    pub secrets: SecretPolicy,
    /// The task that it is a part of, such as a dream: its changes are undone together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
}

impl ChangeOrigin {
    /// A change by an author, with a reason and without sources.
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

    /// A change by the user.
    pub fn user(reason: impl Into<String>) -> Self {
        Self::new(ChangeAuthor::User, reason)
    }

    /// Adds a source message.
    #[must_use]
    pub fn from_message(mut self, source: MessageSource) -> Self {
        self.sources.push(source);
        self
    }

    /// Makes it a part of a task.
    #[must_use]
    pub fn part_of(self, whole: &str) -> Self {
        Self { part_of: Some(whole.to_owned()), ..self }
    }

    /// Marks it as confirmed by the user.
    #[must_use]
    pub fn with_consent(self) -> Self {
        Self { consent: Consent::Given, ..self }
    }

    /// Allows secrets, after the user has confirmed that.
    #[must_use]
    pub fn allowing_secrets(self) -> Self {
        Self { secrets: SecretPolicy::PersonAllows, ..self }
    }

    /// The lowest trust of its sources.
    pub fn trust(&self) -> Trust {
        if self.author.is_user() {
            return Trust::Typed;
        }
        self.sources.iter().map(|source| source.trust).min().unwrap_or(Trust::Concluded)
    }

    /// Whether all sources are from outside.
    pub fn is_only_outside(&self) -> bool {
        let outside = |source: &MessageSource| source.trust == Trust::Outside;
        !self.author.is_user() && !self.sources.is_empty() && self.sources.iter().all(outside)
    }

    /// Whether a memory of this type has the source message by the user that it needs.
    pub(crate) fn may_write(&self, kind: Option<MemoryType>) -> bool {
        let about_the_person = matches!(kind, Some(MemoryType::User | MemoryType::Feedback));
        let typed = || self.sources.iter().any(|source| source.trust == Trust::Typed);
        !about_the_person || self.author.is_user() || self.consent == Consent::Given || typed()
    }

    /// Whether the model concluded it and no message of the user says it: a memory about the user needs their confirmation.
    pub fn is_concluded(&self) -> bool {
        self.author == ChangeAuthor::Model
            && !self.sources.is_empty()
            && self.sources.iter().all(|source| source.trust == Trust::Concluded)
    }

    pub(crate) fn allows_secrets(&self) -> bool {
        self.author.is_user() && self.secrets == SecretPolicy::PersonAllows
    }
}
