//! The plugins that are installed: `plugins/<name>/<copy>` in the home, and `plugins/<name>.json`, which says which copy
//! counts, where it came from, whether it is used, and as what it was trusted.
//!
//! Invariant: that file is replaced whole, after the copy is on the disk; so an install counts whole or not at all.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::{Dir, EntryKind, FileError, Lock, LockError, RelPath};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Plugin, PluginError, PluginName, PluginProblem, PluginSource, Tree, manifest};

/// How long one waits for another process that changes plugins.
const WAIT: Duration = Duration::from_secs(10);
/// So much of a digest names a copy.
const COPY_NAME: usize = 16;

/// What is kept of a plugin.
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

/// Whether the person has trusted a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginTrust {
    /// As it is now.
    Given,
    /// Never.
    Unknown,
    /// As it was before it changed.
    Changed,
}

/// A plugin that is installed.
#[derive(Debug, Clone)]
pub struct Installed {
    /// What it brings.
    pub plugin: Plugin,
    /// Where it came from.
    pub source: String,
    /// When.
    pub installed: Timestamp,
    /// Whether it is switched on.
    pub enabled: bool,
    /// Whether it is trusted.
    pub trust: PluginTrust,
    /// Of all that is in it.
    pub digest: String,
}

impl Installed {
    /// Whether anything of it is used.
    pub fn in_use(&self) -> bool {
        self.enabled && self.trust == PluginTrust::Given
    }
}

/// The plugins of a person.
#[derive(Debug, Clone)]
pub struct PluginStore {
    home: PathBuf,
}

impl PluginStore {
    /// Those in the program's own folder.
    pub fn at(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    fn folder(&self) -> PathBuf {
        self.home.join("plugins")
    }

    /// Where a plugin may keep things.
    fn data(&self, name: &PluginName) -> PathBuf {
        self.home.join("plugin-data").join(name.as_str())
    }

    /// All that are installed, by name, and what is wrong with others.
    pub fn all(&self) -> (Vec<Installed>, Vec<PluginProblem>) {
        let (mut all, mut problems) = (Vec::new(), Vec::new());
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
        // A file that somebody else put there is no record.
        let mut names: Vec<PluginName> =
            stems.filter_map(|stem| PluginName::new(stem).ok()).collect();
        names.sort();
        names
    }

    fn record(dir: &Dir, name: &PluginName) -> Result<Record, PluginProblem> {
        let path = record_file(name);
        let place = dir.path().join(path.as_path());
        let wrong = |line, why: String| PluginProblem::new(&place, line, why);
        let bytes = dir.read(&path).map_err(|error| wrong(None, error.to_string()))?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let why = format!("{error}; install the plugin again, or remove this file");
            wrong(Some(error.line()), why)
        })
    }

    fn read(&self, dir: &Dir, name: &PluginName) -> Result<Installed, PluginProblem> {
        let record = Self::record(dir, name)?;
        let root = dir.path().join(name.as_str()).join(&record.copy);
        let wrong = |why: String| PluginProblem::new(&root, None, why);
        RelPath::new(&record.copy).map_err(|error| wrong(error.to_string()))?;
        let digest = Tree::read(&root).map_err(|error| wrong(error.to_string()))?.digest();
        let (plugin, _) = Plugin::look(&root, |name| self.data(name), Some(name))?;
        if plugin.name != *name {
            return Err(wrong(format!(
                "its manifest calls it `{}`, and it was installed as `{name}`; install it again",
                plugin.name
            )));
        }
        let trust = match &record.trusted {
            None => PluginTrust::Unknown,
            Some(trusted) if *trusted == digest => PluginTrust::Given,
            Some(_) => PluginTrust::Changed,
        };
        let Record { source, installed, enabled, .. } = record;
        Ok(Installed { plugin, source, installed, enabled, trust, digest })
    }

    /// The plugin of that name.
    pub fn get(&self, name: &str) -> Result<Installed, PluginError> {
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
                Some(problem) => PluginError::NoPlugin(problem),
                None => PluginError::Unknown { name: name.to_owned(), names },
            }),
        }
    }

    /// Installs a plugin, or brings one from the same place up to date. It is as trusted as this very content was before.
    pub fn install(
        &self,
        tree: &Tree,
        source: &PluginSource,
        now: Timestamp,
    ) -> Result<Installed, PluginError> {
        let dir = Dir::create(self.folder())?;
        let _lock = lock(&dir)?;
        let digest = tree.digest();
        // A name that no record has: what an install that died left behind is overwritten by the next.
        let staging = dir_name(".staging");
        dir.remove_folder(&staging)?;
        tree.write(&dir.create_folder(&staging)?)?;
        let staged = dir.path().join(staging.as_path());
        let looked = Plugin::look(&staged, |name| self.data(name), source.name().as_ref());
        let (plugin, default_enabled) = looked.map_err(|problem| {
            // The person knows it by where it came from.
            let inside = problem.path.strip_prefix(&staged).map(Path::to_owned).unwrap_or_default();
            PluginError::NoPlugin(PluginProblem { path: inside, ..problem })
        })?;
        if !manifest::is_there(&staged) && has_nothing(&plugin) {
            let why = "there is nothing of a plugin in it: no manifest, skills, agents, hooks or MCP servers";
            return Err(PluginError::NoPlugin(PluginProblem::new(source.to_string(), None, why)));
        }
        let name = plugin.name;
        let before = Self::record(&dir, &name).ok();
        if let Some(before) = before.as_ref().filter(|before| before.source != source.to_string()) {
            return Err(PluginError::NameTaken { name, from: before.source.clone() });
        }
        let copy = put_in_place(&dir, &staging, &name, &digest)?;
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

    /// Switches a plugin on or off.
    pub fn set_enabled(&self, name: &str, enabled: bool) -> Result<(), PluginError> {
        self.change(name, |record| record.enabled = enabled)
    }

    /// Trusts a plugin as it was shown: with this digest.
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
            Self::record(&dir, &installed.plugin.name).map_err(PluginError::NoPlugin)?;
        change(&mut record);
        Ok(write(&dir, &record)?)
    }

    /// Removes a plugin and what it kept. One that is broken goes as well.
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

