//! A project's `.mcp.json`.

use std::path::PathBuf;

use dormouse_base::{Dir, Project, RelPath};
use serde_json::Value;

/// The file, which other agents read as well; also its key in the trust list.
pub(crate) const FILE: &str = ".mcp.json";
/// The key of servers in settings and in that file.
pub(crate) const KEY: &str = "mcpServers";
/// Larger files are ignored.
const LARGEST: usize = 1024 * 1024;
/// A project's `.mcp.json`, read once.
#[derive(Debug, Clone, Default)]
pub(crate) struct McpProjectFile {
    pub(crate) path: PathBuf,
    pub(crate) text: Option<String>,
}

impl McpProjectFile {
    /// Reads the file, if it exists.
    pub(crate) fn of(project: &Project) -> Self {
        let path = project.checkout.join(FILE);
        let read = RelPath::new(FILE)
            .ok()
            .and_then(|name| Dir::open(&project.checkout).ok()?.read(&name).ok());
        let text = read.filter(|bytes| bytes.len() <= LARGEST);
        Self { path, text: text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) }
    }

    /// The servers that need trust.
    pub(crate) fn wishes(&self) -> Value {
        // The trust prompt shows exactly the text that is read later.
        let Some(text) = &self.text else { return Value::Null };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(keys)) if keys.get(KEY).is_none_or(is_empty) => Value::Null,
            Ok(Value::Object(mut keys)) => keys.remove(KEY).unwrap_or_default(),
            // Nothing of it can be used, even with trust.
            Ok(_) | Err(_) => Value::Null,
        }
    }
}

fn is_empty(servers: &Value) -> bool {
    servers.as_object().is_some_and(serde_json::Map::is_empty)
}
