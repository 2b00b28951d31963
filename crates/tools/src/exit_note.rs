//! How a command ended, in words for the model.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// A note about how a command ended; none if it succeeded.
pub fn exit_note(status: ExitStatus) -> Option<String> {
    if status.success() {
        return None;
    }
    Some(match (status.code(), status.signal()) {
        (Some(code), _) => format!("[exit code {code}]"),
        (None, Some(signal)) => format!("[ended by signal {signal}]"),
        (None, None) => format!("[ended: {status}]"),
    })
}
