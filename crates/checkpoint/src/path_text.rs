//! A path in JSON: its text, or its bytes in hexadecimal where it is not UTF-8.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes { hex: String },
}

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    let written = match path.to_str() {
        Some(text) => Written::Text(text.to_owned()),
        None => Written::Bytes { hex: hex(path.as_os_str().as_bytes()) },
    };
    written.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    match Written::deserialize(deserializer)? {
        Written::Text(text) => Ok(text.into()),
        Written::Bytes { hex } => bytes(&hex)
            .map(|bytes| PathBuf::from(OsStr::from_bytes(&bytes)))
            .ok_or_else(|| serde::de::Error::custom("a path that is not hexadecimal")),
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = hex
        .chars()
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Line(#[serde(with = "super")] PathBuf);

    proptest! {
        #[test]
        fn every_path_comes_back(name in prop::collection::vec(1_u8.., 1..40)) {
            let path = PathBuf::from(OsStr::from_bytes(&name));
            let text = serde_json::to_string(&Line(path.clone())).unwrap();
            prop_assert_eq!(serde_json::from_str::<Line>(&text).unwrap().0, path);
        }
    }
}
