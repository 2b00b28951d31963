//! `WebSearch`: searches the web through a search server of the user's settings.
//!
//! Invariants: requests go to that server and nowhere else, with the checks of [`WebFetch`](crate::WebFetch); results are
//! bounded, and marked as the words of strangers.

mod results;

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use dormouse_base::Secret;
use dormouse_conversation::ServerTool;
use dormouse_conversation::known_tools::{SERVER_WEB_SEARCH, WEB_SEARCH};
use dormouse_permissions::{Access, HostPattern, normalize_host};
use futures_util::future::{BoxFuture, ready};
use reqwest::Url;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::web_fetch::{HttpExchange, exchange};
use crate::{
    CallContext, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, parse_input,
};
use results::rendered;

const PATIENCE: Duration = Duration::from_secs(30);
/// The most results that are shown.
const MOST_RESULTS: usize = 10;

const SCHEMA: &str = r#"{"type":"object","properties":{"query":{"type":"string","description":"What to search for."}},"required":["query"],"additionalProperties":false}"#;

const SHORT: &str = "Searches the web and returns titles, links and excerpts.";

const FULL: &str = "\
Searches the web and returns titles, links and excerpts; WebFetch shows a page whole.

- For what is newer than your knowledge or not in the project. Name the pages you relied on.
- Never put secrets or the user's data into a query.";

/// Whose interface a search server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchApi {
    /// The JSON of `SearXNG`.
    Searxng,
    /// The Brave Search API.
    Brave,
    /// Tavily's API.
    Tavily,
}

/// A search server.
#[derive(Debug, Clone)]
pub struct SearchServer {
    api: SearchApi,
    url: Url,
    key: Option<Secret>,
}

impl SearchServer {
    /// A server at this address; none if that is no plain web address.
    pub fn new(api: SearchApi, address: &str, key: Option<Secret>) -> Option<Self> {
        let url = Url::parse(address).ok()?;
        let is_plain = url.username().is_empty() && url.password().is_none();
        let is_web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
        (is_plain && is_web).then_some(Self { api, url, key })
    }

    fn host(&self) -> String {
        normalize_host(self.url.host_str().unwrap_or_default())
    }

    fn request(&self, query: &str) -> HttpExchange {
        let mut url = self.url.clone();
        let key = self.key.as_ref().map(|key| key.expose().to_owned());
        let mut headers = vec![("accept", "application/json".to_owned())];
        let mut body = None;
        match self.api {
            SearchApi::Searxng => {
                url.set_path(&format!("{}/search", url.path().trim_end_matches('/')));
                url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
                headers.extend(key.map(|key| ("authorization", format!("Bearer {key}"))));
            }
            SearchApi::Brave => {
                url.query_pairs_mut().append_pair("q", query);
                headers.extend(key.map(|key| ("x-subscription-token", key)));
            }
            SearchApi::Tavily => {
                let wanted = serde_json::json!({"query": query, "max_results": MOST_RESULTS});
                body = Some(wanted.to_string());
                headers.extend(key.map(|key| ("authorization", format!("Bearer {key}"))));
            }
        }
        HttpExchange { url, headers, body }
    }
}

/// The tool. See the module.
pub struct WebSearch {
    server: SearchServer,
}

impl WebSearch {
    /// Searches through this server.
    pub fn new(server: SearchServer) -> Self {
        Self { server }
    }
}

#[derive(Deserialize)]
struct Input {
    query: String,
}

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(WEB_SEARCH.name),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::ReadOnly,
    limit: ResultLimit::Chars(30_000),
    traits: WEB_SEARCH.traits,
};

impl Tool for WebSearch {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn access(&self, _: &RawValue, _: &Path) -> Access {
        Access::Fetches(self.server.host())
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Input { query } = parse_input(input)?;
            if query.trim().is_empty() {
                return Err(ToolError::invalid("`query`: is empty"));
            }
            let host = self.server.host();
            let failed = |problem: String| ToolError::Failed {
                message: format!("cannot search with {host}: {problem}"),
            };
            // The user's settings name this host, so it may be in a private network.
            let private: Vec<HostPattern> = HostPattern::new(&host).into_iter().collect();
            let answer = tokio::select! {
                biased;
                () = context.cancel.cancelled() => return Err(ToolError::interrupted()),
                () = tokio::time::sleep(PATIENCE) => {
                    return Err(failed(format!("no answer within {} seconds", PATIENCE.as_secs())));
                }
                answer = exchange(self.server.request(&query), &private) => answer,
            };
            let answer = answer.map_err(|error| failed(error.to_string()))?;
            let text = rendered(&answer, &query, MOST_RESULTS)
                .map_err(|error| failed(format!("its answer is no list of results: {error}")))?;
            Ok(ToolOutput::text(text))
        })
    }
}

/// The search of the model's own server, which the server carries out by itself. Only its definition is sent.
#[derive(Debug, Clone, Copy)]
pub struct ServerWebSearch;

static SERVER_SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(SERVER_WEB_SEARCH.name),
    full: Cow::Borrowed(SHORT),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::ReadOnly,
    limit: ResultLimit::OwnBound,
    traits: SERVER_WEB_SEARCH.traits,
};

impl Tool for ServerWebSearch {
    fn spec(&self) -> &ToolSpec {
        &SERVER_SPEC
    }

    fn known_as(&self) -> Option<ServerTool> {
        Some(ServerTool::WebSearch)
    }

    fn call<'a>(
        &'a self,
        _: &'a RawValue,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let message =
            "this search is one of the model's server, which did not carry it out".to_owned();
        Box::pin(ready(Err(ToolError::Failed { message })))
    }
}
