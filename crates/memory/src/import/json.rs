//! Two formats of other memory systems, read leniently: what is missing is left out, what is unknown ignored.

use jiff::Timestamp;
use serde::Deserialize;
use thiserror::Error;

use super::{Imported, ImportedText};
use crate::NewMemory;

/// Why an export could not be read.
#[derive(Debug, Error)]
pub enum ImportError {
    /// No JSON.
    #[error("the export is no valid JSON ({0}); export it again")]
    Json(#[from] serde_json::Error),
    /// JSON of another kind.
    #[error("there are no memories in this export; is it of another program?")]
    Nothing,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Mem0 {
    List(Vec<Mem0Memory>),
    Results { results: Vec<Mem0Memory> },
    Memories { memories: Vec<Mem0Memory> },
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

/// The memories of a mem0 export.
pub fn from_mem0(text: &str) -> Result<Vec<Imported>, ImportError> {
    let (Mem0::List(list) | Mem0::Results { results: list } | Mem0::Memories { memories: list }) =
        serde_json::from_str(text)?;
    let time =
        |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<Timestamp>().ok());
    let memories =
        list.into_iter().filter(|memory| !memory.memory.trim().is_empty()).map(|memory| {
            let created = time(&memory.created_at);
            let new = NewMemory { created, ..named_by_its_text(&memory.memory) };
            Imported {
                what: ImportedText::Memory(new),
                modified: time(&memory.updated_at).or(created),
            }
        });
    some(memories.collect())
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
}

/// The entities of the MCP memory server, each with what it has to do with others: its file of JSON lines, or
/// the graph as one JSON value.
pub fn from_mcp_memory(text: &str) -> Result<Vec<Imported>, ImportError> {
    let graph = match serde_json::from_str::<Graph>(text) {
        Ok(graph) if !graph.entities.is_empty() => graph,
        Ok(_) | Err(_) => graph_of_lines(text)?,
    };
    let memories = graph.entities.iter().map(|entity| {
        let mut body: String =
            entity.observations.iter().flat_map(|line| ["- ", line.trim(), "\n"]).collect();
        for relation in graph.relations.iter().filter(|relation| relation.from == entity.name) {
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
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str(line)? {
            GraphLine::Entity(entity) => graph.entities.push(entity),
            GraphLine::Relation(relation) => graph.relations.push(relation),
        }
    }
    Ok(graph)
}

fn some(memories: Vec<Imported>) -> Result<Vec<Imported>, ImportError> {
    if memories.is_empty() { Err(ImportError::Nothing) } else { Ok(memories) }
}

/// A memory without a name is called by its first words.
fn named_by_its_text(text: &str) -> NewMemory {
    let words: Vec<&str> = text.split_whitespace().take(8).collect();
    let name: String = words.join(" ").chars().take(60).collect();
    NewMemory::new(name.trim_end_matches(['.', ',']), text, text)
}
