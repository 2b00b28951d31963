//! Addresses of messages: agent names and sockets.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Maximum length of a name.
const MAX_NAME_CHARS: usize = 64;

/// An agent name: letters, digits, `-` and `_`. It is case-insensitive, because the file names of some systems are, and
/// kept in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

/// Why a name is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AgentNameError {
    /// It is empty.
    #[error("the name is empty; give letters, digits, `-` and `_`")]
    Empty,
    /// It is too long for a file name.
    #[error("the name has {0} characters; at most {MAX_NAME_CHARS} are allowed")]
    TooLong(usize),
    /// It contains a character that is not allowed, as in `../etc` or `a b`.
    #[error(
        "the name `{name}` contains {character:?}; only letters, digits, `-` and `_` are allowed"
    )]
    InvalidCharacter {
        /// The name, printable.
        name: String,
        /// The character.
        character: char,
    },
    /// It starts like an option, as in `-x`.
    #[error("the name `{0}` does not start with a letter or digit")]
    InvalidStart(String),
    /// Its messages would look as if the user or the program had sent them.
    #[error(
        "the name `{0}` is reserved: its messages would seem to come from the user or the program"
    )]
    Reserved(String),
}

/// Whoever has one of these names could speak for the user, the model or the program.
const RESERVED: &[&str] = &[
    "assistant",
    "developer",
    "dormouse",
    "human",
    "model",
    "person",
    "program",
    "system",
    "tool",
    "user",
];

impl AgentName {
    /// Checks a name.
    pub fn new(name: &str) -> Result<Self, AgentNameError> {
        let length = name.chars().count();
        if length > MAX_NAME_CHARS {
            return Err(AgentNameError::TooLong(length));
        }
        let is_allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if let Some(character) = name.chars().find(|c| !is_allowed(c)) {
            return Err(AgentNameError::InvalidCharacter {
                name: dormouse_base::printable(name).into_owned(),
                character,
            });
        }
        match name.chars().next() {
            None => Err(AgentNameError::Empty),
            Some('-' | '_') => Err(AgentNameError::InvalidStart(name.to_owned())),
            Some(_) if RESERVED.contains(&name.to_ascii_lowercase().as_str()) => {
                Err(AgentNameError::Reserved(name.to_owned()))
            }
            Some(_) => Ok(Self(name.to_ascii_lowercase())),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for AgentName {
    type Err = AgentNameError;
    fn from_str(text: &str) -> Result<Self, AgentNameError> {
        Self::new(text)
    }
}

impl TryFrom<String> for AgentName {
    type Error = AgentNameError;
    fn try_from(text: String) -> Result<Self, AgentNameError> {
        Self::new(&text)
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

/// The receiver of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Address {
    /// An agent in this process, else one of this project with a mailbox.
    Agent(AgentName),
    /// All agents in this process but the sender.
    All,
    /// Another session's socket.
    Socket(PathBuf),
}

/// Why an address is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AddressError {
    /// It is not a valid agent name.
    #[error(transparent)]
    Name(#[from] AgentNameError),
    /// It is a relative path, as in `uds:run/x.sock`.
    #[error("`uds:{}` is not an absolute path; give the full path of the socket", .0.display())]
    Relative(PathBuf),
    /// It names a session on another machine (`bridge:…`).
    #[error(
        "`bridge:{0}` is a session on another machine, which this version cannot reach; send the message to an agent on this machine"
    )]
    Bridge(String),
}

impl Address {
    /// The address of a socket.
    pub fn socket(path: &Path) -> Self {
        Self::Socket(path.to_owned())
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text == "*" {
            return Ok(Self::All);
        }
        if let Some(path) = text.strip_prefix("uds:") {
            let path = PathBuf::from(path);
            return if path.is_absolute() {
                Ok(Self::Socket(path))
            } else {
                Err(AddressError::Relative(path))
            };
        }
        match text.strip_prefix("bridge:") {
            Some(id) => Err(AddressError::Bridge(dormouse_base::printable(id).into_owned())),
            None => Ok(Self::Agent(AgentName::new(text)?)),
        }
    }
}

impl TryFrom<String> for Address {
    type Error = AddressError;
    fn try_from(text: String) -> Result<Self, AddressError> {
        text.parse()
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.to_string()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(name) => name.fmt(f),
            Self::All => f.write_str("*"),
            Self::Socket(path) => write!(f, "uds:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(AgentName::new("Reviewer-2_b").unwrap().as_str(), "reviewer-2_b");
        assert_eq!(AgentName::new(""), Err(AgentNameError::Empty));
        assert_eq!(AgentName::new(&"a".repeat(65)), Err(AgentNameError::TooLong(65)));
        assert!(matches!(AgentName::new("-p"), Err(AgentNameError::InvalidStart(_))));
        for reserved in ["user", "System", "ASSISTANT"] {
            assert!(
                matches!(AgentName::new(reserved), Err(AgentNameError::Reserved(_))),
                "{reserved}"
            );
        }
        assert!(AgentName::new("system-tests").is_ok());
        for bad in ["..", "a/b", "a.b", "a b", "ä", "a\0", "a\n", "uds:x"] {
            assert!(
                matches!(AgentName::new(bad), Err(AgentNameError::InvalidCharacter { .. })),
                "{bad}"
            );
        }
    }

    #[test]
    fn addresses() {
        let parse = |text: &str| text.parse::<Address>();
        assert_eq!(parse("*"), Ok(Address::All));
        assert_eq!(parse("Bob").unwrap().to_string(), "bob");
        assert_eq!(parse("uds:/run/x.sock"), Ok(Address::socket(Path::new("/run/x.sock"))));
        assert!(matches!(parse("uds:x.sock"), Err(AddressError::Relative(_))));
        let bridge = parse("bridge:7").unwrap_err().to_string();
        assert!(bridge.contains("on another machine"), "{bridge}");
        assert!(matches!(parse("../x"), Err(AddressError::Name(_))));
    }
}
