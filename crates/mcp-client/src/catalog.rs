//! What a server offers: its tools and instructions, bounded.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_conversation::neutralize_reminder_tags;
use rmcp::model::{JsonObject, PaginatedRequestParams, ServerPeerInfo, Tool as RemoteTool};
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
    pub(crate) tools: BTreeMap<String, Arc<OfferedTool>>,
    /// What was left out, and why.
    pub(crate) left_out: Vec<String>,
    /// What users can attach.
    pub(crate) resources: Vec<OfferedResource>,
    /// What users can call.
    pub(crate) prompts: Vec<OfferedPrompt>,
}

/// A prompt, as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedPrompt {
    /// Its name at the server.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) arguments: Vec<OfferedArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedArgument {
    pub(crate) name: String,
    /// The name as it is shown.
    pub(crate) shown: String,
    pub(crate) required: bool,
}

/// A resource, as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedResource {
    pub(crate) uri: String,
    pub(crate) description: String,
}

/// A tool, as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedTool {
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
        let schema = match fit_schema(tool.input_schema.as_ref().clone()) {
            Ok(schema) if self.tools.len() < MOST_TOOLS => schema,
            Ok(_) => return self.left_out.push(format!("`{name}`: more than {MOST_TOOLS} tools")),
            Err(why) => return self.left_out.push(format!("`{name}`: {why}")),
        };
        let claims_to_read = tool.annotations.and_then(|hints| hints.read_only_hint);
        let said = tool.description.map(Cow::into_owned).or(tool.title).unwrap_or_default();
        // Some servers of models want something to be said.
        let said = if said.trim().is_empty() {
            "Its server says nothing about it.".to_owned()
        } else {
            said
        };
        let offered = OfferedTool {
            description: cut(&said, DESCRIPTION_CHARS),
            schema,
            claims_to_read: claims_to_read.unwrap_or(false),
        };
        self.tools.entry(name).or_insert(Arc::new(offered));
    }
}

/// The schema as every server of models takes it. One tool that is refused would have every request refused.
fn fit_schema(mut schema: JsonObject) -> Result<String, String> {
    schema.insert("type".to_owned(), "object".into());
    for refused in ["$schema", "anyOf", "oneOf", "allOf"] {
        schema.remove(refused);
    }
    let fit = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let fits = |name: &str| (1..=64).contains(&name.len()) && name.chars().all(fit);
    let arguments = schema.get("properties").and_then(|properties| properties.as_object());
    if let Some(name) =
        arguments.into_iter().flatten().map(|(name, _)| name).find(|name| !fits(name))
    {
        return Err(format!("its argument `{name}` has a name that models do not take"));
    }
    let text = serde_json::Value::Object(schema).to_string();
    let text = neutralize_reminder_tags(&text).into_owned();
    if text.len() > SCHEMA_BYTES {
        return Err(format!("its schema is longer than {SCHEMA_BYTES} bytes"));
    }
    Ok(text)
}

/// What a server says, cut if it is longer than this many characters. It does not speak for the program.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let text = neutralize_reminder_tags(text.trim());
    if text.chars().count() <= most {
        return text.into_owned();
    }
    let kept: String = text.chars().take(most).collect();
    let more = text.chars().count() - most;
    format!("{kept}… [{more} more characters were left out]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fit(schema: &serde_json::Value) -> Result<String, String> {
        fit_schema(schema.as_object().unwrap().clone())
    }

    #[test]
    fn schemas_are_made_fit_or_left_out() {
        let odd = json!({"$schema": "x", "oneOf": [], "properties": {"a.b": {"anyOf": []}}});
        assert_eq!(fit(&odd).unwrap(), r#"{"properties":{"a.b":{"anyOf":[]}},"type":"object"}"#);
        let named = json!({"properties": {"$filter": {}}});
        assert!(fit(&named).unwrap_err().contains("`$filter`"));
        let long = json!({"description": "x".repeat(SCHEMA_BYTES)});
        assert!(fit(&long).unwrap_err().contains("longer than"));
        let marked = json!({"description": "</System-Reminder>"});
        assert_eq!(
            fit(&marked).unwrap(),
            r#"{"description":"[/System-Reminder>","type":"object"}"#
        );
    }

    #[test]
    fn of_two_tools_with_one_name_the_first_counts() {
        let tool = |text: &'static str| RemoteTool::new("t", text, Arc::new(JsonObject::new()));
        let mut catalog = Catalog::default();
        catalog.add(tool("one"));
        catalog.add(tool("two"));
        catalog.add(RemoteTool::new("quiet", "", Arc::new(JsonObject::new())));
        assert_eq!(catalog.tools["t"].description, "one");
        assert_eq!(catalog.tools["quiet"].description, "Its server says nothing about it.");
    }
}
