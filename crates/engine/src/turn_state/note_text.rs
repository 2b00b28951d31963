//! Sentences of the program's own that stand behind a result.

use dormouse_conversation::{Block, ResultContent, ToolUseId};

/// What a result says besides what the tool said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoteText {
    /// The model has seen this result.
    Seen,
    /// The model may have all it needs.
    Answer,
    /// A change that the model began is not made.
    Change,
}

impl NoteText {
    const ALL: [Self; 3] = [Self::Seen, Self::Answer, Self::Change];

    fn text(self) -> &'static str {
        match self {
            Self::Seen => {
                "[You did exactly this, with the same result. It will not change: answer, or do something else.]"
            }
            Self::Answer => {
                "[If everything the user asked for is done or known now, answer in words without a tool call.]"
            }
            Self::Change => "[Nothing is changed yet: make the change now with Edit.]",
        }
    }

    /// The result of a call with this behind it.
    pub(super) fn behind(self, id: &ToolUseId, result: &Block) -> Option<Block> {
        let content = match result.result_content()? {
            ResultContent::Text(text) => ResultContent::Text(format!("{text}\n\n{}", self.text())),
            ResultContent::Blocks(mut blocks) => {
                blocks.push(Block::text(self.text()));
                ResultContent::Blocks(blocks)
            }
        };
        Some(Block::tool_result(id, &content, result.is_error()))
    }

    /// Whether this is the last that a result says.
    pub(super) fn ends(self, result: &Block) -> bool {
        match result.result_content() {
            Some(ResultContent::Text(text)) => text.ends_with(self.text()),
            Some(ResultContent::Blocks(blocks)) => {
                blocks.last().is_some_and(|block| self.is_all_of(block))
            }
            None => false,
        }
    }

    fn is_all_of(self, block: &Block) -> bool {
        block.as_text().as_deref() == Some(self.text())
    }
}

/// What the tool said.
pub(super) fn without_notes(result: &Block) -> Option<ResultContent> {
    let content = match result.result_content()? {
        ResultContent::Text(mut text) => {
            while let Some(unnoted) = NoteText::ALL.iter().find_map(|note| {
                text.strip_suffix(note.text()).and_then(|text| text.strip_suffix("\n\n"))
            }) {
                text.truncate(unnoted.len());
            }
            ResultContent::Text(text)
        }
        ResultContent::Blocks(mut blocks) => {
            let is_note =
                |block: &mut Block| NoteText::ALL.iter().any(|note| note.is_all_of(block));
            while blocks.pop_if(is_note).is_some() {}
            ResultContent::Blocks(blocks)
        }
    };
    Some(content)
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
            let noted = NoteText::Change.behind(&id, &bare).unwrap();
            let noted = NoteText::Seen.behind(&id, &noted).unwrap();
            assert!(noted.is_error() && NoteText::Seen.ends(&noted));
            assert!(!NoteText::Change.ends(&noted) && !NoteText::Seen.ends(&bare));
            let said = Block::tool_result(&id, &without_notes(&noted).unwrap(), true);
            assert_eq!(said, bare);
        }
    }
}
