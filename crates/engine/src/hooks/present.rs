//! What hooks say, made fit to be shown and sent: without secrets, and with no text that is too long.

use dormouse_base::{Dir, Redactor, RelPath};

use super::answer::Answer;

/// The longest text that a hook adds; the rest goes to a file.
const LONGEST: usize = 10_000;
/// The folder of what was too long, in the session's own.
const FOLDER: &str = "hook-output";

/// An answer without secrets, and with no text that is too long.
pub(super) fn presentable(answer: Answer, redactor: &Redactor, folder: &Dir) -> Answer {
    let clean = |text: String| bounded(redactor.redact(&text), folder);
    Answer {
        notices: answer.notices.into_iter().map(clean).collect(),
        context: answer.context.into_iter().map(clean).collect(),
        block: answer.block.map(clean),
        halt: answer.halt.map(clean),
        opening: answer.opening.map(clean),
        title: answer.title.map(clean),
        permission: answer.permission.map(|permission| permission.map(clean)),
        ..answer
    }
}

/// A text that is too long goes to a file, and its beginning says where.
fn bounded(text: String, folder: &Dir) -> String {
    if text.chars().count() <= LONGEST {
        return text;
    }
    let head: String = text.chars().take(LONGEST).collect();
    let name = format!("{}.txt", blake3::hash(text.as_bytes()).to_hex());
    let stored = RelPath::new(format!("{FOLDER}/{name}"))
        .map_err(|error| error.to_string())
        .and_then(|path| folder.replace(&path, text.as_bytes()).map_err(|error| error.to_string()));
    match stored {
        Ok(()) => {
            let path = folder.path().join(FOLDER).join(name);
            format!("{head}\n[cut here; all of it is in {}]", path.display())
        }
        Err(problem) => format!("{head}\n[cut here; the rest could not be kept: {problem}]"),
    }
}
