//! Where reading needs no confirmation.

use std::fmt;
use std::path::{Path, PathBuf};

use super::credentials;
use super::reach::Reach;

/// Where reading needs no confirmation, besides the working directory and the added folders.
#[derive(Debug, Clone, Default)]
pub struct ReadingScope {
    home: Option<PathBuf>,
    free: Vec<PathBuf>,
}

/// Folders of software that everybody may read, and of what commands leave behind.
const OF_SYSTEM: &[&str] = &[
    "/usr/include",
    "/usr/lib",
    "/usr/share",
    "/usr/local/include",
    "/usr/local/lib",
    "/usr/local/share",
    "/usr/src",
    "/lib",
    "/lib64",
    "/tmp",
    "/var/tmp",
    "/nix/store",
];
/// Sources and tools that package managers keep in the user's home.
const IN_HOME: &[&str] = &[
    ".cargo/registry",
    ".cargo/git",
    ".rustup/toolchains",
    "go/pkg/mod",
    ".npm",
    ".cache",
    ".local/lib",
    ".local/share/pnpm",
    ".nvm/versions",
    ".pyenv/versions",
    ".m2/repository",
    ".gradle/caches",
    ".claude/skills",
    ".claude/plugins",
    ".claude/agents",
    ".claude/commands",
];
/// Files of `/proc` and `/dev` that say nothing about anybody.
const HARMLESS: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/version",
    "/etc/os-release",
    "/etc/debian_version",
    "/etc/hostname",
    "/etc/timezone",
];

impl ReadingScope {
    /// The user's home, and folders that may be read: the project, and what the program itself keeps.
    pub fn new(home: Option<PathBuf>, free: impl IntoIterator<Item = PathBuf>) -> Self {
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let home = home.map(real);
        let system = OF_SYSTEM.iter().map(PathBuf::from);
        let in_home = home.iter().flat_map(|home| IN_HOME.iter().map(|name| home.join(name)));
        let free = free.into_iter().chain(system).chain(in_home).map(real).collect();
        Self { home, free }
    }

    /// The user's home.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Why reading this needs confirmation; `project` are the folders of the project.
    pub(crate) fn objection(&self, reach: &Reach, project: &[PathBuf]) -> Option<ReadingObjection> {
        let path = reach.path();
        let object = |need, path: &Path| Some(ReadingObjection { need, path: path.to_owned() });
        if let Reach::Below(folder) = reach
            && let Some(place) = credentials::below(folder, self.home())
        {
            return object(ReadingNeed::Credentials, &place);
        }
        // Also in a project that is the home folder, and before there is anything.
        if credentials::is_known_place(path, self.home()) {
            return object(ReadingNeed::Credentials, path);
        }
        if !path.exists() {
            return None;
        }
        if project.iter().any(|root| path.starts_with(root)) {
            return None;
        }
        if credentials::has_telling_name(path) {
            return object(ReadingNeed::Credentials, path);
        }
        let is_free =
            self.free.iter().any(|root| path.starts_with(root) && !self.opens_home(root, path));
        let is_harmless = HARMLESS.iter().any(|known| path == Path::new(known));
        // The folders above the project only lead to it.
        let leads_to_project =
            matches!(reach, Reach::Path(_)) && project.iter().any(|root| root.starts_with(path));
        if is_free || is_harmless || leads_to_project {
            return None;
        }
        object(ReadingNeed::Outside, path)
    }

    /// Whether a folder that may be read lies above the home of the user, and the path in it: a home in the temporary
    /// folder is still a home.
    fn opens_home(&self, root: &Path, path: &Path) -> bool {
        self.home().is_some_and(|home| home.starts_with(root) && path.starts_with(home))
    }

    /// The environments of processes need confirmation even where nothing else does.
    pub(crate) fn environment_of_process(reach: &Reach) -> Option<ReadingObjection> {
        let path = match reach {
            Reach::Path(path) if credentials::is_environment(path) => path.clone(),
            Reach::Below(folder) if folder.starts_with("/proc") || folder == Path::new("/") => {
                folder.clone()
            }
            Reach::Path(_) | Reach::Below(_) | Reach::Tracked(_) => return None,
        };
        Some(ReadingObjection { need: ReadingNeed::Credentials, path })
    }
}

/// What kind of confirmation reading needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadingNeed {
    /// Each time: the file holds keys or passwords.
    Credentials,
    /// Once for the folder: it is outside the project.
    Outside,
}

/// Why reading a file needs confirmation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadingObjection {
    pub(crate) need: ReadingNeed,
    pub(crate) path: PathBuf,
}

impl ReadingObjection {
    /// The folder that a confirmation is for.
    pub(crate) fn folder(&self) -> PathBuf {
        match self.path.parent() {
            Some(parent) if !self.path.is_dir() => parent.to_owned(),
            _ => self.path.clone(),
        }
    }
}

impl fmt::Display for ReadingObjection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.need {
            ReadingNeed::Credentials => {
                write!(f, "it can read {path}, which may hold keys or passwords")
            }
            ReadingNeed::Outside => write!(f, "it reads {path}, outside the project"),
        }
    }
}
