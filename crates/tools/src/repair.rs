//! Repairs the arguments of a call where there is no doubt what was meant, and says what was repaired.
//!
//! Small models often know the tool and miss the form: a number within quotes, `path` for `file_path`, the object within
//! a code fence. Anything else is left as it is and refused later, with what is wrong.

use std::borrow::Cow;
use std::collections::BTreeMap;

use dormouse_conversation::{Block, ResultContent};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use crate::arguments::invalid_text;

/// Parameters, and other names that models give them.
const USUAL_NAMES: &[(&str, &[&str])] = &[
    ("command", &["cmd"]),
    ("file_path", &["file", "filePath", "filename", "filepath", "notebook_path", "path"]),
    ("new_string", &["new_str"]),
    ("old_string", &["old_str"]),
    ("pattern", &["query"]),
];

type Fields = BTreeMap<String, Box<RawValue>>;

/// The arguments of a call as its tool gets them, and what had to be repaired for that. Without repairs they are the
/// bytes that were received.
#[derive(Debug)]
pub struct RepairedArguments<'a> {
    /// The arguments.
    pub input: Cow<'a, RawValue>,
    /// What was repaired, each as a clause.
    repairs: Vec<String>,
}

impl<'a> RepairedArguments<'a> {
    /// Arguments that need no repair.
    pub(crate) fn unchanged(input: &'a RawValue) -> Self {
        Self { input: Cow::Borrowed(input), repairs: Vec::new() }
    }

    /// The result of the call, with a first line that says what was repaired, so that the model learns.
    pub fn tell(&self, result: ResultContent) -> ResultContent {
        if self.repairs.is_empty() {
            return result;
        }
        let line = format!("[arguments repaired: {}]", self.repairs.join("; "));
        match result {
            ResultContent::Text(text) => ResultContent::Text(format!("{line}\n{text}")),
            ResultContent::Blocks(mut blocks) => {
                blocks.insert(0, Block::text(&line));
                ResultContent::Blocks(blocks)
            }
        }
    }
}

/// Repairs arguments for a tool with this schema.
pub(crate) fn repair<'a>(schema: &str, given: &'a RawValue) -> RepairedArguments<'a> {
    let mut repairs = Vec::new();
    let unwrapped = wrapped_object(given);
    let text = match &unwrapped {
        Some((object, how)) => {
            repairs.push(format!("they were {how} and not the JSON object itself"));
            object.as_str()
        }
        None => given.get(),
    };
    let (Ok(mut fields), Ok(schema)) =
        (serde_json::from_str::<Fields>(text), serde_json::from_str::<Value>(schema))
    else {
        return RepairedArguments::unchanged(given);
    };
    rename(&schema, &mut fields, &mut repairs);
    convert(&schema, &mut fields, &mut repairs);
    match serde_json::value::to_raw_value(&fields) {
        Ok(input) if !repairs.is_empty() => RepairedArguments { input: Cow::Owned(input), repairs },
        _ => RepairedArguments::unchanged(given),
    }
}

/// The object that stands within a code fence or a string, and in which of them it was.
fn wrapped_object(given: &RawValue) -> Option<(String, &'static str)> {
    let text = match invalid_text(given) {
        Some(text) => text,
        None if given.get().starts_with('{') => return None,
        None => given.get().to_owned(),
    };
    let is_object = |text: &str| serde_json::from_str::<BTreeMap<String, &RawValue>>(text).is_ok();
    let outer = unfenced(&text);
    if is_object(outer) {
        return Some((outer.to_owned(), "within a code fence"));
    }
    let inner: String = serde_json::from_str(outer).ok()?;
    let inner = unfenced(&inner);
    is_object(inner).then(|| (inner.to_owned(), "a string"))
}

/// The content of a code fence; other text as it is.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let content = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let content =
        content.map(|content| content.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    content.map_or(text, str::trim)
}

/// Gives required parameters that are missing their names, where one field has a usual wrong name.
fn rename(schema: &Value, fields: &mut Fields, repairs: &mut Vec<String>) {
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    for &(name, others) in USUAL_NAMES {
        if fields.contains_key(name) || !required.clone().any(|required| required == name) {
            continue;
        }
        let mut candidates = others
            .iter()
            .filter(|other| fields.contains_key(**other) && property(schema, other).is_none());
        if let (Some(&other), None) = (candidates.next(), candidates.next())
            && let Some(value) = fields.remove(other)
        {
            fields.insert(name.to_owned(), value);
            repairs.push(format!("`{other}` was taken as `{name}`"));
        }
    }
}

