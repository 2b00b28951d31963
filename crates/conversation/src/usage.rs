//! What a request cost, in tokens.

use serde::{Deserialize, Serialize};

/// Token counters of one response, in the terms of the Anthropic API: `input_tokens` is only the part
/// that was neither read from nor written to the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Uncached input.
    #[serde(deserialize_with = "or_zero")]
    pub input_tokens: u64,
    /// Input written to the cache.
    #[serde(deserialize_with = "or_zero")]
    pub cache_creation_input_tokens: u64,
    /// Input read from the cache.
    #[serde(deserialize_with = "or_zero")]
    pub cache_read_input_tokens: u64,
    /// Output.
    #[serde(deserialize_with = "or_zero")]
    pub output_tokens: u64,
}

/// Servers send `null` for counters they do not keep, and some send worse.
fn or_zero<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(Usage::tokens(serde_json::Value::deserialize(deserializer)?.as_f64()))
}

/// No request has as many tokens as this: such a metric is a fault, and would fill every window.
const ABSURD: f64 = 1e9;

impl Usage {
    /// A counter as a server gave it; one that cannot be true counts as none.
    pub fn tokens(counter: Option<f64>) -> u64 {
        let counter = counter.filter(|tokens| (0.0..ABSURD).contains(tokens)).unwrap_or(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "just checked")]
        let tokens = counter as u64;
        tokens
    }

    /// How large the request was.
    pub fn input_total(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_creation_input_tokens)
            .saturating_add(self.cache_read_input_tokens)
    }

    /// How large the conversation is after the response.
    pub fn total(&self) -> u64 {
        self.input_total().saturating_add(self.output_tokens)
    }

    /// Counters repeat cumulatively in a stream, and those of the input may be missing later: what is
    /// larger is newer.
    #[must_use]
    pub fn updated(self, later: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.max(later.input_tokens),
            cache_creation_input_tokens: self
                .cache_creation_input_tokens
                .max(later.cache_creation_input_tokens),
            cache_read_input_tokens: self
                .cache_read_input_tokens
                .max(later.cache_read_input_tokens),
            output_tokens: self.output_tokens.max(later.output_tokens),
        }
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cache_creation_input_tokens: self
                .cache_creation_input_tokens
                .saturating_add(other.cache_creation_input_tokens),
            cache_read_input_tokens: self
                .cache_read_input_tokens
                .saturating_add(other.cache_read_input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_and_missing_counters_are_zero() {
        let usage: Usage = serde_json::from_str(
            r#"{"input_tokens":3,"cache_read_input_tokens":null,"output_tokens":4,"speed":"x"}"#,
        )
        .unwrap();
        assert_eq!(usage.total(), 7);
        let later: Usage =
            serde_json::from_str(r#"{"input_tokens":null,"output_tokens":9}"#).unwrap();
        assert_eq!(
            usage.updated(later),
            Usage { input_tokens: 3, output_tokens: 9, ..Usage::default() }
        );
    }
}
