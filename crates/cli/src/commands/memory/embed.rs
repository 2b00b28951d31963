//! `dormouse memory embed`: makes the vectors that memories do not have yet.

use dormouse_search::{VectorCounts, VectorFillError, WordVectors};
use std::path::Path;

use serde::Serialize;

use super::desk::Desk;
use super::recall;
use crate::args::EmbedArguments;
use crate::wiring::embedder::{self, Named};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::World;

/// What there is now, for programs.
#[derive(Serialize)]
struct Answer {
    memories: usize,
    with_vector: usize,
    new: usize,
    unknown_language: usize,
    missing: usize,
}

pub(super) async fn run(arguments: &EmbedArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    match embedder::named(&desk.settings, world)? {
        None => return Err(not_set_up()),
        Some(Named::File(path)) => prepare(&path, arguments, world)?,
        Some(Named::Server { .. }) => {}
    }
    let model = embedder::embedder(&desk.settings, world)?.ok_or_else(not_set_up)?;
    let recall = recall::words(&desk, world)?.with_embedder(model);
    recall.rescan(desk.now)?;
    if arguments.again {
        recall.delete_vectors().map_err(failed)?;
    }
    let filled = recall.fill(desk.now, usize::MAX).map_err(failed)?;
    if arguments.common.json {
        print::json(&Answer {
            memories: filled.documents,
            with_vector: filled.with_vector,
            new: filled.new,
            unknown_language: filled.unsupported,
            missing: filled.missing(),
        })?;
    } else {
        print::data_line(&in_words(filled));
    }
    if filled.busy > 0 {
        print::note("note: another process is making vectors; what it makes is used as well");
    }
    Ok(Exit::Done)
}

fn in_words(filled: VectorCounts) -> String {
    let VectorCounts { documents: memories, with_vector, new, unsupported: unknown, .. } = filled;
    let mut line = format!("{with_vector} of {memories} memories have vectors, {new} of them new");
    if unknown > 0 {
        line.push_str(&format!("; {unknown} are in a language that the model does not know"));
    }
    if filled.missing() > 0 {
        line.push_str(&format!("; {} have none yet", filled.missing()));
    }
    line
}

/// Word vectors are read once, into a form in which words are found at once.
fn prepare(path: &Path, arguments: &EmbedArguments, world: &World) -> Result<(), Failure> {
    let cache = world.home()?.join("cache");
    if !arguments.again && WordVectors::open(path, &cache).is_ok() {
        return Ok(());
    }
    let prepared = WordVectors::prepare(path, &cache).map_err(Failure::usage)?;
    print::note(&format!(
        "note: {} words of {} numbers each are ready, in {} kB",
        prepared.words,
        prepared.dimension,
        prepared.bytes.div_ceil(1000)
    ));
    Ok(())
}

fn not_set_up() -> Failure {
    Failure::usage(anyhow::anyhow!("no model for vectors is set up; memories are found by words"))
        .hint("set `embeddings.file`, or `embeddings.baseUrl` and `embeddings.model`, in your settings: see docs/memory.md")
}

fn failed(error: VectorFillError) -> Failure {
    match error {
        VectorFillError::File(error) => Failure::from(error),
        error @ VectorFillError::Embed(_) => Failure::failed(error)
            .hint("what was made before is kept; run it again when the model answers"),
        error => Failure::failed(error),
    }
}
