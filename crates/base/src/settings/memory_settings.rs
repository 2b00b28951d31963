//! Settings of memory: who may write what, and embeddings.

use std::path::PathBuf;

#[cfg(test)]
use schemars::JsonSchema;
use serde::Deserialize;

/// How memory is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MemorySettings {
    /// Rules for writes by agents; the first matching rule applies. Project rules can only be stricter.
    pub policy: Vec<WriteRule>,
    /// Project folders whose memory is kept in their `.dormouse/memory/`. Not allowed in project settings.
    pub in_repository: Vec<String>,
    /// MCP clients whose memories about the user skip the inbox. Not allowed in project settings.
    pub trusted_clients: Vec<String>,
    /// The tools that the model saves memories with: Dormouse's own, or Anthropic's memory tool.
    pub tool: MemoryTools,
    /// The rules of the project, filled by `SettingsStack::settings`.
    #[serde(skip)]
    pub restrictions: Vec<WriteRule>,
}

/// The tools that the model saves memories with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum MemoryTools {
    /// Dormouse's own tools.
    #[default]
    Own,
    /// Anthropic's memory tool, if the server is Anthropic's and the model supports it.
    Anthropic,
    /// Anthropic's memory tool with every server that uses the Anthropic format, whatever the model.
    AnthropicAnywhere,
}

/// A rule for writes to memory; keys that are not set match everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteRule {
    /// Memories of this type.
    #[serde(rename = "type")]
    pub kind: Option<RuleMemoryType>,
    /// Memories of this scope.
    pub scope: Option<RuleScope>,
    /// Memories by this writer.
    pub writer: Option<MemoryWriter>,
    /// What happens to the write.
    #[serde(rename = "rule")]
    pub decision: WriteDecision,
}

/// The types of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuleMemoryType {
    /// About the user.
    User,
    /// Feedback on how to work.
    Feedback,
    /// About the project.
    Project,
    /// References to other sources.
    Reference,
}

/// The scope of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RuleScope {
    /// All projects of the user.
    User,
    /// This project of the user.
    Project,
    /// Everyone who works on the project.
    Team,
    /// One subagent.
    Agent,
}

/// Who writes a memory. The user may always write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MemoryWriter {
    /// The model, in a conversation.
    Model,
    /// Extraction from the conversation.
    Extraction,
    /// Memory cleanup in the background.
    Dream,
    /// Team sync.
    Sync,
    /// Another agent, over MCP.
    Client,
}

/// What happens to a write, the most permissive first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WriteDecision {
    /// Written.
    Auto,
    /// Written, with a notice.
    Notify,
    /// Written after confirmation; without a terminal, kept in the inbox.
    Ask,
    /// Kept in the inbox until the user accepts it.
    Inbox,
}

/// An embedding model for memory search. Off unless set. Not allowed in project settings.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmbeddingSettings {
    /// A file of word vectors, one word and its numbers per line; takes precedence over a server.
    pub file: Option<PathBuf>,
    /// The base URL of an OpenAI-compatible server, including `/v1`. Memories are sent to it.
    pub base_url: Option<String>,
    /// The embedding model.
    pub model: Option<String>,
    /// The environment variable that holds the API key; no key is sent if unset.
    pub key_env: Option<String>,
    /// The scripts that the model supports; default `latin`. Texts in other scripts are not sent.
    pub scripts: Vec<TextScript>,
    /// The weight of the ranking by embeddings relative to the ranking by words; 1 is equal.
    pub weight: Option<f64>,
}

/// A writing system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TextScript {
    /// English, Spanish, Vietnamese and many more.
    Latin,
    /// Greek.
    Greek,
    /// Russian, Bulgarian and others.
    Cyrillic,
    /// Hebrew.
    Hebrew,
    /// Arabic, Persian, Urdu.
    Arabic,
    /// Hindi and others.
    Devanagari,
    /// Thai.
    Thai,
    /// Chinese, and much of Japanese.
    Han,
    /// The rest of Japanese.
    Kana,
    /// Korean.
    Hangul,
    /// Any other.
    Other,
}
