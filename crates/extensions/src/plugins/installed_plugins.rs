//! The installed plugins: copies in `plugins/<name>/<copy>`, and a record `plugins/<name>.json` with the current copy, its
//! source, whether it is enabled, and the digest that was trusted.
//!
//! Invariant: the record is replaced atomically after the copy is on disk, so an installation is complete or absent.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::{Dir, EntryKind, FileError, Lock, LockError, RelPath};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::manifest::has_manifest;
use super::plugin::{Plugin, PluginError, PluginName, PluginProblem};
use super::source::PluginSource;
use super::tree::PluginTree;

/// How long to wait for another process that changes plugins.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Characters of the digest in the name of a copy.
const COPY_NAME_LENGTH: usize = 16;

/// `plugins/<name>.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    name: PluginName,
    source: String,
    installed: Timestamp,
    copy: String,
    enabled: bool,
    /// The digest that was trusted.
    trusted: Option<String>,
}

/// Whether the user has trusted a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginTrust {
    /// In its current form.
    Trusted,
    /// Never.
    Untrusted,
    /// In an earlier form.
    Changed,
}

/// An installed plugin.
#[derive(Debug, Clone)]
pub struct InstalledPlugin {
    /// The plugin and its parts.
    pub plugin: Plugin,
    /// Its source.
    pub source: String,
    /// When it was installed.
    pub installed: Timestamp,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Whether it is trusted.
    pub trust: PluginTrust,
    /// Digest of all its files.
    pub digest: String,
}

impl InstalledPlugin {
    /// Whether its parts are used.
    pub fn in_use(&self) -> bool {
        self.enabled && self.trust == PluginTrust::Trusted
    }
}

/// The plugins of a user.
#[derive(Debug, Clone)]
pub struct PluginStore {
    home: PathBuf,
}

