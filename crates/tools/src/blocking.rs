//! Work on files, off the async threads. It is handed a token to watch, and whoever waits for it stops
//! waiting as soon as that token fires.

use tokio_util::sync::CancellationToken;

use crate::ToolError;

/// Runs `work` on a thread where it may block.
pub(crate) async fn blocking<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::select! {
        biased;
        finished = to_the_end(cancel, work) => finished,
        // A dead network mount can hold the thread for minutes; it ends by itself, unwatched, and
        // changes nothing when it does.
        () = cancel.cancelled() => Err(ToolError::interrupted()),
    }
}

/// The same for work that changes something: whoever waits for it waits until it is known what was done.
pub(crate) async fn to_the_end<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let token = cancel.clone();
    match tokio::task::spawn_blocking(move || work(&token)).await {
        Ok(result) => result,
        // A panic goes on here, to be caught where all tools' panics are.
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(ToolError::interrupted()),
    }
}

/// Stops the work if the token has fired.
pub(crate) fn check(cancel: &CancellationToken) -> Result<(), ToolError> {
    if cancel.is_cancelled() { Err(ToolError::interrupted()) } else { Ok(()) }
}
