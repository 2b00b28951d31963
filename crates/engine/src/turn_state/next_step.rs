//! A sentence behind results in small windows that says what to do next. Without it small models go on calling tools after the
//! answer is there, or forget the change that they had begun.

use std::path::{Component, Path, PathBuf};

use dormouse_context::compact::user_text_in;
use dormouse_conversation::known_tools::{BASH, EDIT, WRITE, traits_of};
use dormouse_conversation::{Block, FileUse, Message, PromptSize, ResultContent, ToolPurpose};
use dormouse_tools::CallRefusal;
use serde_json::Value;

use super::partial_response::PendingCall;
use crate::note_text::NoteText;

/// What a turn has come to, as far as it tells what to do next.
#[derive(Debug)]
pub(crate) struct NextStep {
    /// Whether the user asked a question.
    is_question: bool,
    /// Whether the last change of a file has failed, and none was made before.
    is_change_due: bool,
    has_changed: bool,
    /// The working directory.
    folder: PathBuf,
    /// Files that the user named and no call did so far.
    unseen: Vec<NamedFile>,
}

#[derive(Debug)]
struct NamedFile {
    /// As the user wrote it.
    name: String,
    path: PathBuf,
}

impl NextStep {
    /// For a turn that this message of the user begins; none where the window is not small.
    pub(crate) fn of_turn(
        size: PromptSize,
        message: Option<&Message>,
        folder: &Path,
        is_file: impl Fn(&Path) -> bool,
    ) -> Option<Self> {
        let prompt = message.filter(|_| size == PromptSize::Short).and_then(user_text_in)?;
        Some(Self::of_prompt(&prompt, folder, is_file))
    }

    fn of_prompt(prompt: &str, folder: &Path, is_file: impl Fn(&Path) -> bool) -> Self {
        // In Chinese no blank stands around a name.
        let words = prompt.split(|c: char| !c.is_ascii_alphanumeric() && !"._-/".contains(c));
        let names = words.map(|word| word.trim_end_matches('.')).filter(|word| word.contains('.'));
        let mut unseen: Vec<NamedFile> = Vec::new();
        for name in names {
            let path = resolved(folder, name);
            if unseen.iter().all(|known| known.path != path) && is_file(&path) {
                unseen.push(NamedFile { name: name.to_owned(), path });
            }
        }
        Self {
            is_question: prompt.contains(['?', '？']),
            is_change_due: false,
            has_changed: false,
            folder: folder.to_owned(),
            unseen,
        }
    }

