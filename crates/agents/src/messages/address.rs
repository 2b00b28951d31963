//! Who is written to: names of agents, and addresses.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most letters of a name.
const LONGEST_NAME: usize = 64;

/// What an agent is called: letters, digits, `-` and `_`. Upper and lower case are the same, as they are in the
/// file names of some systems, so a name is kept in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

/// Why a name is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AgentNameError {
    /// Nothing in it.
    #[error("the name is empty; give letters, digits, `-` and `_`")]
    Empty,
    /// More than a file name should have.
    #[error("the name has {0} letters; at most {LONGEST_NAME} are allowed")]
    TooLong(usize),
    /// `../etc`, `a b`.
    #[error("the name `{name}` contains {letter:?}; only letters, digits, `-` and `_` are allowed")]
    Letter {
        /// The name, printable.
        name: String,
        /// What does not belong in it.
        letter: char,
    },
    /// `-x`, which looks like an option.
    #[error("the name `{0}` does not begin with a letter or digit")]
    Begins(String),
}

impl AgentName {
    /// Checks a name.
    pub fn new(name: &str) -> Result<Self, AgentNameError> {
        let length = name.chars().count();
        if length > LONGEST_NAME {
            return Err(AgentNameError::TooLong(length));
        }
        let fits = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        if let Some(letter) = name.chars().find(|letter| !fits(letter)) {
            return Err(AgentNameError::Letter {
                name: dormouse_base::printable(name).into_owned(),
                letter,
            });
        }
        match name.chars().next() {
            None => Err(AgentNameError::Empty),
            Some('-' | '_') => Err(AgentNameError::Begins(name.to_owned())),
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

/// Where a message goes.
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

/// Why an address is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AddressError {
    /// A name that cannot be one.
    #[error(transparent)]
    Name(#[from] AgentNameError),
    /// `uds:run/x.sock`.
    #[error("`uds:{}` is not an absolute path; give the whole path of the socket", .0.display())]
    Relative(PathBuf),
    /// `bridge:…`.
    #[error(
        "`bridge:{0}` is a session on another machine: that comes with the team server, which this version does not have; write to an agent on this machine"
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
            let whole = path.is_absolute();
            return if whole { Ok(Self::Socket(path)) } else { Err(AddressError::Relative(path)) };
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
        assert!(matches!(AgentName::new("-p"), Err(AgentNameError::Begins(_))));
        for bad in ["..", "a/b", "a.b", "a b", "ä", "a\0", "a\n", "uds:x"] {
            assert!(matches!(AgentName::new(bad), Err(AgentNameError::Letter { .. })), "{bad}");
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
        assert!(bridge.contains("comes with the team server"), "{bridge}");
        assert!(matches!(parse("../x"), Err(AddressError::Name(_))));
    }
}
