//! The shell in which commands run: bash, recent enough to know what a command line does.

use super::context::DoctorContext;
use super::finding::DoctorFinding;
use super::git::version_numbers;
use crate::message_catalog::msg;

const AREA: &str = "shell";
/// Older versions run no command without confirmation.
const MINIMUM_VERSION: (u32, u32) = (4, 4);

pub(super) async fn check(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let fix = msg!("doctor-shell-fix");
    vec![match context.run_program("bash", &["--version"]).await {
        Ok(answer) => version(answer.stdout.lines().next().unwrap_or_default(), &fix),
        Err(error) => {
            let text = msg!("doctor-shell-missing", error = error.to_string());
            DoctorFinding::warning(AREA, text, fix)
        }
    }]
}

fn version(text: &str, fix: &str) -> DoctorFinding {
    // Such as "GNU bash, version 5.2.15(1)-release".
    match version_numbers(text) {
        Some(version) if version >= MINIMUM_VERSION => DoctorFinding::ok(AREA, text),
        Some(_) => DoctorFinding::warning(AREA, msg!("doctor-shell-old", version = text), fix),
        None => DoctorFinding::warning(AREA, msg!("doctor-shell-unknown", version = text), fix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let word = |text: &str| version(text, "").status.as_str();
        assert_eq!(word("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)"), "ok");
        assert_eq!(word("GNU bash, version 4.4.0(1)-release"), "ok");
        assert_eq!(word("GNU bash, version 3.2.57(1)-release (arm64-apple-darwin24)"), "warning");
        assert_eq!(word("nonsense"), "warning");
    }
}
