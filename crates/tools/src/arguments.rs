//! The arguments of a call: an object, or what is wrong with them.

use dormouse_conversation::ToolUse;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::input::without_position;

/// The text of arguments that were not JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InvalidJson {
    #[serde(rename = "__invalid_json__")]
    text: String,
}

/// The object that a call's arguments are; else why they are none, for the model to read.
pub(crate) fn object(call: ToolUse<'_>) -> Result<&RawValue, String> {
    let text = call.input.get().trim_start();
    // A call without arguments has none, or `null`; what is required is then found missing.
    if text == "null" {
        return Ok(empty_object());
    }
    let name = call.name;
    if !text.starts_with('{') {
        return Err(format!(
            "the arguments of {name} are not a JSON object, so it was not run; send one object with \
             the fields of the tool's schema"
        ));
    }
    match serde_json::from_str::<InvalidJson>(text) {
        Ok(InvalidJson { text }) => Err(invalid_json(name, &text)),
        Err(_) => Ok(call.input),
    }
}

fn empty_object() -> &'static RawValue {
    serde_json::from_str("{}").unwrap_or(RawValue::NULL)
}

fn invalid_json(name: &str, text: &str) -> String {
    let problem = match serde_json::from_str::<IgnoredAny>(text) {
        Err(error) if text.lines().count() <= 1 => {
            format!("{} at character {}", without_position(&error), error.column())
        }
        Err(error) => error.to_string(),
        Ok(IgnoredAny) => "they could not be read".to_owned(),
    };
    format!(
        "the arguments of {name} were not valid JSON ({problem}), so it was not run; send the call \
         again with one complete JSON object"
    )
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
