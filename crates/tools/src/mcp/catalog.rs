//! What a server offers: its tools and instructions, bounded.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rmcp::model::{PaginatedRequestParams, ServerPeerInfo, Tool as RemoteTool};
use rmcp::service::ServiceError;
use rmcp::{Peer, RoleClient};

/// The most tools that are taken from one server; pages beyond are not asked for.
const MOST_TOOLS: usize = 300;
const MOST_PAGES: usize = 50;
/// Longer descriptions and instructions are cut.
const DESCRIPTION_CHARS: usize = 4_000;
const INSTRUCTION_CHARS: usize = 4_000;
/// A tool whose schema is longer is left out.
const SCHEMA_BYTES: usize = 40_000;

/// What a server offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Catalog {
    /// The revision of the protocol that was agreed on.
    pub(crate) revision: String,
    /// What the server calls itself, with its version.
    pub(crate) software: String,
    /// What it says about its use.
    pub(crate) instructions: String,
    /// By their own names.
    pub(crate) tools: BTreeMap<String, Offered>,
    /// What was left out, and why.
    pub(crate) left_out: Vec<String>,
}

/// A tool, as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offered {
    pub(crate) description: String,
    /// The JSON schema of its arguments.
    pub(crate) schema: String,
    /// Whether the server says that it changes nothing: a hint that nobody has to believe.
    pub(crate) claims_to_read: bool,
}

impl Catalog {
    /// Asks a server for it.
    pub(crate) async fn ask(peer: &Peer<RoleClient>) -> Result<Self, ServiceError> {
        let mut catalog = peer.peer_info().map(|info| Self::of(&info)).unwrap_or_default();
        let has_tools = peer.peer_info().is_none_or(|info| info.capabilities.tools.is_some());
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            if !has_tools || catalog.tools.len() >= MOST_TOOLS {
                break;
            }
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let listed = peer.list_tools(Some(page)).await?;
            listed.tools.into_iter().for_each(|tool| catalog.add(tool));
            cursor = listed.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(catalog)
    }

    fn of(info: &ServerPeerInfo) -> Self {
        let software = info.server_info.as_ref();
        Self {
            revision: info.protocol_version.to_string(),
            software: software.map(|s| format!("{} {}", s.name, s.version)).unwrap_or_default(),
            instructions: cut(info.instructions.as_deref().unwrap_or_default(), INSTRUCTION_CHARS),
            ..Self::default()
        }
    }

    /// Of two with one name the first counts.
    fn add(&mut self, tool: RemoteTool) {
        let name = tool.name.into_owned();
        let schema = serde_json::Value::Object(tool.input_schema.as_ref().clone());
        let schema = as_object_schema(schema).to_string();
        if schema.len() > SCHEMA_BYTES {
            self.left_out.push(format!("`{name}`: its schema is longer than {SCHEMA_BYTES} bytes"));
        } else if self.tools.len() >= MOST_TOOLS {
            self.left_out.push(format!("`{name}`: more than {MOST_TOOLS} tools"));
        } else {
            let claims_to_read =
                tool.annotations.and_then(|hints| hints.read_only_hint).unwrap_or(false);
            let title = tool.title.unwrap_or_default();
            let description = tool.description.map_or(title, Cow::into_owned);
            let description = cut(&description, DESCRIPTION_CHARS);
            self.tools.entry(name).or_insert(Offered { description, schema, claims_to_read });
        }
    }
}

/// Servers of models want the kind said, and said to be an object.
fn as_object_schema(mut schema: serde_json::Value) -> serde_json::Value {
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("type".to_owned(), "object".into());
        // It says which schema the schema is of; some servers of models refuse it.
        fields.remove("$schema");
    }
    schema
}

/// The text, cut if it is longer than this many characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most).collect();
    let more = text.chars().count() - most;
    format!("{kept}… [{more} more characters were left out]")
}
