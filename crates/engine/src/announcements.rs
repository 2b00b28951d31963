//! The seam for what the model is told at the start of a session, and again when it has changed: which agents there
//! are, what MCP servers say. It enters the prefix when that is built; after that a change is told at the end of the
//! conversation, and the bytes that were sent stay (L-18).

use std::sync::Arc;

use dormouse_conversation::{PromptSize, ToolDefinition};
use dormouse_tools::{Tool, ToolSet};

/// Tells the model something that may change.
pub trait Announcer: Send + Sync {
    /// What is to be told, as things are now, in a conversation that has these tools in its list and so much room.
    /// Cheap: it is asked at every turn and tool round.
    fn announced(&self, listed: &ToolSet, size: PromptSize) -> Vec<AnnouncedFact>;

    /// Tools for a prefix that is about to be built. They stay in its list until the next is built, whatever becomes of
    /// them.
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// The same for a prefix that was sent already: those of its list that are there now, described as it says.
    fn tools_as_sent(&self, _sent: &[ToolDefinition]) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }
}

/// Something that the model is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncedFact {
    /// What it is about: its heading, and the name of the fact that a change is told by.
    pub fact: String,
    /// The text, bounded already.
    pub text: String,
    /// Where it stands when the prefix is built.
    pub place: PromptPosition,
}

/// Where an announcement stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptPosition {
    /// In a section of the system prompt.
    System,
    /// In the first message.
    First,
}
