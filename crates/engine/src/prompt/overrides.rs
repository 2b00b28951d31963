//! Changes to the system prompt from the command line and the settings.

/// Changes to the system prompt from the command line and the settings.
#[derive(Debug, Clone, Default)]
pub struct PromptOverrides {
    /// Replaces the static part.
    pub system: Option<String>,
    /// Added to the static part.
    pub append: Option<String>,
    /// What the user has set for the sections of the session; none for a subagent, which has no such sections.
    pub session: Option<SessionTexts>,
}

/// What the user has set for the sections of the session.
#[derive(Debug, Clone, Default)]
pub struct SessionTexts {
    /// In which language to answer.
    pub language: Option<String>,
    /// How to answer.
    pub output_style: Option<String>,
}
