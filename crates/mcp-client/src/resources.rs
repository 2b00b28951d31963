//! Resources of servers: what the user can attach to a message as `@server:uri`.

use std::sync::Arc;

use rmcp::model::{ReadResourceRequestParams, ResourceContents};

use crate::catalog::cut;
use crate::hub::McpHub;
use crate::server::McpServer;
use dormouse_tools::ToolError;

/// Longer errors are cut.
const ERROR_CHARS: usize = 200;
/// A longer text is cut, as a file is that is read.
const RESOURCE_CHARS: usize = 100_000;

/// A resource that the user can attach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpResource {
    /// The server's name.
    pub server: String,
    /// Its address at the server.
    pub uri: String,
    /// What the server says about it.
    pub description: String,
}

impl McpHub {
    /// The resources of the servers that have answered.
    pub fn resources(&self) -> Vec<McpResource> {
        let of_server = |server: &Arc<McpServer>| {
            let name = server.spec.name.clone();
            let offered = server.catalog().resources.clone();
            offered.into_iter().map(move |offered| McpResource {
                server: name.clone(),
                uri: offered.uri,
                description: offered.description,
            })
        };
        self.servers().flat_map(of_server).collect()
    }

    /// The resource that a word names as `server:uri`. More may follow it, as a sentence goes on.
    pub fn named_resource(&self, word: &str) -> Option<McpResource> {
        let named = |resource: &McpResource| {
            let rest = word.strip_prefix(&resource.server).and_then(|rest| rest.strip_prefix(':'));
            let after = rest.and_then(|rest| rest.strip_prefix(&resource.uri));
            after.is_some_and(|after| {
                !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
            })
        };
        let named = self.resources().into_iter().filter(named);
        named.max_by_key(|resource| resource.uri.len())
    }

    /// The text of a resource.
    pub async fn read_resource(&self, resource: &McpResource) -> Result<String, ToolError> {
        let server = self.servers().find(|server| server.spec.name == resource.server);
        match server {
            Some(server) => server.read_resource(&resource.uri).await,
            None => Err(ToolError::Failed { message: format!("no server `{}`", resource.server) }),
        }
    }
}

impl McpServer {
    async fn read_resource(self: &Arc<Self>, uri: &str) -> Result<String, ToolError> {
        let work = async {
            let peer = self.peer().await.map_err(|error| self.not_available(&error))?;
            let read = peer.read_resource(ReadResourceRequestParams::new(uri)).await;
            let read = read.map_err(|error| {
                let reason = cut(&error.to_string(), ERROR_CHARS);
                self.failed(&format!("`{uri}` could not be read: {reason}"))
            })?;
            let texts = read.contents.into_iter().map(|contents| match contents {
                ResourceContents::TextResourceContents { text, .. } => Ok(text),
                _ => Err(self.failed(&format!("`{uri}` is not text"))),
            });
            let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
            Ok(self.redact(&cut(&texts.join("\n"), RESOURCE_CHARS)))
        };
        let timeout = self.call_timeout();
        tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| {
            let time = timeout.as_millis();
            Err(self.failed(&format!("`{uri}` was not sent within {time} ms")))
        })
    }
}