/// Makes numbers and booleans of strings where the schema has no string.
fn convert(schema: &Value, fields: &mut Fields, repairs: &mut Vec<String>) {
    for (name, value) in fields {
        let kind = property(schema, name).and_then(|property| property.get("type")?.as_str());
        let (Some(kind), Ok(text)) = (kind, serde_json::from_str::<String>(value.get())) else {
            continue;
        };
        let text = text.trim();
        let converted = match kind {
            "integer" => text.parse::<i64>().ok().map(|number| number.to_string()),
            "number" => serde_json::from_str::<Number>(text).ok().map(|number| number.to_string()),
            "boolean" => {
                Some(text.to_ascii_lowercase()).filter(|text| text == "true" || text == "false")
            }
            _ => None,
        };
        if let Some(converted) = converted.and_then(|text| RawValue::from_string(text).ok()) {
            repairs.push(format!("the string in `{name}` was taken as the {kind} {converted}"));
            *value = converted;
        }
    }
}

fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object","properties":{"file_path":{"type":"string"},"limit":{"type":"integer"},
        "all":{"type":"boolean"},"share":{"type":"number"},"either":{"type":["integer","string"]}},
        "required":["file_path"]}"#;

    #[track_caller]
    fn check(given: &str, expected: &str, repairs: &[&str]) {
        let given = RawValue::from_string(given.to_owned()).unwrap();
        let repaired = repair(SCHEMA, &given);
        assert_eq!(repaired.input.get(), expected);
        assert_eq!(repaired.repairs, repairs);
    }

    #[track_caller]
    fn unchanged(given: &str) {
        check(given, given, &[]);
    }

    #[test]
    fn strings_become_numbers_and_booleans() {
        check(
            r#"{"file_path":"a","limit":" 10 ","all":"True","share":"0.5","either":"3"}"#,
            r#"{"all":true,"either":"3","file_path":"a","limit":10,"share":0.5}"#,
            &[
                "the string in `all` was taken as the boolean true",
                "the string in `limit` was taken as the integer 10",
                "the string in `share` was taken as the number 0.5",
            ],
        );
        unchanged(r#"{"file_path":"a", "limit":"ten","all":"yes","share":"half"}"#);
        unchanged(r#"{"file_path":"7","limit":"1.5"}"#);
    }

    #[test]
    fn one_usual_name_is_taken_for_a_missing_parameter() {
        let said = ["`path` was taken as `file_path`"];
        check(r#"{"path":"a"}"#, r#"{"file_path":"a"}"#, &said);
        unchanged(r#"{"path":"a","file":"b"}"#);
        unchanged(r#"{"path":"a","file_path":"b"}"#);
        unchanged(r#"{"cmd":"a"}"#);
        let given = RawValue::from_string(r#"{"path":"a"}"#.to_owned()).unwrap();
        let schema = r#"{"properties":{"file_path":{},"path":{}},"required":["file_path"]}"#;
        assert_eq!(repair(schema, &given).input.get(), given.get());
    }

    #[test]
    fn an_object_is_taken_out_of_a_fence_or_a_string() {
        let fence = ["they were within a code fence and not the JSON object itself"];
        let string = ["they were a string and not the JSON object itself"];
        let object = r#"{"file_path":"a"}"#;
        check(r#"{"__invalid_json__":"```json\n{\"file_path\":\"a\"}\n```\n"}"#, object, &fence);
        check(r#"{"__invalid_json__":"```{\"file_path\":\"a\"}```"}"#, object, &fence);
        check(r#"{"__invalid_json__":"\"{\\\"file_path\\\":\\\"a\\\"}\""}"#, object, &string);
        check(r#""{\"file_path\":\"a\"}""#, object, &string);
        unchanged(r#"{"__invalid_json__":"```json\n[1]\n```"}"#);
        unchanged(r#"{"__invalid_json__":"{\"file_path\": \"a"}"#);
        unchanged("null");
    }
}
