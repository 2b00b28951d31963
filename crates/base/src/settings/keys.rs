//! Every key of the settings, with its kind and meaning. The published schema is made from this.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::Deserialize;
use serde_json::Value;

/// Which wire format a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// The Anthropic Messages API.
    Anthropic,
    /// OpenAI-compatible chat completions.
    Openai,
}

/// The model server. A project can not set it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderSettings {
    /// Which wire format the server speaks: `anthropic` or `openai`.
    pub kind: Option<ProviderKind>,
    /// Where it is.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub key_env: Option<String>,
    /// A command that prints the key.
    pub key_command: Option<String>,
    /// How long the server keeps a cached prefix: `5m` or `1h`.
    pub cache_ttl: Option<String>,
    /// The value of the `anthropic-version` header.
    pub version: Option<String>,
    /// Values of the `anthropic-beta` header.
    pub betas: Vec<String>,
}

/// All settings. What a person has not set is none, or empty.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// The address of this schema, for editors.
    #[serde(rename = "$schema")]
    pub schema: Option<String>,
    /// The model to talk to.
    pub model: Option<String>,
    /// A cheaper one for small questions.
    pub small_model: Option<String>,
    /// Where the model is. A project can not set it.
    pub provider: ProviderSettings,
    /// Context windows by model name, in tokens.
    pub context_windows: BTreeMap<String, u32>,
    /// Prices by the beginning of a model's name, in US dollars for a million tokens.
    pub prices: BTreeMap<String, PriceSettings>,
    /// What may run without a question, and what never.
    pub permissions: PermissionSettings,
    /// Limits of the tools.
    pub tools: ToolSettings,
    /// Which layers are on; `dormouse config list` names them.
    pub layers: BTreeMap<String, bool>,
    /// Agents by name: `description`, `prompt` and the keys of docs/agents.md.
    pub agents: BTreeMap<String, Value>,
    /// Commands to run at events, by event. See docs/hooks.md.
    pub hooks: BTreeMap<String, Value>,
    /// Runs no hooks at all.
    pub disable_all_hooks: Option<bool>,
    /// Runs no hooks but the managed ones. Managed settings only.
    pub allow_managed_hooks_only: Option<bool>,
    /// MCP servers, by name. See docs/mcp.md.
    pub mcp_servers: BTreeMap<String, Value>,
    /// A command whose first line is shown above the prompt.
    pub status_line: StatusLineSettings,
    /// Environment variables for commands and hooks.
    pub env: BTreeMap<String, String>,
    /// Whether there is memory; false turns all of it off.
    pub auto_memory_enabled: Option<bool>,
    /// Where memory is kept. A project can not set it.
    pub auto_memory_directory: Option<PathBuf>,
    /// How memory is written.
    pub memory: MemorySettings,
    /// When the notes about a session are brought up to date.
    pub session_notes: SessionNotesSettings,
    /// When memories are written from a conversation.
    pub extraction: ExtractionSettings,
    /// When the oldest messages are left out, and how far.
    pub snip: SnipSettings,
    /// When old tool results are cleared after a pause.
    pub time_clearing: TimeClearingSettings,
    /// When old tool results are deleted from the server's cache.
    pub cache_edits: CacheEditSettings,
    /// A model that makes vectors of memories. A project can not set it.
    pub embeddings: EmbeddingSettings,
}

/// A command whose first line is shown above the prompt; it gets JSON about the session on standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct StatusLineSettings {
    /// What kind it is: `command` is the only one.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The command, as sh reads it.
    pub command: Option<String>,
}

/// When the notes about a session are brought up to date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionNotesSettings {
    /// They are begun when the conversation has so many tokens; 10,000 unless set, less in a small window.
    pub first_tokens: Option<u32>,
    /// They are brought up to date when so many more have come; 5,000 unless set, less in a small window.
    pub every_tokens: Option<u32>,
    /// But in the middle of a turn only after so many tool calls; 3 unless set.
    pub every_calls: Option<u32>,
}

/// When memories are written from a conversation; for the switch `extraction`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ExtractionSettings {
    /// After every so many turns; 1 unless set.
    pub every_turns: Option<u32>,
}

/// When the oldest messages are left out, and how far; for the switch `snip` and `/snip`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SnipSettings {
    /// From this share of the effective window on, in percent; 85 unless set.
    #[schemars(range(min = 1, max = 100))]
    pub from_percent: Option<u8>,
    /// Down to this share, in percent; 60 unless set.
    #[schemars(range(min = 0, max = 99))]
    pub to_percent: Option<u8>,
}

/// When old tool results are cleared after a pause; for the switch `time_clearing`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TimeClearingSettings {
    /// After so many minutes without an answer; 60 unless set, never before the server's cache has gone cold.
    pub idle_minutes: Option<u32>,
    /// How many of the newest results stay; 5 unless set, at least 1.
    pub keep: Option<u32>,
}

/// When old tool results are deleted from the server's cache; for the switch `cache_edits`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CacheEditSettings {
    /// When there are more results than this; 20 unless set.
    pub above: Option<u32>,
    /// How many of the newest results stay; 5 unless set, at least 1.
    pub keep: Option<u32>,
}

