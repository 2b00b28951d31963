//! A content block, put together from a stream without knowing what kind it is.
//!
//! The start gives the fields and their order; each delta adds to the field it names. Text is joined
//! to text, arguments are joined as JSON text (so that `1.10` stays `1.10`), everything else replaces.
//! A block that gets no delta is exactly what was received.

use dormouse_conversation::Block;
use serde_json::value::RawValue;

use crate::ModelError;

/// Arguments that are no JSON object are kept, as text, under this name: the model's words are not
/// lost, and the call can be answered with what is wrong with them.
pub const INVALID_JSON: &str = "__invalid_json__";

enum Value {
    /// As received.
    Raw(String),
    /// A string that grows.
    Text(String),
    /// JSON text that grows.
    Json(String),
    /// A list that grows.
    List(Vec<String>),
}

/// A block that is still coming.
pub(crate) struct BlockBuilder {
    start: Box<RawValue>,
    fields: Vec<(String, Value)>,
    changed: bool,
}

impl BlockBuilder {
    pub(crate) fn new(start: Box<RawValue>) -> Result<Self, ModelError> {
        let fields = object_fields(&start)?
            .into_iter()
            .map(|(name, value)| (name, Value::Raw(value)))
            .collect();
        Ok(Self { start, fields, changed: false })
    }

    /// Adds a delta; gives back its text, if it is text to show.
    pub(crate) fn add(&mut self, delta: &RawValue) -> Result<Delta, ModelError> {
        self.changed = true;
        let mut shown = Delta::Nothing;
        let fields = object_fields(delta)?;
        let kind = fields
            .iter()
            .find(|(name, _)| name == "type")
            .map(|(_, value)| value.clone())
            .unwrap_or_default();
        for (name, value) in fields.into_iter().filter(|(name, _)| name != "type") {
            let text: Option<String> = serde_json::from_str(&value).ok();
            match (name.as_str(), text) {
                ("partial_json", Some(text)) => self.grow_json(&text),
                ("citation", None) => self.grow_list("citations", value),
                (name, Some(text)) => {
                    if kind == "\"text_delta\"" {
                        shown = Delta::Text(text.clone());
                    } else if kind == "\"thinking_delta\"" {
                        shown = Delta::Thinking(text.clone());
                    }
                    self.grow_text(name, &text);
                }
                (name, None) => self.set(name, Value::Raw(value)),
            }
        }
        Ok(shown)
    }

    /// The finished block.
    pub(crate) fn finish(mut self) -> Result<Block, ModelError> {
        // Some servers leave the arguments out where there are none; others refuse a call without them.
        let is_call = matches!(self.slot("type"), Some(Value::Raw(kind)) if kind == "\"tool_use\"");
        if is_call && self.slot("input").is_none() {
            self.set("input", Value::Raw("{}".to_owned()));
            self.changed = true;
        }
        let block = if self.changed {
            Block::from_json(self.render())
        } else {
            Block::from_raw(self.start)
        };
        block.map_err(|error| ModelError::Malformed(error.to_string()))
    }

    fn render(&self) -> String {
        let mut json = String::from("{");
        for (index, (name, value)) in self.fields.iter().enumerate() {
            if index > 0 {
                json.push(',');
            }
            json.push_str(&quoted(name));
            json.push(':');
            match value {
                Value::Raw(raw) => json.push_str(raw),
                Value::Text(text) => json.push_str(&quoted(text)),
                Value::Json(text) => json.push_str(&arguments_json(text)),
                Value::List(items) => {
                    json.push('[');
                    json.push_str(&items.join(","));
                    json.push(']');
                }
            }
        }
        json.push('}');
        json
    }

    fn slot(&mut self, name: &str) -> Option<&mut Value> {
        self.fields.iter_mut().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    fn set(&mut self, name: &str, value: Value) {
        match self.slot(name) {
            Some(slot) => *slot = value,
            None => self.fields.push((name.to_owned(), value)),
        }
    }

    fn grow_text(&mut self, name: &str, more: &str) {
        match self.slot(name) {
            Some(Value::Text(text)) => text.push_str(more),
            Some(slot @ Value::Raw(_)) => {
                let Value::Raw(raw) = &*slot else { return };
                let begun: String = serde_json::from_str(raw).unwrap_or_default();
                *slot = Value::Text(begun + more);
            }
            Some(Value::Json(_) | Value::List(_)) | None => {
                self.set(name, Value::Text(more.to_owned()));
            }
        }
    }

    fn grow_json(&mut self, more: &str) {
        if more.is_empty() {
            return;
        }
        match self.slot("input") {
            Some(Value::Json(text)) => text.push_str(more),
            _ => self.set("input", Value::Json(more.to_owned())),
        }
    }

    fn grow_list(&mut self, name: &str, item: String) {
        match self.slot(name) {
            Some(Value::List(items)) => items.push(item),
            _ => self.set(name, Value::List(vec![item])),
        }
    }
}

/// What of a delta a person wants to see.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delta {
    Text(String),
    Thinking(String),
    Nothing,
}