impl PluginStore {
    /// The plugins in the program's own folder.
    pub fn at(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    fn folder(&self) -> PathBuf {
        self.home.join("plugins")
    }

    /// The data folder of a plugin.
    fn data(&self, name: &PluginName) -> PathBuf {
        self.home.join("plugin-data").join(name.as_str())
    }

    /// All installed plugins by name, and the problems of invalid ones.
    pub fn all(&self) -> (Vec<InstalledPlugin>, Vec<PluginProblem>) {
        let mut all = Vec::new();
        let mut problems = Vec::new();
        let dir = match Dir::open(self.folder()) {
            Ok(dir) => dir,
            Err(error) if error.is_not_found() => return (all, problems),
            Err(error) => {
                return (all, vec![PluginProblem::new(self.folder(), None, error.to_string())]);
            }
        };
        for name in self.names(&dir, &mut problems) {
            match self.read(&dir, &name) {
                Ok(installed) => all.push(installed),
                Err(problem) => problems.push(problem),
            }
        }
        (all, problems)
    }

    fn names(&self, dir: &Dir, problems: &mut Vec<PluginProblem>) -> Vec<PluginName> {
        let files = dir.names().unwrap_or_else(|error| {
            problems.push(PluginProblem::new(self.folder(), None, error.to_string()));
            Vec::new()
        });
        let stems = files.iter().filter_map(|file| file.strip_suffix(".json"));
        // Other files in the folder are not records.
        let mut names: Vec<PluginName> =
            stems.filter_map(|stem| PluginName::new(stem).ok()).collect();
        names.sort();
        names
    }

    fn record(dir: &Dir, name: &PluginName) -> Result<Record, PluginProblem> {
        let path = record_file(name);
        let full_path = dir.path().join(path.as_path());
        let problem = |line, reason: String| PluginProblem::new(&full_path, line, reason);
        let bytes = dir.read(&path).map_err(|error| problem(None, error.to_string()))?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let reason = format!("{error}; install the plugin again, or remove this file");
            problem(Some(error.line()), reason)
        })
    }

    fn read(&self, dir: &Dir, name: &PluginName) -> Result<InstalledPlugin, PluginProblem> {
        let record = Self::record(dir, name)?;
        let root = dir.path().join(name.as_str()).join(&record.copy);
        let problem = |reason: String| PluginProblem::new(&root, None, reason);
        RelPath::new(&record.copy).map_err(|error| problem(error.to_string()))?;
        let digest = PluginTree::read(&root).map_err(|error| problem(error.to_string()))?.digest();
        let (plugin, _) = Plugin::read(&root, |name| self.data(name), Some(name))?;
        if plugin.name != *name {
            return Err(problem(format!(
                "its manifest has the name `{}`, but it was installed as `{name}`; install it again",
                plugin.name
            )));
        }
        let trust = match &record.trusted {
            None => PluginTrust::Untrusted,
            Some(trusted) if *trusted == digest => PluginTrust::Trusted,
            Some(_) => PluginTrust::Changed,
        };
        let Record { source, installed, enabled, .. } = record;
        Ok(InstalledPlugin { plugin, source, installed, enabled, trust, digest })
    }

    /// The plugin with this name.
    pub fn get(&self, name: &str) -> Result<InstalledPlugin, PluginError> {
        let (all, problems) = self.all();
        let names = all.iter().map(|installed| installed.plugin.name.clone()).collect();
        let found = all.into_iter().find(|installed| installed.plugin.name.as_str() == name);
        let broken = || {
            let record = format!("{name}.json");
            let about = |problem: &PluginProblem| {
                problem.path.ends_with(&record)
                    || problem.path.starts_with(self.folder().join(name))
            };
            problems.iter().find(|problem| about(problem)).cloned()
        };
        match found {
            Some(installed) => Ok(installed),
            None => Err(match broken() {
                Some(problem) => PluginError::Invalid(problem),
                None => PluginError::Unknown { name: name.to_owned(), names },
            }),
        }
    }

    /// Installs a plugin, or updates it from the same source. It is trusted if this very content was trusted before.
    pub fn install(
        &self,
        tree: &PluginTree,
        source: &PluginSource,
        now: Timestamp,
    ) -> Result<InstalledPlugin, PluginError> {
        let dir = Dir::create(self.folder())?;
        let _lock = lock(&dir)?;
        let digest = tree.digest();
        // No record can have this name. The leftovers of an interrupted installation are overwritten.
        let staging = dir_name(".staging");
        dir.remove_folder(&staging)?;
        tree.write(&dir.create_folder(&staging)?)?;
        let staged = dir.path().join(staging.as_path());
        let read = Plugin::read(&staged, |name| self.data(name), source.default_name().as_ref());
        let (plugin, default_enabled) = read.map_err(|problem| {
            // The user knows the source, not the staging folder.
            let inside = problem.path.strip_prefix(&staged).map(Path::to_owned).unwrap_or_default();
            PluginError::Invalid(PluginProblem { path: inside, ..problem })
        })?;
        if !has_manifest(&staged) && is_empty(&plugin) {
            let reason = "no manifest, skills, commands, agents, hooks or MCP servers in it";
            return Err(PluginError::Invalid(PluginProblem::new(source.to_string(), None, reason)));
        }
        let name = plugin.name;
        let before = Self::record(&dir, &name).ok();
        if let Some(before) = before.as_ref().filter(|before| before.source != source.to_string()) {
            return Err(PluginError::NameTaken { name, from: before.source.clone() });
        }
        let copy = move_staged_copy(&dir, &staging, &name, &digest)?;
        let record = Record {
            name: name.clone(),
            source: source.to_string(),
            installed: now,
            copy,
            enabled: before
                .as_ref()
                .map_or(default_enabled != Some(false), |before| before.enabled),
            trusted: before.and_then(|before| before.trusted),
        };
        write(&dir, &record)?;
        remove_other_copies(&dir, &name, &record.copy)?;
        self.get(name.as_str())
    }

    /// Enables or disables a plugin.
    pub fn set_enabled(&self, name: &str, enabled: bool) -> Result<(), PluginError> {
        self.change(name, |record| record.enabled = enabled)
    }

    /// Trusts a plugin with the digest that was shown to the user.
    pub fn trust(&self, name: &str, digest: &str) -> Result<(), PluginError> {
        let shown = self.get(name)?;
        if shown.digest != digest {
            return Err(PluginError::Changed(shown.plugin.name));
        }
        self.change(name, |record| record.trusted = Some(digest.to_owned()))
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Record)) -> Result<(), PluginError> {
        let installed = self.get(name)?;
        let dir = Dir::open(self.folder())?;
        let _lock = lock(&dir)?;
        let mut record =
            Self::record(&dir, &installed.plugin.name).map_err(PluginError::Invalid)?;
        change(&mut record);
        Ok(write(&dir, &record)?)
    }

    /// Removes a plugin, valid or not, and its data.
    pub fn remove(&self, name: &str) -> Result<(), PluginError> {
        let unknown = |names| PluginError::Unknown { name: name.to_owned(), names };
        let Ok(name) = PluginName::new(name) else { return Err(unknown(Vec::new())) };
        let dir = Dir::create(self.folder())?;
        let _lock = lock(&dir)?;
        match dir.remove_file(&record_file(&name)) {
            Err(error) if error.is_not_found() => {
                return Err(unknown(self.names(&dir, &mut Vec::new())));
            }
            removed => removed?,
        }
        dir.remove_folder(&dir_name(name.as_str()))?;
        let data = Dir::open(self.home.clone())?;
        let kept = Path::new("plugin-data").join(name.as_str());
        RelPath::new(kept).map_or(Ok(()), |kept| Ok(data.remove_folder(&kept)?))
    }
}

