//! The model for vectors of memories, where one is set up: what it is, and whether it is ready. Nothing is sent.

use super::finding::Finding;
use super::scene::Scene;
use crate::wiring::embedder::{self, Named};

const AREA: &str = "embeddings";

pub(super) fn check(scene: &Scene<'_>) -> Option<Finding> {
    let (settings, world) = (&scene.settings, scene.world);
    let what = match embedder::named(settings, world) {
        Ok(None) => return None,
        Ok(Some(Named::File(path))) => format!("word vectors of {}", path.display()),
        Ok(Some(Named::Server { url, model })) => format!("{model} at {}", without_user(&url)),
        Err(error) => return Some(not_ready(&error)),
    };
    Some(match embedder::embedder(settings, world) {
        Ok(_) => Finding::well(AREA, what),
        Err(error) => not_ready(&error),
    })
}

fn not_ready(error: &embedder::NoEmbedder) -> Finding {
    let mend = if error.is_not_prepared() {
        "run `dormouse memory embed`"
    } else {
        "correct the setting, or take it out: memories are then found by words"
    };
    Finding::warning(AREA, error.to_string(), mend)
}

/// An address may carry a name and a password.
fn without_user(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        _ => url.to_owned(),
    }
}
