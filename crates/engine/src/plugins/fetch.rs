//! Where a plugin comes from: a folder, or a git address.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::Environment;
use dormouse_permissions::SAFE_GIT_ENVIRONMENT;
use dormouse_tools::output;

use super::{PluginError, PluginName, Tree};

/// How long git may take.
const PATIENCE: Duration = Duration::from_mins(5);
/// Ways that git may go. Others run programs that an address names.
const PROTOCOLS: [&str; 4] = ["https://", "http://", "ssh://", "file://"];

/// Where a plugin comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSource {
    /// A folder on this machine.
    Folder(PathBuf),
    /// A repository, and perhaps a branch or tag of it (`#name`).
    Git {
        /// Its address.
        address: String,
        /// The branch or tag.
        reference: Option<String>,
    },
}

impl PluginSource {
    /// What a person gives: a folder, or an address.
    pub fn of(given: &str, working_directory: &Path) -> Result<Self, PluginError> {
        let is_address = given.contains("://") || is_short_ssh(given);
        if !is_address {
            let folder = working_directory.join(given);
            let refuse = |why: &str| fetch_error(given, why);
            return match folder.canonicalize() {
                Ok(folder) if folder.is_dir() => Ok(Self::Folder(folder)),
                Ok(_) => Err(refuse("it is no folder; give a folder or a git address")),
                Err(error) => Err(refuse(&format!("{error}; give a folder or a git address"))),
            };
        }
        let known = PROTOCOLS.iter().any(|protocol| given.starts_with(protocol));
        if !known && !is_short_ssh(given) {
            return Err(fetch_error(given, "the address is not https, http, ssh or file"));
        }
        let (address, reference) =
            given.split_once('#').map_or((given, None), |(a, r)| (a, Some(r)));
        if address.contains("::")
            || reference.is_some_and(|name| name.is_empty() || name.starts_with('-'))
        {
            return Err(fetch_error(given, "the address is not understood"));
        }
        Ok(Self::Git { address: address.to_owned(), reference: reference.map(str::to_owned) })
    }

    /// What a plugin without a manifest is called: the last part of its address.
    pub fn name(&self) -> Option<PluginName> {
        let last = match self {
            Self::Folder(path) => path.file_name()?.to_str()?,
            Self::Git { address, .. } => address.trim_end_matches('/').rsplit(['/', ':']).next()?,
        };
        PluginName::new(last.strip_suffix(".git").unwrap_or(last)).ok()
    }
}

/// `git@host:path`.
fn is_short_ssh(given: &str) -> bool {
    let user = given.split_once('@').map(|(user, _)| user);
    let host =
        given.split_once('@').and_then(|(_, rest)| rest.split_once(':')).map(|(host, _)| host);
    let plain = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    user.is_some_and(|user| plain(user) && !user.starts_with('-')) && host.is_some_and(plain)
}

impl fmt::Display for PluginSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => write!(f, "{}", path.display()),
            Self::Git { address, reference: None } => f.write_str(address),
            Self::Git { address, reference: Some(reference) } => write!(f, "{address}#{reference}"),
        }
    }
}

/// Gets all that is in a plugin. `scratch` is an empty folder, for git; nothing in it is run.
pub async fn fetch(
    source: &PluginSource,
    scratch: &Path,
    environment: &Environment,
) -> Result<Tree, PluginError> {
    let (address, reference) = match source {
        PluginSource::Folder(path) => return Tree::read(path),
        PluginSource::Git { address, reference } => (address, reference),
    };
    let place = scratch.join("clone");
    let text = place.to_string_lossy().into_owned();
    let mut args = vec!["clone", "--quiet", "--depth", "1", "--no-recurse-submodules"];
    args.extend(["-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=true"]);
    if let Some(reference) = reference {
        args.extend(["--branch", reference.as_str()]);
    }
    args.extend(["--", address.as_str(), text.as_str()]);
    let environment = environment.clone().with(SAFE_GIT_ENVIRONMENT).with(&[
        ("GIT_ALLOW_PROTOCOL", "https:http:ssh:file"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_SSH_COMMAND", "ssh -oBatchMode=yes"),
    ]);
    let done = output("git", &args, scratch, &environment, PATIENCE).await;
    let done = done.map_err(|error| fetch_error(address, &error.to_string()))?;
    if done.code != Some(0) {
        return Err(fetch_error(address, done.stderr.trim()));
    }
    Tree::read(&place)
}

fn fetch_error(address: &str, why: &str) -> PluginError {
    PluginError::Fetch {
        address: address.to_owned(),
        why: dormouse_base::printable(why).into_owned(),
    }
}
