//! The input of the assessment: the memories in a turn's context, and what the model did in the turn.

use crate::anchor::Anchor;
use crate::kind::MemoryType;

/// When a memory entered the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextTiming {
    /// Before the user's message that began the turn.
    BeforeTurn,
    /// With the user's message, or later.
    DuringTurn,
}

/// A memory that was in the context of a turn.
#[derive(Debug, Clone)]
pub struct MemoryInContext {
    /// File name.
    pub file: String,
    /// Name in the frontmatter.
    pub name: String,
    /// Description in the frontmatter.
    pub description: String,
    /// Type in the frontmatter.
    pub kind: Option<MemoryType>,
    /// Text below the frontmatter.
    pub body: String,
    /// Files and symbols that it names.
    pub anchors: Vec<Anchor>,
    /// When it entered the context.
    pub arrival: ContextTiming,
    /// Whether an agent changed it in this turn or proposed to.
    pub updated: bool,
}

/// The model's responses and tool calls in a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnActivity {
    /// Text responses.
    pub answers: Vec<String>,
    /// Files and folders named in tool calls.
    pub paths: Vec<String>,
    /// Shell commands.
    pub commands: Vec<String>,
    /// Other texts in tool calls: written, replaced, searched for.
    pub words: Vec<String>,
}
