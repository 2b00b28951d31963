//! Servers as settings name them: `{"name": {"command": …}}` or `{"name": {"type": "http", "url": …}}`.
//!
//! Invariant: an entry that cannot be used is reported with its file, line and reason; the others load.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use dormouse_base::line_of;
use serde_json::{Map, Value};

use crate::server_spec::{OAuthSettings, ServerOrigin, ServerSpec, Transport};
use crate::variables::Variables;

/// The key under which servers stand.
const KEY: &str = "mcpServers";
/// What `oauth` may have.
const OAUTH_KEYS: [&str; 4] = ["clientId", "callbackPort", "scopes", "authServerMetadataUrl"];
/// Longer names leave no room for that of a tool.
const LONGEST_NAME: usize = 40;

/// What one place says about servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedServers {
    /// Those to use, in the order of their names.
    pub servers: Vec<ServerSpec>,
    /// Those that are turned off by name, here or in a place that counts less.
    pub off: BTreeSet<String>,
    /// What cannot be used.
    pub problems: Vec<ServerProblem>,
}

impl ParsedServers {
    /// Puts what a place says that counts more over this: of one name the whole entry there counts.
    #[must_use]
    pub fn under(mut self, above: Self) -> Self {
        let named: BTreeSet<&str> =
            above.servers.iter().map(|server| server.name.as_str()).collect();
        self.servers.retain(|server| {
            !named.contains(server.name.as_str()) && !above.off.contains(&server.name)
        });
        self.off.retain(|name| !named.contains(name.as_str()));
        self.servers.extend(above.servers);
        self.servers.sort_by(|a, b| a.name.cmp(&b.name));
        self.off.extend(above.off);
        self.problems.extend(above.problems);
        self
    }
}

/// A server that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerProblem {
    /// Where it stands.
    pub file: PathBuf,
    /// In which line, where that is known.
    pub line: Option<usize>,
    /// The server; empty where it is about all.
    pub server: String,
    /// What is wrong, and what to do.
    pub reason: String,
}

impl fmt::Display for ServerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if self.server.is_empty() {
            write!(f, ": {}", self.reason)
        } else {
            write!(f, ": MCP server `{}`: {}", self.server, self.reason)
        }
    }
}

/// Reads a text such as `.mcp.json`: an object with servers under `mcpServers`.
pub fn parse_servers(text: &str, origin: &ServerOrigin, variables: &Variables) -> ParsedServers {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (reason, line) = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(keys)) => {
            let servers = keys.get(KEY).unwrap_or(&Value::Null);
            return read_servers(servers, origin, variables, &|path| {
                let path: Vec<&str> = std::iter::once(KEY).chain(path.iter().copied()).collect();
                line_of(text, &path)
            });
        }
        Ok(_) => ("an object with `mcpServers` is expected".to_owned(), 1),
        Err(error) => (error.to_string(), error.line()),
    };
    let file = origin.file.clone();
    let problem = ServerProblem { file, line: Some(line), server: String::new(), reason };
    ParsedServers { problems: vec![problem], ..ParsedServers::default() }
}

/// Reads the object that stands under `mcpServers`. `line` gives the line of what stands at a path of keys in it.
pub fn read_servers(
    servers: &Value,
    origin: &ServerOrigin,
    variables: &Variables,
    line: &dyn Fn(&[&str]) -> Option<usize>,
) -> ParsedServers {
    let mut read = ParsedServers::default();
    let problem = |server: &str, path: &[&str], reason: String| ServerProblem {
        file: origin.file.clone(),
        line: line(path),
        server: server.to_owned(),
        reason,
    };
    let entries = match servers {
        Value::Null => return read,
        Value::Object(entries) => entries,
        _ => {
            let reason = format!("`{KEY}` is an object of servers by name");
            read.problems.push(problem("", &[], reason));
            return read;
        }
    };
    for (name, entry) in entries {
        match server(name, entry, origin, variables) {
            Ok(Entry::Use(server)) => read.servers.push(*server),
            Ok(Entry::Off) => drop(read.off.insert(name.clone())),
            Err(Wrong { key, reason }) => {
                let path: Vec<&str> = std::iter::once(name.as_str()).chain(key).collect();
                read.problems.push(problem(name, &path, reason));
            }
        }
    }
    read
}

enum Entry {
    Use(Box<ServerSpec>),
    Off,
}

/// What is wrong with an entry, and at which of its keys.
struct Wrong {
    key: Option<&'static str>,
    reason: String,
}

fn wrong(key: impl Into<Option<&'static str>>, reason: impl Into<String>) -> Wrong {
    Wrong { key: key.into(), reason: reason.into() }
}

fn server(
    name: &str,
    entry: &Value,
    origin: &ServerOrigin,
    variables: &Variables,
) -> Result<Entry, Wrong> {
    check_name(name)?;
    let Value::Object(keys) = entry else {
        return Err(wrong(None, "its entry is an object, with `command` or `type` and `url`"));
    };
    let entry = Fields { keys, variables };
    if entry.flag("disabled")? {
        return Ok(Entry::Off);
    }
    let transport = entry.transport()?;
    let timeout = entry.timeout()?;
    let (name, origin) = (name.to_owned(), origin.clone());
    Ok(Entry::Use(Box::new(ServerSpec { name, origin, transport, timeout })))
}

