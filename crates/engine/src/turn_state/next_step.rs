//! A sentence behind results in small windows that says what to do next. Without it small models go on calling tools after the
//! answer is there, or forget the change that they had begun.

use dormouse_conversation::known_tools::{BASH, traits_of};
use dormouse_conversation::{FileUse, Message, PromptSize, ToolPurpose};

use super::note_text::NoteText;

/// What a turn has come to, as far as it tells what to do next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NextStep {
    /// Whether the user asked a question.
    is_question: bool,
    /// Whether a change of a file has failed, and none was made since.
    is_change_due: bool,
}

impl NextStep {
    /// For a turn that this message begins; none where the window is not small.
    pub(crate) fn of_turn(size: PromptSize, message: Option<&Message>) -> Option<Self> {
        let prompt = message?.blocks.last()?.as_text()?;
        (size == PromptSize::Short).then(|| Self::of_prompt(&prompt))
    }

    fn of_prompt(prompt: &str) -> Self {
        Self { is_question: prompt.contains(['?', '？']), is_change_due: false }
    }

    /// What a result of this tool has to say, where that helps.
    pub(super) fn note(&mut self, tool: &str, is_error: bool) -> Option<NoteText> {
        let traits = traits_of(tool);
        match traits.file_use {
            Some(FileUse::Writes | FileUse::Edits) => {
                self.is_change_due = is_error;
                (!is_error).then_some(NoteText::Answer)
            }
            _ if is_error => None,
            Some(FileUse::Reads) if self.is_change_due => Some(NoteText::Change),
            Some(FileUse::Reads) => self.is_question.then_some(NoteText::Answer),
            // What a search found is seldom the answer itself.
            None => {
                let is_act = tool == BASH.name || traits.purpose == ToolPurpose::MemoryWrite;
                is_act.then_some(NoteText::Answer)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(prompt: &str, calls: &[(&str, bool)]) -> Vec<Option<NoteText>> {
        let mut next = NextStep::of_prompt(prompt);
        calls.iter().map(|(tool, is_error)| next.note(tool, *is_error)).collect()
    }

    #[test]
    fn a_change_that_failed_is_made_after_reading() {
        let calls = [("Edit", true), ("Read", false), ("Edit", false), ("Read", false)];
        let said = notes("Rename it.", &calls);
        assert_eq!(said, [None, Some(NoteText::Change), Some(NoteText::Answer), None]);
    }

    #[test]
    fn a_question_is_answered_from_what_was_read_and_not_from_a_search() {
        let calls = [("Grep", false), ("Read", true), ("Read", false), ("Bash", false)];
        let said = notes("有多少？", &calls);
        assert_eq!(said, [None, None, Some(NoteText::Answer), Some(NoteText::Answer)]);
    }
}
