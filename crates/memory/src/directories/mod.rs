//! Which directories hold memories (M-4, M-12), and which are refused.
//!
//! Git is not called here: the properties of a repository are passed in.

mod project;

use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

pub use project::{ProjectMemory, RepositoryIdentity, project_memory};

/// The origin of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectorySource {
    /// An environment variable.
    Environment,
    /// The user's or managed settings.
    Setting,
    /// The default.
    Default,
}

/// The configured directories. Project settings have no influence.
#[derive(Debug, Clone, Copy)]
pub struct DirectoryChoice<'a> {
    /// The environment variable.
    pub environment: Option<&'a str>,
    /// The user's or managed setting.
    pub setting: Option<&'a str>,
    /// The default directory.
    pub default: &'a Path,
    /// Home folder of the user, for `~/`.
    pub user_home: Option<&'a Path>,
}

/// Why a directory is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{path}` cannot be the memory directory: {why}")]
pub struct DirectoryError {
    /// The path, printable.
    pub path: String,
    /// What is wrong with it, and what to do.
    pub why: &'static str,
}

/// The directory to use: from the environment, the settings, or the default.
pub fn memory_directory(
    choice: DirectoryChoice<'_>,
) -> Result<(PathBuf, DirectorySource), DirectoryError> {
    let chosen = |text: Option<&str>| {
        text.filter(|text| !text.is_empty()).map(|text| checked_directory(text, choice.user_home))
    };
    if let Some(path) = chosen(choice.environment) {
        return Ok((path?, DirectorySource::Environment));
    }
    if let Some(path) = chosen(choice.setting) {
        return Ok((path?, DirectorySource::Setting));
    }
    Ok((choice.default.to_owned(), DirectorySource::Default))
}

/// Validates a configured directory. `~/` is the user's home folder.
pub fn checked_directory(text: &str, user_home: Option<&Path>) -> Result<PathBuf, DirectoryError> {
    let refuse =
        |why| Err(DirectoryError { path: dormouse_base::printable(text).into_owned(), why });
    if text.contains('\0') {
        return refuse("it contains a NUL byte");
    }
    if text.starts_with("\\\\") || text.starts_with("//") {
        return refuse("it is on another machine; choose a folder of this one");
    }
    let mut letters = text.chars();
    if letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':') {
        return refuse("drives are not known here; give a path that begins with `/` or `~/`");
    }
    let path = match (text.strip_prefix("~/"), user_home) {
        (Some(below), Some(home)) => home.join(below),
        (Some(_), None) => return refuse("there is no home folder for `~`"),
        (None, _) => PathBuf::from(text),
    };
    if !path.is_absolute() {
        return refuse("it is relative; give an absolute path");
    }
    if path.components().any(|part| part == Component::ParentDir) {
        return refuse("it contains `..`; give the plain path");
    }
    let plain: PathBuf = path.components().collect();
    if plain.components().count() <= 2 {
        return refuse("it is the root folder or right below it; choose one deeper down");
    }
    if goes_through_a_strangers_link(&plain) {
        return refuse("it goes through a link of another user; give the real folder");
    }
    Ok(plain)
}

/// Links that belong to the system are safe.
fn goes_through_a_strangers_link(path: &Path) -> bool {
    let own = rustix::process::getuid().as_raw();
    path.ancestors().any(|part| {
        part.symlink_metadata().is_ok_and(|found| {
            found.file_type().is_symlink() && found.uid() != own && found.uid() != 0
        })
    })
}

/// The directory of the user's memory.
pub fn user_memory(home: &Path) -> PathBuf {
    home.join("memory")
}

/// The directory in a repository, for memories that are kept with it.
pub fn repository_memory(checkout: &Path) -> PathBuf {
    checkout.join(".dormouse").join("memory")
}

/// The team's directory, in the project's.
pub fn team_memory(project_memory: &Path) -> PathBuf {
    project_memory.join("team")
}

/// The daily log of a date (M-20), relative to the memory directory: `logs/2026/11/2026-11-15.md`.
pub fn daily_log(date: jiff::civil::Date) -> String {
    format!("{}/{:04}/{:02}/{date}.md", crate::names::LOGS, date.year(), date.month())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_comes_before_the_setting() {
        let home = Path::new("/home/u");
        let choose = |environment, setting| {
            let default = Path::new("/home/u/.dormouse/memory");
            memory_directory(DirectoryChoice {
                environment,
                setting,
                default,
                user_home: Some(home),
            })
            .unwrap()
        };
        assert_eq!(
            choose(Some("/e/f"), Some("/s/t")),
            ("/e/f".into(), DirectorySource::Environment)
        );
        assert_eq!(
            choose(Some(""), Some("~/notes")),
            ("/home/u/notes".into(), DirectorySource::Setting)
        );
        assert_eq!(choose(None, None).1, DirectorySource::Default);
    }

    #[test]
    fn dangerous_directories_are_refused() {
        for path in [
            "",
            "notes",
            "./notes",
            "../notes",
            "/",
            "//",
            "/tmp",
            "/tmp/",
            "/./tmp",
            "C:\\",
            "C:/notes",
            "c:notes",
            "\\\\server\\share",
            "//server/share",
            "/a\0/b",
            "/home/u/../../etc",
            "~",
            "~root/x",
        ] {
            let error = checked_directory(path, Some(Path::new("/home/u"))).unwrap_err();
            assert!(error.to_string().len() > 30, "{path:?}: {error}");
        }
        assert!(checked_directory("/home/u", None).is_ok());
        assert!(checked_directory("~/x", None).is_err());
    }

    #[test]
    fn places() {
        assert_eq!(repository_memory(Path::new("/r")), Path::new("/r/.dormouse/memory"));
        assert_eq!(team_memory(Path::new("/m")), Path::new("/m/team"));
        assert_eq!(daily_log(jiff::civil::date(2026, 3, 7)), "logs/2026/03/2026-03-07.md");
    }
}
