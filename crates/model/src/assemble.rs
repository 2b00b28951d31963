//! A content block, put together from a stream without knowing what kind it is.
//!
//! The start gives the fields and their order; each delta adds to the field it names. Strings are joined
//! as they are written, arguments as JSON text (so that `1.10` stays `1.10`), everything else replaces.
//! A block that gets no delta is exactly what was received.

use dormouse_conversation::{Block, INVALID_JSON_KEY};
use serde_json::value::RawValue;

use crate::error::ModelError;
use crate::json_text::{self, quoted};

enum Value {
    /// As received.
    Raw(String),
    /// The inside of a string, as written, that grows.
    Text(String),
    /// The inside of a string that holds JSON text, and grows.
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
    pub(crate) fn add(&mut self, delta: &RawValue) -> Result<BlockDelta, ModelError> {
        self.changed = true;
        let mut shown = BlockDelta::Nothing;
        let fields = object_fields(delta)?;
        let kind = fields
            .iter()
            .find(|(name, _)| name == "type")
            .map(|(_, value)| value.clone())
            .unwrap_or_default();
        for (name, value) in fields.into_iter().filter(|(name, _)| name != "type") {
            match (name.as_str(), json_text::body(&value)) {
                ("partial_json", Some(body)) => self.grow_json(body),
                ("citation", None) => self.grow_list("citations", value),
                (name, Some(body)) => {
                    if kind == "\"text_delta\"" {
                        shown = BlockDelta::Text(json_text::decode(body));
                    } else if kind == "\"thinking_delta\"" {
                        shown = BlockDelta::Thinking(json_text::decode(body));
                    }
                    self.grow_text(name, body);
                }
                (name, None) => self.set(name, Value::Raw(value)),
            }
        }
        Ok(shown)
    }

    /// Whether it is text: that counts even if its end never came.
    pub(crate) fn is_text(&self) -> bool {
        self.kind_is("text")
    }

    /// The finished block. `fallback_id` is for a call that came without an id.
    pub(crate) fn finish(mut self, fallback_id: &str) -> Result<Block, ModelError> {
        if self.kind_is("tool_use") {
            self.mend_call(fallback_id);
        }
        let block = if self.changed {
            Block::from_json(self.render())
        } else if self.start.get().contains("\\u") {
            Block::from_json(json_text::mend(self.start.get()))
        } else {
            Block::from_raw(self.start)
        };
        block.map_err(|error| ModelError::Malformed(error.to_string()))
    }

    /// What no server withdraws: a call without an id, a name or arguments, or with those of a shape
    /// that is none. It would stand in every later request.
    fn mend_call(&mut self, fallback_id: &str) {
        let text = |value: Option<&Value>| match value {
            Some(Value::Raw(raw)) => {
                json_text::body(raw).map(json_text::decode).unwrap_or_default()
            }
            Some(Value::Text(body)) => json_text::decode(body),
            Some(Value::Json(_) | Value::List(_)) | None => String::new(),
        };
        let (id, name) = (text(self.get("id")), text(self.get("name")));
        if id.is_empty() {
            self.replace("id", quoted(fallback_id));
        }
        let plain = plain_name(&name);
        if plain != name {
            self.replace("name", quoted(&plain));
        }
        match self.get("input") {
            None => self.replace("input", "{}".to_owned()),
            Some(Value::Raw(raw)) if !json_text::is_object(raw) => {
                let kept = if raw.trim() == "null" {
                    "{}".to_owned()
                } else {
                    arguments_json(&raw.clone())
                };
                self.replace("input", kept);
            }
            Some(_) => {}
        }
    }

    fn replace(&mut self, name: &str, raw: String) {
        self.set(name, Value::Raw(raw));
        self.changed = true;
    }

