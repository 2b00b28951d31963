//! The name of a content: its hash.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The hash of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentId(blake3::Hash);

impl ContentId {
    /// That of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes))
    }

    /// In hexadecimal digits.
    pub(crate) fn hex(self) -> String {
        self.0.to_hex().to_string()
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl Serialize for ContentId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_hex())
    }
}

impl<'de> Deserialize<'de> for ContentId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        blake3::Hash::from_hex(&text).map(Self).map_err(serde::de::Error::custom)
    }
}
