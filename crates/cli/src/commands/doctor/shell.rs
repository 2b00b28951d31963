//! The shell that commands run in: bash, new enough to be sure what a line does.

use super::finding::Finding;
use super::git::numbers;
use super::scene::Scene;

const AREA: &str = "shell";
/// The oldest in which a command that was judged to only read runs.
const OLDEST: (u32, u32) = (4, 4);

pub(super) async fn check(scene: &Scene<'_>) -> Vec<Finding> {
    let mend = "install bash 4.4 or newer, and see that it comes first in PATH";
    vec![match scene.ask("bash", &["--version"]).await {
        Ok(answer) => version(answer.stdout.lines().next().unwrap_or_default(), mend),
        Err(error) => {
            let what = format!("{error}: commands run in sh, and none of them without a question");
            Finding::warning(AREA, what, mend)
        }
    }]
}

fn version(text: &str, mend: &str) -> Finding {
    // "GNU bash, version 5.2.15(1)-release": the numbers end at the first that is none.
    match numbers(text) {
        Some(version) if version >= OLDEST => Finding::well(AREA, text),
        Some(_) => {
            let what = format!("{text} is older than 4.4: no command runs without a question");
            Finding::warning(AREA, what, mend)
        }
        None => {
            Finding::warning(AREA, format!("bash does not say its version, but `{text}`"), mend)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let word = |text: &str| version(text, "").health.word();
        assert_eq!(word("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)"), "ok");
        assert_eq!(word("GNU bash, version 4.4.0(1)-release"), "ok");
        assert_eq!(word("GNU bash, version 3.2.57(1)-release (arm64-apple-darwin24)"), "warning");
        assert_eq!(word("nonsense"), "warning");
    }
}
