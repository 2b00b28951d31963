//! What is known of an MCP server before anybody has talked to it: its name, who set it up, and how it is reached.
//!
//! Invariant: values that may be secret (headers, variables, what stands behind `?` of an address) are not shown.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use dormouse_base::Secret;

/// A server to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// Its name: tools appear as `mcp__name__tool`.
    pub name: String,
    /// Who set it up.
    pub origin: ServerOrigin,
    /// How it is reached.
    pub transport: Transport,
    /// How long one call may take, where the entry says.
    pub timeout: Option<Duration>,
}

/// Who set a server up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerOrigin {
    /// In a word or two, as in `user` or `plugin spell`.
    pub whose: String,
    /// The file that says it; for the command line, the option.
    pub file: PathBuf,
}

impl ServerOrigin {
    /// Set up by `whose`, in a file.
    pub fn new(whose: impl Into<String>, file: impl Into<PathBuf>) -> Self {
        Self { whose: whose.into(), file: file.into() }
    }
}

impl fmt::Display for ServerOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.whose, self.file.display())
    }
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program that talks on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables for it, besides those that every child gets.
        env: BTreeMap<String, String>,
        /// Where it runs; the working directory unless said.
        folder: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers to send along.
        headers: BTreeMap<String, String>,
        /// How the user logs in there, where they do.
        oauth: OAuthSettings,
    },
}

/// What the entry of a server says about logging in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuthSettings {
    /// The id of this program at the authorization server, for one that registers no clients.
    pub client_id: Option<String>,
    /// The port that the browser comes back to; any unless said.
    pub callback_port: Option<u16>,
    /// The scopes to ask for, instead of those that the server names.
    pub scopes: Option<String>,
    /// Where the metadata of the authorization server are, instead of what the server says.
    pub metadata_url: Option<String>,
}

impl Transport {
    /// Its word in settings and lists.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http { .. } => "http",
        }
    }

    /// How it is shown to the user: program and arguments, or the address without what may be secret.
    pub fn shown(&self) -> String {
        match self {
            Self::Stdio { command, args, .. } => {
                let words = std::iter::once(command).chain(args).map(String::as_str);
                words.collect::<Vec<_>>().join(" ")
            }
            Self::Http { url, .. } => shown_address(url),
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind(), self.shown())
    }
}

impl ServerSpec {
    /// Values of its headers and variables that nobody else may see.
    pub fn secrets(&self) -> Vec<Secret> {
        match &self.transport {
            Transport::Stdio { env, .. } => env
                .iter()
                .filter(|(name, _)| names_a_secret(name))
                .map(|(_, v)| Secret::new(v))
                .collect(),
            Transport::Http { url, headers, .. } => {
                let values = headers.iter().filter(|(name, _)| !is_plain_header(name));
                let values = values.flat_map(|(_, value)| {
                    // `Bearer` itself is none.
                    std::iter::once(value.as_str())
                        .chain(value.split_once(' ').map(|(_, token)| token))
                });
                let query = url.split_once('?').map(|(_, query)| query).unwrap_or_default();
                let in_query = query.split('&').filter_map(|pair| pair.split_once('='));
                let in_query =
                    in_query.filter(|(name, _)| names_a_secret(name)).map(|(_, value)| value);
                values.chain(in_query).map(Secret::new).collect()
            }
        }
    }
}

/// Parts of names by which people call what is secret.
const SECRET_NAMES: [&str; 7] = ["key", "token", "secret", "passw", "auth", "credential", "pat"];

fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_path = name.ends_with("path");
    !is_path && SECRET_NAMES.iter().any(|part| name.contains(part))
}

fn is_plain_header(name: &str) -> bool {
    ["accept", "content-type", "user-agent"].iter().any(|plain| name.eq_ignore_ascii_case(plain))
}

/// An address without a name and password in it, and without what stands behind `?`.
fn shown_address(url: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, ""), |(address, _)| (address, "?…"));
    let Some((scheme, rest)) = address.split_once("://") else {
        return format!("{address}{query}");
    };
    let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
    let host = host.rsplit('@').next().unwrap_or(host);
    let path = path.map(|path| format!("/{path}")).unwrap_or_default();
    format!("{scheme}://{host}{path}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(transport: Transport) -> ServerSpec {
        ServerSpec {
            name: "s".into(),
            origin: ServerOrigin::new("user", "f"),
            transport,
            timeout: None,
        }
    }

    #[test]
    fn secrets_are_told_from_the_rest_and_not_shown() {
        let http = spec(Transport::Http {
            url: "https://me:hush@host/mcp?api_key=abcdefgh&x=1".into(),
            headers: [("Authorization", "Bearer tttttttt"), ("Accept", "text/plain")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            oauth: OAuthSettings::default(),
        });
        let secrets: Vec<_> = http.secrets().iter().map(|s| s.expose().to_owned()).collect();
        assert_eq!(secrets, ["Bearer tttttttt", "tttttttt", "abcdefgh"]);
        assert_eq!(format!("{:?}", http.transport), "http: https://host/mcp?…");
        let env = [("API_KEY", "k"), ("PATH", "/bin"), ("MODE", "fast"), ("KEY_PATH", "/k")];
        let stdio = spec(Transport::Stdio {
            command: "npx".into(),
            args: vec!["x".into()],
            env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            folder: None,
        });
        assert_eq!(stdio.secrets(), [Secret::new("k")]);
        assert_eq!(format!("{:?}", stdio.transport), "stdio: npx x");
    }
}
