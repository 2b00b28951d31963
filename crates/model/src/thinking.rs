//! Thinking, per model (A.2, A.9 of the wire formats): how it is switched on and off, and which models sign it over everything
//! before it, so that an earlier message that changes makes the thinking behind it invalid.

use serde::Serialize;

/// How the names of models begin that bind their thinking. An unknown model is not taken for one: a refusal is mended anyway.
const BINDING: &[&str] = &[
    "claude-fable-5-1",
    "claude-fable-5-5",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
];

/// Models that always think, and refuse to be told not to.
const ALWAYS: &[&str] = &["claude-fable-5", "claude-mythos-5", "claude-opus-5-5"];

/// Families of models by version, as their names say it.
const FAMILIES: &[&str] = &["claude-opus-", "claude-sonnet-", "claude-haiku-"];

/// The first version that decides by itself how long to think; those before are given a budget.
const ADAPTIVE_SINCE: (u32, u32) = (4, 6);

/// The tokens that older models may think for, and the fewest that are allowed.
const BUDGET: u32 = 16_000;
const LEAST_BUDGET: u32 = 1_024;

/// Whether a model binds its thinking to what stands before it.
pub fn binds_thinking(model: &str) -> bool {
    BINDING.iter().any(|name| model.starts_with(name))
}

/// Whether the model is to think; without it, as its server likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingMode {
    /// It thinks, and says what.
    On,
    /// It does not, where that is possible.
    Off,
}

/// The `thinking` field of an Anthropic request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum ThinkingField {
    Adaptive { display: &'static str },
    Enabled { budget_tokens: u32 },
    Disabled,
}

impl ThinkingField {
    /// What a model is told; none where it cannot be told, or nothing is known about it.
    pub(crate) fn of(mode: ThinkingMode, model: &str, max_tokens: u32) -> Option<Self> {
        let is_always = ALWAYS.iter().any(|name| model.starts_with(name));
        let is_adaptive = is_always || version(model)? >= ADAPTIVE_SINCE;
        match mode {
            ThinkingMode::Off => (!is_always).then_some(Self::Disabled),
            ThinkingMode::On if is_adaptive => Some(Self::Adaptive { display: "summarized" }),
            ThinkingMode::On => {
                // The answer needs room as well.
                let budget_tokens = BUDGET.min(max_tokens / 2);
                (budget_tokens >= LEAST_BUDGET).then_some(Self::Enabled { budget_tokens })
            }
        }
    }
}

/// The version in a name such as `claude-opus-4-5-20251101`; a date is not part of it.
fn version(model: &str) -> Option<(u32, u32)> {
    let rest = FAMILIES.iter().find_map(|family| model.strip_prefix(family))?;
    let mut parts = rest.split('-').map_while(|part| part.parse::<u32>().ok());
    let major = parts.next()?;
    Some((major, parts.next().filter(|minor| *minor < 100).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_models_bind() {
        assert!(binds_thinking("claude-opus-5-5") && binds_thinking("claude-fable-5-1-20260901"));
        assert!(!binds_thinking("claude-opus-4-5") && !binds_thinking("gpt-5"));
    }

    #[test]
    fn each_model_is_told_in_its_own_way() {
        let adaptive = Some(ThinkingField::Adaptive { display: "summarized" });
        let off = Some(ThinkingField::Disabled);
        let cases = [
            (
                "claude-opus-4-5-20251101",
                Some(ThinkingField::Enabled { budget_tokens: 8_000 }),
                off,
            ),
            (
                "claude-sonnet-4-20250514",
                Some(ThinkingField::Enabled { budget_tokens: 8_000 }),
                off,
            ),
            ("claude-sonnet-4-6", adaptive, off),
            ("claude-haiku-5-5", adaptive, off),
            ("claude-opus-5-5", adaptive, None),
            ("claude-fable-5-1", adaptive, None),
            ("qwen3", None, None),
        ];
        for (model, on, off) in cases {
            assert_eq!(ThinkingField::of(ThinkingMode::On, model, 16_000), on, "{model}");
            assert_eq!(ThinkingField::of(ThinkingMode::Off, model, 16_000), off, "{model}");
        }
        // No room to think.
        assert_eq!(ThinkingField::of(ThinkingMode::On, "claude-opus-4-5", 1_000), None);
    }
}
