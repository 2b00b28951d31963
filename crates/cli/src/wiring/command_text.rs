//! How commands ended and how long something takes, in the user's language.

use std::time::Duration;

use dormouse_tools::{ExitNote, ShellEnd};

use crate::message_catalog::msg;

/// How a command ended.
pub(crate) fn exit_text(note: ExitNote) -> String {
    match note {
        ExitNote::Code(code) => msg!("call-exit", code = code.to_string()),
        ExitNote::Signal(signal) => msg!("call-signal", signal = signal.to_string()),
    }
}

/// How a background command ended.
pub(crate) fn shell_end_text(end: &ShellEnd) -> String {
    match end {
        ShellEnd::Exited(note) => exit_text(*note),
        ShellEnd::Stopped => msg!("shell-stopped"),
        ShellEnd::Failed { why } => msg!("call-failed", why = why.as_str()),
    }
}

/// A duration in whole seconds, minutes or hours.
pub(crate) fn duration_text(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => msg!("duration-seconds", seconds = seconds),
        60..3_600 => msg!("duration-minutes", minutes = seconds / 60, seconds = seconds % 60),
        _ => msg!("duration-hours", hours = seconds / 3_600, minutes = seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_keep_their_smaller_part() {
        let text = |seconds| duration_text(Duration::from_secs(seconds));
        assert_eq!(
            [text(0), text(59), text(200), text(3_600), text(7_320)],
            ["0 s", "59 s", "3 min 20 s", "1 h 0 min", "2 h 2 min"]
        );
    }
}
