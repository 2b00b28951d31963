//! Checks that the arguments of a call are a JSON object.

use dormouse_conversation::ToolUse;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::input::without_position;

/// Why the arguments of a call are not a JSON object. The text is for the model.
#[derive(Debug, Error)]
pub(crate) enum ArgumentsError {
    #[error(
        "the arguments of {tool} are not a JSON object, so it was not run; send one object with the fields of the tool's \
         schema"
    )]
    NotAnObject { tool: String },
    #[error(
        "the arguments of {tool} were not valid JSON ({problem}), so it was not run; send the call again with one \
         complete JSON object"
    )]
    InvalidJson { tool: String, problem: String },
}

/// The text of arguments that were not JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InvalidJson {
    #[serde(rename = "__invalid_json__")]
    text: String,
}

/// The arguments of a call, if they are an object.
pub(crate) fn object(call: ToolUse<'_>) -> Result<&RawValue, ArgumentsError> {
    let text = call.input.get().trim_start();
    // A call without arguments may have `null`; missing fields are reported later.
    if text == "null" {
        return Ok(empty_object());
    }
    let tool = call.name.to_owned();
    if !text.starts_with('{') {
        return Err(ArgumentsError::NotAnObject { tool });
    }
    match invalid_text(call.input) {
        Some(text) => Err(ArgumentsError::InvalidJson { tool, problem: json_problem(&text) }),
        None => Ok(call.input),
    }
}

/// The text of arguments that were no JSON object.
pub(crate) fn invalid_text(input: &RawValue) -> Option<String> {
    serde_json::from_str::<InvalidJson>(input.get()).ok().map(|invalid| invalid.text)
}

fn empty_object() -> &'static RawValue {
    serde_json::from_str("{}").unwrap_or(RawValue::NULL)
}

fn json_problem(text: &str) -> String {
    match serde_json::from_str::<IgnoredAny>(text) {
        Err(error) if text.lines().count() <= 1 => {
            format!("{} at character {}", without_position(&error), error.column())
        }
        Err(error) => error.to_string(),
        Ok(IgnoredAny) => "they could not be read".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_conversation::INVALID_JSON_KEY;

    #[test]
    fn the_mark_is_the_one_that_decoders_set() {
        assert!(
            serde_json::from_str::<InvalidJson>(&format!(r#"{{"{INVALID_JSON_KEY}":""}}"#)).is_ok()
        );
    }
}
