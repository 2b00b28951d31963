//! Changes the cells of a notebook in its text. All bytes outside the changed cell stay as they are: order of keys,
//! indentation, other cells, the end of the file.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use dormouse_base::{JsonContainer, JsonEntry, JsonTextError, indent_of};
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use thiserror::Error;

/// Which cell is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CellChoice {
    /// By its number, counted from 1, as Read shows it.
    Number(usize),
    /// By its id; one that is a number may be meant as a number.
    Id(String),
}

/// A change of one cell.
#[derive(Debug, Clone, Copy)]
pub(super) enum CellChange<'a> {
    /// Another source for the cell.
    Replace { source: &'a str },
    /// A new cell behind the cell, or in front of all if none was chosen.
    Insert { kind: &'a str, source: &'a str },
    /// Without the cell.
    Delete,
}

/// Why a cell cannot be changed. It follows the path of the file.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum CellError {
    #[error("is no notebook: {0}")]
    NotJson(JsonTextError),
    #[error("is no notebook: it has no list `cells`")]
    NoCells,
    #[error("has a cell that is no object: {0}")]
    NoObject(JsonTextError),
    #[error("needs `cell`: the cell's id, or its number as Read shows it")]
    NoneChosen,
    #[error("has no cell {number}; it has {count}, counted from 1")]
    NoNumber { number: usize, count: usize },
    #[error("has no cell with this id; it has {count} cells, counted from 1")]
    NoId { count: usize },
    #[error("has no `source` in cell {number}")]
    NoSource { number: usize },
}

/// A notebook after a change.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChangedNotebook {
    pub(super) text: String,
    /// The number of the cell that was changed, made or removed.
    pub(super) number: usize,
    /// Its kind.
    pub(super) kind: String,
}

/// Makes the change, or says why it cannot be made.
pub(super) fn change(
    text: &str,
    chosen: Option<&CellChoice>,
    change: CellChange<'_>,
) -> Result<ChangedNotebook, CellError> {
    let notebook = Notebook::read(text)?;
    match change {
        CellChange::Insert { kind, source } => {
            let after = match chosen {
                None | Some(CellChoice::Number(0)) => None,
                Some(chosen) => Some(notebook.find(chosen)?),
            };
            Ok(notebook.with_cell(after, kind, source))
        }
        CellChange::Replace { source } => notebook.with_source(notebook.chosen(chosen)?, source),
        CellChange::Delete => notebook.without(notebook.chosen(chosen)?),
    }
}

/// The positions of a notebook's cells in its text.
struct Notebook<'a> {
    text: &'a str,
    /// The list of cells.
    cells: JsonContainer,
    /// Each cell's members.
    members: Vec<JsonContainer>,
    /// One level of indentation; none if the notebook is on one line.
    indent: Option<&'a str>,
    line_end: &'static str,
}

impl<'a> Notebook<'a> {
    fn read(text: &'a str) -> Result<Self, CellError> {
        let root = JsonContainer::root(text).map_err(CellError::NotJson)?;
        let list = root.member("cells").ok_or(CellError::NoCells)?;
        let cells = JsonContainer::at(text, list.value.start).map_err(|_| CellError::NoCells)?;
        let members: Result<Vec<_>, _> =
            cells.entries.iter().map(|cell| JsonContainer::at(text, cell.value.start)).collect();
        let members = members.map_err(CellError::NoObject)?;
        let start = root.entries.first().map_or(0, |first| first.whole.start);
        let head = text.get(root.open..start).unwrap_or_default();
        let indent = head.contains('\n').then(|| indent_of(text, start));
        let line_end = if head.contains("\r\n") { "\r\n" } else { "\n" };
        Ok(Self { text, cells, members, indent, line_end })
    }

    fn string(&self, cell: usize, key: &str) -> Option<String> {
        let value = self.members.get(cell)?.member(key)?.value.clone();
        serde_json::from_str(self.text.get(value)?).ok()
    }

    fn chosen(&self, chosen: Option<&CellChoice>) -> Result<usize, CellError> {
        self.find(chosen.ok_or(CellError::NoneChosen)?)
    }

    fn find(&self, chosen: &CellChoice) -> Result<usize, CellError> {
        let count = self.members.len();
        let number = match chosen {
            CellChoice::Number(number) => Some(*number),
            CellChoice::Id(id) => {
                let has_id = |cell: &usize| self.string(*cell, "id").as_ref() == Some(id);
                if let Some(found) = (0..count).find(has_id) {
                    return Ok(found);
                }
                id.trim().parse().ok()
            }
        };
        match number {
            Some(number) if (1..=count).contains(&number) => Ok(number - 1),
            Some(number) => Err(CellError::NoNumber { number, count }),
            None => Err(CellError::NoId { count }),
        }
    }

