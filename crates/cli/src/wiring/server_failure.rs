//! Errors of the model server, with hints.

use dormouse_model::ModelError;

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
    failure.hint("the session is saved; try again: dormouse -p --continue \"continue\"")
}

/// An error of the model server before a session is open, with hints.
pub(crate) fn failure_at_start(
    error: &ModelError,
    key_source: Option<&str>,
    key_variable: &str,
) -> Failure {
    let failure = Failure::of_server(error.clone());
    match error {
        ModelError::NotAuthenticated(_) => failure.hint(match key_source {
            Some(source) => format!("the key came from {source}; set {key_variable} to a valid key and try again"),
            None => format!("no key was sent; set {key_variable} to a valid key and try again"),
        }),
        ModelError::NotAllowed(_) => {
            failure.hint("the key has no access to this model; choose another with --model, or use another key")
        }
        ModelError::NotFound(_) => failure.hint("check the model name (--model) and the server address"),
        ModelError::Billing(_) => failure.hint("see the billing page of the account; a retry does not help"),
        ModelError::TooLong { .. } => failure.hint(
            "start a new session without --continue; if the context window is larger, set DORMOUSE_CONTEXT_WINDOW",
        ),
        ModelError::RequestTooLarge(_) => failure.hint("start a new session with fewer or smaller images"),
        ModelError::Unreachable { .. } | ModelError::UnknownHost { .. } | ModelError::NoServer { .. } => failure
            .hint("check that the server is running and its address is right (ANTHROPIC_BASE_URL, OPENAI_BASE_URL or provider.baseUrl)"),
        ModelError::ThinkingRefused(_) => failure.hint("start a new session without --continue"),
        ModelError::Stalled(_) => failure.hint("for a slow server, increase DORMOUSE_IDLE_TIMEOUT_MS"),
        ModelError::RateLimited { .. }
        | ModelError::Overloaded { .. }
        | ModelError::ServerFault { .. }
        | ModelError::BrokenStream(_)
        | ModelError::Malformed(_)
        | ModelError::InvalidRequest { .. } => failure,
    }
}
