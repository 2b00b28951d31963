//! Access tokens: shown once, kept by their holder, known to the server only as a hash.

use std::fmt;

use dormouse_base::Secret;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use thiserror::Error;

use crate::checksum::hex;

/// How every token begins, so that secret rules and people recognize one.
const PREFIX: &str = "dmt_";
/// Random bytes.
const LENGTH: usize = 32;

/// A token. It does not print.
#[derive(Clone)]
pub struct TeamToken(Secret);

/// Why there is no token.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TeamTokenError {
    /// A text of another form.
    #[error("this is not a team token; a token begins with `{PREFIX}` and has 64 more digits")]
    Form,
    /// The system gave no random bytes.
    #[error("the system has no random numbers for a token")]
    Random,
}

impl TeamToken {
    /// A new token.
    pub fn generate() -> Result<Self, TeamTokenError> {
        let mut bytes = [0; LENGTH];
        SystemRandom::new().fill(&mut bytes).map_err(|_| TeamTokenError::Random)?;
        Ok(Self(Secret::new(format!("{PREFIX}{}", hex(&bytes)))))
    }

    /// Reads a token, without white space around it.
    pub fn parse(text: &str) -> Result<Self, TeamTokenError> {
        let text = text.trim();
        let digits = text.strip_prefix(PREFIX).ok_or(TeamTokenError::Form)?;
        let is_whole = digits.len() == LENGTH * 2 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        if is_whole { Ok(Self(Secret::new(text))) } else { Err(TeamTokenError::Form) }
    }

    /// The token, for the header of a request and the one time that it is shown.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// What the server keeps.
    pub fn hash(&self) -> TokenHash {
        TokenHash(hex(digest(&SHA256, self.expose().as_bytes()).as_ref()))
    }
}

impl fmt::Debug for TeamToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TeamToken(…)")
    }
}

/// The hash of a token. A token has 256 random bits, so a plain hash can neither be guessed nor searched; and looking a
/// token up by its hash takes no longer for a token that is nearly right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenHash(String);

impl TokenHash {
    /// The hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A short name for lists, which says nothing about the token.
    pub fn id(&self) -> String {
        self.0.chars().take(12).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_random_and_does_not_print() {
        let token = TeamToken::generate().unwrap();
        let other = TeamToken::generate().unwrap();
        assert_ne!(token.expose(), other.expose());
        assert!(!format!("{token:?}").contains(token.expose()));
        let again = TeamToken::parse(&format!(" {}\n", token.expose())).unwrap();
        assert_eq!(again.hash(), token.hash());
        assert_ne!(other.hash(), token.hash());
        for wrong in [
            "",
            "dmt_",
            "dmt_12",
            token.expose().trim_start_matches('d'),
            &format!("{}0", token.expose()),
        ] {
            assert_eq!(TeamToken::parse(wrong).unwrap_err(), TeamTokenError::Form, "{wrong}");
        }
    }
}
