//! One value changed in a text of settings; the rest stays as the user wrote it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

use super::dotted_key::SettingKey;

/// A text that cannot be changed so.
#[derive(Debug, Error)]
pub enum SettingsEditError {
    /// Not JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A key below something that has no keys.
    #[error("cannot set `{key}`: its parent in the file is not an object")]
    NoObject {
        /// The key.
        key: String,
    },
}

/// Sets a key such as `permissions.allow`; `value` is JSON.
pub fn set_value(text: &str, key: &SettingKey, value: &str) -> Result<String, SettingsEditError> {
    let value: &RawValue = serde_json::from_str(value)?;
    change(text, key, Some(value))
}

/// Takes a key out. A text in which it does not stand stays as it is, to the byte.
pub fn unset_value(text: &str, key: &SettingKey) -> Result<String, SettingsEditError> {
    if has_value(text, key)? { change(text, key, None) } else { Ok(text.to_owned()) }
}

/// Whether a key stands in a text of settings.
fn has_value(text: &str, key: &SettingKey) -> Result<bool, SettingsEditError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(false);
    }
    let whole: Value = serde_json::from_str(text)?;
    Ok(key.at(&whole).is_some())
}

fn change(
    text: &str,
    key: &SettingKey,
    value: Option<&RawValue>,
) -> Result<String, SettingsEditError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let text = if text.is_empty() { "{}" } else { text };
    let changed = changed(text, key.names(), value, 1)?.unwrap_or_else(|| "{}".to_owned());
    Ok(format!("{changed}\n"))
}

/// The object with the key at this path changed; none if nothing is left of it.
fn changed(
    text: &str,
    path: &[String],
    value: Option<&RawValue>,
    depth: usize,
) -> Result<Option<String>, SettingsEditError> {
    let Some((first, rest)) = path.split_first() else {
        return Ok(value.map(|value| value.get().to_owned()));
    };
    if !text.trim_start().starts_with('{') {
        return Err(SettingsEditError::NoObject {
            key: SettingKey::of(path.iter().cloned()).to_string(),
        });
    }
    let Ordered(mut fields) = serde_json::from_str(text)?;
    let place = fields.iter().position(|(name, _)| name == first);
    let below = place.and_then(|place| fields.get(place)).map(|(_, raw)| raw.get().to_owned());
    let below = changed(below.as_deref().unwrap_or("{}"), rest, value, depth + 1)?;
    match (place, below) {
        (None, None) => {}
        (Some(place), None) => drop(fields.remove(place)),
        (place, Some(below)) => {
            let field = (first.clone(), RawValue::from_string(below)?);
            match place.and_then(|place| fields.get_mut(place)) {
                Some(old) => *old = field,
                None => fields.push(field),
            }
        }
    }
    Ok((!fields.is_empty()).then(|| render(&fields, depth)))
}

fn render(fields: &[(String, Box<RawValue>)], depth: usize) -> String {
    let (inner, outer) = ("  ".repeat(depth), "  ".repeat(depth.saturating_sub(1)));
    let lines: Vec<String> = fields
        .iter()
        .map(|(name, raw)| format!("{inner}{}: {}", Value::from(name.as_str()), raw))
        .collect();
    format!("{{\n{}\n{outer}}}", lines.join(",\n"))
}

/// The fields of an object in their order, as text.
struct Ordered(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Ordered;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Ordered(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> SettingKey {
        SettingKey::parse(text)
    }

    #[test]
    fn the_rest_stays_as_it_was_written() {
        let text = "{\n  \"model\": \"a\",\n  \"permissions\": {\"deny\": [ \"Read\" ]},\n  \"z\": 1.50\n}\n";
        assert_eq!(
            set_value(text, &key("model"), "\"b\"").unwrap(),
            text.replace("\"a\"", "\"b\""),
        );
        assert_eq!(
            set_value(text, &key("permissions.allow"), r#"["Bash"]"#).unwrap(),
            text.replace(
                r#"{"deny": [ "Read" ]}"#,
                "{\n    \"deny\": [ \"Read\" ],\n    \"allow\": [\"Bash\"]\n  }"
            ),
        );
        assert_eq!(
            unset_value(text, &key("permissions.deny")).unwrap(),
            "{\n  \"model\": \"a\",\n  \"z\": 1.50\n}\n",
        );
        assert_eq!(unset_value(text, &key("nothing.here")).unwrap(), text);
        for odd in [r#"{"model":"a","z":{}}"#, "", "{ }", "[1]"] {
            assert_eq!(unset_value(odd, &key("z.here")).unwrap(), odd);
        }
        assert!(has_value(text, &key("permissions.deny")).unwrap());
        assert!(!has_value(text, &key("permissions.allow")).unwrap());
    }

    #[test]
    fn from_nothing() {
        let expected = "{\n  \"layers\": {\n    \"dream\": false\n  }\n}\n";
        assert_eq!(set_value("", &key("layers.dream"), "false").unwrap(), expected);
        assert_eq!(unset_value(expected, &key("layers.dream")).unwrap(), "{}\n");
        assert!(matches!(
            set_value(r#"{"model":"a"}"#, &key("model.x"), "1"),
            Err(SettingsEditError::NoObject { .. })
        ));
        assert!(matches!(
            set_value("[1]", &key("model"), "1"),
            Err(SettingsEditError::NoObject { .. })
        ));
    }
}
