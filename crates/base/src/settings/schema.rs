//! The JSON schema of the settings, with the defaults of those that have a fixed one. It is the published file, which a test makes
//! from the types: the program need not be able to.

use std::sync::LazyLock;

use serde_json::Value;

/// The JSON schema of the settings.
pub const SETTINGS_SCHEMA: &str = include_str!("../../../../docs/settings.schema.json");

/// The schema to look things up in; a test reads it.
pub(super) static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(SETTINGS_SCHEMA).unwrap_or_default());

#[cfg(test)]
mod tests {
    use schemars::Schema;
    use schemars::generate::SchemaSettings;
    use serde_json::json;

    use super::*;
    use crate::settings::keys::Settings;

    /// Defaults that code applies where a value is used, so that the types do not show them. Where a default depends on the
    /// model, the server or the locale, the description says so.
    fn defaults() -> Vec<(&'static str, Value)> {
        vec![
            ("autoMemoryEnabled", json!(true)),
            ("background.maxShare", json!(0.1)),
            ("cacheEdits.above", json!(20)),
            ("cacheEdits.keep", json!(5)),
            ("disableAllHooks", json!(false)),
            ("memory.tool", json!("own")),
            ("permissions.defaultMode", json!("default")),
            ("provider.version", json!("2023-06-01")),
            ("sandbox.mode", json!("auto")),
            ("sandbox.network", json!("allow")),
            ("sessionNotes.everyCalls", json!(3)),
            ("snip.fromPercent", json!(85)),
            ("snip.toPercent", json!(60)),
            ("terminal.notifications", json!("bell")),
            ("terminal.title", json!(true)),
            ("timeClearing.keep", json!(5)),
            ("tools.bashTimeoutMs", json!(120_000)),
            ("tools.bashMaxTimeoutMs", json!(600_000)),
            ("tools.mcpTimeoutMs", json!(600_000)),
            ("tools.mcpStartMs", json!(5_000)),
        ]
    }

    /// The schema as the types say it.
    fn schema_of_types() -> Schema {
        let mut schema = SchemaSettings::draft2020_12()
            .with(|settings| settings.inline_subschemas = true)
            .into_generator()
            .into_root_schema_for::<Settings>();
        for (key, default) in defaults() {
            if let Some(Value::Object(schema)) = schema.pointer_mut(&pointer(key)) {
                schema.insert("default".to_owned(), default);
            }
        }
        schema
    }

    /// Where the schema describes a key.
    fn pointer(key: &str) -> String {
        format!("/properties/{}", key.replace('.', "/properties/"))
    }

    /// Whether a description says this default: `default 20`, or in code spans.
    fn says(description: &str, default: &Value) -> bool {
        let plain = description.replace('`', "");
        let word = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
        plain.contains(&format!("default {word}")) || plain.contains(&format!("{word} (default)"))
    }

    #[test]
    fn every_default_is_at_a_key_and_as_its_description_says() {
        let schema = schema_of_types();
        for (name, default) in defaults() {
            let key = schema.pointer(&pointer(name)).unwrap_or_else(|| panic!("no key {name}"));
            assert_eq!(key["default"], default, "{name}");
            let description = key["description"].as_str().unwrap();
            if description.contains("; default") || description.contains("(default)") {
                assert!(says(description, &default), "{name}: {description}");
            }
        }
    }

    /// `UPDATE_SCHEMA=1 cargo test -p dormouse-base schema` writes the file anew.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a file of the checkout, written on request")]
    fn the_published_schema_is_that_of_the_types() {
        let made = serde_json::to_string_pretty(&schema_of_types()).unwrap() + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.schema.json");
            std::fs::write(file, &made).unwrap();
        } else {
            assert_eq!(made, SETTINGS_SCHEMA, "UPDATE_SCHEMA=1 writes it anew");
        }
    }
}
