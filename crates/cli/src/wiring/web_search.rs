//! The search tool of a session, from the settings.

use std::sync::Arc;

use dormouse_base::{Environment, SearchProviderKind, Secret, WebSearchSettings};
use dormouse_conversation::ServerTool;
use dormouse_model::Dialect;
use dormouse_tools::{SearchApi, SearchServer, ServerWebSearch, Tool, WebSearch};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;

const BRAVE_URL: &str = "https://api.search.brave.com/res/v1/web/search";
const BRAVE_KEY: &str = "BRAVE_API_KEY";
const TAVILY_URL: &str = "https://api.tavily.com/search";
const TAVILY_KEY: &str = "TAVILY_API_KEY";

/// A search tool, and the key that must not be shown.
#[derive(Default)]
pub(crate) struct SearchSetup {
    pub(crate) tool: Option<Arc<dyn Tool>>,
    pub(crate) key: Option<Secret>,
}

/// The search tool that the settings and the model's server offer.
pub(crate) fn search_setup(
    settings: &WebSearchSettings,
    environment: &Environment,
    dialect: &Dialect,
) -> Result<SearchSetup, Failure> {
    let (api, url, key_variable) = match settings.provider {
        None | Some(SearchProviderKind::Server) => {
            let offered = dialect.server_tools.contains(&ServerTool::WebSearch);
            let tool = offered.then(|| Arc::new(ServerWebSearch) as Arc<dyn Tool>);
            return Ok(SearchSetup { tool, key: None });
        }
        Some(SearchProviderKind::Off) => return Ok(SearchSetup::default()),
        Some(SearchProviderKind::Searxng) => (SearchApi::Searxng, None, None),
        Some(SearchProviderKind::Brave) => (SearchApi::Brave, Some(BRAVE_URL), Some(BRAVE_KEY)),
        Some(SearchProviderKind::Tavily) => (SearchApi::Tavily, Some(TAVILY_URL), Some(TAVILY_KEY)),
    };
    let Some(address) = settings.url.as_deref().or(url) else {
        return Err(usage(msg!("web-search-no-url")));
    };
    let variable = settings.key_env.as_deref().or(key_variable);
    let key = variable.and_then(|name| environment.get(name)).map(Secret::new);
    if let (Some(variable), None) = (variable, &key) {
        return Err(usage(msg!("web-search-no-key", variable = variable)));
    }
    let Some(server) = SearchServer::new(api, address, key.clone()) else {
        return Err(usage(msg!("web-search-bad-url", url = address)));
    };
    Ok(SearchSetup { tool: Some(Arc::new(WebSearch::new(server))), key })
}

fn usage(text: String) -> Failure {
    Failure::usage(anyhow::Error::msg(text))
}
