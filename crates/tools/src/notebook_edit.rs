//! `NotebookEdit`: changes one cell of a Jupyter notebook.
//!
//! Invariant: only the cell changes; every other byte of the file stays. The rules are those of Edit: the notebook was read
//! and is still what was read. See [`project_file`](crate::project_file).

mod cells;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use dormouse_conversation::known_tools::NOTEBOOK_EDIT;
use dormouse_permissions::Access;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::blocking::to_the_end;
use crate::project_file::{
    LoadedFile, WriteTarget, commit, load_rendered, permitted, refused, remember_rendered,
};
use crate::read::render_notebook;
use crate::tool::{file_access, named_file};
use crate::write::other_names_note;
use crate::{
    CallContext, FileChangePreview, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec,
    parse_input,
};
use cells::{CellChange, CellChoice, ChangedNotebook, change};

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""file_path":{"type":"string","description":"The notebook."},"#,
    r#""edit_mode":{"type":"string","enum":["replace","insert","delete"],"description":"`replace` when left out."},"#,
    r#""cell":{"type":["string","integer"],"description":"The cell's id, or its number as Read shows it."},"#,
    r#""cell_type":{"type":"string","enum":["code","markdown","raw"],"description":"Of a new cell; `code` when left out."},"#,
    r#""new_source":{"type":"string","description":"The cell's source; not for `delete`."}"#,
    r#"},"required":["file_path"],"additionalProperties":false}"#,
);

const SHORT: &str = "Changes, inserts or deletes a cell of a Jupyter notebook (.ipynb).";

const FULL: &str = "\
Changes, inserts or deletes one cell of a Jupyter notebook (.ipynb).

- The notebook must have been read with Read in this conversation, and must not have changed since; \
several edits in a row need no new read.
- `replace` gives the cell another source and keeps its outputs; `insert` makes a cell behind `cell`, \
or in front of all without it; `delete` removes the cell.
- Inserting and deleting change the numbers of the cells behind; ids stay.
- All other bytes of the file stay as they are.";

/// The tool. See the module.
#[derive(Debug, Clone, Copy)]
pub struct NotebookEdit;

#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum EditMode {
    #[default]
    Replace,
    Insert,
    Delete,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CellArgument {
    Number(usize),
    Id(String),
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum CellKind {
    Code,
    Markdown,
    Raw,
}

impl CellKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    file_path: PathBuf,
    #[serde(default)]
    edit_mode: EditMode,
    cell: Option<CellArgument>,
    cell_type: Option<CellKind>,
    new_source: Option<String>,
}

impl Input {
    fn choice(&self) -> Option<CellChoice> {
        self.cell.as_ref().map(|cell| match cell {
            CellArgument::Number(number) => CellChoice::Number(*number),
            CellArgument::Id(id) => CellChoice::Id(id.clone()),
        })
    }

    fn change(&self) -> Result<CellChange<'_>, ToolError> {
        let source = self.new_source.as_deref();
        match (self.edit_mode, source) {
            (EditMode::Delete, _) => Ok(CellChange::Delete),
            (_, None) => Err(ToolError::invalid("`new_source`: is missing")),
            (EditMode::Replace, Some(source)) => Ok(CellChange::Replace { source }),
            (EditMode::Insert, Some(source)) => {
                let kind = self.cell_type.unwrap_or(CellKind::Code).name();
                Ok(CellChange::Insert { kind, source })
            }
        }
    }
}

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(NOTEBOOK_EDIT.name),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::Exclusive,
    limit: ResultLimit::OwnBound,
    traits: NOTEBOOK_EDIT.traits,
};

impl Tool for NotebookEdit {
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
            let input: Input = parse_input(input)?;
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
            let input: Input = parse_input(input)?;
            let context_of_work = context.clone();
            to_the_end(&context.cancel, move |cancel| edit(&input, &context_of_work, cancel)).await
        })
    }
}

/// The notebook as it is and as it would be.
fn edited(
    target: &WriteTarget,
    input: &Input,
    context: &CallContext,
) -> Result<(LoadedFile, ChangedNotebook), ToolError> {
    let Some(current) = load_rendered(target, context)? else {
        return Err(ToolError::NotFound {
            path: target.real.clone(),
            hint: "use Glob to find the notebook, or Write to make it".to_owned(),
        });
    };
    let text = std::str::from_utf8(&current.bytes)
        .map_err(|_| refused(&target.real, "is no notebook: it is not UTF-8 text"))?;
    let changed = change(text, input.choice().as_ref(), input.change()?)
        .map_err(|error| refused(&target.real, &error.to_string()))?;
    Ok((current, changed))
}

/// What an edit would do, without doing it.
fn foresee(input: &Input, context: &CallContext) -> Result<FileChangePreview, ToolError> {
    let target = permitted(context, &input.file_path)?;
    let (current, changed) = edited(&target, input, context)?;
    let before = String::from_utf8_lossy(&current.bytes).into_owned();
    Ok(FileChangePreview { path: target.real, before, after: changed.text })
}

fn edit(
    input: &Input,
    context: &CallContext,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    let target = permitted(context, &input.file_path)?;
    let (current, changed) = edited(&target, input, context)?;
    let written = commit(&target, Some(&current), changed.text.as_bytes(), context, cancel)?;
    let ChangedNotebook { text, number, kind } = changed;
    let rendered = render_notebook(text.as_bytes()).unwrap_or_default();
    let (named, note) = (target.named(), other_names_note(&current));
    remember_rendered(&context.read_cache, target.real, &written, rendered);
    let (done, rest) = match input.edit_mode {
        EditMode::Replace => ("changed", "; its outputs are those of the old source"),
        EditMode::Insert => ("inserted", ""),
        EditMode::Delete => ("deleted", ""),
    };
    let rest = if kind == "code" { rest } else { "" };
    Ok(ToolOutput::text(format!("{done} cell {number} ({kind}) of {named}{rest}{note}")))
}
