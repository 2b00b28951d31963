//! The sandbox of commands: its policy from project, settings and environment, and whether the system has one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_base::{
    Environment, Project, SandboxMode, SandboxNetwork, SandboxSettings, git_folder,
    is_home_or_above, names,
};
use dormouse_permissions::{PermissionGate, PermissionRule, SandboxRules, credential_places};
use dormouse_sandbox::{NetworkAccess, SandboxPlaces, SandboxPolicy, SandboxSupport, support};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;

/// Whether commands of a session are restricted, and how.
#[derive(Debug, Clone)]
pub(crate) enum SandboxStatus {
    /// They run in the sandbox.
    On(Arc<SandboxPolicy>),
    /// The settings turn it off.
    Off,
    /// The system has none.
    Unsupported,
}

/// What a session's tools may do: the gate for calls, and the sandbox for commands, if there is one.
#[derive(Debug, Clone)]
pub(crate) struct SessionPermissions {
    pub(crate) gate: PermissionGate,
    pub(crate) sandbox: Option<Arc<SandboxPolicy>>,
}

impl SandboxStatus {
    /// Whether commands are restricted in this project. `added` are further folders of the session.
    pub(crate) fn look(
        settings: &SandboxSettings,
        project: &Project,
        environment: &Environment,
        added: &[PathBuf],
    ) -> Self {
        match (settings.mode, support()) {
            (SandboxMode::Off, _) => Self::Off,
            (SandboxMode::Auto, SandboxSupport::None) => Self::Unsupported,
            (SandboxMode::Auto, SandboxSupport::Landlock(_) | SandboxSupport::Seatbelt) => {
                Self::On(Arc::new(policy(settings, project, environment, added)))
            }
        }
    }

    /// The gate knows of the sandbox: what runs in it may need no confirmation.
    pub(crate) fn apply(
        self,
        gate: PermissionGate,
        settings: &SandboxSettings,
    ) -> Result<SessionPermissions, Failure> {
        Ok(match self {
            Self::On(policy) => SessionPermissions {
                gate: gate.with_sandbox(rules(settings)?),
                sandbox: Some(policy),
            },
            Self::Off | Self::Unsupported => SessionPermissions { gate, sandbox: None },
        })
    }

    /// One line about it, for the user.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::On(policy) if policy.network == NetworkAccess::None => {
                msg!("sandbox-on-without-network")
            }
            Self::On(_) => msg!("sandbox-on"),
            Self::Off => msg!("sandbox-off"),
            Self::Unsupported => msg!("sandbox-unsupported"),
        }
    }
}

/// How the sandbox bears on permissions.
fn rules(settings: &SandboxSettings) -> Result<SandboxRules, Failure> {
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
    let writable = working_folders(project, home.as_deref(), git_folder.as_deref())
        .into_iter()
        .chain(added.iter().cloned())
        .chain(settings.writable.iter().cloned())
        .chain(temporary_folders(environment));
    SandboxPlaces {
        checkout: project.checkout.clone(),
        writable: writable.collect(),
        hidden: credential_places(home.as_deref()),
        runtime: environment.path(names::XDG_RUNTIME_DIR),
        key_agents: environment.path(names::SSH_AUTH_SOCK).into_iter().collect(),
        network: match settings.network {
            SandboxNetwork::Allow => NetworkAccess::Allow,
            SandboxNetwork::None => NetworkAccess::None,
        },
        home,
        git_folder,
    }
    .policy()
}

/// The checkout and what git writes of it elsewhere. A home folder, and what is above one, is no project.
fn working_folders(
    project: &Project,
    home: Option<&Path>,
    git_folder: Option<&Path>,
) -> Vec<PathBuf> {
    let of_main = project.root.join(".git");
    let candidates = [Some(project.checkout.as_path()), git_folder, Some(of_main.as_path())];
    candidates
        .into_iter()
        .flatten()
        .filter(|folder| !is_home_or_above(folder, home) && folder.exists())
        .map(Path::to_owned)
        .collect()
}

fn temporary_folders(environment: &Environment) -> Vec<PathBuf> {
    let own = environment.path(names::TMPDIR);
    own.into_iter().chain(["/tmp", "/var/tmp"].map(PathBuf::from)).collect()
}
