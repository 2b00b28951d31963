//! A file that the user attached to a message with `@path`.

use dormouse_conversation::reminder_text;

use crate::fragment::Fragment;

const BEGIN: &str = "The user attached ";

/// The contents of a file or the names in a folder, bounded already. They are nobody's word: who wrote a file cannot be known.
#[derive(Debug, Clone)]
pub struct AttachedFile {
    /// The path as the user wrote it.
    pub path: String,
    /// Its lines with their numbers, or the names in it.
    pub text: String,
}

impl AttachedFile {
    /// Whether a block's text is such a fragment, and so nobody's word.
    pub fn is_in(text: &str) -> bool {
        reminder_text(text).is_some_and(|inside| inside.starts_with(BEGIN))
    }
}

impl Fragment for AttachedFile {
    const KIND: &'static str = "attached-file";

    fn max_tokens(&self) -> u32 {
        60_000
    }

    fn render(&self, out: &mut String) {
        let Self { path, text } = self;
        out.push_str(&format!("{BEGIN}{path} to this message:\n{text}"));
    }
}
