//! The name of a repository: the same for everybody, however they cloned it (T-1).

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Bytes of a name.
const LONGEST: usize = 255;

/// A repository as `host/owner/repo`, made from its git remote. The ssh and https forms of a remote have one name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepositoryName(String);

/// Why a remote names no repository.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RepositoryNameError {
    /// A folder on this machine.
    #[error(
        "the remote is a folder of this machine, which others cannot share; name the repository with `--repository HOST/OWNER/REPO`"
    )]
    LocalFolder,
    /// Neither a URL nor `host/owner/repo`.
    #[error("`{0}` does not name a repository; `host/owner/repo` is expected")]
    Form(String),
}

/// Hosts that answer ssh under another name than https.
const SSH_HOSTS: &[(&str, &str)] = &[
    ("ssh.github.com", "github.com"),
    ("altssh.gitlab.com", "gitlab.com"),
    ("altssh.bitbucket.org", "bitbucket.org"),
    ("ssh.dev.azure.com", "dev.azure.com"),
];

impl RepositoryName {
    /// The name of a repository with this remote.
    pub fn from_remote(remote: &str) -> Result<Self, RepositoryNameError> {
        let remote = remote.trim();
        let wrong = || RepositoryNameError::Form(shown(remote));
        if let Some((scheme, rest)) = remote.split_once("://") {
            if scheme.eq_ignore_ascii_case("file") {
                return Err(RepositoryNameError::LocalFolder);
            }
            let (authority, path) = rest.split_once('/').ok_or_else(wrong)?;
            return Self::of(authority, path).ok_or_else(wrong);
        }
        if remote.starts_with(['/', '.', '~']) {
            return Err(RepositoryNameError::LocalFolder);
        }
        // `git@host:owner/repo`; a `/` before the `:` makes it a path.
        match remote.split_once(':') {
            Some((authority, path)) if !authority.contains('/') => {
                Self::of(authority, path.trim_start_matches('/')).ok_or_else(wrong)
            }
            Some(_) | None => Err(RepositoryNameError::LocalFolder),
        }
    }

    /// A name as it is written in settings: `host/owner/repo`.
    pub fn new(name: &str) -> Result<Self, RepositoryNameError> {
        let wrong = || RepositoryNameError::Form(shown(name));
        let (host, path) = name.trim().split_once('/').ok_or_else(wrong)?;
        if host.contains(['@', ':']) {
            return Err(wrong());
        }
        Self::of(host, path).ok_or_else(wrong)
    }

    fn of(authority: &str, path: &str) -> Option<Self> {
        let host = authority.rsplit('@').next().unwrap_or(authority);
        let host = match host.split_once(']') {
            Some((address, _)) => format!("{address}]"),
            None => host.split(':').next().unwrap_or(host).to_owned(),
        };
        let host = host.to_ascii_lowercase();
        let other = SSH_HOSTS.iter().find(|(ssh, _)| *ssh == host).map(|(_, https)| *https);
        let host = other.unwrap_or(&host);
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let mut parts: Vec<&str> = path.split('/').collect();
        if host == "dev.azure.com" {
            // `v3/org/project/repo` by ssh, `org/project/_git/repo` by https.
            parts.retain(|part| *part != "_git" && *part != "v3");
        }
        let is_name = |part: &&str| {
            !part.is_empty()
                && !part.starts_with("..")
                && *part != "."
                && part
                    .chars()
                    .all(|c| !c.is_control() && !c.is_whitespace() && !"?#\\\"<>|*".contains(c))
        };
        let is_host =
            !host.is_empty() && is_name(&host) && !parts.is_empty() && parts.iter().all(is_name);
        let name = format!("{host}/{}", parts.join("/"));
        (is_host && name.len() <= LONGEST).then_some(Self(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A remote without user and password, for messages.
fn shown(remote: &str) -> String {
    let rest = remote.rsplit_once('@').map_or(remote, |(_, rest)| rest);
    dormouse_base::printable(&rest.chars().take(100).collect::<String>()).into_owned()
}

impl TryFrom<String> for RepositoryName {
    type Error = RepositoryNameError;

    fn try_from(name: String) -> Result<Self, RepositoryNameError> {
        Self::new(&name)
    }
}

impl From<RepositoryName> for String {
    fn from(name: RepositoryName) -> Self {
        name.0
    }
}

impl fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(remote: &str, expected: &str) {
        let name = RepositoryName::from_remote(remote);
        assert_eq!(name.map(|name| name.to_string()), Ok(expected.to_owned()), "{remote}");
    }

    #[test]
    fn every_form_of_a_remote_has_one_name() {
        for remote in [
            "https://github.com/owner/repo.git",
            "https://github.com/owner/repo",
            "https://user:password@GitHub.com:443/owner/repo.git/",
            "git@github.com:owner/repo.git",
            "github.com:owner/repo",
            "ssh://git@github.com/owner/repo.git",
            "ssh://git@ssh.github.com:443/owner/repo.git",
            "git+ssh://git@github.com:22/owner/repo",
            " git@github.com:/owner/repo.git\n",
        ] {
            check(remote, "github.com/owner/repo");
        }
        check("git@gitlab.example:group/sub/repo.git", "gitlab.example/group/sub/repo");
        check("http://[::1]:3000/a/b", "[::1]/a/b");
        check("git@ssh.dev.azure.com:v3/org/project/repo", "dev.azure.com/org/project/repo");
        check("https://org@dev.azure.com/org/project/_git/repo", "dev.azure.com/org/project/repo");
    }

    #[test]
    fn a_folder_is_no_name_and_no_password_is_shown() {
        for remote in ["/srv/repo.git", "../repo", "~/repo", "file:///srv/repo.git", "sub/a:b"] {
            assert_eq!(
                RepositoryName::from_remote(remote),
                Err(RepositoryNameError::LocalFolder),
                "{remote}"
            );
        }
        for remote in [
            "https://host",
            "https:///a/b",
            "git@host:",
            "https://host/a/../b",
            "https://u:pw@h/a b",
        ] {
            let error = RepositoryName::from_remote(remote).unwrap_err();
            assert!(!error.to_string().contains("pw"), "{error}");
        }
        assert_eq!(
            RepositoryName::new("host/a/b").map(|name| name.to_string()),
            Ok("host/a/b".into())
        );
        for name in ["", "host", "host/", "/a", "host/../b", "u@host/a", "h/a?b", "h/a\nb"] {
            assert!(RepositoryName::new(name).is_err(), "{name}");
        }
    }
}
