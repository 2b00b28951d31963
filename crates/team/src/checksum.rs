//! SHA-256 of an entry's content: what client and server compare instead of texts.

use std::fmt;

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// SHA-256, as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Checksum(String);

/// A text that is not a checksum.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a checksum is 64 hexadecimal digits of SHA-256, in lower case")]
pub struct ChecksumError;

impl Checksum {
    /// The checksum of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex(digest(&SHA256, bytes).as_ref()))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        hex.push_str(&format!("{byte:02x}"));
        hex
    })
}

impl TryFrom<String> for Checksum {
    type Error = ChecksumError;

    fn try_from(text: String) -> Result<Self, ChecksumError> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == 64 && text.bytes().all(is_digit) {
            Ok(Self(text))
        } else {
            Err(ChecksumError)
        }
    }
}

impl From<Checksum> for String {
    fn from(checksum: Checksum) -> Self {
        checksum.0
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_value_and_nothing_else_parses() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Checksum::of(b"abc").as_str(), abc);
        assert_eq!(Checksum::try_from(abc.to_owned()), Ok(Checksum::of(b"abc")));
        for wrong in [
            abc.to_uppercase().as_str(),
            "",
            abc.trim_start_matches('b'),
            &format!("{abc}0"),
            &"g".repeat(64),
        ] {
            assert_eq!(Checksum::try_from(wrong.to_owned()), Err(ChecksumError), "{wrong}");
        }
    }
}
