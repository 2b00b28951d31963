//! The YAML parser, behind this module only. It reads at most [`LONGEST`](crate::value::LONGEST) bytes with a tight
//! budget: frontmatter has a few keys, so deep nesting or many aliases are hostile.
//!
//! Scalars stay as they are written: `1.10` is a text, not the number 1.1.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::value::{FrontmatterProblem, Value};

/// Limits, far above what frontmatter needs. What an alias repeats counts each time.
const NODES: usize = 4_000;
const DEPTH: usize = 8;
const ALIASES: usize = 16;

pub(crate) fn fields(inner: &str) -> Result<Vec<(String, Value)>, FrontmatterProblem> {
    match document(inner)? {
        None => Ok(Vec::new()),
        Some(Value::Map(pairs)) => Ok(pairs),
        Some(Value::Text(text)) if text.is_empty() => Ok(Vec::new()),
        Some(Value::Text(_) | Value::List(_)) => Err(FrontmatterProblem::NoMapping),
    }
}

/// Whether a text is valid, within the limits or not.
pub(crate) fn is_valid(text: &str) -> bool {
    Parser::new_from_str(text).take(NODES).all(|event| event.is_ok())
}

/// The one document of a text; `None` for an empty text.
fn document(text: &str) -> Result<Option<Value>, FrontmatterProblem> {
    let mut builder = Builder::default();
    // What is missing at the end of the text is missing in its last line.
    let last = text.lines().count();
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| problem(error.marker().line().min(last), error.info()))?;
        builder.take(event).map_err(|reason| problem(span.start.line(), reason))?;
    }
    Ok(builder.root)
}

/// A problem in this line of the YAML text, which begins one line below the first `---`.
fn problem(line: usize, reason: &str) -> FrontmatterProblem {
    FrontmatterProblem::Yaml { line: line as u64 + 1, reason: reason.to_owned() }
}

/// Builds the value of a document from the parser's events.
#[derive(Default)]
struct Builder {
    open: Vec<(usize, Container)>,
    anchors: HashMap<usize, Value>,
    root: Option<Value>,
    nodes: usize,
    aliases: usize,
}

/// A list or mapping whose end has not been read yet.
enum Container {
    List(Vec<Value>),
    Map { pairs: Vec<(String, Value)>, key: Option<String> },
}

impl Builder {
    fn take(&mut self, event: Event<'_>) -> Result<(), &'static str> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let is_null = style == ScalarStyle::Plain
                    && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                let text = if is_null { String::new() } else { text.into_owned() };
                self.add(anchor, Value::Text(text))
            }
            Event::Alias(anchor) => {
                self.aliases += 1;
                if self.aliases > ALIASES {
                    return Err("there are too many aliases");
                }
                let value = self.anchors.get(&anchor).cloned();
                self.add(0, value.ok_or("an alias is inside the value that it names")?)
            }
            Event::SequenceStart(anchor, _) => self.begin(anchor, Container::List(Vec::new())),
            Event::MappingStart(anchor, _) => {
                self.begin(anchor, Container::Map { pairs: Vec::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.finish(),
            Event::DocumentStart(_) if self.root.is_some() => Err("a second document begins here"),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn begin(&mut self, anchor: usize, container: Container) -> Result<(), &'static str> {
        if self.open.len() == DEPTH {
            return Err("lists and mappings are nested too deeply");
        }
        self.open.push((anchor, container));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), &'static str> {
        let Some((anchor, container)) = self.open.pop() else { return Ok(()) };
        self.add(
            anchor,
            match container {
                Container::List(items) => Value::List(items),
                Container::Map { pairs, .. } => Value::Map(pairs),
            },
        )
    }

    /// Adds a whole value to the innermost open container.
    fn add(&mut self, anchor: usize, value: Value) -> Result<(), &'static str> {
        self.nodes += size(&value);
        if self.nodes > NODES {
            return Err("there are too many values");
        }
        if anchor != 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some((_, Container::List(items))) => items.push(value),
            Some((_, Container::Map { pairs, key })) => match key.take() {
                None => {
                    let new = value.as_text().unwrap_or_default().to_owned();
                    if pairs.iter().any(|(known, _)| *known == new) {
                        return Err("the key occurs twice");
                    }
                    *key = Some(new);
                }
                Some(name) => pairs.push((name, value)),
            },
        }
        Ok(())
    }
}

/// The scalars and containers in a value.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Text(_) => 0,
        Value::List(items) => items.iter().map(size).sum(),
        Value::Map(pairs) => pairs.iter().map(|(_, value)| size(value)).sum(),
    }
}
