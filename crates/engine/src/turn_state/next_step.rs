//! A sentence behind results in small windows that says what to do next. Without it small models go on calling tools after the
//! answer is there, or forget the change that they had begun.

use dormouse_conversation::known_tools::{BASH, traits_of};
use dormouse_conversation::{FileUse, Message, PromptSize, ToolPurpose};

use super::note_text::NoteText;
use super::partial_response::PendingCall;

/// What a turn has come to, as far as it tells what to do next.
#[derive(Debug)]
pub(crate) struct NextStep {
    /// Whether the user asked a question.
    is_question: bool,
    /// Whether a change of a file has failed, and none was made since.
    is_change_due: bool,
    /// Files that the user named and no call did so far.
    unseen: Vec<String>,
}

impl NextStep {
    /// For a turn that this message begins; none where the window is not small. `is_file` tells the names of files from other words.
    pub(crate) fn of_turn(
        size: PromptSize,
        message: Option<&Message>,
        is_file: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        let prompt = message?.blocks.last()?.as_text()?;
        (size == PromptSize::Short).then(|| Self::of_prompt(&prompt, is_file))
    }

    fn of_prompt(prompt: &str, is_file: impl Fn(&str) -> bool) -> Self {
        // In Chinese no blank stands around a name.
        let words = prompt.split(|c: char| !c.is_ascii_alphanumeric() && !"._-/".contains(c));
        let names = words.map(|word| word.trim_end_matches('.'));
        let mut unseen: Vec<String> = Vec::new();
        for name in names.filter(|name| name.contains('.') && is_file(name)) {
            if !unseen.iter().any(|known| known == name) {
                unseen.push(name.to_owned());
            }
        }
        Self { is_question: prompt.contains(['?', '？']), is_change_due: false, unseen }
    }

    /// What the result of a call has to say, where that helps.
    pub(super) fn note(&mut self, call: &PendingCall, is_error: bool) -> Option<NoteText> {
        if !is_error {
            self.unseen.retain(|name| !call.block.raw().contains(name.as_str()));
        }
        let traits = traits_of(&call.name);
        match traits.file_use {
            Some(FileUse::Writes | FileUse::Edits) => {
                self.is_change_due = is_error;
                (!is_error).then(|| self.after_change())
            }
            _ if is_error => None,
            Some(FileUse::Reads) if self.is_change_due => Some(NoteText::Change),
            Some(FileUse::Reads) => self.is_question.then_some(NoteText::Answer),
            // What a search found is seldom the answer itself.
            None => {
                let is_act = call.name == BASH.name || traits.purpose == ToolPurpose::MemoryWrite;
                is_act.then_some(NoteText::Answer)
            }
        }
    }

    fn after_change(&self) -> NoteText {
        self.unseen.first().map_or(NoteText::Answer, |name| NoteText::Read(name.clone()))
    }
}

#[cfg(test)]
mod tests {
    use dormouse_conversation::{Block, ToolUseId};
    use serde_json::json;

    use super::*;

    fn notes(prompt: &str, calls: &[(&str, &str, bool)]) -> Vec<Option<NoteText>> {
        let mut next = NextStep::of_prompt(prompt, |name| name.contains(".py"));
        let call = |(tool, file): (&str, &str)| {
            let input =
                json!({"type": "tool_use", "id": "c", "name": tool, "input": {"file_path": file}});
            let block = Block::from_json(input.to_string()).unwrap();
            PendingCall { id: ToolUseId::new("c"), name: tool.to_owned(), block }
        };
        calls
            .iter()
            .map(|(tool, file, is_error)| next.note(&call((tool, file)), *is_error))
            .collect()
    }

    #[test]
    fn a_change_that_failed_is_made_after_reading() {
        let calls = [
            ("Edit", "a.py", true),
            ("Read", "a.py", false),
            ("Edit", "a.py", false),
            ("Read", "a.py", false),
        ];
        let said = notes("Rename it.", &calls);
        assert_eq!(said, [None, Some(NoteText::Change), Some(NoteText::Answer), None]);
    }

    #[test]
    fn a_question_is_answered_from_what_was_read_and_not_from_a_search() {
        let calls =
            [("Grep", "", false), ("Read", "", true), ("Read", "", false), ("Bash", "", false)];
        let said = notes("有多少？", &calls);
        assert_eq!(said, [None, None, Some(NoteText::Answer), Some(NoteText::Answer)]);
    }

    #[test]
    fn a_file_that_the_user_named_is_not_forgotten() {
        let read = || Some(NoteText::Read("lib/b.py".to_owned()));
        for prompt in
            ["Rename x to y, in a.py and lib/b.py.", "把a.py和lib/b.py里的x改成y，e.g. Node.js"]
        {
            let calls = [
                ("Edit", "/p/a.py", false),
                ("Edit", "/p/lib/b.py", true),
                ("Edit", "/p/a.py", false),
                ("Edit", "/p/lib/b.py", false),
            ];
            assert_eq!(notes(prompt, &calls), [read(), None, read(), Some(NoteText::Answer)]);
        }
    }
}
