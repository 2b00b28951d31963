//! Parsing one settings file. Errors name file and line; unknown keys are warnings with a suggestion.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use thiserror::Error;

use super::keys::Settings;
use super::schema::SCHEMA;
use super::switch_definitions::{LayerSwitch, UnknownSwitch};
use crate::json_text::line_of;
use crate::nearest_name::nearest_name;

/// Why a settings file cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// Not JSON, or a value of the wrong type.
    #[error("{}, line {line}, column {column}: {problem}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What the parser expected.
        problem: String,
    },
    /// A key under `layers` that is not a switch.
    #[error("{}, line {line}: {error}", path.display())]
    UnknownSwitch {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The unknown name, with a suggestion.
        error: UnknownSwitch,
    },
    /// A field under `requestFields` that the program sets.
    #[error("{}, line {line}: {problem}", path.display())]
    OwnRequestField {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The field, and what to do.
        problem: String,
    },
    /// Not UTF-8.
    #[error("{} is not UTF-8 text; settings are JSON", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// Larger than any real settings file.
    #[error("{} is larger than 1 MiB, the limit for a settings file", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] crate::FileError),
}

impl SettingsError {
    /// What is wrong, without the place: for a value that is not in a file yet.
    pub fn problem(&self) -> String {
        match self {
            Self::Invalid { problem, .. } | Self::OwnRequestField { problem, .. } => {
                problem.clone()
            }
            Self::UnknownSwitch { error, .. } => error.to_string(),
            other => other.to_string(),
        }
    }
}

/// A key that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsWarning {
    /// The full key, such as `provider.baseURL`.
    pub key: String,
    /// The most similar known key.
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

/// A parsed settings file.
pub(super) struct ParsedSettings {
    pub(super) settings: Settings,
    /// The settings as JSON, unknown keys included.
    pub(super) value: Value,
    pub(super) warnings: Vec<SettingsWarning>,
}

impl Settings {
    /// Parses settings; `path` is only used in messages.
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
        problem: plain_words(&error.to_string()),
    };
    let value: Value = serde_json::from_str(text).map_err(invalid)?;
    if !value.is_object() {
        let problem = "settings are a JSON object: { … }".to_owned();
        return Err(SettingsError::Invalid { path: path.clone(), line: 1, column: 1, problem });
    }
    let settings: Settings = serde_json::from_str(text).map_err(invalid)?;
    check_switches(&path, text, &settings)?;
    if let Some((model, field)) = settings.own_request_field() {
        return Err(SettingsError::OwnRequestField {
            line: line_of(text, &["requestFields", model, field]).unwrap_or(1),
            problem: format!(
                "`requestFields` may not set `{field}` (for `{model}`): the program sets it itself; remove it"
            ),
            path,
        });
    }
    let warnings = unknown_keys(&value);
    Ok(ParsedSettings { settings, value, warnings })
}

/// Refuses keys under `layers` that are not switches.
fn check_switches(path: &Path, text: &str, settings: &Settings) -> Result<(), SettingsError> {
    settings.layers.keys().try_for_each(|name| match name.parse::<LayerSwitch>() {
        Ok(_) => Ok(()),
        Err(error) => Err(SettingsError::UnknownSwitch {
            path: path.to_owned(),
            line: line_of(text, &["layers", name]).unwrap_or(1),
            error,
        }),
    })
}

/// A message of `serde_json` without the position, which we print in front, and without the names of our types.
fn plain_words(message: &str) -> String {
    let message = message.split(" at line ").next().unwrap_or(message);
    let Some((found, expected)) = message.split_once(", expected ") else {
        return message.to_owned();
    };
    let expected = match expected {
        "a sequence" => "a list, such as [\"…\"]",
        "a map" => "an object: { … }",
        "a boolean" => "true or false",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
        "f32" | "f64" => "a number",
        _ if expected.starts_with("struct ") => "an object: { … }",
        other => other,
    };
    let kinds = ["invalid type: ", "invalid value: ", "unknown variant "];
    let found = match kinds.iter().find_map(|kind| found.strip_prefix(kind)).unwrap_or(found) {
        "sequence" => "a list",
        "map" => "an object",
        other => other,
    };
    format!("expected {expected}, not {found}")
}

fn unknown_keys(value: &Value) -> Vec<SettingsWarning> {
    let Value::Object(top) = value else { return Vec::new() };
    let mut warnings = Vec::new();
    if let Some(known) = properties(&SCHEMA) {
        find_unknown("", top, known, &mut warnings);
    }
    warnings
}

/// The keys that an object may have; none if it may have any.
fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

/// Unknown keys of this object first, then those of its values.
fn find_unknown(
    parent: &str,
    object: &Map<String, Value>,
    known: &Map<String, Value>,
    warnings: &mut Vec<SettingsWarning>,
) {
    for key in object.keys().filter(|key| !known.contains_key(*key)) {
        let nearest = nearest_name(key, known.keys().cloned());
        warnings.push(SettingsWarning { key: format!("{parent}{key}"), suggestion: nearest });
    }
    for (key, value) in object {
        if let (Value::Object(below), Some(schema)) = (value, known.get(key))
            && let Some(known) = properties(schema)
        {
            find_unknown(&format!("{parent}{key}."), below, known, warnings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_position_and_problem() {
        let error = Settings::parse("/s.json", b"{\n  \"model\": 5\n}").unwrap_err().to_string();
        assert_eq!(error, "/s.json, line 2, column 12: expected a string, not integer `5`");
        let error = Settings::parse("/s.json", b"{\"model\": }").unwrap_err().to_string();
        assert_eq!(error, "/s.json, line 1, column 11: expected value");
        let error = Settings::parse("/s.json", br#"{"provider":{"kind":"claude"}}"#)
            .unwrap_err()
            .to_string();
        assert!(error.contains("expected `anthropic` or `openai`, not `claude`"), "{error}");
    }

    #[test]
    fn unknown_keys_suggest_a_known_key() {
        let text = br#"{"modle":"x","provider":{"baseURL":"y"},"zzzzzz":1,
            "layers":{"dream":true},"hooks":{"Any":[]},"env":{"ANY":"x"}}"#;
        let (_, warnings) = Settings::parse("s", text).unwrap();
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            warnings,
            [
                "unknown setting `modle` (did you mean `model`?)",
                "unknown setting `zzzzzz`, ignored",
                "unknown setting `provider.baseURL` (did you mean `baseUrl`?)",
            ]
        );
    }

    #[test]
    fn an_unknown_switch_is_an_error_with_a_suggestion() {
        let text = b"{\n  \"layers\": {\n    \"dreams\": false\n  }\n}";
        let error = Settings::parse("/s.json", text).unwrap_err().to_string();
        assert_eq!(error, "/s.json, line 3: unknown switch `dreams`; did you mean `dream`?");
    }
}
