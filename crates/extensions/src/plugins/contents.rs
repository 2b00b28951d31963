//! Finds the parts of a plugin: the folders at its root, and the additions of its manifest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, EntryKind, FileError, RelPath};
use serde_json::Value;

use super::manifest::{ConfigEntry, read_manifest};
use super::plugin::{Plugin, PluginCommandFile, PluginConfig, PluginName, PluginProblem};

const SKILL_FILE: &str = "SKILL.md";
/// Parts of the public format that have no effect here.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("output-styles", "has no effect here"),
    (".lsp.json", "has no effect here"),
    ("settings.json", "has no effect here"),
    ("bin", "is not added to PATH here"),
];

impl Plugin {
    /// Reads a copy. `fallback` is its name if it has no manifest. Also returns `defaultEnabled`.
    pub(super) fn read(
        root: &Path,
        data: impl FnOnce(&PluginName) -> PathBuf,
        fallback: Option<&PluginName>,
    ) -> Result<(Self, Option<bool>), PluginProblem> {
        let dir =
            Dir::open(root).map_err(|error| PluginProblem::new(root, None, error.to_string()))?;
        let manifest = read_manifest(&dir)?;
        let name = manifest.name.or_else(|| fallback.cloned()).ok_or_else(|| {
            let reason = "no manifest, and the name of the folder is not a valid plugin name";
            PluginProblem::new(root, None, reason)
        })?;
        let mut parts = Parts { dir, problems: manifest.problems };
        let plugin = Self {
            data: data(&name),
            name,
            version: manifest.version,
            description: manifest.description,
            root: root.to_owned(),
            skills: parts.skills(&manifest.skills),
            commands: parts.commands(manifest.commands.as_deref()),
            agents: parts.agents(manifest.agents.as_deref()),
            hooks: parts.configs("hooks/hooks.json", manifest.hooks),
            servers: parts.configs(".mcp.json", manifest.servers),
            ignored: manifest.ignored.into_iter().chain(parts.unsupported()).collect(),
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
    fn problem(&mut self, path: &RelPath, line: Option<usize>, reason: impl Into<String>) {
        self.problems.push(PluginProblem::new(self.dir.path().join(path.as_path()), line, reason));
    }

    fn kind(&self, path: &RelPath) -> Option<EntryKind> {
        self.dir.entry(path).ok().map(|entry| entry.kind)
    }

    /// The sorted paths in a folder; empty if there is no such folder.
    fn names(&mut self, folder: &RelPath) -> Vec<RelPath> {
        let names = self.dir.open_folder(folder).and_then(|folder| folder.names());
        let names = match names {
            Ok(names) => names,
            Err(error) => {
                self.report_unless_missing(folder, &error);
                return Vec::new();
            }
        };
        let joined = names.iter().filter_map(|name| RelPath::new(folder.as_path().join(name)).ok());
        let mut paths: Vec<RelPath> = joined.collect();
        paths.sort();
        paths
    }

    fn report_unless_missing(&mut self, path: &RelPath, error: &FileError) {
        if !error.is_not_found() {
            self.problem(path, None, error.to_string());
        }
    }

    /// The skills in `skills/` and those of the manifest, each a skill or a folder of skills. Of two with one name the
    /// first is used.
    fn skills(&mut self, more: &[RelPath]) -> Vec<PathBuf> {
        let mut found: Vec<RelPath> = Vec::new();
        let default = RelPath::new("skills").map(|folder| self.names(&folder)).unwrap_or_default();
        found.extend(default.into_iter().filter(|folder| self.is_skill(folder)));
        for path in more {
            let below: Vec<RelPath> = if self.is_skill(path) {
                vec![path.clone()]
            } else {
                self.names(path).into_iter().filter(|folder| self.is_skill(folder)).collect()
            };
            if below.is_empty() {
                self.problem(path, None, "listed in the manifest as skills, but there are none");
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
                    let reason = format!("duplicate skill name `{name}`, also in {first}");
                    self.problem(&folder, None, reason);
                }
                Some(_) => {}
                None => drop(by_name.insert(name, folder)),
            }
        }
        by_name.into_values().map(|folder| self.dir.path().join(folder.as_path())).collect()
    }

    /// The commands in `commands/` and its folders, or instead those of the manifest: files, or folders like `commands/`.
    fn commands(&mut self, listed: Option<&[RelPath]>) -> Vec<PluginCommandFile> {
        let default: Vec<RelPath> = RelPath::new("commands").into_iter().collect();
        let mut found = Vec::new();
        for path in listed.unwrap_or(&default) {
            let before = found.len();
            if self.kind(path) == Some(EntryKind::File) {
                found.push((None, path.clone()));
            } else {
                for below in self.names(path) {
                    let group = below.file_name().to_string_lossy().into_owned();
                    match self.kind(&below) {
                        Some(EntryKind::Folder) => {
                            let files = self.names(&below).into_iter();
                            found.extend(files.map(|file| (Some(group.clone()), file)));
                        }
                        _ => found.push((None, below)),
                    }
                }
            }
            found.retain(|(_, file)| is_markdown(file));
            if found.len() == before && listed.is_some() {
                self.problem(path, None, "listed in the manifest as commands, but there are none");
            }
        }
        let file = |file: &RelPath| self.dir.path().join(file.as_path());
        let command = |(group, path): (_, RelPath)| PluginCommandFile { group, file: file(&path) };
        found.into_iter().map(command).collect()
    }

    /// The agents in `agents/`, or instead those of the manifest: files, or folders of files.
    fn agents(&mut self, listed: Option<&[RelPath]>) -> Vec<PathBuf> {
        let default: Vec<RelPath> = RelPath::new("agents").into_iter().collect();
        let mut files = Vec::new();
        for path in listed.unwrap_or(&default) {
            let found = match self.kind(path) {
                Some(EntryKind::File) => vec![path.clone()],
                _ => self.names(path),
            };
            if found.is_empty() && listed.is_some() {
                self.problem(path, None, "listed in the manifest as agents, but there are none");
            }
            files.extend(found.into_iter().filter(is_markdown));
        }
        files.dedup();
        files.iter().map(|file| self.dir.path().join(file.as_path())).collect()
    }

    /// The default file and the additions of the manifest. Invalid files are left out.
    fn configs(&mut self, default: &str, more: Vec<ConfigEntry>) -> Vec<PluginConfig> {
        let mut configs = Vec::new();
        if let Ok(path) = RelPath::new(default)
            && self.kind(&path).is_some()
        {
            configs.extend(self.config(&path));
        }
        for entry in more {
            match entry {
                ConfigEntry::Inline(config) => configs.push(config),
                ConfigEntry::Path(path) if path.as_path() == Path::new(default) => {}
                ConfigEntry::Path(path) => configs.extend(self.config(&path)),
            }
        }
        configs
    }

    fn config(&mut self, path: &RelPath) -> Option<PluginConfig> {
        let text = match self.dir.read(path).map(String::from_utf8) {
            Ok(Ok(text)) => text,
            Ok(Err(_)) => {
                self.problem(path, None, "not UTF-8");
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
                self.problem(path, Some(1), "expected an object");
                None
            }
            Err(error) => {
                self.problem(path, Some(error.line()), error.to_string());
                None
            }
        }
    }

    fn unsupported(&self) -> Vec<String> {
        let exists = |name: &str| RelPath::new(name).is_ok_and(|path| self.kind(&path).is_some());
        let present = UNSUPPORTED.iter().filter(|(name, _)| exists(name));
        present.map(|(name, effect)| format!("`{name}` {effect}")).collect()
    }
}

fn is_markdown(path: &RelPath) -> bool {
    path.as_path().extension().is_some_and(|ending| ending == "md")
}
