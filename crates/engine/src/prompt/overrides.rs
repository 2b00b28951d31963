//! Changes to the system prompt from the command line.

/// Changes to the system prompt from the command line.
#[derive(Debug, Clone, Default)]
pub struct PromptOverrides {
    /// Replaces the static part.
    pub system: Option<String>,
    /// Added to the static part.
    pub append: Option<String>,
}
