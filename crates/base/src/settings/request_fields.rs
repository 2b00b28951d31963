//! Fields that users add to requests: which they may set, and which apply to a model.

use std::collections::BTreeMap;

use serde_json::Value;

use super::keys::Settings;

/// Fields that the program relies on.
const OWN_FIELDS: &[&str] = &[
    "input",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "stream",
    "stream_options",
    "system",
    "tools",
];

impl Settings {
    /// The fields to add to requests to a model; of two settings for one field that with the longer prefix counts.
    pub fn request_fields_for(&self, model: &str) -> BTreeMap<String, Value> {
        let matching =
            self.request_fields.iter().filter(|(prefix, _)| model.starts_with(&**prefix));
        matching.flat_map(|(_, fields)| fields.clone()).collect()
    }

    /// A model and a field that no setting may replace, if there is one.
    pub(super) fn own_request_field(&self) -> Option<(&str, &str)> {
        self.request_fields.iter().find_map(|(model, fields)| {
            let own = fields.keys().find(|field| OWN_FIELDS.contains(&field.as_str()))?;
            Some((model.as_str(), own.as_str()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_longest_prefix_counts() {
        let text = br#"{"requestFields":{"":{"seed":1},"qwen":{"temperature":0.7,"top_p":0.8},"qwen3":{"temperature":0}}}"#;
        let (settings, _) = Settings::parse("s", text).unwrap();
        let fields = |model: &str| json!(settings.request_fields_for(model));
        assert_eq!(fields("qwen3-4b"), json!({"seed": 1, "temperature": 0, "top_p": 0.8}));
        assert_eq!(fields("llama"), json!({"seed": 1}));
    }

    #[test]
    fn fields_of_the_program_are_refused() {
        let text = b"{\n\"requestFields\": {\n\"m\": {\"messages\": []}}}";
        let error = Settings::parse("/s.json", text).unwrap_err().to_string();
        let expected = "/s.json, line 3: `requestFields` may not set `messages` (for `m`): the program sets it itself; remove it";
        assert_eq!(error, expected);
    }
}