    fn kind_is(&self, kind: &str) -> bool {
        matches!(self.get("type"), Some(Value::Raw(raw)) if json_text::body(raw) == Some(kind))
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
                Value::Raw(raw) => json.push_str(&json_text::mend(raw)),
                Value::Text(body) => json.push_str(&format!("\"{}\"", json_text::mend(body))),
                Value::Json(body) => json.push_str(&arguments_json(&json_text::decode(body))),
                Value::List(items) => {
                    json.push_str(&format!("[{}]", json_text::mend(&items.join(","))));
                }
            }
        }
        json.push('}');
        json
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
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
        if let Some(Value::Text(body)) = self.slot(name) {
            body.push_str(more);
            return;
        }
        let begun = match self.get(name) {
            Some(Value::Raw(raw)) => json_text::body(raw).unwrap_or_default().to_owned(),
            Some(Value::Text(_) | Value::Json(_) | Value::List(_)) | None => String::new(),
        };
        self.set(name, Value::Text(begun + more));
    }

    fn grow_json(&mut self, more: &str) {
        if more.is_empty() {
            return;
        }
        match self.slot("input") {
            Some(Value::Json(body)) => body.push_str(more),
            _ => self.set("input", Value::Json(more.to_owned())),
        }
    }

    fn grow_list(&mut self, name: &str, item: String) {
        if let Some(Value::List(items)) = self.slot(name) {
            items.push(item);
            return;
        }
        // The start may have brought some already.
        let mut items: Vec<String> = match self.get(name) {
            Some(Value::Raw(raw)) => serde_json::from_str::<Vec<&RawValue>>(raw)
                .map(|begun| begun.into_iter().map(|one| one.get().to_owned()).collect())
                .unwrap_or_default(),
            Some(Value::Text(_) | Value::Json(_) | Value::List(_)) | None => Vec::new(),
        };
        items.push(item);
        self.set(name, Value::List(items));
    }
}

/// What of a delta the user wants to see.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BlockDelta {
    Text(String),
    Thinking(String),
    Nothing,
}

/// The longest name of a tool.
const LONGEST_NAME: usize = 128;

/// A tool's name in the letters that servers allow; one that was fine stays.
pub(crate) fn plain_name(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let plain: String = name.chars().take(LONGEST_NAME).map(allowed).collect();
    if plain.is_empty() { "unnamed".to_owned() } else { plain }
}

/// The arguments of a call as JSON: as the model wrote them where they are an object, else kept as text.
pub(crate) fn arguments_json(text: &str) -> String {
    if text.trim().is_empty() {
        return "{}".to_owned();
    }
    if json_text::is_object(text) {
        json_text::mend(text.trim())
    } else {
        format!("{{{}:{}}}", quoted(INVALID_JSON_KEY), quoted(text))
    }
}

/// An object's fields in their order, values as text.
pub(crate) fn object_fields(object: &RawValue) -> Result<Vec<(String, String)>, ModelError> {
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
        assert_eq!(builder.finish("fallback").unwrap().raw(), expected);
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

    #[test]
    fn citations_join_those_that_were_there() {
        check(
            r#"{"type":"text","text":"x","citations":[{"a":1.10}]}"#,
            &[r#"{"type":"citations_delta","citation":{"b":"\ud83d"}}"#],
            r#"{"type":"text","text":"x","citations":[{"a":1.10},{"b":"\ufffd"}]}"#,
        );
    }

    #[test]
    fn what_no_server_takes_back_is_mended() {
        check(
            r#"{"type":"tool_use","id":"","name":"a\nb é","input":["x"]}"#,
            &[],
            r#"{"type":"tool_use","id":"fallback","name":"a_b__","input":{"__invalid_json__":"[\"x\"]"}}"#,
        );
        check(
            r#"{"type":"tool_use","id":"t","name":"","input":null}"#,
            &[],
            r#"{"type":"tool_use","id":"t","name":"unnamed","input":{}}"#,
        );
    }

    #[test]
    fn a_character_cut_in_two_comes_together() {
        check(
            r#"{"type":"text","text":"A "}"#,
            &[
                r#"{"type":"text_delta","text":"good \ud83d"}"#,
                r#"{"type":"text_delta","text":"\ude00 tail"}"#,
                r#"{"type":"text_delta","text":"\ud83d"}"#,
            ],
            r#"{"type":"text","text":"A good \ud83d\ude00 tail\ufffd"}"#,
        );
    }
}
