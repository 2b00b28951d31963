//! `dormouse memory embed`: computes missing embeddings.

use std::path::Path;

use dormouse_base::Settings;
use dormouse_search::{VectorCounts, VectorFillError, WordVectors};
use serde::Serialize;

use super::stores::SelectedStores;
use crate::args::EmbedArguments;
use crate::message_catalog::msg;
use crate::wiring::embedder::{self, ConfiguredEmbedder};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::World;

/// The result in JSON output.
#[derive(Serialize)]
struct EmbedReport {
    memories: usize,
    with_vector: usize,
    new: usize,
    unknown_language: usize,
    missing: usize,
}

pub(super) async fn run(arguments: &EmbedArguments, world: &World) -> Result<Exit, Failure> {
    let embedder = |settings: &Settings| {
        match embedder::configured(settings, world)? {
            None => return Err(not_configured()),
            Some(ConfiguredEmbedder::File(path)) => prepare(&path, arguments, world)?,
            Some(ConfiguredEmbedder::Server { .. }) => {}
        }
        Ok(Some(embedder::embedder(settings, world)?.ok_or_else(not_configured)?))
    };
    let stores =
        SelectedStores::open_with(world, arguments.common.scope.as_ref(), embedder).await?;
    let recall = stores.reachable.recall();
    recall.rescan(stores.now)?;
    if arguments.again {
        recall.delete_vectors().map_err(failed)?;
    }
    let filled = recall.fill(stores.now, usize::MAX).map_err(failed)?;
    if arguments.common.json {
        print::json(&EmbedReport {
            memories: filled.documents,
            with_vector: filled.with_vector,
            new: filled.new,
            unknown_language: filled.unsupported,
            missing: filled.missing(),
        })?;
    } else {
        print::data_line(&report_line(filled));
    }
    if filled.busy > 0 {
        print::note(&msg!("embed-busy"));
    }
    Ok(Exit::Done)
}

fn report_line(filled: VectorCounts) -> String {
    let VectorCounts { documents: memories, with_vector, new, unsupported: unknown, .. } = filled;
    let mut parts = vec![msg!("embed-result", count = with_vector, all = memories, new = new)];
    if unknown > 0 {
        parts.push(msg!("embed-result-unknown", count = unknown));
    }
    if filled.missing() > 0 {
        parts.push(msg!("embed-result-missing", count = filled.missing()));
    }
    parts.join("; ")
}

/// Converts a word vector file once into an indexed form.
fn prepare(path: &Path, arguments: &EmbedArguments, world: &World) -> Result<(), Failure> {
    let cache = world.home()?.join("cache");
    if !arguments.again && WordVectors::open(path, &cache).is_ok() {
        return Ok(());
    }
    let prepared = WordVectors::prepare(path, &cache).map_err(Failure::usage)?;
    print::note(&msg!(
        "embed-prepared",
        words = prepared.words,
        dimensions = prepared.dimension,
        kilobytes = prepared.bytes.div_ceil(1000)
    ));
    Ok(())
}

fn not_configured() -> Failure {
    Failure::usage(anyhow::anyhow!(msg!("embed-not-configured")))
        .hint(msg!("embed-not-configured-hint"))
}

fn failed(error: VectorFillError) -> Failure {
    match error {
        VectorFillError::File(error) => Failure::from(error),
        error @ VectorFillError::Embed(_) => Failure::failed(error).hint(msg!("embed-failed-hint")),
        error => Failure::failed(error),
    }
}
