//! What a plugin brings: the folders at its root, and what its manifest adds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, EntryKind, FileError, RelPath};
use serde_json::Value;

use super::manifest::{self, Named};
use super::{Plugin, PluginConfig, PluginName, PluginProblem};

const SKILL_FILE: &str = "SKILL.md";
/// Parts of the public format that are not used here.
const NOT_USED: &[(&str, &str)] = &[
    ("commands", "has no effect here; a command can be a skill"),
    ("output-styles", "has no effect here"),
    (".lsp.json", "has no effect here"),
    ("settings.json", "has no effect here"),
    ("bin", "is not put on the PATH here"),
];

impl Plugin {
    /// Looks at a copy. `fallback` is its name where it has no manifest.
    pub(super) fn look(
        root: &Path,
        data: impl FnOnce(&PluginName) -> PathBuf,
        fallback: Option<&PluginName>,
    ) -> Result<(Self, Option<bool>), PluginProblem> {
        let dir =
            Dir::open(root).map_err(|error| PluginProblem::new(root, None, error.to_string()))?;
        let manifest = manifest::read(&dir)?;
        let name = manifest.name.or_else(|| fallback.cloned()).ok_or_else(|| {
            let why = "it has no manifest, and its folder's name is no name for a plugin";
            PluginProblem::new(root, None, why)
        })?;
        let mut parts = Parts { dir, problems: manifest.problems };
        let plugin = Self {
            data: data(&name),
            name,
            version: manifest.version,
            description: manifest.description,
            root: root.to_owned(),
            skills: parts.skills(&manifest.skills),
            agents: parts.agents(manifest.agents.as_deref()),
            hooks: parts.configs("hooks/hooks.json", manifest.hooks),
            servers: parts.configs(".mcp.json", manifest.servers),
            ignored: manifest.ignored.into_iter().chain(parts.not_used()).collect(),
            problems: parts.problems,
        };
        let default_enabled = manifest.default_enabled;
        Ok((plugin, default_enabled))
    }
}

struct Parts {
    dir: Dir,
    problems: Vec<PluginProblem>,
}

impl Parts {
    fn problem(&mut self, path: &RelPath, line: Option<usize>, why: impl Into<String>) {
        self.problems.push(PluginProblem::new(self.dir.path().join(path.as_path()), line, why));
    }

    fn kind(&self, path: &RelPath) -> Option<EntryKind> {
        self.dir.entry(path).ok().map(|entry| entry.kind)
    }

    /// The names in a folder, in order; none, where there is no such folder.
    fn names(&mut self, folder: &RelPath) -> Vec<RelPath> {
        let names = self.dir.open_folder(folder).and_then(|folder| folder.names());
        let names = match names {
            Ok(names) => names,
            Err(error) => {
                self.unless_absent(folder, &error);
                return Vec::new();
            }
        };
        let joined = names.iter().filter_map(|name| RelPath::new(folder.as_path().join(name)).ok());
        let mut paths: Vec<RelPath> = joined.collect();
        paths.sort();
        paths
    }

    fn unless_absent(&mut self, path: &RelPath, error: &FileError) {
        if !error.is_not_found() {
            self.problem(path, None, error.to_string());
        }
    }

    /// Those in `skills/`, and those that the manifest adds: a skill, or a folder of skills. Of two with one name the
    /// first counts.
    fn skills(&mut self, more: &[RelPath]) -> Vec<PathBuf> {
        let mut found: Vec<RelPath> = Vec::new();
        let usual = RelPath::new("skills").map(|folder| self.names(&folder)).unwrap_or_default();
        found.extend(usual.into_iter().filter(|folder| self.is_skill(folder)));
        for path in more {
            let below: Vec<RelPath> = if self.is_skill(path) {
                vec![path.clone()]
            } else {
                self.names(path).into_iter().filter(|folder| self.is_skill(folder)).collect()
            };
            if below.is_empty() {
                self.problem(path, None, "the manifest names it as skills, and there is none");
            }
            found.extend(below);
        }
        self.distinct(found)
    }

    fn is_skill(&self, folder: &RelPath) -> bool {
        let file = RelPath::new(folder.as_path().join(SKILL_FILE));
        file.is_ok_and(|file| self.kind(&file) == Some(EntryKind::File))
    }

    fn distinct(&mut self, folders: Vec<RelPath>) -> Vec<PathBuf> {
        let mut by_name: BTreeMap<String, RelPath> = BTreeMap::new();
        for folder in folders {
            let name = folder.file_name().to_string_lossy().into_owned();
            match by_name.get(&name) {
                Some(first) if *first != folder => {
                    let why = format!("`{name}` is the name of the skill in {first} already");
                    self.problem(&folder, None, why);
                }
                Some(_) => {}
                None => drop(by_name.insert(name, folder)),
            }
        }
        by_name.into_values().map(|folder| self.dir.path().join(folder.as_path())).collect()
    }

    /// Those in `agents/`, or in place of these those that the manifest names: files, or folders of files.
    fn agents(&mut self, instead: Option<&[RelPath]>) -> Vec<PathBuf> {
        let usual: Vec<RelPath> = RelPath::new("agents").into_iter().collect();
        let mut files = Vec::new();
        for path in instead.unwrap_or(&usual) {
            let found = match self.kind(path) {
                Some(EntryKind::File) => vec![path.clone()],
                _ => self.names(path),
            };
            if found.is_empty() && instead.is_some() {
                self.problem(path, None, "the manifest names it as agents, and there is none");
            }
            files.extend(found.into_iter().filter(is_markdown));
        }
        files.dedup();
        files.iter().map(|file| self.dir.path().join(file.as_path())).collect()
    }

    /// The usual file, and what the manifest adds. A file that is no JSON is left out.
    fn configs(&mut self, usual: &str, more: Vec<Named>) -> Vec<PluginConfig> {
        let mut configs = Vec::new();
        if let Ok(path) = RelPath::new(usual)
            && self.kind(&path).is_some()
        {
            configs.extend(self.config(&path));
        }
        for named in more {
            match named {
                Named::Inline(config) => configs.push(config),
                Named::Path(path) if path.as_path() == Path::new(usual) => {}
                Named::Path(path) => configs.extend(self.config(&path)),
            }
        }
        configs
    }

    fn config(&mut self, path: &RelPath) -> Option<PluginConfig> {
        let text = match self.dir.read(path).map(String::from_utf8) {
            Ok(Ok(text)) => text,
            Ok(Err(_)) => {
                self.problem(path, None, "it is not UTF-8");
                return None;
            }
            Err(error) => {
                self.problem(path, None, error.to_string());
                return None;
            }
        };
        match serde_json::from_str::<Value>(&text) {
            Ok(Value::Object(_)) => {
                Some(PluginConfig::File { path: self.dir.path().join(path.as_path()), text })
            }
            Ok(_) => {
                self.problem(path, Some(1), "an object is expected");
                None
            }
            Err(error) => {
                self.problem(path, Some(error.line()), error.to_string());
                None
            }
        }
    }

    fn not_used(&self) -> Vec<String> {
        let is_there = |name: &str| RelPath::new(name).is_ok_and(|path| self.kind(&path).is_some());
        let there = NOT_USED.iter().filter(|(name, _)| is_there(name));
        there.map(|(name, why)| format!("`{name}` {why}")).collect()
    }
}

fn is_markdown(path: &RelPath) -> bool {
    path.as_path().extension().is_some_and(|ending| ending == "md")
}
