//! `plugin.json`: what a plugin says of itself. It may be missing; where it is there it needs a `name` (E.8).

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, RelPath, line_of, nearest_name};
use serde_json::{Map, Value};

use super::{PluginConfig, PluginName, PluginProblem};

/// Where it may be; the first that is there counts.
const PLACES: [&str; 2] = [".dormouse-plugin/plugin.json", ".claude-plugin/plugin.json"];
/// Fields that have an effect.
const USED: &[&str] = &[
    "name",
    "version",
    "description",
    "defaultEnabled",
    "skills",
    "agents",
    "hooks",
    "mcpServers",
];
/// Fields that are for people and lists of plugins.
const QUIET: &[&str] = &[
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
const LATER: &[&str] = &[
    "commands",
    "workflows",
    "outputStyles",
    "lspServers",
    "experimental",
    "userConfig",
    "channels",
    "dependencies",
];

/// A manifest, as far as it could be read.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) name: Option<PluginName>,
    pub(super) version: Option<String>,
    pub(super) description: Option<String>,
    pub(super) default_enabled: Option<bool>,
    /// Paths of skills besides those in `skills/`.
    pub(super) skills: Vec<RelPath>,
    /// Paths of agents in place of `agents/`.
    pub(super) agents: Option<Vec<RelPath>>,
    pub(super) hooks: Vec<Named>,
    pub(super) servers: Vec<Named>,
    pub(super) ignored: Vec<String>,
    pub(super) problems: Vec<PluginProblem>,
}

/// What a field for hooks or servers says.
#[derive(Debug)]
pub(super) enum Named {
    Path(RelPath),
    Inline(PluginConfig),
}

/// Whether there is one.
pub(super) fn is_there(root: &Path) -> bool {
    PLACES.iter().any(|place| root.join(place).exists())
}

/// Reads it. A manifest that has no name, or is no JSON, is the one mistake that nothing can be done about.
pub(super) fn read(root: &Dir) -> Result<Manifest, PluginProblem> {
    for place in PLACES {
        let path = root.path().join(place);
        let unreadable =
            |why: &dyn std::fmt::Display| PluginProblem::new(&path, None, why.to_string());
        let name = RelPath::new(place).map_err(|error| unreadable(&error))?;
        match root.read(&name) {
            Ok(bytes) => {
                let text = String::from_utf8(bytes).map_err(|_| unreadable(&"it is not UTF-8"))?;
                return parse(path, &text);
            }
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(unreadable(&error)),
        }
    }
    Ok(Manifest::default())
}

fn parse(path: PathBuf, text: &str) -> Result<Manifest, PluginProblem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fields = match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return Err(PluginProblem::new(path, Some(1), "an object is expected")),
        Err(error) => return Err(PluginProblem::new(path, Some(error.line()), error.to_string())),
    };
    let mut reader = Reader { path: &path, text, fields: &fields, problems: Vec::new() };
    let name = reader.name()?;
    Ok(Manifest {
        name: Some(name),
        version: reader.text("version"),
        description: reader.text("description"),
        default_enabled: reader.switch("defaultEnabled"),
        skills: reader.paths("skills").unwrap_or_default(),
        agents: reader.paths("agents"),
        hooks: reader.configs("hooks"),
        servers: reader.configs("mcpServers"),
        ignored: ignored(&fields),
        problems: reader.problems,
    })
}

fn ignored(fields: &Map<String, Value>) -> Vec<String> {
    let known = || USED.iter().chain(QUIET).chain(LATER).map(|key| (*key).to_owned());
    let says = |key: &String| {
        if LATER.contains(&key.as_str()) {
            return Some(format!("`{key}` of the manifest has no effect here"));
        }
        if USED.contains(&key.as_str()) || QUIET.contains(&key.as_str()) {
            return None;
        }
        let meant = nearest_name(key, known()).map(|name| format!("; did you mean `{name}`?"));
        Some(format!("`{key}` of the manifest is not known{}", meant.unwrap_or_default()))
    };
    fields.keys().filter_map(says).collect()
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    fields: &'a Map<String, Value>,
    problems: Vec<PluginProblem>,
}

impl Reader<'_> {
    fn problem(&self, key: &str, why: impl Into<String>) -> PluginProblem {
        PluginProblem::new(self.path, line_of(self.text, &[key]), why)
    }

    fn name(&self) -> Result<PluginName, PluginProblem> {
        match self.fields.get("name") {
            Some(Value::String(name)) => {
                PluginName::new(name).map_err(|why| self.problem("name", why))
            }
            Some(_) => Err(self.problem("name", "`name` is a text")),
            None => Err(PluginProblem::new(self.path, Some(1), "it has no `name`; give it one")),
        }
    }

    fn wrong(&mut self, key: &str, why: impl Into<String>) {
        self.problems.push(self.problem(key, why));
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.fields.get(key) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                self.wrong(key, format!("`{key}` is a text"));
                None
            }
            None => None,
        }
    }

    fn switch(&mut self, key: &str) -> Option<bool> {
        let value = self.fields.get(key)?;
        if value.as_bool().is_none() {
            self.wrong(key, format!("`{key}` is true or false"));
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
                self.wrong(key, format!("`{key}` is a path or a list of paths"));
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
                self.wrong(key, format!("`{key}`: `{text}` leads out of the plugin: {error}"));
                None
            }
        }
    }

    /// Paths, or what would stand in such a file.
    fn configs(&mut self, key: &str) -> Vec<Named> {
        let fields = self.fields;
        match fields.get(key) {
            Some(value @ Value::Object(_)) => vec![Named::Inline(PluginConfig::Inline {
                path: self.path.to_owned(),
                line: line_of(self.text, &[key]),
                value: value.clone(),
            })],
            Some(_) => self.paths(key).unwrap_or_default().into_iter().map(Named::Path).collect(),
            None => Vec::new(),
        }
    }
}
