//! Edit: replaces a piece of text in a file, exactly.
//!
//! Invariant: bytes outside the replaced pieces stay as they are, whatever they are; a call that fails
//! leaves the file untouched. See [`project_file`](crate::project_file).

mod find;
mod missing;

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use dormouse_conversation::known_tools::EDIT;
use dormouse_permissions::Access;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::blocking::to_the_end;
use crate::project_file::{
    LoadedFile, MAX_BYTES, WriteTarget, commit, load, permitted, refused, remember,
};
use crate::read::naming_likely_file;
use crate::snippet::{around, line_numbers};
use crate::tool::{file_access, named_file};
use crate::write::other_names_note;
use crate::{
    CallContext, FileChangePreview, ReadCache, ReadExtent, ResultLimit, Tool, ToolClass, ToolError,
    ToolOutput, ToolSpec, parse_input,
};
use find::{TextMatches, find, replacement};

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""file_path":{"type":"string","#,
    r#""description":"Absolute, or relative to the working directory."},"#,
    r#""old_string":{"type":"string","#,
    r#""description":"The text to replace."},"#,
    r#""new_string":{"type":"string","description":"The text in its place."},"#,
    r#""replace_all":{"type":"boolean","#,
    r#""description":"Replace every occurrence."}"#,
    r#"},"required":["file_path","old_string","new_string"],"additionalProperties":false}"#,
);

const SHORT: &str = "Changes a file that was read before: replaces old_string, which must be unique in it, with new_string.";

const FULL: &str = "\
Replaces a piece of text in a file.

- The file must have been read with Read in this conversation, and must not have changed since; \
several edits in a row need no new read.
- `old_string` is matched exactly, indentation included, without the line number and tab that Read \
puts in front of each line.
- It must occur once: take in lines around it until it does, or set `replace_all`.
- An empty `old_string` makes a new file.";

/// The tool. See the module.
#[derive(Debug, Clone, Copy)]
pub struct Edit;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    file_path: PathBuf,
    old_string: String,
    new_string: String,
    replace_all: Option<bool>,
}

impl Input {
    fn parse(input: &RawValue) -> Result<Self, ToolError> {
        let input: Self = parse_input(input)?;
        if input.old_string == input.new_string {
            return Err(ToolError::invalid(
                "`old_string` and `new_string` are the same, so there is nothing to change: `old_string` is what the \
                 file says now, `new_string` what it has to say",
            ));
        }
        Ok(input)
    }

    fn change(&self) -> Change<'_> {
        Change {
            old: &self.old_string,
            new: &self.new_string,
            occurrences: match self.replace_all {
                Some(true) => Occurrences::All,
                Some(false) | None => Occurrences::One,
            },
        }
    }
}

/// How often the text may occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occurrences {
    One,
    All,
}

/// What is to be changed.
struct Change<'a> {
    old: &'a str,
    new: &'a str,
    occurrences: Occurrences,
}

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(EDIT.name),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::Exclusive,
    limit: ResultLimit::OwnBound,
    traits: EDIT.traits,
};

impl Tool for Edit {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn file(&self, input: &RawValue) -> Option<PathBuf> {
        named_file(input)
    }

    fn access(&self, input: &RawValue, folder: &Path) -> Access {
        file_access(input, folder)
    }

    fn change<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Option<FileChangePreview>, ToolError>> {
        Box::pin(async {
            let input = Input::parse(input)?;
            let context_of_work = context.clone();
            to_the_end(&context.cancel, move |_| foresee(&input, &context_of_work).map(Some)).await
        })
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async {
            let input = Input::parse(input)?;
            let context_of_work = context.clone();
            to_the_end(&context.cancel, move |cancel| edit(&input, &context_of_work, cancel)).await
        })
    }
}

fn edit(
    input: &Input,
    context: &CallContext,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    let target = permitted(context, &input.file_path)?;
    let change = input.change();
    let named = target.named();
    if change.old.is_empty() {
        return create(&target, &named, change.new, context, cancel);
    }
    let (current, edited) = edited(&target, &change, context)?;
    let written = commit(&target, Some(&current), &edited.bytes, context, cancel)?;
    let report = report(&named, &current, &edited);
    let (extent, content) = content_now(&current, &change, edited);
    remember(&context.read_cache, target.real, &written, extent, content);
    Ok(ToolOutput::text(report))
}

/// The file as it is and as it would be.
fn edited(
    target: &WriteTarget,
    change: &Change<'_>,
    context: &CallContext,
) -> Result<(LoadedFile, Edited), ToolError> {
    let Some(current) = load(target, context)? else {
        let missing = ToolError::NotFound {
            path: target.real.clone(),
            hint: "use Glob to find the file, or Write to make it".to_owned(),
        };
        return Err(naming_likely_file(missing, &context.folder));
    };
    let edited = apply(&current.bytes, change).map_err(|reason| refused(&target.real, &reason))?;
    Ok((current, edited))
}

