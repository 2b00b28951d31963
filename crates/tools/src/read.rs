//! Read: shows a file, as numbered lines, a picture, or the cells of a notebook.
//!
//! Invariant: it bounds itself, says where it stopped, never blocks on something that is no plain file,
//! and holds no more of a file than it shows.

mod image;
mod notebook;
mod open;
mod text;

use std::borrow::Cow;
use std::io::BufRead;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use dormouse_conversation::Block;
use dormouse_conversation::known_tools::READ;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::blocking::blocking;
use crate::editor_files::editor_for;
use crate::tool::named_file;
use crate::{
    CachedFile, CallContext, EditorFiles, ReadExtent, ResultLimit, TextFingerprint, Tool,
    ToolClass, ToolError, ToolOutput, ToolSpec, parse_input,
};
pub(crate) use notebook::render as render_notebook;
use open::Opened;
pub(crate) use open::{naming_likely_file, open, plain};
use text::{LineWindow, Shown};

/// Lines shown unless asked otherwise.
const DEFAULT_LINES: u64 = 2_000;
/// A NUL within this many bytes makes a file binary.
const BINARY_PROBE: usize = 8 * 1024;

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""file_path":{"type":"string","#,
    r#""description":"Absolute, or relative to the working directory."},"#,
    r#""offset":{"type":"integer","minimum":1,"#,
    r#""description":"The first line, counted from 1."},"#,
    r#""limit":{"type":"integer","minimum":1,"#,
    r#""description":"How many lines."}"#,
    r#"},"required":["file_path"],"additionalProperties":false}"#,
);

const SHORT: &str = "Shows a file's lines with their numbers, a picture, or a notebook's cells.";

const FULL: &str = "\
Shows a file.

- Text comes as lines, each with its number and a tab in front, which are not part of the file.
- The first 2000 lines are shown unless `offset` and `limit` say otherwise; the answer says where \
to read on. Longer lines than 2000 characters are cut.
- Pictures are shown as pictures, Jupyter notebooks as cells with their outputs. Folders and \
binary files are refused.
- Read a file before you say what is in it or change it. Read several in one answer.";

/// The tool. See the module.
#[derive(Debug, Clone, Copy)]
pub struct Read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    file_path: PathBuf,
    offset: Option<NonZeroU64>,
    limit: Option<NonZeroU64>,
}

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(READ.name),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::ReadOnly,
    limit: ResultLimit::OwnBound,
    traits: READ.traits,
};

impl Tool for Read {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn file(&self, input: &RawValue) -> Option<PathBuf> {
        named_file(input)
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(run(input, context))
    }
}

async fn run(input: &RawValue, context: &CallContext) -> Result<ToolOutput, ToolError> {
    let input: Input = parse_input(input)?;
    if input.file_path.as_os_str().is_empty() {
        return Err(ToolError::invalid("`file_path`: is empty"));
    }
    let path = context.folder.join(&input.file_path);
    let window = LineWindow {
        first: input.offset.map_or(1, NonZeroU64::get),
        lines: input.limit.map_or(DEFAULT_LINES, NonZeroU64::get),
        tokens: context.read_tokens,
    };
    let editor = context.editor.files.clone();
    let (output, seen) =
        blocking(&context.cancel, move |cancel| read(&path, window, editor.as_ref(), cancel))
            .await
            .map_err(|error| naming_likely_file(error, &context.folder))?;
    if let Some((path, file)) = seen {
        let mut cache = context.read_cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.insert(path, file);
    }
    Ok(output)
}

/// What goes into the cache.
type Seen = Option<(PathBuf, CachedFile)>;

fn read(
    path: &Path,
    window: LineWindow,
    editor: Option<&Arc<dyn EditorFiles>>,
    cancel: &CancellationToken,
) -> Result<(ToolOutput, Seen), ToolError> {
    let mut opened = open::open(path)?;
    let start = opened.reader.fill_buf().map_err(|source| ToolError::unreadable(path, source))?;
    if let Some(media_type) = image::media_type(start) {
        return Ok((ToolOutput::blocks(vec![show_image(path, opened, media_type)?]), None));
    }
    if start.iter().take(BINARY_PROBE).any(|byte| *byte == 0) {
        return Err(ToolError::Refused {
            path: path.to_owned(),
            reason: "is not a text file: it contains NUL bytes; look at it with a program that \
                     knows its format, such as `file` or `xxd`"
                .to_owned(),
        });
    }
    let (modified, size) = (opened.modified, opened.size);
    let real = path.canonicalize().ok();
    let editor = real.as_deref().and_then(|real| Some((editor_for(editor, real, size)?, real)));
    let unsaved = editor.and_then(|(editor, real)| editor.text(real, cancel));
    let shown = if let Some(text) = &unsaved {
        text::show(path, &mut text.as_bytes(), window, cancel)?
    } else if path.extension().is_some_and(|extension| extension == "ipynb") {
        show_notebook(path, opened, window, cancel)?
    } else {
        text::show(path, &mut opened.reader, window, cancel)?
    };
    let report = shown.report(window);
    let in_editor = unsaved.as_deref().map(TextFingerprint::of);
    // A file that vanished meanwhile, or lies where times are not kept, is simply not remembered.
    let seen = real.zip(modified).map(|(real, modified)| {
        let Shown { extent, content, .. } = shown;
        (real, CachedFile { modified, size, extent, content, in_editor })
    });
    Ok((ToolOutput::text(report), seen))
}

fn show_image(path: &Path, opened: Opened, media_type: &str) -> Result<Block, ToolError> {
    let data = open::read_all(path, opened, image::MAX_BYTES, &image::too_large())?;
    Ok(image::block(media_type, &data))
}

fn show_notebook(
    path: &Path,
    opened: Opened,
    window: LineWindow,
    cancel: &CancellationToken,
) -> Result<Shown, ToolError> {
    let data = open::read_all(path, opened, notebook::MAX_BYTES, &notebook::too_large())?;
    let (rendered, extent) = match notebook::render(&data) {
        Some(rendered) => (rendered.into_bytes(), ReadExtent::Rendered),
        // Not what its name says: then its text is what there is to see.
        None => (data, ReadExtent::Whole),
    };
    let mut shown = text::show(path, &mut rendered.as_slice(), window, cancel)?;
    if extent == ReadExtent::Rendered {
        shown.extent = ReadExtent::Rendered;
    }
    Ok(shown)
}
