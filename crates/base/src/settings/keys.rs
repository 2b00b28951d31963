//! Every key of the settings. The published JSON schema is generated from these types and comments.

use std::collections::BTreeMap;
use std::path::PathBuf;

#[cfg(test)]
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::layer_settings::{CacheEditSettings, SnipSettings, TimeClearingSettings};
use super::memory_settings::{EmbeddingSettings, MemorySettings};
use super::team_settings::TeamSettings;
use super::web_search_settings::WebSearchSettings;

/// The wire format of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// The Anthropic Messages API.
    Anthropic,
    /// OpenAI-compatible chat completions.
    Openai,
}

/// How hard the model is to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EffortLevel {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as it can.
    Max,
}

/// Whether the model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ThinkingSwitch {
    /// It does, and its thinking is shown folded.
    On,
    /// It does not, where the model can be told so.
    Off,
}

/// A language that the program speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum UiLanguage {
    /// English.
    En,
    /// Chinese.
    #[serde(alias = "zh-CN", alias = "zh_CN")]
    Zh,
}

/// The model server. Not allowed in project settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderSettings {
    /// The wire format of the server: `anthropic` or `openai`.
    pub kind: Option<ProviderKind>,
    /// The base URL of the server.
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

/// Settings of Dormouse. Every key is optional.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// The URL of this schema, for editors.
    #[serde(rename = "$schema")]
    pub schema: Option<String>,
    /// The language of the program's texts: `en` or `zh`; without it, that of the locale.
    pub language: Option<UiLanguage>,
    /// How the model answers: `default`, `concise`, `explanatory`, or a file `NAME.md` in a folder `output-styles`.
    pub output_style: Option<String>,
    /// The model to use.
    pub model: Option<String>,
    /// How hard the model is to think, where its server supports that; without it, the server's default.
    pub effort: Option<EffortLevel>,
    /// Whether the model thinks before it answers: `on` or `off`; without it, the server's default.
    pub thinking: Option<ThinkingSwitch>,
    /// A cheaper model for small background requests.
    pub small_model: Option<String>,
    /// The model server. Not allowed in project settings.
    pub provider: ProviderSettings,
    /// Context windows by model name, in tokens.
    pub context_windows: BTreeMap<String, u32>,
    /// Prices by prefix of the model name, in US dollars per million tokens.
    pub prices: BTreeMap<String, PriceSettings>,
    /// Fields to add to requests, such as `temperature`, by prefix of the model name.
    pub request_fields: BTreeMap<String, BTreeMap<String, Value>>,
    /// Permission rules and the permission mode.
    pub permissions: PermissionSettings,
    /// Limits of the tools.
    pub tools: ToolSettings,
    /// The sandbox of commands. See docs/sandbox.md.
    pub sandbox: SandboxSettings,
    /// Features that are on or off; `dormouse config list` shows all of them.
    pub layers: BTreeMap<String, bool>,
    /// Subagents by name: `description`, `prompt` and the keys in docs/agents.md.
    pub agents: BTreeMap<String, Value>,
    /// Commands to run on events, by event. See docs/hooks.md.
    pub hooks: BTreeMap<String, Value>,
    /// Disable all hooks.
    pub disable_all_hooks: Option<bool>,
    /// Run only hooks from managed settings. Managed settings only.
    pub allow_managed_hooks_only: Option<bool>,
    /// MCP servers, by name. See docs/mcp.md.
    pub mcp_servers: BTreeMap<String, Value>,
    /// A command whose first output line is shown above the prompt.
    pub status_line: StatusLineSettings,
    /// The terminal: notifications and the window's title.
    pub terminal: TerminalSettings,
    /// Environment variables for commands and hooks.
    pub env: BTreeMap<String, String>,
    /// Whether memory is enabled; false disables all of it.
    pub auto_memory_enabled: Option<bool>,
    /// The memory folder. Not allowed in project settings.
    pub auto_memory_directory: Option<PathBuf>,
    /// Rules for writing memory.
    pub memory: MemorySettings,
    /// When the session notes are updated.
    pub session_notes: SessionNotesSettings,
    /// When memories are extracted from the conversation.
    pub extraction: ExtractionSettings,
    /// What background tasks may cost.
    pub background: BackgroundSettings,
    /// When and how far the oldest messages are dropped.
    pub snip: SnipSettings,
    /// When old tool results are cleared after a pause.
    pub time_clearing: TimeClearingSettings,
    /// When old tool results are deleted from the server's cache.
    pub cache_edits: CacheEditSettings,
    /// An embedding model for memory search. Not allowed in project settings.
    pub embeddings: EmbeddingSettings,
    /// Team memory. Not allowed in project settings.
    pub team: TeamSettings,
    /// Who searches the web. Not allowed in project settings.
    pub web_search: WebSearchSettings,
}