/// What an edit would do, without doing it.
fn foresee(input: &Input, context: &CallContext) -> Result<FileChangePreview, ToolError> {
    let target = permitted(context, &input.file_path)?;
    let change = input.change();
    if change.old.is_empty() {
        refuse_existing(&target, change.new, context)?;
        let after = change.new.to_owned();
        return Ok(FileChangePreview { path: target.real, before: String::new(), after });
    }
    let (current, edited) = edited(&target, &change, context)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (before, after) = (text(&current.bytes), text(&edited.bytes));
    Ok(FileChangePreview { path: target.real, before, after })
}

fn refuse_existing(
    target: &WriteTarget,
    new: &str,
    context: &CallContext,
) -> Result<(), ToolError> {
    let Ok(metadata) = target.real.symlink_metadata() else { return Ok(()) };
    if metadata.is_file() && metadata.len() == 0 {
        return Err(refused(&target.real, "exists and is empty; give it its content with Write"));
    }
    // Whoever wants to add a line must not be led to replace the whole file.
    let advice = match load(target, context).ok().flatten() {
        None => "read it, then give the text to replace as `old_string`".to_owned(),
        Some(file) => {
            let nearest = missing::nearest_line(&file.bytes, new);
            let nearest = nearest.unwrap_or_else(|| "to add lines, a line beside them".to_owned());
            format!("give the text to replace as `old_string`: {nearest}")
        }
    };
    let reason =
        format!("exists and has content, and an empty `old_string` only makes new files; {advice}");
    Err(refused(&target.real, &reason))
}

fn create(
    target: &WriteTarget,
    named: &str,
    content: &str,
    context: &CallContext,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    refuse_existing(target, content, context)?;
    let written = commit(target, None, content.as_bytes(), context, cancel)?;
    let cache: &std::sync::Mutex<ReadCache> = &context.read_cache;
    remember(cache, target.real.clone(), &written, ReadExtent::Whole, content.to_owned());
    let shown = around(content.as_bytes(), std::slice::from_ref(&(0..content.len())));
    Ok(ToolOutput::text(format!("created {named}\n{shown}")))
}

/// A file after the change.
struct Edited {
    bytes: Vec<u8>,
    /// The new pieces in it.
    pieces: Vec<Range<usize>>,
}

/// Makes the change, or says why it cannot be made.
fn apply(file: &[u8], change: &Change<'_>) -> Result<Edited, String> {
    let found = match find(file, change.old) {
        TextMatches::TooMany => {
            return Err("contains `old_string` more than a million times; use a program".to_owned());
        }
        TextMatches::At(found) if found.is_empty() => {
            return Err(missing::explain(file, change.old));
        }
        TextMatches::At(found) => found,
    };
    if change.occurrences == Occurrences::One && found.len() > 1 {
        let starts: Vec<usize> = found.iter().map(|range| range.start).collect();
        return Err(format!(
            "contains `old_string` {} times, at {}; take in more of the lines around the one that \
             is meant, or set `replace_all` to replace them all",
            found.len(),
            line_numbers(file, &starts)
        ));
    }
    let mut edited = Edited { bytes: Vec::with_capacity(file.len()), pieces: Vec::new() };
    let mut copied = 0;
    for range in found {
        let piece = replacement(file, &range, change.old, change.new);
        edited.bytes.extend_from_slice(file.get(copied..range.start).unwrap_or_default());
        let start = edited.bytes.len();
        edited.bytes.extend_from_slice(&piece);
        edited.pieces.push(start..edited.bytes.len());
        copied = range.end;
        if edited.bytes.len() as u64 > MAX_BYTES {
            return Err("would become larger than 50 MB; nothing was changed".to_owned());
        }
    }
    edited.bytes.extend_from_slice(file.get(copied..).unwrap_or_default());
    if edited.bytes.len() as u64 > MAX_BYTES {
        return Err("would become larger than 50 MB; nothing was changed".to_owned());
    }
    Ok(edited)
}

fn report(named: &str, current: &LoadedFile, edited: &Edited) -> String {
    let starts: Vec<usize> = edited.pieces.iter().map(|piece| piece.start).collect();
    let places = match starts.len() {
        1 => "1 place".to_owned(),
        places => format!("{places} places"),
    };
    let lines = line_numbers(&edited.bytes, &starts);
    let note = other_names_note(current);
    let shown = around(&edited.bytes, &edited.pieces);
    let shown = if shown.is_empty() { "[the file is empty now]\n".to_owned() } else { shown };
    format!("changed {named} in {places}, at {lines}{note}\n{shown}")
}

/// What the model knows of the file now: all of it if it had seen all, else what it had seen, changed
/// in the same way.
fn content_now(current: &LoadedFile, change: &Change<'_>, edited: Edited) -> (ReadExtent, String) {
    if current.seen.extent == ReadExtent::Whole
        && let Ok(content) = String::from_utf8(edited.bytes)
    {
        return (ReadExtent::Whole, content);
    }
    let seen = &current.seen.content;
    let all = Change { occurrences: Occurrences::All, ..*change };
    let content = apply(seen.as_bytes(), &all)
        .ok()
        .and_then(|edited| String::from_utf8(edited.bytes).ok())
        .unwrap_or_else(|| seen.clone());
    (ReadExtent::Part, content)
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
