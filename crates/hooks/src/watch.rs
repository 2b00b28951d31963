//! Detects changes of settings files and of files that hooks watch, by modification time and size, at every turn and
//! tool round.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use dormouse_base::SettingsSource;

/// The most watched files: each is checked in every round.
const MOST: usize = 1_000;

/// Modification time and size at the last check; `None` if the file did not exist.
type Stamp = Option<(SystemTime, u64)>;

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    pub(crate) path: PathBuf,
    /// `add`, `change` or `unlink`.
    pub(crate) event: &'static str,
}

/// The files that are watched.
#[derive(Debug, Default)]
pub(crate) struct FileWatch {
    settings: Vec<(SettingsSource, PathBuf, Stamp)>,
    files: BTreeMap<PathBuf, Stamp>,
}

impl FileWatch {
    pub(crate) fn new(settings: &[(SettingsSource, PathBuf)]) -> Self {
        let look =
            |(source, path): &(SettingsSource, PathBuf)| (*source, path.clone(), stamp(path));
        Self { settings: settings.iter().map(look).collect(), files: BTreeMap::new() }
    }

    /// Watches more files; relative paths are relative to `folder`.
    pub(crate) fn add(&mut self, paths: impl IntoIterator<Item = PathBuf>, folder: &Path) {
        for path in paths {
            let path = folder.join(path);
            if self.files.len() < MOST && !self.files.contains_key(&path) {
                let seen = stamp(&path);
                self.files.insert(path, seen);
            }
        }
    }

    /// The settings files that have changed since the last call.
    pub(crate) fn settings_changed(&mut self) -> Vec<(SettingsSource, PathBuf)> {
        let mut changed = Vec::new();
        for (source, path, seen) in &mut self.settings {
            let now = stamp(path);
            if std::mem::replace(seen, now) != now {
                changed.push((*source, path.clone()));
            }
        }
        changed
    }

    /// The other files that have changed since the last call.
    pub(crate) fn files_changed(&mut self) -> Vec<FileChange> {
        let mut changed = Vec::new();
        for (path, seen) in &mut self.files {
            let now = stamp(path);
            let event = match (std::mem::replace(seen, now), now) {
                (None, Some(_)) => "add",
                (Some(_), None) => "unlink",
                (before, now) if before != now => "change",
                _ => continue,
            };
            changed.push(FileChange { path: path.clone(), event });
        }
        changed
    }
}

fn stamp(path: &Path) -> Stamp {
    let found = std::fs::metadata(path).ok()?;
    Some((found.modified().unwrap_or(SystemTime::UNIX_EPOCH), found.len()))
}

/// The name of a settings source in the hook contract.
pub(crate) fn source_name(source: SettingsSource) -> &'static str {
    match source {
        SettingsSource::User => "user_settings",
        SettingsSource::Project => "project_settings",
        SettingsSource::Local => "local_settings",
        SettingsSource::Managed => "policy_settings",
        SettingsSource::CommandLine => "command_line",
    }
}

#[cfg(test)]
mod tests {
    use dormouse_base::Dir;

    use super::*;

    #[test]
    fn each_change_is_seen_once() {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open(folder.path()).unwrap();
        let name = dormouse_base::RelPath::new("a").unwrap();
        let mut watch = FileWatch::default();
        watch.add([PathBuf::from("a"), PathBuf::from("b")], folder.path());
        assert!(watch.files_changed().is_empty());
        let mut seen = |event: &str| {
            let changed = watch.files_changed();
            assert_eq!(changed.iter().map(|c| c.event).collect::<Vec<_>>(), [event]);
            assert!(watch.files_changed().is_empty());
        };
        dir.replace(&name, b"1").unwrap();
        seen("add");
        dir.replace(&name, b"12").unwrap();
        seen("change");
        dir.remove_file(&name).unwrap();
        seen("unlink");
    }
}
