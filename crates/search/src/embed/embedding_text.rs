//! The text of a document that is given to an embedding model.

/// Small models read no more, and the beginning says what a document is about.
const LONGEST_TEXT: usize = 2000;
/// Changes with [`embedding_text`]: vectors of another text are treated like those of another model.
pub(super) const TEXT_VERSION: &str = "text 1";

/// Joins name, description and body of a document, up to a maximum length.
pub fn embedding_text(name: &str, description: Option<&str>, body: &str) -> String {
    let mut text = name.to_owned();
    for part in description.into_iter().chain([body.trim()]) {
        text.push('\n');
        text.push_str(part);
    }
    text.truncate(text.floor_char_boundary(LONGEST_TEXT));
    text
}
