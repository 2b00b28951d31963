//! One text of settings: read, or refused with the place; unknown keys are told, with the nearest known.

use std::path::PathBuf;

use serde_json::{Map, Value};
use thiserror::Error;

use super::keys::{Settings, settings_schema};
use super::switches::SWITCHES;
use crate::nearest_name;

/// Settings that can not be read.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// Not JSON, or a value of the wrong kind.
    #[error("{}, line {line}, column {column}: {problem}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What was expected.
        problem: String,
    },
    /// Not text.
    #[error("{} is not UTF-8 text; settings are JSON", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// More than anybody writes.
    #[error("{} is larger than 1 MiB, which no settings file is", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The system would not read it.
    #[error(transparent)]
    File(#[from] crate::FileError),
}

/// Something in the settings that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsWarning {
    /// The key, with its place.
    pub key: String,
    /// The known key that looks most like it.
    pub suggestion: Option<String>,
}

impl std::fmt::Display for SettingsWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unknown setting `{}`", self.key)?;
        match &self.suggestion {
            Some(nearest) => write!(f, " (did you mean `{nearest}`?)"),
            None => write!(f, ", ignored"),
        }
    }
}

/// A text of settings, read.
pub(super) struct ParsedSettings {
    pub(super) settings: Settings,
    /// The same as it stands in the text.
    pub(super) value: Value,
    pub(super) warnings: Vec<SettingsWarning>,
}

impl Settings {
    /// Reads settings from text; `path` is for the messages.
    pub fn parse(
        path: impl Into<PathBuf>,
        text: &[u8],
    ) -> Result<(Self, Vec<SettingsWarning>), SettingsError> {
        parse(path, text).map(|parsed| (parsed.settings, parsed.warnings))
    }
}

pub(super) fn parse(
    path: impl Into<PathBuf>,
    text: &[u8],
) -> Result<ParsedSettings, SettingsError> {
    let path = path.into();
    let Ok(text) = std::str::from_utf8(text) else {
        return Err(SettingsError::NotText { path });
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = if text.trim().is_empty() { "{}" } else { text };
    let invalid = |error: serde_json::Error| SettingsError::Invalid {
        path: path.clone(),
        line: error.line(),
        column: error.column(),
        problem: without_position(&error.to_string()),
    };
    let value: Value = serde_json::from_str(text).map_err(invalid)?;
    if !value.is_object() {
        let problem = "settings are a JSON object: { … }".to_owned();
        return Err(SettingsError::Invalid { path: path.clone(), line: 1, column: 1, problem });
    }
    let settings: Settings = serde_json::from_str(text).map_err(invalid)?;
    let warnings = unknown_keys(&value);
    Ok(ParsedSettings { settings, value, warnings })
}

/// `serde_json` ends its messages with the place, which we say in front.
fn without_position(message: &str) -> String {
    message.split(" at line ").next().unwrap_or(message).to_owned()
}

fn unknown_keys(value: &Value) -> Vec<SettingsWarning> {
    let (Value::Object(top), schema) = (value, settings_schema()) else { return Vec::new() };
    let mut warnings = Vec::new();
    if let Some(known) = properties(schema.as_value()) {
        look("", top, known, &mut warnings);
    }
    if let Some(Value::Object(layers)) = top.get("layers") {
        let names = || SWITCHES.iter().map(|switch| switch.name.to_owned());
        for key in layers.keys().filter(|key| names().all(|name| name != **key)) {
            let nearest = nearest_name(key, names());
            warnings.push(SettingsWarning { key: format!("layers.{key}"), suggestion: nearest });
        }
    }
    warnings
}

/// The keys an object may have; none where any may stand.
fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

/// Those of this level first, then those below.
fn look(
    place: &str,
    object: &Map<String, Value>,
    known: &Map<String, Value>,
    warnings: &mut Vec<SettingsWarning>,
) {
    for key in object.keys().filter(|key| !known.contains_key(*key)) {
        let nearest = nearest_name(key, known.keys().cloned());
        warnings.push(SettingsWarning { key: format!("{place}{key}"), suggestion: nearest });
    }
    for (key, value) in object {
        if let (Value::Object(below), Some(schema)) = (value, known.get(key))
            && let Some(known) = properties(schema)
        {
            look(&format!("{place}{key}."), below, known, warnings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_where_and_what() {
        let error = Settings::parse("/s.json", b"{\n  \"model\": 5\n}").unwrap_err().to_string();
        assert_eq!(
            error,
            "/s.json, line 2, column 12: invalid type: integer `5`, expected a string"
        );
        let error = Settings::parse("/s.json", b"{\"model\": }").unwrap_err().to_string();
        assert_eq!(error, "/s.json, line 1, column 11: expected value");
        let error = Settings::parse("/s.json", br#"{"provider":{"kind":"claude"}}"#)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("unknown variant `claude`, expected `anthropic` or `openai`"),
            "{error}"
        );
    }

    #[test]
    fn unknown_keys_name_the_nearest() {
        let text = br#"{"modle":"x","provider":{"baseURL":"y"},"zzzzzz":1,
            "layers":{"dreams":false,"dream":true},"hooks":{"Any":[]},"env":{"ANY":"x"}}"#;
        let (_, warnings) = Settings::parse("s", text).unwrap();
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            warnings,
            [
                "unknown setting `modle` (did you mean `model`?)",
                "unknown setting `zzzzzz`, ignored",
                "unknown setting `provider.baseURL` (did you mean `baseUrl`?)",
                "unknown setting `layers.dreams` (did you mean `dream`?)",
            ]
        );
    }
}
