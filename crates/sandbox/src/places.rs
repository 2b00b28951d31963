//! Known places: caches of package managers, files that run code later, sockets of services.

use std::path::{Path, PathBuf};

use crate::policy::{NetworkAccess, SandboxPolicy};

/// What the policy of a project is computed from.
#[derive(Debug, Clone, Default)]
pub struct SandboxPlaces {
    /// The checkout whose files are worked on.
    pub checkout: PathBuf,
    /// The checkout's `.git`, or what that names.
    pub git_folder: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The folder of the user's sockets.
    pub runtime: Option<PathBuf>,
    /// Sockets of agents that hold keys.
    pub key_agents: Vec<PathBuf>,
    /// Further folders and files that may be written, the checkout among them if it may be.
    pub writable: Vec<PathBuf>,
    /// Credentials.
    pub hidden: Vec<PathBuf>,
    /// Whether the network may be used.
    pub network: NetworkAccess,
}

impl SandboxPlaces {
    /// What commands may do there.
    pub fn policy(self) -> SandboxPolicy {
        let Self { checkout, git_folder, home, runtime, key_agents, writable, hidden, network } =
            self;
        let of_home = home.iter().flat_map(|home| writable_in_home(home));
        let writable = writable.into_iter().chain(of_home);
        SandboxPolicy {
            writable: writable.map(|path| path.canonicalize().unwrap_or(path)).collect(),
            hidden,
            protected: protected_files(&checkout, git_folder.as_deref()),
            sockets: private_sockets(runtime.as_deref(), home.as_deref(), key_agents),
            network,
        }
    }
}

/// Caches of package managers in the user's home: never their configuration, never folders of programs.
const CACHES: &[&str] = &[
    ".cache",
    ".cargo/registry",
    ".cargo/git",
    ".npm",
    ".pnpm-store",
    ".local/share/pnpm/store",
    ".yarn/berry/cache",
    ".bun/install/cache",
    ".cache/deno",
    "go/pkg",
    ".m2/repository",
    ".gradle/caches",
    ".gradle/daemon",
    ".gradle/native",
    ".gradle/wrapper/dists",
    ".ivy2/cache",
    ".sbt/boot",
    ".nuget/packages",
    ".composer/cache",
    ".pub-cache/hosted",
    ".hex/packages",
    ".cabal/packages",
    ".stack/pantry",
    ".conan2/p",
    ".node-gyp",
    "Library/Caches",
];

/// Files in the user's home with which package managers take turns.
const LOCKS: &[&str] =
    &[".cargo/.package-cache", ".cargo/.package-cache-mutate", ".cargo/.global-cache"];

/// Files of a repository that make git or this program run something later.
const IN_GIT_FOLDER: &[&str] =
    &["config", "config.worktree", "hooks", "info/attributes", "commondir"];
const IN_PROJECT: &[&str] = &[".dormouse", ".mcp.json"];

/// What of a home may be written: caches, and the files with which package managers take turns.
fn writable_in_home(home: &Path) -> impl Iterator<Item = PathBuf> {
    CACHES.iter().chain(LOCKS).map(|name| home.join(name))
}

/// Files below a checkout that make git or this program run something later. `git_folder` is the checkout's `.git` or what it
/// names.
fn protected_files(checkout: &Path, git_folder: Option<&Path>) -> Vec<PathBuf> {
    let of_project = IN_PROJECT.iter().map(|name| checkout.join(name));
    let of_git = git_folder
        .into_iter()
        .flat_map(|folder| IN_GIT_FOLDER.iter().map(|name| folder.join(name)));
    of_project.chain(of_git).collect()
}

/// Sockets of services that would do what the command itself may not: containers, the user's session, agents with keys.
fn private_sockets(
    runtime: Option<&Path>,
    home: Option<&Path>,
    agents: impl IntoIterator<Item = PathBuf>,
) -> Vec<PathBuf> {
    let of_system = [
        "/run/docker.sock",
        "/var/run/docker.sock",
        "/run/podman/podman.sock",
        "/run/containerd/containerd.sock",
        "/run/dbus/system_bus_socket",
        "/run/systemd/private",
    ];
    let in_runtime =
        ["bus", "systemd/private", "podman/podman.sock", "docker.sock", "gnupg", "keyring"];
    let in_home = [".docker/run/docker.sock", ".colima/default/docker.sock"];
    of_system
        .into_iter()
        .map(PathBuf::from)
        .chain(runtime.into_iter().flat_map(|runtime| in_runtime.map(|name| runtime.join(name))))
        .chain(home.into_iter().flat_map(|home| in_home.map(|name| home.join(name))))
        .chain(agents)
        .collect()
}