/// Whether a plugin has no parts, not even invalid ones.
fn is_empty(plugin: &Plugin) -> bool {
    let Plugin { skills, commands, agents, hooks, servers, ignored, problems, .. } = plugin;
    skills.is_empty()
        && commands.is_empty()
        && agents.is_empty()
        && hooks.is_empty()
        && servers.is_empty()
        && ignored.is_empty()
        && problems.is_empty()
}

/// Renames the staged copy. An existing copy of the same content, possibly edited, stays until the record names the new
/// one.
fn move_staged_copy(
    dir: &Dir,
    staging: &RelPath,
    name: &PluginName,
    digest: &str,
) -> Result<String, FileError> {
    let copies = dir.create_folder(&dir_name(name.as_str()))?;
    let short: String = digest.chars().take(COPY_NAME_LENGTH).collect();
    let mut copy = short.clone();
    let mut number = 1;
    while copies.entry(&dir_name(&copy)).is_ok() {
        number += 1;
        copy = format!("{short}-{number}");
    }
    dir.rename(staging, &dir_name(&format!("{name}/{copy}")))?;
    copies.sync()?;
    Ok(copy)
}

fn remove_other_copies(dir: &Dir, name: &PluginName, copy: &str) -> Result<(), FileError> {
    let copies = dir.open_folder(&dir_name(name.as_str()))?;
    for entry in copies.entries()? {
        if entry.name != copy && entry.kind == EntryKind::Folder {
            copies.remove_folder(&dir_name(&entry.name))?;
        }
    }
    Ok(())
}

fn write(dir: &Dir, record: &Record) -> Result<(), FileError> {
    // Strings, a time and a flag always serialize.
    let text = serde_json::to_vec_pretty(record).unwrap_or_default();
    dir.replace(&record_file(&record.name), &text)
}

fn lock(dir: &Dir) -> Result<Lock, PluginError> {
    Lock::acquire_within(dir, &dir_name(".lock"), LOCK_TIMEOUT).map_err(|error| match error {
        LockError::File(error) => error.into(),
        held @ LockError::Held { .. } => PluginError::Busy(held),
    })
}

fn record_file(name: &PluginName) -> RelPath {
    dir_name(&format!("{name}.json"))
}

#[expect(clippy::expect_used, reason = "a checked name or a constant")]
fn dir_name(name: &str) -> RelPath {
    RelPath::new(name).expect("a valid name")
}
