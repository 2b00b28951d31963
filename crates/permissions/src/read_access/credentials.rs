//! Where keys, tokens and passwords are kept.

use std::path::{Path, PathBuf};

/// Files and folders in the user's home.
const IN_HOME: &[&str] = &[
    ".ssh",
    ".aws",
    ".gnupg",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".docker/config.json",
    ".kube",
    ".azure",
    ".oci",
    ".s3cfg",
    ".boto",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/git/credentials",
    ".git-credentials",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pypoetry/auth.toml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".vault-token",
    ".password-store",
    ".local/share/keyrings",
    ".config/rclone",
    ".config/op",
    ".config/1Password",
    ".config/Bitwarden CLI",
    ".config/heroku",
    ".config/doctl",
    ".config/fly",
    ".fly",
    ".config/netlify",
    ".vercel",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    "snap/firefox",
    "Library/Keychains",
    "Library/Cookies",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".config/goose",
    ".config/github-copilot",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".kaggle",
    ".bash_history",
    ".zsh_history",
    ".psql_history",
    ".mysql_history",
    ".python_history",
];

/// Files and folders of the system.
const OF_SYSTEM: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/run/secrets",
    "/var/run/secrets",
    "/Library/Keychains",
];

/// Whether a file is where credentials are kept.
pub(super) fn is_known_place(path: &Path, home: Option<&Path>) -> bool {
    is_environment(path) || places(home).any(|place| path.starts_with(place))
}

/// A place with credentials below a folder, if there is one.
pub(super) fn below(folder: &Path, home: Option<&Path>) -> Option<PathBuf> {
    if folder.starts_with("/proc") || folder == Path::new("/") {
        return Some(PathBuf::from("/proc/self/environ"));
    }
    places(home).find(|place| place.starts_with(folder) && place.exists())
}

/// The environment of a process, which holds keys.
pub(super) fn is_environment(path: &Path) -> bool {
    path.starts_with("/proc") && path.file_name().is_some_and(|name| name == "environ")
}

/// The files and folders that hold credentials, whether they exist or not.
pub fn credential_places(home: Option<&Path>) -> Vec<PathBuf> {
    places(home).collect()
}

fn places(home: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let in_home = home.into_iter().flat_map(|home| IN_HOME.iter().map(|name| home.join(name)));
    in_home.chain(OF_SYSTEM.iter().map(PathBuf::from))
}

/// `.env` and private keys, wherever they are.
pub(super) fn has_telling_name(path: &Path) -> bool {
    const ENDS: [&str; 6] = ["pem", "key", "p12", "pfx", "kdbx", "keystore"];
    const KEYS: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    let name =
        path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let end = name.rsplit_once('.').map(|(_, end)| end).unwrap_or_default();
    let is_key_of_host = path.starts_with("/etc/ssh") && name.ends_with("_key");
    name.starts_with(".env")
        || ENDS.contains(&end)
        || KEYS.contains(&name.as_str())
        || is_key_of_host
}