/// A name parts its tools from those of others, in their names and in rules, so it has to be told apart there.
fn check_name(name: &str) -> Result<(), Wrong> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let ends = |c: Option<char>| c.is_none_or(|c| c == '_');
    let well_formed = name.len() <= LONGEST_NAME
        && name.chars().all(fits)
        && !ends(name.chars().next())
        && !ends(name.chars().next_back())
        && !name.contains("__");
    if well_formed {
        return Ok(());
    }
    let reason = format!(
        "a name has 1 to {LONGEST_NAME} letters, digits, `-` and `_`, with no `_` at its ends and no `__`"
    );
    Err(wrong(None, reason))
}

/// The keys of an entry.
struct Fields<'a> {
    keys: &'a Map<String, Value>,
    variables: &'a Variables,
}

impl Fields<'_> {
    fn transport(&self) -> Result<Transport, Wrong> {
        match (self.text("type")?.as_deref(), self.keys.contains_key("url")) {
            (Some("http" | "streamable-http"), _) => self.http(),
            (Some(kind @ ("sse" | "ws")), _) => Err(wrong(
                "type",
                format!("`{kind}` is not supported; use streamable HTTP (`\"type\": \"http\"`)"),
            )),
            (None, true) => Err(wrong("url", "a `url` needs `\"type\": \"http\"` beside it")),
            (None | Some("stdio"), _) => self.stdio(),
            (Some(kind), _) => {
                Err(wrong("type", format!("`{kind}` is no type; it is `stdio` or `http`")))
            }
        }
    }

    fn stdio(&self) -> Result<Transport, Wrong> {
        let command = self.text("command")?.filter(|command| !command.trim().is_empty());
        Ok(Transport::Stdio {
            command: command.ok_or_else(|| wrong(None, "it has neither `command` nor `url`"))?,
            args: self.list("args")?,
            env: self.map("env")?,
            folder: self.text("cwd")?.map(PathBuf::from),
        })
    }

    fn http(&self) -> Result<Transport, Wrong> {
        let url = self.text("url")?.ok_or_else(|| wrong("type", "it has no `url`"))?;
        let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        if host.is_none_or(|host| host.is_empty() || host.starts_with('/')) {
            return Err(wrong(
                "url",
                "the `url` must start with `http://` or `https://`, followed by a host",
            ));
        }
        Ok(Transport::Http { url, headers: self.map("headers")?, oauth: self.oauth()? })
    }

    fn oauth(&self) -> Result<OAuthSettings, Wrong> {
        let keys = match self.keys.get("oauth") {
            None | Some(Value::Null) => return Ok(OAuthSettings::default()),
            Some(Value::Object(keys)) => keys,
            Some(_) => return Err(wrong("oauth", "`oauth` must be an object")),
        };
        if let Some(unknown) = keys.keys().find(|key| !OAUTH_KEYS.contains(&key.as_str())) {
            let known = OAUTH_KEYS.join(", ");
            return Err(wrong("oauth", format!("`oauth` has no `{unknown}`; it has {known}")));
        }
        let inner = Fields { keys, variables: self.variables };
        let port = match keys.get("callbackPort") {
            None | Some(Value::Null) => None,
            Some(port) => Some(
                port.as_u64()
                    .and_then(|port| u16::try_from(port).ok())
                    .filter(|port| *port > 0)
                    .ok_or_else(|| wrong("oauth", "`oauth.callbackPort` is a port number"))?,
            ),
        };
        let text = |key: &'static str| {
            inner.text(key).map_err(|Wrong { reason, .. }| wrong("oauth", reason))
        };
        Ok(OAuthSettings {
            client_id: text("clientId")?,
            callback_port: port,
            scopes: text("scopes")?,
            metadata_url: text("authServerMetadataUrl")?,
        })
    }

    fn timeout(&self) -> Result<Option<Duration>, Wrong> {
        match self.keys.get("timeout") {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64().filter(|milliseconds| *milliseconds > 0) {
                Some(milliseconds) => Ok(Some(Duration::from_millis(milliseconds))),
                None => Err(wrong("timeout", "`timeout` is a number of milliseconds above 0")),
            },
        }
    }

    fn flag(&self, key: &'static str) -> Result<bool, Wrong> {
        match self.keys.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(value) => {
                value.as_bool().ok_or_else(|| wrong(key, format!("`{key}` must be true or false")))
            }
        }
    }

    fn text(&self, key: &'static str) -> Result<Option<String>, Wrong> {
        match self.keys.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => self.expand(key, text).map(Some),
            Some(_) => Err(wrong(key, format!("`{key}` must be a string"))),
        }
    }

    fn list(&self, key: &'static str) -> Result<Vec<String>, Wrong> {
        let expected = || wrong(key, format!("`{key}` must be a list of strings"));
        match self.keys.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| self.expand(key, item.as_str().ok_or_else(expected)?))
                .collect(),
            Some(_) => Err(expected()),
        }
    }

    fn map(&self, key: &'static str) -> Result<BTreeMap<String, String>, Wrong> {
        let expected = || wrong(key, format!("`{key}` is an object of texts"));
        match self.keys.get(key) {
            None | Some(Value::Null) => Ok(BTreeMap::new()),
            Some(Value::Object(fields)) => fields
                .iter()
                .map(|(name, value)| {
                    let value = self.expand(key, value.as_str().ok_or_else(expected)?)?;
                    Ok((name.clone(), value))
                })
                .collect(),
            Some(_) => Err(expected()),
        }
    }

    fn expand(&self, key: &'static str, text: &str) -> Result<String, Wrong> {
        self.variables.expand(text).map_err(|error| wrong(key, error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_base::Environment;

    fn parse(text: &str) -> ParsedServers {
        let variables = Variables::new(Environment::from_pairs([("TOKEN", "t0ken")]));
        parse_servers(text, &ServerOrigin::new("project", "/p/.mcp.json"), &variables)
    }

    fn problems(text: &str) -> Vec<String> {
        parse(text).problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn both_kinds_of_server() {
        let read = parse(
            r#"{"mcpServers": {
                "web": {"type": "http", "url": "http://h/mcp", "headers": {"A": "Bearer ${TOKEN}"}, "timeout": 5},
                "mem": {"command": "${BIN:-mem}", "args": ["${TOKEN}"], "env": {"X": "1"}, "cwd": "sub", "other": 1},
                "off": {"disabled": true}
            }, "more": 1}"#,
        );
        assert!(read.problems.is_empty(), "{:?}", read.problems);
        let [mem, web] = read.servers.as_slice() else { panic!("{read:?}") };
        let expected = Transport::Stdio {
            command: "mem".into(),
            args: vec!["t0ken".into()],
            env: [("X".to_owned(), "1".to_owned())].into(),
            folder: Some("sub".into()),
        };
        assert_eq!((mem.name.as_str(), &mem.transport), ("mem", &expected));
        let headers = [("A".to_owned(), "Bearer t0ken".to_owned())].into();
        let oauth = OAuthSettings::default();
        assert_eq!(web.transport, Transport::Http { url: "http://h/mcp".into(), headers, oauth });
        assert_eq!(web.timeout, Some(Duration::from_millis(5)));
        assert_eq!(read.off, ["off".to_owned()].into());
    }

    #[test]
    fn a_mistake_is_told_with_its_line_and_the_others_load() {
        let text = r#"{"mcpServers": {
            "a": {"url": "http://h"},
            "b": {"type": "sse", "url": "http://h"},
            "c": {"command": "x", "args": "y"},
            "d": {"command": "x",
                  "env": {"K": "${NOT_SET}"}},
            "e": {},
            "f": {"type": "http", "url": "ftp://h"},
            "": {"command": "x"},
            "good": {"command": "x"}
        }}"#;
        assert_eq!(
            problems(text),
            [
                "/p/.mcp.json, line 9: a name has 1 to 40 letters, digits, `-` and `_`, with no `_` at its ends and no `__`",
                "/p/.mcp.json, line 2: MCP server `a`: a `url` needs `\"type\": \"http\"` beside it",
                "/p/.mcp.json, line 3: MCP server `b`: `sse` is not supported; use streamable HTTP (`\"type\": \"http\"`)",
                "/p/.mcp.json, line 4: MCP server `c`: `args` must be a list of strings",
                "/p/.mcp.json, line 6: MCP server `d`: the variable `NOT_SET` is not set; set it, or write `${NOT_SET:-default}`",
                "/p/.mcp.json, line 7: MCP server `e`: it has neither `command` nor `url`",
                "/p/.mcp.json, line 8: MCP server `f`: the `url` must start with `http://` or `https://`, followed by a host",
            ]
        );
        assert_eq!(parse(text).servers.len(), 1);
        assert_eq!(
            problems("{\n]"),
            ["/p/.mcp.json, line 2: key must be a string at line 2 column 1"]
        );
        assert_eq!(
            problems(r#"{"mcpServers": []}"#),
            ["/p/.mcp.json, line 1: `mcpServers` is an object of servers by name"]
        );
        assert!(problems("{}").is_empty());
    }

    #[test]
    fn the_whole_entry_of_the_higher_place_counts() {
        let below = parse(
            r#"{"mcpServers": {"a": {"command": "x", "args": ["1"]}, "b": {"command": "x"}, "c": {"disabled": true}}}"#,
        );
        let above = parse(
            r#"{"mcpServers": {"a": {"command": "y"}, "b": {"disabled": true}, "c": {"command": "z"}}}"#,
        );
        let read = below.under(above);
        let shown: Vec<String> = read.servers.iter().map(|s| s.transport.shown()).collect();
        assert_eq!(shown, ["y", "z"]);
        assert_eq!(read.off, ["b".to_owned()].into());
    }
}
