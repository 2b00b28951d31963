//! Commands in the background: they answer at once, are looked at in between, and end when told.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::bash::runs;
use crate::{HANGS, Scene, wait_until};

/// Looks until it shows what is wanted.
async fn look_until(scene: &Scene, input: &serde_json::Value, wanted: &str) -> String {
    let mut seen = String::new();
    let deadline = Instant::now() + HANGS;
    while !seen.contains(wanted) {
        assert!(Instant::now() < deadline, "never saw {wanted} in {seen}");
        tokio::time::sleep(Duration::from_millis(10)).await;
        seen.push_str(&scene.text("BashOutput", input).await);
    }
    seen
}

#[tokio::test]
async fn it_is_looked_at_in_between() {
    let scene = Scene::new();
    let command = "echo one; until [ -e go ]; do sleep 0.01; done; echo two >&2; exit 3";
    let answer = scene.text("Bash", &json!({"command": command, "run_in_background": true})).await;
    assert!(answer.starts_with("It runs in the background as shell_1."), "{answer}");
    let shell = json!({"shell_id": "shell_1"});
    let seen = look_until(&scene, &shell, "\none").await;
    assert!(seen.contains("[shell_1 runs: echo one;"), "{seen}");
    assert!(scene.text("BashOutput", &shell).await.ends_with("\n[nothing new]"));
    scene.write("go", "");
    let seen = look_until(&scene, &shell, "has ended").await;
    assert!(!seen.contains("\none") && seen.contains("two"), "{seen}");
    assert!(seen.contains("[shell_1 has ended] [exit code 3]"), "{seen}");
    let again = scene.text("KillShell", &shell).await;
    assert_eq!(again, "shell_1 had ended already: [exit code 3]");
}

#[tokio::test]
async fn a_filter_shows_what_matches_and_waits_for_whole_lines() {
    let scene = Scene::new();
    let command = "echo info; printf 'ERR'; echo > there; until [ -e go ]; do sleep 0.01; done; echo OR; echo x";
    scene.text("Bash", &json!({"command": command, "run_in_background": true})).await;
    scene.wait_for_file("there").await;
    let filter = json!({"shell_id": "shell_1", "filter": "^ERROR$"});
    assert!(scene.text("BashOutput", &filter).await.ends_with("[nothing new]"));
    scene.write("go", "");
    let seen = look_until(&scene, &filter, "ERROR").await;
    assert!(!seen.contains("\nx") && !seen.contains("\ninfo"), "{seen}");
    let wrong = scene.error("BashOutput", &json!({"shell_id": "shell_1", "filter": "("})).await;
    assert!(wrong.contains("`filter`: "), "{wrong}");
}

const STUBBORN: &str = "trap '' TERM; (trap '' TERM; echo $BASHPID > child; while :; do sleep 1; done) & \
    echo $$ > shell; wait; while :; do sleep 1; done";

async fn stubborn(scene: &Scene) -> Vec<String> {
    scene.text("Bash", &json!({"command": STUBBORN, "run_in_background": true})).await;
    let read = |name| std::fs::read_to_string(scene.path(name)).unwrap_or_default();
    let both = || vec![read("shell").trim().to_owned(), read("child").trim().to_owned()];
    wait_until("both processes", || both().iter().all(|pid| !pid.is_empty())).await;
    let pids = both();
    assert!(pids.iter().all(|pid| runs(pid)));
    pids
}

#[tokio::test]
async fn it_ends_when_told_even_if_it_will_not() {
    let scene = Scene::new();
    let pids = stubborn(&scene).await;
    let text = scene.text("KillShell", &json!({"shell_id": "shell_1"})).await;
    assert_eq!(text, "shell_1 has ended: [ended by KillShell]");
    assert!(pids.iter().all(|pid| !runs(pid)), "{pids:?}");
}

/// An interrupted turn is no reason to end it; the end of the conversation is.
#[tokio::test]
async fn it_ends_with_the_conversation_and_not_with_the_call() {
    let mut scene = Scene::new();
    let pids = stubborn(&scene).await;
    scene.context.cancel.cancel();
    // Had the interrupt ended it, a call of the next turn would find that.
    scene.context.cancel = CancellationToken::default();
    let seen = scene.text("BashOutput", &json!({"shell_id": "shell_1"})).await;
    assert!(seen.contains("[shell_1 runs"), "{seen}");
    assert!(pids.iter().all(|pid| runs(pid)));
    drop(scene);
    wait_until("their end", || pids.iter().all(|pid| !runs(pid))).await;
}

#[tokio::test]
async fn unknown_shells_and_bad_commands_are_explained() {
    let scene = Scene::new();
    let text = scene.error("BashOutput", &json!({"shell_id": "shell_7"})).await;
    assert!(text.contains("no command was started with `run_in_background`"), "{text}");
    scene.text("Bash", &json!({"command": "true", "run_in_background": true})).await;
    let text = scene.error("KillShell", &json!({"shell_id": "shell_7"})).await;
    assert!(text.ends_with("there is no shell `shell_7`; known shells: shell_1"), "{text}");
}

#[tokio::test]
async fn what_nobody_looked_at_is_bounded() {
    let scene = Scene::new();
    let command = "head -c 30000000 /dev/zero | tr '\\0' 'x'; echo end; echo > written";
    scene.text("Bash", &json!({"command": command, "run_in_background": true})).await;
    // A look at a part would take it out of what is dropped.
    scene.wait_for_file("written").await;
    let filter = json!({"shell_id": "shell_1", "filter": "end"});
    let text = look_until(&scene, &filter, "has ended").await;
    assert!(text.contains("bytes before this were dropped unseen]"), "{}", text.len());
    assert!(text.contains("xend") && text.len() < 3 * 1024 * 1024, "{}", text.len());
}
