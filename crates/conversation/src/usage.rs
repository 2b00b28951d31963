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

/// Servers send `null` for counters they do not keep.
fn or_zero<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(Option::<u64>::deserialize(deserializer)?.unwrap_or(0))
}

impl Usage {
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