/// How memory is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MemorySettings {
    /// What happens to what agents write; the first rule that fits counts. A project's rules can only make
    /// stricter what the others say.
    pub policy: Vec<WriteRule>,
    /// Projects whose memory is kept in their own `.dormouse/memory/`, so that it travels with the repository:
    /// their folders, where `~/` is the person's home. A project can not set it.
    pub in_repository: Vec<String>,
    /// Other agents, by the names they give themselves, whose memories about the person need no acceptance. A
    /// project can not set it.
    pub trusted_clients: Vec<String>,
    /// What the model saves memories with: the program's own tools, or the memory tool that models of
    /// Anthropic's know.
    pub tool: MemoryTools,
    /// The project's rules, apart from the person's: `Stack::settings` parts them.
    #[serde(skip)]
    pub restrictions: Vec<WriteRule>,
}

/// What the model saves memories with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MemoryTools {
    /// The program's own.
    #[default]
    Own,
    /// Anthropic's memory tool, where the server is Anthropic's and the model is known to know it.
    Anthropic,
    /// The same with every server that speaks Anthropic's format, whatever the model is called.
    AnthropicAnywhere,
}

/// A rule for some writes to memory; what it does not name, it does not look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteRule {
    /// Memories of this type.
    #[serde(rename = "type")]
    pub kind: Option<RuleMemoryType>,
    /// Memories of this scope.
    pub scope: Option<RuleScope>,
    /// What this one writes.
    pub writer: Option<MemoryWriter>,
    /// What happens to the write.
    #[serde(rename = "rule")]
    pub decision: WriteDecision,
}

/// The types of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleMemoryType {
    /// About the person.
    User,
    /// How to work.
    Feedback,
    /// About the project.
    Project,
    /// Where to look.
    Reference,
}

/// For whom memories are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleScope {
    /// The person, in every project.
    User,
    /// The person, in this project.
    Project,
    /// Everybody on the project.
    Team,
    /// One agent.
    Agent,
}

/// Who writes memories, but for the person, who may always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemoryWriter {
    /// The model, in a conversation.
    Model,
    /// What is written from a conversation behind it.
    Extraction,
    /// Tidying in the background.
    Dream,
    /// What comes from the team.
    Sync,
    /// Another agent.
    Client,
}

/// What is done with a write, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WriteDecision {
    /// It is written.
    Auto,
    /// It is written, and said.
    Notify,
    /// The person is asked; where nobody can be, it waits in the inbox.
    Ask,
    /// It waits in the inbox until the person accepts it.
    Inbox,
}

/// A model that makes vectors of texts, so that memories are found by what they mean as well. Off unless set. A
/// project can not set it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct EmbeddingSettings {
    /// A file of word vectors: a word and its numbers a line. It is used rather than a server.
    pub file: Option<PathBuf>,
    /// An OpenAI-compatible server, with its `/v1`. Memories are sent to it.
    pub base_url: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// The environment variable that holds its key; none is sent unless set.
    pub key_env: Option<String>,
    /// The scripts that the server's model knows; `latin` unless set. Texts in others are not sent.
    pub scripts: Vec<TextScript>,
    /// What a place in the order by vectors counts beside one in the order by words: 1 as much.
    pub weight: Option<f64>,
}

/// How texts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
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

/// What is permitted without a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DefaultMode {
    /// A write or a command asks.
    Default,
    /// Edits in the working directory need no question.
    AcceptEdits,
    /// Nothing but reading.
    Plan,
    /// Everything but what a rule denies.
    BypassPermissions,
}

/// Rules such as `Bash(git diff:*)`, the mode to begin in, and further folders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PermissionSettings {
    /// What needs no question.
    pub allow: Vec<String>,
    /// What asks even where it would be allowed.
    pub ask: Vec<String>,
    /// What never runs.
    pub deny: Vec<String>,
    /// The mode to begin in.
    pub default_mode: Option<DefaultMode>,
    /// Folders beside the working directory in which edits may be accepted.
    pub additional_directories: Vec<PathBuf>,
}

/// Limits of the tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolSettings {
    /// The longest result by tool, in characters; what is longer goes to a file.
    pub result_chars: BTreeMap<String, u32>,
    /// How long a command may take unless the call says otherwise, in milliseconds.
    pub bash_timeout_ms: Option<u64>,
    /// The longest a call may ask for, in milliseconds.
    pub bash_max_timeout_ms: Option<u64>,
    /// How long a call of an MCP server's tool may take, in milliseconds; 10 minutes unless set.
    pub mcp_timeout_ms: Option<u64>,
    /// How long the start of a session waits for MCP servers, in milliseconds; 5 seconds unless set.
    pub mcp_start_ms: Option<u64>,
}

/// What a million tokens cost, in US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PriceSettings {
    /// Tokens sent.
    pub input: f64,
    /// Tokens received.
    pub output: f64,
    /// Tokens read from the server's cache; a tenth of `input` unless set.
    pub cache_read: Option<f64>,
    /// Tokens written to the server's cache; a quarter more than `input` unless set.
    pub cache_write: Option<f64>,
}

/// The JSON schema of the settings.
pub fn settings_schema() -> Schema {
    SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator()
        .into_root_schema_for::<Settings>()
}