    /// What the result of a call has to say, where that helps.
    pub(super) fn note(&mut self, call: &PendingCall, result: &Block) -> Option<NoteText> {
        let is_error = result.is_error();
        if !is_error {
            self.see(call);
        }
        let traits = traits_of(&call.name);
        match traits.file_use {
            Some(FileUse::Writes | FileUse::Edits) if is_error => {
                let is_ours = [EDIT, WRITE].iter().any(|tool| tool.name == call.name);
                self.is_change_due = is_ours && !self.has_changed && !is_refused(call, result);
                None
            }
            Some(FileUse::Writes | FileUse::Edits) => {
                (self.is_change_due, self.has_changed) = (false, true);
                let unseen = self.unseen.first().map(|file| file.name.clone());
                Some(unseen.map_or(NoteText::Answer, NoteText::Read))
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

    /// The files that a call names, or that the words of its command are, are seen.
    fn see(&mut self, call: &PendingCall) {
        if self.unseen.is_empty() {
            return;
        }
        let Some(input) = call.block.as_tool_use() else { return };
        let Ok(input) = serde_json::from_str::<Value>(input.input.get()) else { return };
        let texts =
            ["file_path", "path", "command"].iter().filter_map(|name| input.get(name)?.as_str());
        for text in texts {
            let words = text.split(|c: char| c.is_whitespace() || "\"';|&<>()".contains(c));
            for word in words.chain([text]).filter(|word| !word.is_empty()) {
                let path = resolved(&self.folder, word);
                self.unseen.retain(|file| file.path != path);
            }
        }
    }
}

/// A path as it is named in the folder, without `.` in it.
fn resolved(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).components().filter(|part| *part != Component::CurDir).collect()
}

/// Whether the user, a rule or a hook did not let a call run.
fn is_refused(call: &PendingCall, result: &Block) -> bool {
    match result.result_content() {
        Some(ResultContent::Text(text)) => CallRefusal::read(&call.name, &text).is_some(),
        Some(ResultContent::Blocks(_)) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use dormouse_conversation::ToolUseId;
    use serde_json::json;

    use super::*;

    /// What results say: each of a tool, with its input, and what came of it.
    fn notes(prompt: &str, calls: &[(&str, Value, Result<&str, &str>)]) -> Vec<Option<NoteText>> {
        let folder = Path::new("/p");
        let is_file = |path: &Path| path.extension().is_some_and(|extension| extension == "py");
        let mut next = NextStep::of_prompt(prompt, folder, is_file);
        let mut note = |(tool, input, result): &(&str, Value, Result<&str, &str>)| {
            let id = ToolUseId::new("c");
            let block = json!({"type": "tool_use", "id": "c", "name": tool, "input": input});
            let block = Block::from_json(block.to_string()).unwrap();
            let call = PendingCall { id: id.clone(), name: (*tool).to_owned(), block };
            let text = ResultContent::Text(result.unwrap_or_else(|error| error).to_owned());
            next.note(&call, &Block::tool_result(&id, &text, result.is_err()))
        };
        calls.iter().map(&mut note).collect()
    }

    fn file(path: &str) -> Value {
        json!({"file_path": path})
    }

    #[test]
    fn a_change_that_failed_is_made_after_reading() {
        let calls = [
            ("Edit", file("a.py"), Err("not read")),
            ("Read", file("a.py"), Ok("x")),
            ("Edit", file("a.py"), Ok("changed")),
            ("Read", file("a.py"), Ok("y")),
            // The same again, though it is done.
            ("Edit", file("a.py"), Err("does not contain it")),
            ("Read", file("a.py"), Ok("y")),
        ];
        let said = notes("Rename it.", &calls);
        assert_eq!(said, [None, Some(NoteText::Change), Some(NoteText::Answer), None, None, None]);
    }

    #[test]
    fn a_change_that_was_declined_is_not_made() {
        for refusal in ["the user declined; ask what to do instead", "plan mode allows no changes"]
        {
            let refused = format!("Edit was not run: {refusal}");
            let calls =
                [("Edit", file("a.py"), Err(refused.as_str())), ("Read", file("a.py"), Ok("x"))];
            assert_eq!(notes("Rename it.", &calls), [None, None]);
        }
    }

    #[test]
    fn a_question_is_answered_from_what_was_read_and_not_from_a_search() {
        let calls = [
            ("Grep", json!({"pattern": "x"}), Ok("x")),
            ("Read", file("a.py"), Err("no")),
            ("Read", file("b.py"), Ok("x")),
            ("Bash", json!({"command": "ls"}), Ok("x")),
        ];
        let said = notes("有多少？", &calls);
        assert_eq!(said, [None, None, Some(NoteText::Answer), Some(NoteText::Answer)]);
    }

    #[test]
    fn a_file_that_the_user_named_is_not_forgotten() {
        let prompts = [
            ("Rename x to y, in a.py and lib/b.py.", "lib/b.py"),
            ("Rename x to y, in a.py and ./lib/b.py, as in data.py", "./lib/b.py"),
            ("把a.py和/p/lib/b.py里的x改成y，e.g. Node.js", "/p/lib/b.py"),
        ];
        for (prompt, name) in prompts {
            let read = || Some(NoteText::Read(name.to_owned()));
            let calls = [
                ("Bash", json!({"command": "cat 'data.py'"}), Ok("x")),
                ("Edit", json!({"file_path": "/p/a.py", "new_string": "see lib/b.py"}), Ok("done")),
                ("Edit", file("/p/lib/b.py"), Err("not read")),
                ("Edit", file("a.py"), Ok("done")),
                ("Edit", file("lib/b.py"), Ok("done")),
            ];
            let answer = || Some(NoteText::Answer);
            assert_eq!(notes(prompt, &calls), [answer(), read(), None, read(), answer()]);
        }
    }
}