/// Whether there is nothing to use, nor anything that somebody meant to be used.
fn has_nothing(plugin: &Plugin) -> bool {
    let Plugin { skills, agents, hooks, servers, ignored, problems, .. } = plugin;
    skills.is_empty()
        && agents.is_empty()
        && hooks.is_empty()
        && servers.is_empty()
        && ignored.is_empty()
        && problems.is_empty()
}

/// Gives the staged copy its name. One of the same content that was changed by hand since stays as it is until the
/// record names the new one.
fn put_in_place(
    dir: &Dir,
    staging: &RelPath,
    name: &PluginName,
    digest: &str,
) -> Result<String, FileError> {
    let copies = dir.create_folder(&dir_name(name.as_str()))?;
    let short: String = digest.chars().take(COPY_NAME).collect();
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
    // Texts, a time and a flag have no way to fail to serialise.
    let text = serde_json::to_vec_pretty(record).unwrap_or_default();
    dir.replace(&record_file(&record.name), &text)
}

fn lock(dir: &Dir) -> Result<Lock, PluginError> {
    Lock::acquire_within(dir, &dir_name(".lock"), WAIT).map_err(|error| match error {
        LockError::File(error) => error.into(),
        held @ LockError::Held { .. } => PluginError::Busy(held),
    })
}

fn record_file(name: &PluginName) -> RelPath {
    dir_name(&format!("{name}.json"))
}

#[expect(clippy::expect_used, reason = "a checked name, or a fixed one")]
fn dir_name(name: &str) -> RelPath {
    RelPath::new(name).expect("a plain name")
}
