//! Removes secrets from hook output and bounds its length.

use dormouse_base::{Dir, Redactor, RelPath};

use crate::response::HookResponse;

/// The longest text of a hook, in characters; longer text goes to a file.
const LONGEST: usize = 10_000;
/// The folder for long texts, in the session's own folder.
const FOLDER: &str = "hook-output";

/// The response without secrets and with bounded texts.
pub(crate) fn sanitize(response: HookResponse, redactor: &Redactor, folder: &Dir) -> HookResponse {
    let clean = |text: String| bounded(redactor.redact(&text), folder);
    HookResponse {
        notices: response.notices.into_iter().map(clean).collect(),
        context: response.context.into_iter().map(clean).collect(),
        block: response.block.map(clean),
        halt: response.halt.map(clean),
        initial_message: response.initial_message.map(clean),
        title: response.title.map(clean),
        permission: response.permission.map(|permission| permission.map_reason(clean)),
        ..response
    }
}

/// Stores a text that is too long in a file; its head says where.
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
            format!("{head}\n[truncated; full text in {}]", path.display())
        }
        Err(problem) => format!("{head}\n[truncated; the rest could not be stored: {problem}]"),
    }
}
