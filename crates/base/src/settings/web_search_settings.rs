//! Settings of web search.

#[cfg(test)]
use schemars::JsonSchema;
use serde::Deserialize;

/// Who searches the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SearchProviderKind {
    /// The model's server, with its own search tool.
    Server,
    /// A `SearXNG` server.
    Searxng,
    /// The Brave Search API.
    Brave,
    /// Tavily.
    Tavily,
    /// Nobody.
    Off,
}

/// Web search. Without it, the model's server searches where it is Anthropic's, and otherwise nobody. Not allowed in project settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WebSearchSettings {
    /// Who searches: `server`, `searxng`, `brave`, `tavily` or `off`.
    pub provider: Option<SearchProviderKind>,
    /// The address of the search server; needed for `searxng`.
    pub url: Option<String>,
    /// The environment variable that holds the key of the search server.
    pub key_env: Option<String>,
}
