//! What is asked of a model beside the conversation itself, in neutral terms.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::value::RawValue;
use thiserror::Error;

/// Which tools the model may call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// None, though their definitions stay (or the prefix would differ).
    None,
}

/// What form the answer has.
#[derive(Debug, Clone, Default)]
pub enum ResponseFormat {
    /// Text and tool calls.
    #[default]
    Text,
    /// One JSON value of this schema.
    Json {
        /// A name for it: letters, digits, `_`, `-`.
        name: String,
        /// The schema.
        schema: Box<RawValue>,
    },
}

/// How hard the model is to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Hardly.
    Low,
    /// Somewhat.
    Medium,
    /// Well.
    High,
    /// Very well.
    XHigh,
    /// As well as it can.
    Max,
}

impl Effort {
    /// Its name in settings and requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::ALL.iter().find(|(_, effort)| effort == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

/// There is no effort of this name.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("unknown effort `{0}`; use low, medium, high, xhigh or max")]
pub struct UnknownEffort(String);

impl FromStr for Effort {
    type Err = UnknownEffort;

    fn from_str(name: &str) -> Result<Self, UnknownEffort> {
        let found =
            Self::ALL.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim()));
        found.map(|(_, effort)| effort).ok_or_else(|| UnknownEffort(name.to_owned()))
    }
}

impl Effort {
    /// All of them, with what they are called.
    pub const ALL: [(&'static str, Self); 5] = [
        ("low", Self::Low),
        ("medium", Self::Medium),
        ("high", Self::High),
        ("xhigh", Self::XHigh),
        ("max", Self::Max),
    ];
}

/// The options of a request.
#[derive(Debug, Clone)]
pub struct RequestOptions {
    /// The model.
    pub model: String,
    /// The longest answer.
    pub max_tokens: u32,
    /// Which tools.
    pub tool_choice: ToolChoice,
    /// Which form.
    pub response_format: ResponseFormat,
    /// How hard to think, where the server knows that; as it likes without.
    pub effort: Option<Effort>,
}

impl RequestOptions {
    /// A plain request.
    pub fn new(model: impl Into<String>, max_tokens: u32) -> Self {
        Self {
            model: model.into(),
            max_tokens,
            tool_choice: ToolChoice::Auto,
            response_format: ResponseFormat::Text,
            effort: None,
        }
    }
}
