//! The list of a server's resources, bounded.

use std::time::Duration;

use rmcp::model::PaginatedRequestParams;
use rmcp::{Peer, RoleClient};

use crate::catalog::{OfferedResource, cut};

/// The most resources that are suggested of one server.
const MOST_RESOURCES: usize = 200;
/// Longer descriptions are cut.
const DESCRIPTION_CHARS: usize = 200;

/// Asks a server for its resources. They are no reason to do without its tools: a server that fails here has none.
pub(crate) async fn listed_resources(
    peer: &Peer<RoleClient>,
    patience: Duration,
) -> Vec<OfferedResource> {
    let offers = peer.peer_info().is_some_and(|info| info.capabilities.resources.is_some());
    if !offers {
        return Vec::new();
    }
    let first_page = peer.list_resources(Some(PaginatedRequestParams::default()));
    let Ok(Ok(page)) = tokio::time::timeout(patience, first_page).await else {
        return Vec::new();
    };
    let resources = page.resources.into_iter().take(MOST_RESOURCES);
    let offered = resources.map(|resource| {
        let said = resource.description.or(resource.title).unwrap_or(resource.name);
        OfferedResource { uri: resource.uri, description: cut(&said, DESCRIPTION_CHARS) }
    });
    offered.collect()
}
