//! The sandbox of commands: its policy from project, settings and environment, and whether the system has one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_base::{
    Environment, Project, SandboxMode, SandboxNetwork, SandboxSettings, git_folder, names,
};
use dormouse_permissions::{PermissionGate, PermissionRule, SandboxRules, credential_places};
use dormouse_sandbox::{
    NetworkAccess, SandboxPolicy, SandboxSupport, cache_folders, lock_files, private_sockets,
    protected_files, support,
};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::world::World;

/// How commands of a session are restricted.
#[derive(Debug, Clone)]
pub(crate) enum CommandConfinement {
    /// They run in the sandbox.
    Sandboxed(Arc<SandboxPolicy>),
    /// The settings turn it off.
    Off,
    /// The system has none.
    Unsupported,
}

/// How commands are restricted in this project. `added` are further folders of the session.
pub(crate) fn confinement(
    settings: &SandboxSettings,
    project: &Project,
    environment: &Environment,
    added: &[PathBuf],
) -> CommandConfinement {
    match (settings.mode, support()) {
        (SandboxMode::Off, _) => CommandConfinement::Off,
        (SandboxMode::Auto, SandboxSupport::None) => CommandConfinement::Unsupported,
        (SandboxMode::Auto, SandboxSupport::Landlock(_) | SandboxSupport::Seatbelt) => {
            CommandConfinement::Sandboxed(Arc::new(policy(settings, project, environment, added)))
        }
    }
}

/// What commands of a session may do; none if they are not restricted.
pub(crate) fn session_policy(
    settings: &SandboxSettings,
    project: &Project,
    world: &World,
    gate: &PermissionGate,
) -> Option<Arc<SandboxPolicy>> {
    confinement(settings, project, &world.environment, gate.added_folders()).policy()
}

impl CommandConfinement {
    /// What commands may do; none if they are not restricted.
    pub(crate) fn policy(&self) -> Option<Arc<SandboxPolicy>> {
        match self {
            Self::Sandboxed(policy) => Some(Arc::clone(policy)),
            Self::Off | Self::Unsupported => None,
        }
    }

    /// One line about it, for the user.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Sandboxed(policy) if policy.network == NetworkAccess::None => {
                msg!("sandbox-on-without-network")
            }
            Self::Sandboxed(_) => msg!("sandbox-on"),
            Self::Off => msg!("sandbox-off"),
            Self::Unsupported => msg!("sandbox-unsupported"),
        }
    }
}

/// How the sandbox bears on permissions.
pub(crate) fn rules(settings: &SandboxSettings) -> Result<SandboxRules, Failure> {
    let parse = |text: &String| {
        format!("Bash({text})").parse::<PermissionRule>().map_err(|error| {
            Failure::usage(anyhow::anyhow!(error))
                .hint(msg!("sandbox-excluded-hint", rule = text.as_str()))
        })
    };
    let excluded = settings.excluded.iter().map(parse).collect::<Result<_, _>>()?;
    Ok(SandboxRules { excluded, auto_allow: settings.auto_allow })
}

fn policy(
    settings: &SandboxSettings,
    project: &Project,
    environment: &Environment,
    added: &[PathBuf],
) -> SandboxPolicy {
    let home = environment.path(names::USER_HOME);
    let git_folder = git_folder(&project.checkout);
    let of_home =
        home.iter().flat_map(|home| cache_folders(home).into_iter().chain(lock_files(home)));
    let writable = working_folders(project, home.as_deref(), git_folder.as_deref())
        .into_iter()
        .chain(added.iter().cloned())
        .chain(settings.writable.iter().cloned())
        .chain(temporary_folders(environment))
        .chain(of_home)
        .map(|path| path.canonicalize().unwrap_or(path));
    let agents = [names::SSH_AUTH_SOCK].into_iter().filter_map(|name| environment.path(name));
    let runtime = environment.path(names::XDG_RUNTIME_DIR);
    SandboxPolicy {
        writable: writable.collect(),
        hidden: credential_places(home.as_deref()),
        protected: protected_files(&project.checkout, git_folder.as_deref()),
        sockets: private_sockets(runtime.as_deref(), home.as_deref(), agents),
        network: match settings.network {
            SandboxNetwork::Allow => NetworkAccess::Allow,
            SandboxNetwork::None => NetworkAccess::None,
        },
    }
}

/// The checkout and what git writes of it elsewhere. A home folder, and what is above one, is no project.
fn working_folders(
    project: &Project,
    home: Option<&Path>,
    git_folder: Option<&Path>,
) -> Vec<PathBuf> {
    let is_too_wide = |folder: &Path| {
        folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder))
    };
    let of_main = project.root.join(".git");
    let candidates = [Some(project.checkout.as_path()), git_folder, Some(of_main.as_path())];
    candidates
        .into_iter()
        .flatten()
        .filter(|folder| !is_too_wide(folder) && folder.exists())
        .map(Path::to_owned)
        .collect()
}

fn temporary_folders(environment: &Environment) -> Vec<PathBuf> {
    let own = environment.path(names::TMPDIR);
    own.into_iter().chain(["/tmp", "/var/tmp"].map(PathBuf::from)).collect()
}