/// A command whose first output line is shown above the prompt; it gets JSON about the session on stdin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct StatusLineSettings {
    /// The type of status line; only `command` is supported.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The shell command.
    pub command: Option<String>,
}

/// How a user who looks elsewhere is told that a turn has ended or asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Notifications {
    /// By the terminal's bell.
    #[default]
    Bell,
    /// By a notification of the desktop, for terminals that know OSC 9.
    Osc9,
    /// By a notification of the desktop, for terminals that know OSC 777.
    Osc777,
    /// Not at all.
    Off,
}

/// What the terminal is used for beside text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TerminalSettings {
    /// How a user who looks elsewhere is told that a turn of more than 10 s has ended, or that it asks; default `bell`.
    pub notifications: Option<Notifications>,
    /// Whether the window's title shows the project and what the session does; default true.
    pub title: Option<bool>,
}

/// When the session notes are updated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SessionNotesSettings {
    /// Size of the conversation at which notes are started, in tokens; default half the window, at most 40000.
    pub first_tokens: Option<u32>,
    /// Growth of the conversation between two updates, in tokens; default a tenth of the window.
    pub every_tokens: Option<u32>,
    /// Tool calls between two updates within a turn; default 3.
    pub every_calls: Option<u32>,
}

/// What background tasks may cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct BackgroundSettings {
    /// The largest share of a session's cost that background tasks may be, from 0 to 1; default 0.1. A short session may always
    /// spend two cents.
    pub max_share: Option<f64>,
}

/// When memories are extracted from the conversation; for the switch `extraction`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ExtractionSettings {
    /// Number of turns between two extractions. Without it, extraction runs when the user said something worth keeping, when much
    /// was said, after a pause and when the session ends.
    pub every_turns: Option<u32>,
}

/// The permission mode: what is allowed without a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum DefaultMode {
    /// Writes and commands need confirmation.
    Default,
    /// Edits in the working directory need no confirmation.
    AcceptEdits,
    /// Read-only.
    Plan,
    /// Everything except what a rule denies.
    BypassPermissions,
}

/// Permission rules such as `Bash(git diff:*)`, the initial mode, and additional folders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PermissionSettings {
    /// Calls that need no confirmation.
    pub allow: Vec<String>,
    /// Calls that need confirmation even if they would be allowed.
    pub ask: Vec<String>,
    /// Calls that are refused.
    pub deny: Vec<String>,
    /// The initial permission mode.
    pub default_mode: Option<DefaultMode>,
    /// Folders outside the working directory in which edits can be accepted.
    pub additional_directories: Vec<PathBuf>,
}

/// Limits of the tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ToolSettings {
    /// The longest result by tool, in characters; a longer one is stored in a file.
    pub result_chars: BTreeMap<String, u32>,
    /// The default timeout of a command, in milliseconds.
    pub bash_timeout_ms: Option<u64>,
    /// The longest timeout that a call may ask for, in milliseconds.
    pub bash_max_timeout_ms: Option<u64>,
    /// The timeout of an MCP tool call, in milliseconds; default 600000.
    pub mcp_timeout_ms: Option<u64>,
    /// How long the start of a session waits for MCP servers, in milliseconds; default 5000.
    pub mcp_start_ms: Option<u64>,
    /// Tools to offer in windows under 32000 tokens that are left out there, such as `Agent` and `TodoWrite`.
    pub small_window: Vec<String>,
}

/// The sandbox of commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SandboxSettings {
    /// `auto` (default): commands run in a sandbox where the system has one. `off`: never.
    pub mode: SandboxMode,
    /// Whether commands reach the network: `allow` (default) or `none`.
    pub network: SandboxNetwork,
    /// Whether commands in the sandbox need no confirmation for what they write.
    pub auto_allow: bool,
    /// Further folders that commands may write to.
    pub writable: Vec<PathBuf>,
    /// Commands that run outside the sandbox, as in permission rules: `docker:*`.
    pub excluded: Vec<String>,
}

/// When commands run in a sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// Where the system has one.
    #[default]
    Auto,
    /// Never.
    Off,
}

/// Whether commands in the sandbox reach the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SandboxNetwork {
    /// They do.
    #[default]
    Allow,
    /// They do not.
    None,
}

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PriceSettings {
    /// Input tokens.
    pub input: f64,
    /// Output tokens.
    pub output: f64,
    /// Tokens read from the server's cache; default a tenth of `input`.
    pub cache_read: Option<f64>,
    /// Tokens written to the server's cache; default 1.25 times `input`.
    pub cache_write: Option<f64>,
}
