//! People and what their tokens allow.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Characters of a name.
const LONGEST: usize = 80;

/// The name of a token's holder. Only the server attributes content to people: the name comes from the token (T-16).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PersonName(String);

/// Why a text is not a person's name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a person's name has 1 to {LONGEST} printable characters, without line breaks")]
pub struct PersonNameError;

impl PersonName {
    /// Validates a name.
    pub fn new(name: &str) -> Result<Self, PersonNameError> {
        let name = name.trim();
        let is_plain = dormouse_base::printable(name) == name && !name.contains(['\n', '\t']);
        let fits = (1..=LONGEST).contains(&name.chars().count());
        if is_plain && fits { Ok(Self(name.to_owned())) } else { Err(PersonNameError) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PersonName {
    type Error = PersonNameError;

    fn try_from(name: String) -> Result<Self, PersonNameError> {
        Self::new(&name)
    }
}

impl From<PersonName> for String {
    fn from(name: PersonName) -> Self {
        name.0
    }
}

impl fmt::Display for PersonName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a token allows; each role includes the earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TeamRole {
    /// Reading.
    Read,
    /// Changing entries; where the repository is under review, proposing changes.
    Write,
    /// Tokens, switches, reviews.
    Admin,
}

impl TeamRole {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    /// The role with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Read, Self::Write, Self::Admin].into_iter().find(|role| role.as_str() == word)
    }
}

impl fmt::Display for TeamRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_printable_line() {
        assert_eq!(
            PersonName::new(" Ana 安娜 ").map(|name| name.to_string()),
            Ok("Ana 安娜".into())
        );
        for name in ["", " ", "a\nb", "a\u{1b}[31m", "a\u{202e}b", &"x".repeat(81)] {
            assert_eq!(PersonName::new(name), Err(PersonNameError), "{name:?}");
        }
    }

    #[test]
    fn a_role_includes_the_earlier_ones() {
        assert!(TeamRole::Read < TeamRole::Write && TeamRole::Write < TeamRole::Admin);
        assert_eq!(TeamRole::from_word("write"), Some(TeamRole::Write));
        assert_eq!(TeamRole::from_word("root"), None);
    }
}
