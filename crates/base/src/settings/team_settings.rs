//! Settings of team memory.

#[cfg(test)]
use schemars::JsonSchema;
use serde::Deserialize;

/// Team memory. Not allowed in project settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TeamSettings {
    /// A command that prints the token of the team server; with it, `dormouse team join` stores none.
    pub key_command: Option<String>,
}
