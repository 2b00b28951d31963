//! Sources of plugins: folders and git repositories.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::Environment;
use dormouse_permissions::SAFE_GIT_ENVIRONMENT;
use dormouse_tools::output;

use super::plugin::{PluginError, PluginName};
use super::tree::PluginTree;

/// Timeout of git.
const GIT_TIMEOUT: Duration = Duration::from_mins(5);
/// Allowed protocols. Others can run programs named by the address.
const PROTOCOLS: [&str; 4] = ["https://", "http://", "ssh://", "file://"];

/// The source of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSource {
    /// A folder on this machine.
    Folder(PathBuf),
    /// A git repository, with an optional branch or tag (`#name`).
    Git {
        /// Its address.
        address: String,
        /// The branch or tag.
        reference: Option<String>,
    },
}

impl PluginSource {
    /// Parses a folder or an address.
    pub fn parse(given: &str, working_directory: &Path) -> Result<Self, PluginError> {
        let is_address = given.contains("://") || is_short_ssh(given);
        if !is_address {
            let folder = working_directory.join(given);
            let refuse = |reason: &str| fetch_error(given, reason);
            return match folder.canonicalize() {
                Ok(folder) if folder.is_dir() => Ok(Self::Folder(folder)),
                Ok(_) => Err(refuse("not a folder; expected a folder or a git address")),
                Err(error) => Err(refuse(&format!("{error}; expected a folder or a git address"))),
            };
        }
        let known = PROTOCOLS.iter().any(|protocol| given.starts_with(protocol));
        if !known && !is_short_ssh(given) {
            return Err(fetch_error(given, "unsupported protocol; use https, http, ssh or file"));
        }
        let (address, reference) =
            given.split_once('#').map_or((given, None), |(a, r)| (a, Some(r)));
        if address.contains("::")
            || reference.is_some_and(|name| name.is_empty() || name.starts_with('-'))
        {
            return Err(fetch_error(given, "invalid address"));
        }
        Ok(Self::Git { address: address.to_owned(), reference: reference.map(str::to_owned) })
    }

    /// The name of a plugin without a manifest: the last part of its address.
    pub fn default_name(&self) -> Option<PluginName> {
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

/// Reads all files of a plugin. `scratch` is an empty folder for git; nothing in it is run.
pub async fn fetch_plugin(
    source: &PluginSource,
    scratch: &Path,
    environment: &Environment,
) -> Result<PluginTree, PluginError> {
    let (address, reference) = match source {
        PluginSource::Folder(path) => return PluginTree::read(path),
        PluginSource::Git { address, reference } => (address, reference),
    };
    let clone = scratch.join("clone");
    let text = clone.to_string_lossy().into_owned();
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
    let done = output("git", &args, scratch, &environment, GIT_TIMEOUT).await;
    let done = done.map_err(|error| fetch_error(address, &error.to_string()))?;
    if done.code != Some(0) {
        return Err(fetch_error(address, done.stderr.trim()));
    }
    PluginTree::read(&clone)
}

fn fetch_error(address: &str, reason: &str) -> PluginError {
    PluginError::Fetch {
        address: address.to_owned(),
        reason: dormouse_base::printable(reason).into_owned(),
    }
}
