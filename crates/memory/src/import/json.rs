//! Two formats of other memory systems, parsed leniently: missing values are left out, unknown ones ignored.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::{Imported, ImportedText};
use crate::entry::NewMemory;

/// Why an export could not be parsed.
#[derive(Debug, Error)]
pub enum ImportError {
    /// Not JSON.
    #[error("the export is not valid JSON ({0}); export it again")]
    Json(#[from] serde_json::Error),
    /// Not JSON, in a file with one value per line.
    #[error(
        "line {line} of the export is no valid JSON ({problem}); take it out, or export it again"
    )]
    Line {
        /// Number of the line.
        line: usize,
        /// The reason.
        problem: String,
    },
    /// JSON in another format.
    #[error("there are no memories in this export; check that the format is right")]
    Nothing,
}

#[derive(Deserialize)]
struct Mem0Memory {
    #[serde(alias = "text", alias = "data")]
    memory: String,
    #[serde(default)]
    created_at: Option<String>,
    #[serde(default)]
    updated_at: Option<String>,
}

/// The memories of a mem0 export: a list, or an object with one. Entries without text are skipped.
pub fn from_mem0(text: &str) -> Result<Vec<Imported>, ImportError> {
    let list = match serde_json::from_str(text)? {
        Value::Array(list) => list,
        Value::Object(mut export) => {
            let list = ["results", "memories"].into_iter().find_map(|key| export.remove(key));
            list.and_then(|list| list.as_array().cloned()).ok_or(ImportError::Nothing)?
        }
        _ => return Err(ImportError::Nothing),
    };
    let memories = list.into_iter().filter_map(|entry| serde_json::from_value(entry).ok());
    let with_text = memories.filter(|memory: &Mem0Memory| !memory.memory.trim().is_empty());
    some(with_text.map(of_mem0).collect())
}

fn of_mem0(memory: Mem0Memory) -> Imported {
    let time = |text: Option<String>| text.and_then(|text| text.parse::<Timestamp>().ok());
    let created = time(memory.created_at);
    let new = NewMemory { created, ..named_by_its_text(&memory.memory) };
    let modified = time(memory.updated_at).or(created);
    Imported { what: ImportedText::Memory(new), modified }
}

#[derive(Deserialize)]
struct Graph {
    #[serde(default)]
    entities: Vec<Entity>,
    #[serde(default)]
    relations: Vec<Relation>,
}

#[derive(Deserialize)]
struct Entity {
    name: String,
    #[serde(default, rename = "entityType")]
    kind: String,
    #[serde(default)]
    observations: Vec<String>,
}

#[derive(Deserialize)]
struct Relation {
    from: String,
    to: String,
    #[serde(default, rename = "relationType")]
    kind: String,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum GraphLine {
    Entity(Entity),
    Relation(Relation),
    /// A variant that newer servers may write.
    #[serde(other)]
    Unknown,
}

/// The entities of the MCP memory server, each with its relations: as JSON lines, or as one JSON value with the graph.
pub fn from_mcp_memory(text: &str) -> Result<Vec<Imported>, ImportError> {
    let graph = match serde_json::from_str::<Graph>(text) {
        Ok(graph) if !graph.entities.is_empty() => graph,
        Ok(_) | Err(_) => graph_of_lines(text)?,
    };
    let mut relations: BTreeMap<&str, Vec<&Relation>> = BTreeMap::new();
    for relation in &graph.relations {
        relations.entry(&relation.from).or_default().push(relation);
    }
    let memories = graph.entities.iter().map(|entity| {
        let mut body: String =
            entity.observations.iter().flat_map(|line| ["- ", line.trim(), "\n"]).collect();
        for relation in relations.get(entity.name.as_str()).into_iter().flatten() {
            body.push_str(&format!("- {} [[{}]]\n", relation.kind, relation.to));
        }
        let first = entity.observations.first().map_or("", String::as_str);
        let description = match (entity.kind.as_str(), first) {
            ("", first) => first.to_owned(),
            (kind, "") => kind.to_owned(),
            (kind, first) => format!("{kind}: {first}"),
        };
        let new = NewMemory::new(&entity.name, &description, &body);
        Imported { what: ImportedText::Memory(new), modified: None }
    });
    some(memories.collect())
}

fn graph_of_lines(text: &str) -> Result<Graph, ImportError> {
    let mut graph = Graph { entities: Vec::new(), relations: Vec::new() };
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line).map_err(|error| of_line(at + 1, &error))? {
            GraphLine::Entity(entity) => graph.entities.push(entity),
            GraphLine::Relation(relation) => graph.relations.push(relation),
            GraphLine::Unknown => {}
        }
    }
    Ok(graph)
}

/// The parser reports every line as the first one.
fn of_line(line: usize, error: &serde_json::Error) -> ImportError {
    let said = error.to_string();
    let problem = said.split(" at line ").next().unwrap_or(&said).to_owned();
    ImportError::Line { line, problem }
}

fn some(memories: Vec<Imported>) -> Result<Vec<Imported>, ImportError> {
    if memories.is_empty() { Err(ImportError::Nothing) } else { Ok(memories) }
}

/// A memory without a name is named after its first words.
fn named_by_its_text(text: &str) -> NewMemory {
    let words: Vec<&str> = text.split_whitespace().take(8).collect();
    let name: String = words.join(" ").chars().take(60).collect();
    NewMemory::new(name.trim_end_matches(['.', ',']), text, text)
}
