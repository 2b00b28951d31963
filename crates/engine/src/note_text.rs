//! Sentences of the program's own that stand behind a result: for the model, not for whoever shows or reads the result.

use dormouse_conversation::{Block, BlockKind, ResultContent, ToolUseId};

/// What a result says besides what the tool said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoteText {
    /// The model has seen this result.
    Seen,
    /// The model may have all it needs.
    Answer,
    /// A change that the model began is not made.
    Change,
    /// The user named this file, and the model has not looked at it.
    Read(String),
}

/// How the notes begin.
const SEEN: &str = "[You did exactly this";
const ANSWER: &str = "[If everything the user asked for";
const CHANGE: &str = "[Nothing is changed yet";
const READ: &str = "[The user also named";

impl NoteText {
    fn text(&self) -> String {
        match self {
            Self::Seen => format!(
                "{SEEN}, with the same result. It will not change: answer, or do something else.]"
            ),
            Self::Answer => {
                format!("{ANSWER} is done or known now, answer in words without a tool call.]")
            }
            Self::Change => format!("{CHANGE}: make the change now with Edit.]"),
            Self::Read(file) => {
                format!("{READ} `{file}`: read it now, and change it if that was asked for.]")
            }
        }
    }

    /// The result of a call with this behind it.
    pub(crate) fn behind(&self, id: &ToolUseId, result: &Block) -> Option<Block> {
        let content = match result.result_content()? {
            ResultContent::Text(text) => ResultContent::Text(format!("{text}\n\n{}", self.text())),
            ResultContent::Blocks(mut blocks) => {
                blocks.push(Block::text(&self.text()));
                ResultContent::Blocks(blocks)
            }
        };
        Some(Block::tool_result(id, &content, result.is_error()))
    }

    /// Whether this is the last that a result says.
    pub(crate) fn ends(&self, result: &Block) -> bool {
        match result.result_content() {
            Some(ResultContent::Text(text)) => text.ends_with(&self.text()),
            Some(ResultContent::Blocks(blocks)) => {
                blocks.last().and_then(Block::as_text).is_some_and(|text| text == self.text())
            }
            None => false,
        }
    }
}

/// Whether a text is one note.
fn is_note(text: &str) -> bool {
    let begins = [SEEN, ANSWER, CHANGE, READ].iter().any(|opening| text.starts_with(opening));
    begins && text.ends_with(']') && !text.contains('\n')
}

/// The result as the tool gave it.
pub fn without_notes(result: &Block) -> Block {
    let BlockKind::ToolResult { id } = result.kind() else { return result.clone() };
    let said = match result.result_content() {
        Some(ResultContent::Text(text)) => bare_text(&text).map(ResultContent::Text),
        Some(ResultContent::Blocks(mut blocks)) => {
            let all = blocks.len();
            let is_note = |block: &mut Block| block.as_text().is_some_and(|text| is_note(&text));
            while blocks.pop_if(is_note).is_some() {}
            (blocks.len() < all).then_some(ResultContent::Blocks(blocks))
        }
        None => None,
    };
    said.map_or_else(|| result.clone(), |said| Block::tool_result(id, &said, result.is_error()))
}

/// A text without the notes at its end; none if it has none.
fn bare_text(text: &str) -> Option<String> {
    let mut said = text;
    while let Some((before, last)) = said.rsplit_once("\n\n")
        && is_note(last)
    {
        said = before;
    }
    (said.len() < text.len()).then(|| said.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_said_is_the_same_with_notes_and_without() {
        let id = ToolUseId::new("c");
        let shown = [Block::text("a"), Block::text("b")];
        for content in [ResultContent::Text("said".into()), ResultContent::Blocks(shown.to_vec())] {
            let bare = Block::tool_result(&id, &content, true);
            let noted = NoteText::Read("a.py".to_owned()).behind(&id, &bare).unwrap();
            let noted = NoteText::Seen.behind(&id, &noted).unwrap();
            assert!(noted.is_error() && NoteText::Seen.ends(&noted));
            assert!(!NoteText::Change.ends(&noted) && !NoteText::Seen.ends(&bare));
            assert_eq!(without_notes(&noted), bare);
            assert_eq!(without_notes(&bare), bare);
        }
    }
}
