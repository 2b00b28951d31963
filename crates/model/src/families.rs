//! Families of Claude models, by the short names that other agents' files use.

/// The newest model of each family, 2026-11.
const NEWEST: &[(&str, &str)] = &[
    ("sonnet", "claude-sonnet-5-5"),
    ("opus", "claude-opus-5-5"),
    ("haiku", "claude-haiku-5-5"),
    ("fable", "claude-fable-5-1"),
    ("mythos", "claude-mythos-5-1"),
];

/// Whether a name is that of a family.
pub fn is_model_family(name: &str) -> bool {
    NEWEST.iter().any(|(family, _)| *family == name)
}

/// The model of a family that goes with another model: that one where it is of the family, else the newest; none where the other
/// is no Claude model, because its server has none of them.
pub fn model_of_family<'m>(family: &str, beside: &'m str) -> Option<&'m str> {
    let own = beside.strip_prefix("claude-")?;
    if own.split('-').any(|part| part == family) {
        return Some(beside);
    }
    NEWEST.iter().find(|(name, _)| *name == family).map(|(_, newest)| *newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_looked_for_where_its_models_are() {
        assert_eq!(model_of_family("opus", "claude-sonnet-4-5"), Some("claude-opus-5-5"));
        assert_eq!(model_of_family("opus", "claude-opus-4-6"), Some("claude-opus-4-6"));
        assert_eq!(model_of_family("opus", "qwen3"), None);
        assert_eq!(model_of_family("ferret", "claude-opus-4-6"), None);
        assert!(is_model_family("sonnet") && !is_model_family("claude-sonnet-5-5"));
    }
}
