//! From the model's arguments to a typed value, with errors that name the field.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::ToolError;

/// Reads arguments. A value of the wrong kind is reported with its field's name.
pub fn parse_input<T: DeserializeOwned>(input: &RawValue) -> Result<T, ToolError> {
    serde_json::from_str(input.get()).map_err(|error| {
        let problem = match culprit::<T>(input) {
            Some((field, problem)) => format!("`{field}`: {problem}"),
            None => without_position(&error),
        };
        ToolError::InvalidInput { problem }
    })
}

/// The field whose value is of the wrong kind. `serde_json` tells only its column, so each field is
/// tried on its own; the complaint about the fields that are then missing is not what we look for.
fn culprit<T: DeserializeOwned>(input: &RawValue) -> Option<(String, String)> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(input.get()).ok()?;
    fields.into_iter().find_map(|(name, value)| {
        let alone = serde_json::to_string(&BTreeMap::from([(&name, value)])).ok()?;
        let problem = without_position(&serde_json::from_str::<T>(&alone).err()?);
        let about_names =
            problem.starts_with("missing field") || problem.starts_with("unknown field");
        (!about_names).then_some((name, problem))
    })
}

/// The place in the arguments' text helps nobody who has not written that text by hand.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or(&message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its reading is tested")]
    struct Sample {
        path: String,
        limit: Option<std::num::NonZeroU64>,
    }

    #[track_caller]
    fn check(input: &str, expected: &str) {
        let input = RawValue::from_string(input.to_owned()).unwrap();
        let error = parse_input::<Sample>(&input).unwrap_err().to_string();
        assert_eq!(error, format!("invalid arguments: {expected}"));
    }

    #[test]
    fn errors_name_the_field() {
        check("{}", "missing field `path`");
        check(r#"{"path":5}"#, "`path`: invalid type: integer `5`, expected a string");
        check(
            r#"{"path":"a","limit":"x"}"#,
            "`limit`: invalid type: string \"x\", expected a nonzero u64",
        );
        check(
            r#"{"path":"a","limit":0}"#,
            "`limit`: invalid value: integer `0`, expected a nonzero u64",
        );
        check(r#"{"path":"a","lines":1}"#, "unknown field `lines`, expected `path` or `limit`");
        check(r#"{"limit":1}"#, "missing field `path`");
    }
}
