//! The model server: reachable, takes the key, knows the model.

use dormouse_base::names;
use dormouse_model::{HttpModel, ModelInfo};

use super::finding::Finding;
use super::keys::Known;
use super::scene::Scene;
use crate::wiring::server_failure::server_failure;

const AREA: &str = "server";
/// As many models are named.
const NAMED: usize = 5;

pub(super) async fn check(scene: &Scene<'_>, known: &Known) -> Vec<Finding> {
    let endpoint = &known.provider.endpoint;
    let start = scene.world.clock.elapsed();
    match HttpModel::new(endpoint.clone()).check().await {
        Err(error) => {
            let failure =
                server_failure(&error, known.key_source.as_deref(), &known.provider.key_variable);
            let hint = failure.hints().first().cloned();
            let mend = hint.unwrap_or_else(|| "try again later, or name another server".to_owned());
            vec![Finding::problem(AREA, failure.message(), mend)]
        }
        Ok(listed) => {
            let took = scene.world.clock.elapsed().saturating_sub(start);
            let what = format!("{} answers in {} ms", endpoint.shown_url(), took.as_millis());
            vec![Finding::well(AREA, what), model(scene, known, &listed)]
        }
    }
}

/// Whether the server lists the model that would be asked.
fn model(scene: &Scene<'_>, known: &Known, listed: &[ModelInfo]) -> Finding {
    let named = scene
        .world
        .environment
        .get(names::MODEL)
        .or(scene.settings.model.as_deref())
        .or(known.provider.default_model)
        .map(|name| name.trim_end_matches("[1m]"));
    let some: Vec<&str> = listed.iter().map(|info| info.id.as_str()).take(NAMED).collect();
    match (named, some.first()) {
        (Some(name), None) => Finding::well(AREA, format!("it lists no models; {name} is asked")),
        (None, None) => Finding::problem(
            AREA,
            "it lists no models, and none is named",
            "name one with --model, DORMOUSE_MODEL or the setting `model`",
        ),
        (None, Some(first)) => {
            Finding::well(AREA, format!("{first}, the first it lists, is asked"))
        }
        (Some(name), Some(_)) if listed.iter().any(|info| info.id == name) => {
            Finding::well(AREA, format!("{name} is asked, which it lists"))
        }
        (Some(name), Some(_)) => Finding::warning(
            AREA,
            format!("{name} is asked, which is not among the {} models it lists", listed.len()),
            format!("if it is refused, name another with --model; it lists {}", some.join(", ")),
        ),
    }
}