    fn with_source(&self, cell: usize, source: &str) -> Result<ChangedNotebook, CellError> {
        let number = cell + 1;
        let entry = self.members.get(cell).and_then(|members| members.member("source"));
        let Some(entry) = entry else { return Err(CellError::NoSource { number }) };
        let old = self.text.get(entry.value.clone()).unwrap_or_default();
        let new =
            self.rendered(&Source::like(old, source), indent_of(self.text, entry.whole.start));
        Ok(self.changed(entry.value.clone(), &new, cell, self.kind(cell)))
    }

    fn without(&self, cell: usize) -> Result<ChangedNotebook, CellError> {
        let entries = &self.cells.entries;
        let removed = match (cell.checked_sub(1).and_then(|at| entries.get(at)), entries.get(cell))
        {
            (Some(before), Some(this)) => before.whole.end..this.whole.end,
            (None, Some(this)) => match entries.get(cell + 1) {
                Some(next) => this.whole.start..next.whole.start,
                None => self.cells.open + 1..self.cells.close,
            },
            (_, None) => {
                return Err(CellError::NoNumber { number: cell + 1, count: entries.len() });
            }
        };
        Ok(self.changed(removed, "", cell, self.kind(cell)))
    }

    fn with_cell(&self, after: Option<usize>, kind: &str, source: &str) -> ChangedNotebook {
        let entries = &self.cells.entries;
        let number = after.map_or(0, |cell| cell + 1);
        let outer = indent_of(self.text, self.cells.open);
        let inner = match (self.indent, entries.first()) {
            (Some(_), Some(first)) => indent_of(self.text, first.whole.start).to_owned(),
            (Some(indent), None) => format!("{outer}{indent}"),
            (None, _) => String::new(),
        };
        let cell = self.rendered(&self.new_cell(kind, source), &inner);
        let line = self.indent.map(|_| format!("{}{inner}", self.line_end)).unwrap_or_default();
        let (at, piece) = match (after.and_then(|cell| entries.get(cell)), entries.first()) {
            (Some(before), _) => (before.whole.end..before.whole.end, format!(",{line}{cell}")),
            (None, Some(first)) => (first.whole.start..first.whole.start, format!("{cell},{line}")),
            (None, None) => {
                let close = self.indent.map(|_| format!("{}{outer}", self.line_end));
                let close = close.unwrap_or_default();
                (self.cells.open + 1..self.cells.close, format!("{line}{cell}{close}"))
            }
        };
        self.changed(at, &piece, number, kind.to_owned())
    }

    fn kind(&self, cell: usize) -> String {
        self.string(cell, "cell_type").unwrap_or_else(|| "cell".to_owned())
    }

    fn new_cell<'c>(&self, kind: &'c str, source: &'c str) -> NewCell<'c> {
        let is_code = kind == "code";
        let has_ids = (0..self.members.len()).any(|cell| self.string(cell, "id").is_some());
        let like: Option<&JsonEntry> = self.members.iter().find_map(|cell| cell.member("source"));
        let like = like.and_then(|entry| self.text.get(entry.value.clone())).unwrap_or_default();
        NewCell {
            cell_type: kind,
            execution_count: is_code.then_some(()),
            id: has_ids.then(|| self.free_id(source)),
            metadata: EmptyObject {},
            outputs: is_code.then_some([]),
            source: Source::like(like, source),
        }
    }

    /// An id that no cell has.
    fn free_id(&self, source: &str) -> String {
        let taken: Vec<String> =
            (0..self.members.len()).filter_map(|cell| self.string(cell, "id")).collect();
        let id = |attempt: usize| {
            let mut hasher = DefaultHasher::new();
            (source, attempt).hash(&mut hasher);
            format!("{:08x}", hasher.finish() & 0xffff_ffff)
        };
        // One more than there are cells: one of them is free.
        (0..=taken.len()).map(id).find(|id| !taken.contains(id)).unwrap_or_default()
    }

    /// A value in the layout of the notebook; lines after the first have this indentation in front.
    fn rendered(&self, value: &impl Serialize, indentation: &str) -> String {
        let Some(indent) = self.indent else {
            return serde_json::to_string(value).unwrap_or_default();
        };
        let mut out = Vec::new();
        let formatter = PrettyFormatter::with_indent(indent.as_bytes());
        let mut serializer = Serializer::with_formatter(&mut out, formatter);
        // Strings and lists of them: serializing has no way to fail.
        if value.serialize(&mut serializer).is_err() {
            return String::new();
        }
        let text = String::from_utf8(out).unwrap_or_default();
        text.replace('\n', &format!("{}{indentation}", self.line_end))
    }

    fn changed(&self, at: Range<usize>, new: &str, cell: usize, kind: String) -> ChangedNotebook {
        let before = self.text.get(..at.start).unwrap_or_default();
        let after = self.text.get(at.end..).unwrap_or_default();
        ChangedNotebook { text: format!("{before}{new}{after}"), number: cell + 1, kind }
    }
}

