//! A plan that the model has submitted.

use std::path::PathBuf;

/// A plan that the model has submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedPlan {
    /// Its file, in the session's folder.
    pub path: PathBuf,
    /// Its text, in markdown.
    pub text: String,
}
