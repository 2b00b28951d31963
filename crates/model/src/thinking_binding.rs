//! Which models sign their thinking over everything before it (A.9 of the wire formats): an earlier message
//! that changes makes the thinking behind it invalid.

/// How the names of such models begin. An unknown model is not taken for one: a refusal is mended anyway.
const BINDING: &[&str] = &[
    "claude-fable-5-1",
    "claude-fable-5-5",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
];

/// Whether a model binds its thinking to what stands before it.
pub fn binds_thinking(model: &str) -> bool {
    BINDING.iter().any(|name| model.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::binds_thinking;

    #[test]
    fn newer_models_bind() {
        assert!(binds_thinking("claude-opus-5-5") && binds_thinking("claude-fable-5-1-20260901"));
        assert!(!binds_thinking("claude-opus-4-5") && !binds_thinking("gpt-5"));
    }
}
