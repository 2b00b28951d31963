//! A request as the server saw it, kept byte for byte.

use dormouse_conversation::Usage;
use serde_json::Value;

use crate::scan;

/// A request that asked the model something.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// Its place in the order of arrival, from 0.
    pub index: usize,
    /// The connection it came on, from 0.
    pub connection: usize,
    /// The HTTP method.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// The headers, names in lower case, in their order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// What the answer said it cost; zero if the answer was a refusal.
    pub usage: Usage,
    /// How many tokens of it the cache keeps: the next request of the conversation reads as many.
    pub written: u64,
    /// How many of its tokens do not count, because the server has left them out.
    pub left_out: u64,
    /// What the server cleared for it, as the answer tells it.
    pub applied: Option<Value>,
}

impl RecordedRequest {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        self.as_str().to_owned()
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a request body is UTF-8")
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a request body is JSON")
    }

    /// A field of the body as it was sent.
    pub fn raw_field(&self, name: &str) -> Option<&str> {
        let start = scan::after_space(&self.body, 0);
        let range = scan::find(&self.body, start, name)?;
        self.as_str().get(range)
    }

    /// The messages as they were sent.
    pub fn raw_messages(&self) -> Vec<&str> {
        scan::messages(&self.body)
            .into_iter()
            .filter_map(|range| self.as_str().get(range))
            .collect()
    }

    /// The messages as JSON.
    pub fn messages(&self) -> Vec<Value> {
        self.json()["messages"].as_array().cloned().unwrap_or_default()
    }

    /// The last message as JSON.
    pub fn last_message(&self) -> Value {
        self.messages().pop().expect("a request has messages")
    }

    /// The names of the tools offered.
    pub fn tool_names(&self) -> Vec<String> {
        let body = self.json();
        let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let name = |tool: &Value| {
            tool["name"].as_str().or_else(|| tool["function"]["name"].as_str()).map(str::to_owned)
        };
        tools.iter().filter_map(name).collect()
    }

    /// The text of the system prompt, in either wire format.
    pub fn system_text(&self) -> String {
        let body = self.json();
        let first = &body["messages"][0];
        let system = match &body["system"] {
            Value::Null if first["role"] == "system" => &first["content"],
            system => system,
        };
        match system.as_array() {
            Some(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
            None => system.as_str().unwrap_or_default().to_owned(),
        }
    }
}
