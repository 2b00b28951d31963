//! The optional manifest `plugin.json`, which needs a `name` (E.8).

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, RelPath, line_of, nearest_name};
use serde_json::{Map, Value};

use super::plugin::{PluginConfig, PluginName, PluginProblem};

/// Its possible paths; the first that exists is used.
const PATHS: [&str; 2] = [".dormouse-plugin/plugin.json", ".claude-plugin/plugin.json"];
/// Fields that have an effect.
const USED: &[&str] = &[
    "name",
    "version",
    "description",
    "defaultEnabled",
    "skills",
    "commands",
    "agents",
    "hooks",
    "mcpServers",
];
/// Fields that are only information.
const INFORMATION: &[&str] = &[
    "displayName",
    "author",
    "homepage",
    "repository",
    "license",
    "keywords",
    "metadata",
    "$schema",
];
/// Fields of the public format that have no effect here.
const UNSUPPORTED: &[&str] = &[
    "workflows",
    "outputStyles",
    "lspServers",
    "experimental",
    "userConfig",
    "channels",
    "dependencies",
];

/// The valid fields of a manifest.
#[derive(Debug, Default)]
pub(super) struct PluginManifest {
    pub(super) name: Option<PluginName>,
    pub(super) version: Option<String>,
    pub(super) description: Option<String>,
    pub(super) default_enabled: Option<bool>,
    /// Paths of skills in addition to `skills/`.
    pub(super) skills: Vec<RelPath>,
    /// Paths of commands instead of `commands/`.
    pub(super) commands: Option<Vec<RelPath>>,
    /// Paths of agents instead of `agents/`.
    pub(super) agents: Option<Vec<RelPath>>,
    pub(super) hooks: Vec<ConfigEntry>,
    pub(super) servers: Vec<ConfigEntry>,
    pub(super) ignored: Vec<String>,
    pub(super) problems: Vec<PluginProblem>,
}

/// An entry of the fields for hooks or servers.
#[derive(Debug)]
pub(super) enum ConfigEntry {
    Path(RelPath),
    Inline(PluginConfig),
}

/// Whether a plugin has a manifest.
pub(super) fn has_manifest(root: &Path) -> bool {
    PATHS.iter().any(|path| root.join(path).exists())
}

/// Reads the manifest. Invalid JSON or a missing name is an error; other problems are collected.
pub(super) fn read_manifest(root: &Dir) -> Result<PluginManifest, PluginProblem> {
    for manifest_path in PATHS {
        let path = root.path().join(manifest_path);
        let unreadable =
            |reason: &dyn std::fmt::Display| PluginProblem::new(&path, None, reason.to_string());
        let name = RelPath::new(manifest_path).map_err(|error| unreadable(&error))?;
        match root.read(&name) {
            Ok(bytes) => {
                let text = String::from_utf8(bytes).map_err(|_| unreadable(&"not UTF-8"))?;
                return parse(path, &text);
            }
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(unreadable(&error)),
        }
    }
    Ok(PluginManifest::default())
}

fn parse(path: PathBuf, text: &str) -> Result<PluginManifest, PluginProblem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fields = match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return Err(PluginProblem::new(path, Some(1), "expected an object")),
        Err(error) => return Err(PluginProblem::new(path, Some(error.line()), error.to_string())),
    };
    let mut reader = Reader { path: &path, text, fields: &fields, problems: Vec::new() };
    let name = reader.name()?;
    Ok(PluginManifest {
        name: Some(name),
        version: reader.text("version"),
        description: reader.text("description"),
        default_enabled: reader.flag("defaultEnabled"),
        skills: reader.paths("skills").unwrap_or_default(),
        commands: reader.paths("commands"),
        agents: reader.paths("agents"),
        hooks: reader.configs("hooks"),
        servers: reader.configs("mcpServers"),
        ignored: ignored(&fields),
        problems: reader.problems,
    })
}

fn ignored(fields: &Map<String, Value>) -> Vec<String> {
    let known = || USED.iter().chain(INFORMATION).chain(UNSUPPORTED).map(|key| (*key).to_owned());
    let describe = |key: &String| {
        if UNSUPPORTED.contains(&key.as_str()) {
            return Some(format!("`{key}` in the manifest has no effect here"));
        }
        if USED.contains(&key.as_str()) || INFORMATION.contains(&key.as_str()) {
            return None;
        }
        let hint = nearest_name(key, known()).map(|name| format!("; did you mean `{name}`?"));
        Some(format!("unknown field `{key}` in the manifest{}", hint.unwrap_or_default()))
    };
    fields.keys().filter_map(describe).collect()
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    fields: &'a Map<String, Value>,
    problems: Vec<PluginProblem>,
}

impl Reader<'_> {
    fn problem(&self, key: &str, reason: impl Into<String>) -> PluginProblem {
        PluginProblem::new(self.path, line_of(self.text, &[key]), reason)
    }

    fn name(&self) -> Result<PluginName, PluginProblem> {
        match self.fields.get("name") {
            Some(Value::String(name)) => {
                PluginName::new(name).map_err(|error| self.problem("name", error.to_string()))
            }
            Some(_) => Err(self.problem("name", "`name` must be a string")),
            None => Err(PluginProblem::new(self.path, Some(1), "missing `name`")),
        }
    }

    fn report(&mut self, key: &str, reason: impl Into<String>) {
        self.problems.push(self.problem(key, reason));
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.fields.get(key) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                self.report(key, format!("`{key}` must be a string"));
                None
            }
            None => None,
        }
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        let value = self.fields.get(key)?;
        if value.as_bool().is_none() {
            self.report(key, format!("`{key}` must be true or false"));
        }
        value.as_bool()
    }

    /// A path, or a list of paths.
    fn paths(&mut self, key: &str) -> Option<Vec<RelPath>> {
        let fields = self.fields;
        let texts = match fields.get(key)? {
            Value::String(text) => vec![text.as_str()],
            Value::Array(items) if items.iter().all(Value::is_string) => {
                items.iter().filter_map(Value::as_str).collect()
            }
            _ => {
                self.report(key, format!("`{key}` must be a path or a list of paths"));
                return None;
            }
        };
        Some(texts.into_iter().filter_map(|text| self.path(key, text)).collect())
    }

    fn path(&mut self, key: &str, text: &str) -> Option<RelPath> {
        let inside = text.strip_prefix("${CLAUDE_PLUGIN_ROOT}/").unwrap_or(text);
        match RelPath::new(inside) {
            Ok(path) => Some(path),
            Err(error) => {
                self.report(key, format!("`{key}`: `{text}` leads out of the plugin: {error}"));
                None
            }
        }
    }

    /// Paths, or an inline configuration.
    fn configs(&mut self, key: &str) -> Vec<ConfigEntry> {
        let fields = self.fields;
        match fields.get(key) {
            Some(value @ Value::Object(_)) => vec![ConfigEntry::Inline(PluginConfig::Inline {
                path: self.path.to_owned(),
                line: line_of(self.text, &[key]),
                value: value.clone(),
            })],
            Some(_) => {
                self.paths(key).unwrap_or_default().into_iter().map(ConfigEntry::Path).collect()
            }
            None => Vec::new(),
        }
    }
}
