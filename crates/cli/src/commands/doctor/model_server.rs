//! The model server: reachable, accepts the API key, lists the model.

use dormouse_base::names;
use dormouse_model::{HttpModel, ModelInfo};

use super::api_key::ConfiguredProvider;
use super::context::DoctorContext;
use super::finding::DoctorFinding;
use crate::message_catalog::msg;
use crate::wiring::server_failure::server_failure;

const AREA: &str = "server";
/// Number of models listed in a message.
const LISTED_MODELS: usize = 5;

pub(super) async fn check(
    context: &DoctorContext<'_>,
    known: &ConfiguredProvider,
) -> Vec<DoctorFinding> {
    let endpoint = &known.provider.endpoint;
    let start = context.world.clock.elapsed();
    match HttpModel::new(endpoint.clone()).check().await {
        Err(error) => {
            let failure =
                server_failure(&error, known.key_source.as_deref(), &known.provider.key_variable);
            let hint = failure.hints().first().cloned();
            let fix = hint.unwrap_or_else(|| msg!("doctor-server-fix-unavailable"));
            vec![DoctorFinding::problem(AREA, failure.message(), fix)]
        }
        Ok(listed) => {
            let took = context.world.clock.elapsed().saturating_sub(start);
            let milliseconds = took.as_millis().to_string();
            let text =
                msg!("doctor-server-ok", url = endpoint.shown_url(), milliseconds = milliseconds);
            vec![DoctorFinding::ok(AREA, text), model_finding(context, known, &listed)]
        }
    }
}

/// Whether the server lists the configured model.
fn model_finding(
    context: &DoctorContext<'_>,
    known: &ConfiguredProvider,
    listed: &[ModelInfo],
) -> DoctorFinding {
    let named = context
        .world
        .environment
        .get(names::MODEL)
        .or(context.settings.model.as_deref())
        .or(known.provider.default_model)
        .map(|name| name.trim_end_matches("[1m]"));
    let some: Vec<&str> = listed.iter().map(|info| info.id.as_str()).take(LISTED_MODELS).collect();
    match (named, some.first()) {
        (Some(name), None) => {
            DoctorFinding::ok(AREA, msg!("doctor-model-none-listed", model = name))
        }
        (None, None) => {
            DoctorFinding::problem(AREA, msg!("doctor-model-none"), msg!("doctor-model-fix-none"))
        }
        (None, Some(first)) => DoctorFinding::ok(AREA, msg!("doctor-model-first", model = *first)),
        (Some(name), Some(_)) if listed.iter().any(|info| info.id == name) => {
            DoctorFinding::ok(AREA, msg!("doctor-model-ok", model = name))
        }
        (Some(name), Some(_)) => DoctorFinding::warning(
            AREA,
            msg!("doctor-model-not-listed", model = name, count = listed.len()),
            msg!("doctor-model-fix-not-listed", models = some.join(", ")),
        ),
    }
}
