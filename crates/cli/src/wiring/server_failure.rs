//! Errors of the model server in the user's language, with hints.

use dormouse_model::ModelError;

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;

/// An error of the model server in a session, with hints.
pub(crate) fn server_failure(
    error: &ModelError,
    key_source: Option<&str>,
    key_variable: &str,
) -> Failure {
    let failure = failure_at_start(error, key_source, key_variable);
    if !error.is_transient() {
        return failure;
    }
    failure.hint(msg!("server-hint-saved"))
}

/// An error of the model server before a session is open, with hints.
pub(crate) fn failure_at_start(
    error: &ModelError,
    key_source: Option<&str>,
    key_variable: &str,
) -> Failure {
    let failure = Failure::of_server(error.kind(), server_error(error));
    let hint = match error {
        ModelError::NotAuthenticated(_) => match key_source {
            Some(source) => msg!("server-hint-key", source = source, variable = key_variable),
            None => msg!("server-hint-no-key", variable = key_variable),
        },
        ModelError::NotAllowed(_) => msg!("server-hint-not-allowed"),
        ModelError::NotFound(_) => msg!("server-hint-not-found"),
        ModelError::Billing(_) => msg!("server-hint-billing"),
        ModelError::TooLong { .. } => msg!("server-hint-too-long"),
        ModelError::RequestTooLarge(_) => msg!("server-hint-too-large"),
        ModelError::Unreachable { .. }
        | ModelError::UnknownHost { .. }
        | ModelError::NoServer { .. } => msg!("server-hint-address"),
        ModelError::ThinkingRefused(_) => msg!("server-hint-thinking"),
        ModelError::Stalled(_) => msg!("server-hint-stalled"),
        ModelError::RateLimited { .. }
        | ModelError::Overloaded { .. }
        | ModelError::ServerFault { .. }
        | ModelError::BrokenStream(_)
        | ModelError::Malformed(_)
        | ModelError::InvalidRequest { .. } => return failure,
    };
    failure.hint(hint)
}

/// What went wrong with the model server. The server's own words stay as they are.
pub(crate) fn server_error(error: &ModelError) -> String {
    match error {
        ModelError::TooLong { used, limit, message } => {
            let said = message.as_str();
            match (used, limit) {
                (Some(used), Some(limit)) => {
                    msg!("server-too-long-by", used = *used, limit = *limit, said = said)
                }
                (None, Some(limit)) => msg!("server-too-long-limit", limit = *limit, said = said),
                (_, None) => msg!("server-too-long", said = said),
            }
        }
        ModelError::RequestTooLarge(said) => msg!("server-too-large", said = said.as_str()),
        ModelError::ThinkingRefused(said) => msg!("server-thinking", said = said.as_str()),
        ModelError::RateLimited { message, .. } => {
            msg!("server-rate-limited", said = message.as_str())
        }
        ModelError::Overloaded { message, .. } => {
            msg!("server-overloaded", said = message.as_str())
        }
        ModelError::ServerFault { status, message, .. } => {
            msg!("server-fault", status = status.to_string(), said = message.as_str())
        }
        ModelError::NotAuthenticated(said) => msg!("server-bad-key", said = said.as_str()),
        ModelError::Billing(said) => msg!("server-billing", said = said.as_str()),
        ModelError::NotAllowed(said) => msg!("server-not-allowed", said = said.as_str()),
        ModelError::NotFound(said) => msg!("server-not-found", said = said.as_str()),
        ModelError::InvalidRequest { status, message } => {
            msg!("server-invalid-request", status = status.to_string(), said = message.as_str())
        }
        ModelError::Unreachable { url, problem } => {
            msg!("server-unreachable", url = url.as_str(), problem = problem.as_str())
        }
        ModelError::NoServer { url, problem } => {
            msg!("server-none", url = url.as_str(), problem = problem.as_str())
        }
        ModelError::UnknownHost { url, problem } => {
            msg!("server-unknown-host", url = url.as_str(), problem = problem.as_str())
        }
        ModelError::BrokenStream(said) => msg!("server-broken-stream", said = said.as_str()),
        ModelError::Stalled(silence) => {
            msg!("server-stalled", seconds = silence.as_secs_f32().to_string())
        }
        ModelError::Malformed(said) => msg!("server-malformed", said = said.as_str()),
    }
}
