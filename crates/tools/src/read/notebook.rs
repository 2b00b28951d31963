//! Jupyter notebooks: cells and the text of their outputs, as text.
//!
//! Invariant: an output that is not text is named, not dropped in silence.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The largest notebook: it must be had whole to be understood.
pub(super) const MAX_BYTES: u64 = 50 * 1024 * 1024;

pub(super) fn too_large() -> String {
    format!("a notebook may have {MAX_BYTES} bytes; clear its outputs, or take out cells with `jq`")
}

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(rename = "cell_type")]
    kind: String,
    id: Option<String>,
    #[serde(default)]
    source: Text,
    #[serde(default)]
    outputs: Vec<Output>,
}

#[derive(Deserialize)]
struct Output {
    #[serde(default)]
    text: Option<Text>,
    #[serde(default)]
    data: BTreeMap<String, Box<RawValue>>,
    ename: Option<String>,
    evalue: Option<String>,
    #[serde(default)]
    traceback: Vec<String>,
}

/// One string, or its lines.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    One(String),
    Lines(Vec<String>),
    Other(IgnoredAny),
}

impl Default for Text {
    fn default() -> Self {
        Self::Lines(Vec::new())
    }
}

impl Text {
    fn joined(&self) -> String {
        match self {
            Self::One(text) => text.clone(),
            Self::Lines(lines) => lines.concat(),
            Self::Other(_) => String::new(),
        }
    }
}

/// The notebook as text; nothing if it is not one.
pub(crate) fn render(data: &[u8]) -> Option<String> {
    let notebook: Notebook = serde_json::from_slice(data).ok()?;
    let mut text = String::new();
    for (index, cell) in notebook.cells.iter().enumerate() {
        let id = cell.id.as_ref().map(|id| format!(", id {id}")).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[cell {}: {}{id}]", index + 1, cell.kind);
        push_block(&mut text, &cell.source.joined());
        for output in &cell.outputs {
            text.push_str("[output]\n");
            push_output(&mut text, output);
        }
    }
    if notebook.cells.is_empty() {
        text.push_str("[the notebook has no cells]\n");
    }
    Some(text)
}

fn push_output(text: &mut String, output: &Output) {
    if let Some(stream) = &output.text {
        push_block(text, &without_colours(&stream.joined()));
    }
    let plain = output.data.get("text/plain").and_then(|raw| serde_json::from_str(raw.get()).ok());
    if let Some(plain) = plain {
        push_block(text, &Text::joined(&plain));
    }
    for media_type in output.data.keys().filter(|media_type| !media_type.starts_with("text/")) {
        let _ = writeln!(text, "[{media_type}, not shown]");
    }
    if let Some(name) = &output.ename {
        push_block(text, &format!("{name}: {}", output.evalue.as_deref().unwrap_or_default()));
        push_block(text, &without_colours(&output.traceback.join("\n")));
    }
}

/// Adds a text and sees to it that its last line ends.
fn push_block(text: &mut String, block: &str) {
    text.push_str(block);
    if !block.is_empty() && !block.ends_with('\n') {
        text.push('\n');
    }
}

/// Tracebacks come with the terminal's colour codes, which are only noise here.
fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut clean = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        clean.push_str(
            piece
                .trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
                .trim_start_matches('m'),
        );
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_outputs() {
        let notebook = r##"{"cells":[
            {"cell_type":"markdown","source":["# Title\n","text"]},
            {"cell_type":"code","id":"3f2a","source":"1/0","outputs":[
                {"output_type":"stream","text":["one\n"]},
                {"output_type":"display_data","data":{"image/png":"AAAA","text/plain":["<Figure>"]}},
                {"output_type":"error","ename":"ZeroDivisionError","evalue":"division by zero",
                 "traceback":["\u001b[0;31mline\u001b[0m 1"]}]}],
            "metadata":{},"nbformat":4}"##;
        let expected = "[cell 1: markdown]\n# Title\ntext\n[cell 2: code, id 3f2a]\n1/0\n\
            [output]\none\n[output]\n<Figure>\n[image/png, not shown]\n\
            [output]\nZeroDivisionError: division by zero\nline 1\n";
        assert_eq!(render(notebook.as_bytes()).as_deref(), Some(expected));
    }

    #[test]
    fn what_is_no_notebook() {
        assert_eq!(render(b"plain text"), None);
        assert_eq!(render(br#"{"cells":5}"#), None);
        assert!(render(br#"{"cells":[]}"#).unwrap().contains("no cells"));
    }
}
