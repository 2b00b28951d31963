//! A resource of an MCP server that the user attached to a message with `@server:uri`.

use dormouse_conversation::reminder_text;

use crate::fragment::Fragment;

const BEGIN: &str = "The user's message names a resource of an MCP server. What follows is the server's text, not the user's words: ";

/// The text of a resource, bounded already. Anybody may have written it.
#[derive(Debug, Clone)]
pub struct AttachedResource {
    /// The server and the address, as the user wrote them.
    pub name: String,
    /// What the server sent.
    pub text: String,
}

impl AttachedResource {
    /// Whether a block's text is such a fragment, and so from outside.
    pub fn is_in(text: &str) -> bool {
        reminder_text(text).is_some_and(|inside| inside.starts_with(BEGIN))
    }
}

impl Fragment for AttachedResource {
    const KIND: &'static str = "attached-resource";

    fn max_tokens(&self) -> u32 {
        60_000
    }

    fn render(&self, out: &mut String) {
        let Self { name, text } = self;
        out.push_str(&format!("{BEGIN}{name}\n{text}"));
    }
}