/// A cell's source: one string, or its lines.
#[derive(Serialize)]
#[serde(untagged)]
enum Source<'a> {
    Whole(&'a str),
    Lines(Vec<&'a str>),
}

impl<'a> Source<'a> {
    /// In the form of another source; a list of lines if there is none.
    fn like(other: &str, source: &'a str) -> Self {
        if other.starts_with('"') {
            Self::Whole(source)
        } else {
            Self::Lines(source.split_inclusive('\n').collect())
        }
    }
}

#[derive(Serialize)]
struct EmptyObject {}

/// A cell in the order of keys that Jupyter writes.
#[derive(Serialize)]
struct NewCell<'a> {
    cell_type: &'a str,
    /// `null` for code that has not run; not there for other kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_count: Option<()>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    metadata: EmptyObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<[(); 0]>,
    source: Source<'a>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// As Jupyter writes it, with a key and a number that only its own bytes keep.
    const PRETTY: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"aa\",\n   \"metadata\": {\"zeta\": 1.10, \"a\": 1},\n   \"source\": [\n    \"# T\\n\",\n    \"é\"\n   ]\n  },\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   \"id\": \"bb\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": []\n  }\n ],\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n";

    fn by_id(id: &str) -> CellChoice {
        CellChoice::Id(id.to_owned())
    }

    fn done(text: &str, cell: Option<&CellChoice>, wanted: CellChange<'_>) -> String {
        let changed = change(text, cell, wanted).unwrap().text;
        serde_json::from_str::<Value>(&changed).unwrap();
        changed
    }

    #[test]
    fn a_source_is_replaced_and_nothing_else() {
        let wanted = CellChange::Replace { source: "x = 1\ny = \"ü\"" };
        let changed = done(PRETTY, Some(&by_id("bb")), wanted);
        let source = "\"source\": [\n    \"x = 1\\n\",\n    \"y = \\\"ü\\\"\"\n   ]";
        assert_eq!(changed, PRETTY.replace("\"source\": []", source));
        // By number, as Read counts.
        assert_eq!(done(PRETTY, Some(&CellChoice::Number(2)), wanted), changed);
        assert_eq!(done(PRETTY, Some(&by_id("2")), wanted), changed);
        let emptied = done(&changed, Some(&by_id("bb")), CellChange::Replace { source: "" });
        assert_eq!(emptied, PRETTY);
    }

    #[test]
    fn a_cell_goes_and_comes() {
        let wanted = CellChange::Insert { kind: "code", source: "x" };
        for (at, cell) in [(0, None), (1, Some(by_id("aa"))), (2, Some(CellChoice::Number(2)))] {
            let changed = change(PRETTY, cell.as_ref(), wanted).unwrap();
            assert_eq!(changed.number, at + 1);
            let value: Value = serde_json::from_str(&changed.text).unwrap();
            let new = &value["cells"][at];
            assert_eq!((&new["source"][0], &new["execution_count"]), (&"x".into(), &Value::Null));
            assert_eq!(new["id"].as_str().unwrap().len(), 8);
            assert!(
                changed
                    .text
                    .contains("  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n")
            );
            let back = done(&changed.text, Some(&CellChoice::Number(at + 1)), CellChange::Delete);
            assert_eq!(back, PRETTY);
        }
        let one = done(PRETTY, Some(&CellChoice::Number(1)), CellChange::Delete);
        let none = done(&one, Some(&CellChoice::Number(1)), CellChange::Delete);
        assert!(none.contains("\"cells\": []"), "{none}");
        let again = done(&none, None, CellChange::Insert { kind: "markdown", source: "a\nb" });
        assert!(again.contains("\"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n"), "{again}");
    }

    #[test]
    fn a_notebook_on_one_line_stays_on_one_line() {
        let text = r#"{"cells":[{"cell_type":"raw","source":"a"}],"nbformat":4}"#;
        let changed =
            done(text, Some(&CellChoice::Number(1)), CellChange::Replace { source: "b\nc" });
        assert_eq!(changed, text.replace("\"a\"", r#""b\nc""#));
        let changed = done(text, None, CellChange::Insert { kind: "markdown", source: "m" });
        let expected = r#"{"cells":[{"cell_type":"markdown","metadata":{},"source":"m"},{"cell_type":"raw","source":"a"}],"nbformat":4}"#;
        assert_eq!(changed, expected);
    }

    #[test]
    fn what_cannot_be_changed() {
        for (text, cell, said) in [
            ("{}", None, "no list `cells`"),
            ("nothing", None, "is no notebook"),
            (r#"{"cells":[1]}"#, None, "no object"),
            (PRETTY, Some(CellChoice::Number(3)), "has no cell 3; it has 2"),
            (PRETTY, Some(by_id("cc")), "no cell with this id"),
            (PRETTY, None, "needs `cell`"),
        ] {
            let why = change(text, cell.as_ref(), CellChange::Delete).unwrap_err().to_string();
            assert!(why.contains(said), "{why}");
        }
    }
}
