//! The embedding model, if one is configured: which one, and whether it can be used. Nothing is sent.

use super::context::DoctorContext;
use super::finding::DoctorFinding;
use crate::message_catalog::msg;
use crate::wiring::embedder::{self, ConfiguredEmbedder};

const AREA: &str = "embeddings";

pub(super) fn check(context: &DoctorContext<'_>) -> Option<DoctorFinding> {
    let (settings, world) = (&context.settings, context.world);
    let text = match embedder::configured(settings, world) {
        Ok(None) => return None,
        Ok(Some(ConfiguredEmbedder::File(path))) => {
            msg!("doctor-embeddings-file", path = path.display().to_string())
        }
        Ok(Some(ConfiguredEmbedder::Server { url, model })) => {
            format!("{model} at {}", without_user(&url))
        }
        Err(error) => return Some(not_ready(&error)),
    };
    Some(match embedder::embedder(settings, world) {
        Ok(_) => DoctorFinding::ok(AREA, text),
        Err(error) => not_ready(&error),
    })
}

fn not_ready(error: &embedder::EmbedderError) -> DoctorFinding {
    let fix = if error.is_not_prepared() {
        msg!("doctor-embeddings-fix-prepare")
    } else {
        msg!("doctor-embeddings-fix-setting")
    };
    DoctorFinding::warning(AREA, error.to_string(), fix)
}

/// Removes user name and password from a URL.
fn without_user(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        _ => url.to_owned(),
    }
}
