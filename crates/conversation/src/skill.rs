//! A skill as it was used in a conversation: kept aside, so that it outlasts what becomes of its message.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A skill in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedSkill {
    /// What it is called by.
    pub name: String,
    /// Where its other files are.
    pub folder: String,
    /// What the model was told, arguments and all.
    pub text: String,
    /// When that was; in a transcript the line says it.
    #[serde(skip)]
    pub at: Timestamp,
}