/// The arguments of a call as JSON: as the model wrote them where they are an object, else kept as text.
pub(crate) fn arguments_json(text: &str) -> String {
    if text.trim().is_empty() {
        return "{}".to_owned();
    }
    let is_object =
        text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok();
    if is_object {
        text.trim().to_owned()
    } else {
        format!("{{{}:{}}}", quoted(INVALID_JSON), quoted(text))
    }
}

/// JSON text of a string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// An object's fields in their order, values as text.
fn object_fields(object: &RawValue) -> Result<Vec<(String, String)>, ModelError> {
    struct Fields(Vec<(String, String)>);
    impl<'de> serde::Deserialize<'de> for Fields {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct FieldsVisitor;
            impl<'de> serde::de::Visitor<'de> for FieldsVisitor {
                type Value = Fields;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<Fields, A::Error> {
                    let mut fields = Vec::new();
                    while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                        fields.push((name, value.get().to_owned()));
                    }
                    Ok(Fields(fields))
                }
            }
            deserializer.deserialize_map(FieldsVisitor)
        }
    }
    serde_json::from_str::<Fields>(object.get())
        .map(|fields| fields.0)
        .map_err(|error| ModelError::Malformed(format!("a content block: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(start: &str, deltas: &[&str], expected: &str) {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let mut builder = BlockBuilder::new(raw(start)).unwrap();
        for delta in deltas {
            builder.add(&raw(delta)).unwrap();
        }
        assert_eq!(builder.finish().unwrap().raw(), expected);
    }

    #[test]
    fn blocks_from_deltas() {
        check(
            r#"{"type":"text","text":""}"#,
            &[r#"{"type":"text_delta","text":"he"}"#, r#"{"type":"text_delta","text":"llo"}"#],
            r#"{"type":"text","text":"hello"}"#,
        );
        check(
            r#"{"type":"tool_use","id":"t","name":"Read","input":{},"caller":{"n":1.10}}"#,
            &[
                r#"{"type":"input_json_delta","partial_json":""}"#,
                r#"{"type":"input_json_delta","partial_json":"{\"n\": 1."}"#,
                r#"{"type":"input_json_delta","partial_json":"10, \"big\": 12345678901234567890123}"}"#,
            ],
            r#"{"type":"tool_use","id":"t","name":"Read","input":{"n": 1.10, "big": 12345678901234567890123},"caller":{"n":1.10}}"#,
        );
        check(
            r#"{"type":"thinking","thinking":"","signature":""}"#,
            &[
                r#"{"type":"thinking_delta","thinking":"hm"}"#,
                r#"{"type":"signature_delta","signature":"EoQD/+=="}"#,
            ],
            r#"{"type":"thinking","thinking":"hm","signature":"EoQD/+=="}"#,
        );
        check(
            r#"{"type":"text","text":""}"#,
            &[
                r#"{"type":"citations_delta","citation":{"b":1,"a":2}}"#,
                r#"{"type":"text_delta","text":"x"}"#,
            ],
            r#"{"type":"text","text":"x","citations":[{"b":1,"a":2}]}"#,
        );
        check(
            r#"{"type":"compaction","content":null}"#,
            &[r#"{"type":"compaction_delta","content":"sum","encrypted_content":"AA"}"#],
            r#"{"type":"compaction","content":"sum","encrypted_content":"AA"}"#,
        );
    }

    #[test]
    fn a_block_without_deltas_is_as_received() {
        check(
            r#"{ "type":"tool_use", "id":"t","name":"N","input":{} }"#,
            &[],
            r#"{ "type":"tool_use", "id":"t","name":"N","input":{} }"#,
        );
        check(r#"{"b":1.10,"type":"new_thing"}"#, &[], r#"{"b":1.10,"type":"new_thing"}"#);
    }

    #[test]
    fn a_call_always_has_arguments() {
        check(
            r#"{"type":"tool_use","id":"t","name":"N"}"#,
            &[],
            r#"{"type":"tool_use","id":"t","name":"N","input":{}}"#,
        );
    }

    #[test]
    fn broken_arguments_are_kept_as_text() {
        check(
            r#"{"type":"tool_use","id":"t","name":"Read","input":{}}"#,
            &[r#"{"type":"input_json_delta","partial_json":"{\"path\": \"a"}"#],
            r#"{"type":"tool_use","id":"t","name":"Read","input":{"__invalid_json__":"{\"path\": \"a"}}"#,
        );
        assert_eq!(arguments_json("[1]"), r#"{"__invalid_json__":"[1]"}"#);
        assert_eq!(arguments_json("  "), "{}");
    }
}
