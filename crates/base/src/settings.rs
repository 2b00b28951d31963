//! The settings file: JSON that a person writes, read with errors that say where and what.
//!
//! So far: the model, its server and its window. Layers of settings, trust and switches come with the
//! gate; until then only the person's own file and the command line count, never a project's.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use thiserror::Error;

use crate::nearest;

/// Which wire format a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// The Anthropic Messages API.
    Anthropic,
    /// OpenAI-compatible chat completions.
    Openai,
}

/// The model server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderSettings {
    /// `anthropic` or `openai`.
    pub kind: Option<ProviderKind>,
    /// Where it is.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub key_env: Option<String>,
    /// A command that prints the key.
    pub key_command: Option<String>,
    /// `5m` or `1h`: how long the server keeps a cached prefix.
    pub cache_ttl: Option<String>,
    /// The value of the `anthropic-version` header.
    pub version: Option<String>,
    /// Values of the `anthropic-beta` header.
    pub betas: Vec<String>,
}

/// What the person has set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// The model to talk to.
    pub model: Option<String>,
    /// A cheaper one for small questions.
    pub small_model: Option<String>,
    /// Where the model is.
    pub provider: ProviderSettings,
    /// Context windows by model name, in tokens.
    pub context_windows: BTreeMap<String, u32>,
    /// What may run without a question, and what never.
    pub permissions: PermissionSettings,
}

/// Rules such as `Bash(git diff:*)`, and the mode to begin in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PermissionSettings {
    /// What needs no question.
    pub allow: Vec<String>,
    /// What asks even where it would be allowed.
    pub ask: Vec<String>,
    /// What never runs.
    pub deny: Vec<String>,
    /// `default`, `acceptEdits`, `plan` or `bypassPermissions`.
    pub default_mode: Option<String>,
}

const KNOWN_KEYS: &[&str] =
    &["$schema", "model", "smallModel", "provider", "contextWindows", "permissions"];
const KNOWN_PERMISSION_KEYS: &[&str] = &["allow", "ask", "deny", "defaultMode"];
const KNOWN_PROVIDER_KEYS: &[&str] =
    &["kind", "baseUrl", "keyEnv", "keyCommand", "cacheTtl", "version", "betas"];

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
}

/// Something in the settings that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsWarning {
    /// The key, with its place.
    pub key: String,
    /// The known key that looks most like it.
    pub nearest: Option<&'static str>,
}

impl std::fmt::Display for SettingsWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unknown setting `{}`", self.key)?;
        match self.nearest {
            Some(nearest) => write!(f, " (did you mean `{nearest}`?)"),
            None => write!(f, ", ignored"),
        }
    }
}

impl Settings {
    /// Reads settings from text; `path` is for the messages.
    pub fn parse(
        path: impl Into<PathBuf>,
        text: &[u8],
    ) -> Result<(Self, Vec<SettingsWarning>), SettingsError> {
        let path = path.into();
        let Ok(text) = std::str::from_utf8(text) else {
            return Err(SettingsError::NotText { path });
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Ok((Self::default(), Vec::new()));
        }
        match serde_json::from_str(text) {
            Ok(settings) => Ok((settings, unknown_keys(text))),
            Err(error) => Err(SettingsError::Invalid {
                path,
                line: error.line(),
                column: error.column(),
                problem: without_position(&error.to_string()),
            }),
        }
    }

    /// These settings over those: what is set here wins.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        let (provider, under) = (self.provider, below.provider);
        let mut context_windows = below.context_windows;
        context_windows.extend(self.context_windows);
        Self {
            model: self.model.or(below.model),
            small_model: self.small_model.or(below.small_model),
            provider: ProviderSettings {
                kind: provider.kind.or(under.kind),
                base_url: provider.base_url.or(under.base_url),
                key_env: provider.key_env.or(under.key_env),
                key_command: provider.key_command.or(under.key_command),
                cache_ttl: provider.cache_ttl.or(under.cache_ttl),
                version: provider.version.or(under.version),
                betas: if provider.betas.is_empty() { under.betas } else { provider.betas },
            },
            context_windows,
            permissions: self.permissions.over(below.permissions),
        }
    }
}

impl PermissionSettings {
    /// Lists are joined: a rule of either holds.
    fn over(self, below: Self) -> Self {
        let join = |mut mine: Vec<String>, theirs: Vec<String>| {
            mine.extend(theirs);
            mine
        };
        Self {
            allow: join(self.allow, below.allow),
            ask: join(self.ask, below.ask),
            deny: join(self.deny, below.deny),
            default_mode: self.default_mode.or(below.default_mode),
        }
    }
}

/// `serde_json` ends its messages with the place, which we say in front.
fn without_position(message: &str) -> String {
    message.split(" at line ").next().unwrap_or(message).to_owned()
}

fn unknown_keys(text: &str) -> Vec<SettingsWarning> {
    // The text was just read successfully, so this is an object.
    let Ok(serde_json::Value::Object(top)) = serde_json::from_str(text) else { return Vec::new() };
    let mut warnings = Vec::new();
    let mut look = |place: &str, keys: Vec<&String>, known: &'static [&'static str]| {
        for key in keys.into_iter().filter(|key| !known.contains(&key.as_str())) {
            warnings.push(SettingsWarning {
                key: format!("{place}{key}"),
                nearest: nearest_key(key, known),
            });
        }
    };
    look("", top.keys().collect(), KNOWN_KEYS);
    if let Some(serde_json::Value::Object(provider)) = top.get("provider") {
        look("provider.", provider.keys().collect(), KNOWN_PROVIDER_KEYS);
    }
    if let Some(serde_json::Value::Object(permissions)) = top.get("permissions") {
        look("permissions.", permissions.keys().collect(), KNOWN_PERMISSION_KEYS);
    }
    warnings
}

/// The known key that was probably meant.
fn nearest_key(key: &str, known: &'static [&'static str]) -> Option<&'static str> {
    let meant = nearest(key, known.iter().map(ToString::to_string))?;
    known.iter().find(|candidate| **candidate == meant).copied()
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
        let (_, warnings) =
            Settings::parse("s", br#"{"modle":"x","provider":{"baseURL":"y"},"zzzzzz":1}"#)
                .unwrap();
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
    fn the_upper_layer_wins() {
        let (user, _) = Settings::parse("u", br#"{"model":"a","smallModel":"s"}"#).unwrap();
        let (line, _) = Settings::parse("c", br#"{"model":"b"}"#).unwrap();
        let both = line.over(user);
        assert_eq!((both.model.as_deref(), both.small_model.as_deref()), (Some("b"), Some("s")));
    }
}
