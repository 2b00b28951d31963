//! One entry in a configuration file, in the format of the file.

use serde_json::Value;

use super::error::SetupError;
use super::insertion::Insertion;
use super::json_item::{self, JsonItem};
use super::toml_table::{self, TomlTable};
use super::yaml_entry::YamlEntry;

/// An entry to add to a file.
#[derive(Debug, Clone)]
pub(super) enum ConfigEdit {
    Json(JsonItem),
    Toml(TomlTable),
    Yaml(YamlEntry),
}

impl ConfigEdit {
    /// The insertion that adds the entry; `None` if the file already has it.
    pub(super) fn insertion(&self, text: &str) -> Result<Option<Insertion>, SetupError> {
        match self {
            Self::Json(item) => json_item::insertion(text, item),
            Self::Toml(table) => table.insertion(text),
            Self::Yaml(entry) => entry.insertion(text),
        }
    }

    /// The text without the entry; `None` if it has none.
    pub(super) fn without(&self, text: &str) -> Result<Option<String>, SetupError> {
        match self {
            Self::Json(item) => json_item::without(text, item),
            Self::Toml(table) => table.without(text),
            Self::Yaml(entry) => Ok(entry.without(text)),
        }
    }

    /// Whether a text is in the format of the file.
    pub(super) fn check(&self, text: &str) -> Result<(), SetupError> {
        match self {
            Self::Json(_) => json_item::check(text),
            Self::Toml(_) => toml_table::check(text),
            Self::Yaml(_) => Ok(()),
        }
    }

    fn is_json(&self) -> bool {
        matches!(self, Self::Json(_))
    }
}

/// A file that has only these entries: what a user is shown, since other entries may hold keys.
pub(super) fn file_with(edits: &[&ConfigEdit]) -> Result<String, SetupError> {
    let mut text = String::new();
    for edit in edits {
        if let Some(insertion) = edit.insertion(&text)? {
            text.insert_str(insertion.at, &insertion.text);
        }
    }
    if edits.iter().any(|edit| edit.is_json()) {
        let value: Value = serde_json::from_str(&text).map_err(SetupError::Preview)?;
        return serde_json::to_string_pretty(&value).map_err(SetupError::Preview);
    }
    Ok(text)
}
