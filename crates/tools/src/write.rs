//! Write: makes a file, or replaces one whole.
//!
//! Invariant: what exists is replaced only if it was read and is still the same, and then atomically;
//! see [`project_file`](crate::project_file).

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use dormouse_conversation::known_tools::WRITE;
use dormouse_permissions::Access;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::blocking::to_the_end;
use crate::project_file::{LoadedFile, WriteTarget, commit, load, permitted, remember};
use crate::snippet::difference;
use crate::tool::{file_access, named_file};
use crate::{
    CallContext, FileChangePreview, ReadExtent, ResultLimit, Tool, ToolClass, ToolError,
    ToolOutput, ToolSpec, parse_input,
};

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""file_path":{"type":"string","#,
    r#""description":"Absolute, or relative to the working directory."},"#,
    r#""content":{"type":"string","description":"The whole content."}"#,
    r#"},"required":["file_path","content"],"additionalProperties":false}"#,
);

const SHORT: &str = "Makes a new file. To change a file that exists, use Edit.";

const FULL: &str = "\
Makes a file with the given content, or replaces a file whole.

- A file that exists must have been read with Read in this conversation, and must not have changed \
since.
- To change part of a file use Edit: it needs less text and cannot lose the rest.
- Missing folders are made. The content is written as given.";

/// The tool. See the module.
#[derive(Debug, Clone, Copy)]
pub struct Write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    file_path: PathBuf,
    content: String,
}

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(WRITE.name),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::Exclusive,
    limit: ResultLimit::OwnBound,
    traits: WRITE.traits,
};

impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn file(&self, input: &RawValue) -> Option<PathBuf> {
        named_file(input)
    }

    fn replaces_file(&self) -> bool {
        true
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
            let input: Input = parse_input(input)?;
            let context_of_work = context.clone();
            to_the_end(&context.cancel, move |_| foresee(input, &context_of_work).map(Some)).await
        })
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async {
            let input: Input = parse_input(input)?;
            let context_of_work = context.clone();
            to_the_end(&context.cancel, move |cancel| {
                let target = permitted(&context_of_work, &input.file_path)?;
                write(&target, input.content, &context_of_work, cancel)
            })
            .await
        })
    }
}

fn write(
    target: &WriteTarget,
    content: String,
    context: &CallContext,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    let current = load(target, context)?;
    if current.as_ref().is_some_and(|current| current.bytes == content.as_bytes()) {
        let text = format!("{} has this content already; nothing was written", target.named());
        return Ok(ToolOutput::text(text));
    }
    let named = target.named();
    let written = commit(target, current.as_ref(), content.as_bytes(), context, cancel)?;
    let report = report(&named, current.as_ref(), &content);
    remember(&context.read_cache, target.real.clone(), &written, ReadExtent::Whole, content);
    Ok(ToolOutput::text(report))
}

/// What a write would do, without doing it.
fn foresee(input: Input, context: &CallContext) -> Result<FileChangePreview, ToolError> {
    let target = permitted(context, &input.file_path)?;
    let current = load(&target, context)?;
    let before = current.map(|current| String::from_utf8_lossy(&current.bytes).into_owned());
    Ok(FileChangePreview {
        path: target.real,
        before: before.unwrap_or_default(),
        after: input.content,
    })
}

fn report(named: &str, current: Option<&LoadedFile>, content: &str) -> String {
    let size = format!("{} and {}", count(content.lines().count(), "line"), bytes(content));
    let Some(current) = current else { return format!("created {named}: {size}") };
    let note = other_names_note(current);
    let difference = difference(&current.bytes, content.as_bytes());
    format!("replaced {named}: {size}{note}\n{difference}")
}

fn bytes(content: &str) -> String {
    count(content.len(), "byte")
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// What a hard link's other names are left with.
pub(crate) fn other_names_note(current: &LoadedFile) -> String {
    match current.other_names() {
        0 => String::new(),
        1 => "\n[the file had one more name (a hard link), which keeps the old content]".to_owned(),
        others => {
            format!("\n[the file had {others} more names (hard links), which keep the old content]")
        }
    }
}
