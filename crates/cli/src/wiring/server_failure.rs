//! Errors of the model server, with hints.

use dormouse_model::ModelError;

use crate::wiring::exit::Failure;

/// What a person can do about a server's error in a conversation.
pub(crate) fn server_failure(
    error: &ModelError,
    key_source: Option<&str>,
    key_variable: &str,
) -> Failure {
    let failure = failure_at_start(error, key_source, key_variable);
    if !error.is_transient() {
        return failure;
    }
    failure.hint("the conversation is kept: `dormouse -p --continue \"go on\"` takes it up")
}

/// The same before there is a conversation.
pub(crate) fn failure_at_start(
    error: &ModelError,
    key_source: Option<&str>,
    key_variable: &str,
) -> Failure {
    let failure = Failure::of_server(error.clone());
    match error {
        ModelError::NotAuthenticated(_) => failure.hint(match key_source {
            Some(source) => format!("the key came from {source}: set {key_variable} to a valid key, then try again"),
            None => format!("no key was sent: set {key_variable} to a valid key, then try again"),
        }),
        ModelError::NotAllowed(_) => {
            failure.hint("the key may not use this model: choose another with --model, or use another key")
        }
        ModelError::NotFound(_) => failure.hint("check the name with --model, and the server's address"),
        ModelError::Billing(_) => failure.hint("see the account's billing page; trying again will not help"),
        ModelError::TooLong { .. } => failure.hint(
            "begin a new session without --continue; if the window is larger than this, set DORMOUSE_CONTEXT_WINDOW",
        ),
        ModelError::RequestTooLarge(_) => failure.hint("begin a new session with fewer or smaller images"),
        ModelError::Unreachable { .. } | ModelError::UnknownHost { .. } | ModelError::NoServer { .. } => failure
            .hint("check that the server runs and that its address (ANTHROPIC_BASE_URL, OPENAI_BASE_URL or provider.baseUrl) is right"),
        ModelError::ThinkingRefused(_) => failure.hint("begin a new session without --continue"),
        ModelError::Stalled(_) => failure.hint("a slow server may need a larger DORMOUSE_IDLE_TIMEOUT_MS"),
        ModelError::RateLimited { .. }
        | ModelError::Overloaded { .. }
        | ModelError::ServerFault { .. }
        | ModelError::BrokenStream(_)
        | ModelError::Malformed(_)
        | ModelError::InvalidRequest { .. } => failure,
    }
}
