//! The list of a server's prompts, bounded.

use std::time::Duration;

use rmcp::model::{PaginatedRequestParams, Prompt};
use rmcp::{Peer, RoleClient};

use crate::catalog::{OfferedArgument, OfferedPrompt, cut};

/// The most prompts that are offered of one server.
const MOST_PROMPTS: usize = 100;
/// The most arguments of a prompt.
const MOST_ARGUMENTS: usize = 20;
/// Longer descriptions are cut.
const DESCRIPTION_CHARS: usize = 200;
/// Longer names are cut in what is shown.
const NAME_CHARS: usize = 64;

/// Asks a server for its prompts. They are no reason to do without its tools: a server that fails here has none.
pub(crate) async fn listed_prompts(
    peer: &Peer<RoleClient>,
    patience: Duration,
) -> Vec<OfferedPrompt> {
    let offers = peer.peer_info().is_some_and(|info| info.capabilities.prompts.is_some());
    if !offers {
        return Vec::new();
    }
    let first_page = peer.list_prompts(Some(PaginatedRequestParams::default()));
    let Ok(Ok(page)) = tokio::time::timeout(patience, first_page).await else {
        return Vec::new();
    };
    page.prompts.into_iter().take(MOST_PROMPTS).map(offered).collect()
}

fn offered(prompt: Prompt) -> OfferedPrompt {
    let said = [prompt.title, prompt.description].into_iter().flatten().collect::<Vec<_>>();
    // What a menu shows is one line.
    let said = said.join(": ").split_whitespace().collect::<Vec<_>>().join(" ");
    let arguments = prompt.arguments.unwrap_or_default().into_iter().take(MOST_ARGUMENTS);
    let arguments = arguments.map(|argument| OfferedArgument {
        shown: cut(&argument.name, NAME_CHARS),
        name: argument.name,
        required: argument.required == Some(true),
    });
    OfferedPrompt {
        name: prompt.name,
        description: cut(&said, DESCRIPTION_CHARS),
        arguments: arguments.collect(),
    }
}
