//! Bash: how commands end, what they print, and that nothing they start outlives them unasked.

use std::sync::{Arc, Mutex};

use dormouse_base::{Dir, Environment, Redactor, RelPath, Secret};
use dormouse_tools::{CallContext, CallResult, CommandProgress, OutputFile};
use serde_json::json;

use crate::{Scene, in_time, text_of, wait_until};

#[tokio::test]
async fn output_in_order_and_exit_codes() {
    let scene = Scene::new();
    let command =
        json!({"command": "echo one; echo two >&2; echo three; exit 3", "description": "x"});
    assert_eq!(scene.text("Bash", &command).await, "one\ntwo\nthree\n[exit code 3]");
    let quiet = json!({"command": "true"});
    assert_eq!(scene.text("Bash", &quiet).await, "[the command printed nothing]");
    let killed = json!({"command": "kill -9 $$"});
    assert_eq!(scene.text("Bash", &killed).await, "[ended by signal 9]");
    let unknown = scene.text("Bash", &json!({"command": "no-such-program-here"})).await;
    assert!(unknown.ends_with("[exit code 127]"), "{unknown}");
}

#[tokio::test]
async fn it_runs_in_the_folder_with_no_input() {
    let scene = Scene::new();
    let text = scene.text("Bash", &json!({"command": "pwd -P; cat; echo \"$PWD\""})).await;
    let folder = scene.folder.path();
    let expected = format!("{}\n{}", folder.canonicalize().unwrap().display(), folder.display());
    assert_eq!(text, expected);
}

#[tokio::test]
async fn keys_are_not_handed_on() {
    let mut scene = Scene::new();
    let path = std::env::var("PATH").unwrap();
    let environment = Environment::from_pairs([
        ("ANTHROPIC_API_KEY", "sk-1"),
        ("ANTHROPIC_AUTH_TOKEN", "sk-2"),
        ("OPENAI_API_KEY", "sk-3"),
        ("HARMLESS", "seen"),
        ("PATH", path.as_str()),
    ]);
    scene.context = CallContext::new(scene.folder.path(), environment, 1_000);
    let text = scene.text("Bash", &json!({"command": "env"})).await;
    assert!(text.contains("HARMLESS=seen"), "{text}");
    assert!(!text.contains("sk-") && !text.contains("CARGO"), "{text}");
}

/// A place for a long result, in the scene's folder.
fn overflow(scene: &Scene) -> OutputFile {
    let session = Dir::open(scene.folder.path()).unwrap();
    OutputFile { session, file: RelPath::new("tool-results/t1.txt").unwrap() }
}

#[tokio::test]
async fn long_output_goes_to_a_file_as_it_comes() {
    let mut scene = Scene::new();
    scene.context.overflow = Some(overflow(&scene));
    let command = "echo first; head -c 40000000 /dev/zero | tr '\\0' 'x'; echo; echo last; exit 1";
    let result = scene.call("Bash", &json!({"command": command})).await;
    let spilled = result.spilled.unwrap();
    // 6 + 40,000,000 + 1 + 4, and a line with the exit code.
    assert_eq!((spilled.bytes, spilled.chars, result.is_error), (40_000_025, 40_000_025, false));
    let text = std::fs::read_to_string(&spilled.path).unwrap();
    assert_eq!(text.len(), 40_000_025);
    assert!(text.starts_with("first\nxxx") && text.ends_with("xxx\nlast\n[exit code 1]"));
    assert!(text.starts_with(&spilled.head));
}

#[tokio::test]
async fn without_a_place_long_output_is_cut_and_says_so() {
    let scene = Scene::new();
    let command = "head -c 40000000 /dev/zero | tr '\\0' 'x'; exit 1";
    let text = scene.text("Bash", &json!({"command": command})).await;
    assert!(text.len() < 300_000, "{}", text.len());
    assert!(text.ends_with("there is no folder for long results]\n[exit code 1]"));
}

/// Calls a command that makes the file `ready` and then goes on for ever, with a timeout in milliseconds. That runs from the start of
/// the process, and may be over on a busy machine before the command is ready, which shows nothing: then there is more time.
async fn ended_by_timeout(scene: &Scene, command: &str) -> (CallResult, u64) {
    for timeout in [300, 3_000, 30_000, 300_000] {
        let result = scene.call("Bash", &json!({"command": command, "timeout": timeout})).await;
        if scene.path("ready").exists() {
            return (result, timeout);
        }
    }
    panic!("`{command}` is never ready");
}

#[tokio::test]
async fn long_output_of_a_command_that_is_ended_is_kept() {
    let mut scene = Scene::new();
    scene.context.overflow = Some(overflow(&scene));
    let command = "head -c 1000000 /dev/zero | tr '\\0' 'x'; touch ready; sleep 600";
    let (result, timeout) = ended_by_timeout(&scene, command).await;
    let text = std::fs::read_to_string(&result.spilled.unwrap().path).unwrap();
    assert!(result.is_error && text.starts_with("xxx"));
    assert!(text.contains(&format!("xxx\n[the command was still running after {timeout} ms")));
    assert!(text.ends_with("or set `run_in_background`]"));
}

/// A key in the output is in neither the file nor the progress, however the pipe cuts it.
#[tokio::test]
async fn secrets_are_taken_out_while_it_runs() {
    #[derive(Default)]
    struct Seen(Mutex<String>);
    impl CommandProgress for Seen {
        fn printed(&self, text: &str) {
            self.0.lock().unwrap().push_str(text);
        }
    }
    let mut scene = Scene::new();
    let seen = Arc::new(Seen::default());
    scene.context.overflow = Some(overflow(&scene));
    scene.context.redactor = Redactor::new([Secret::new("sk-very-secret-key")]);
    scene.context.progress = Some(Arc::clone(&seen) as Arc<dyn CommandProgress>);
    // The first comes in two pieces; 19 bytes a time do not fit evenly into what is read at once.
    let command = "printf 'begun\nsk-very-'; until [ -e go ]; do sleep 0.01; done; echo secret-key; \
        yes sk-very-secret-key | head -40000";
    let first_piece_was_read = async {
        wait_until("the first piece", || seen.0.lock().unwrap().starts_with("begun")).await;
        scene.write("go", "");
    };
    let input = json!({"command": command});
    let (result, ()) = tokio::join!(scene.call("Bash", &input), first_piece_was_read);
    let text = std::fs::read_to_string(&result.spilled.unwrap().path).unwrap();
    let expected = format!("begun\n{}", "[secret]\n".repeat(40_001));
    assert_eq!(text, expected.trim_end());
    assert_eq!(*seen.0.lock().unwrap(), expected);
}

/// Whether a process is there and not merely unburied.
pub(crate) fn runs(pid: &str) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    !status.rsplit(')').next().unwrap().trim_start().starts_with('Z')
}

/// A child and a grandchild that do not heed a polite request, and say who they are.
const STUBBORN: &str = "trap '' TERM; echo before; \
    (trap '' TERM; echo $BASHPID > grandchild; while :; do sleep 1; done) & \
    echo $$ > child; wait";

async fn pids(scene: &Scene) -> [String; 2] {
    let read = |name| std::fs::read_to_string(scene.path(name)).unwrap_or_default();
    let both = || [read("child"), read("grandchild")].map(|pid| pid.trim().to_owned());
    wait_until("both processes", || both().iter().all(|pid| !pid.is_empty())).await;
    both()
}

#[tokio::test]
async fn a_timeout_ends_the_whole_group() {
    let scene = Scene::new();
    // The grandchild says who it is before the child does, which is ready then.
    let command = STUBBORN
        .replace("> child", "> child; until [ -s grandchild ]; do sleep 0.01; done; touch ready");
    let (result, timeout) = ended_by_timeout(&scene, &command).await;
    let text = text_of(&result);
    let still = format!("before\n[the command was still running after {timeout} ms");
    assert!(result.is_error && text.starts_with(&still), "{text}");
    for pid in pids(&scene).await {
        assert!(!runs(&pid), "{pid} still runs");
    }
}

#[tokio::test]
async fn a_polite_command_can_clean_up_and_ends_soon() {
    let scene = Scene::new();
    let command = "trap 'echo cleaned; exit' TERM; touch ready; sleep 600 & wait";
    let (result, timeout) = ended_by_timeout(&scene, command).await;
    let text = text_of(&result);
    let still = format!("cleaned\n[the command was still running after {timeout} ms");
    assert!(result.is_error && text.starts_with(&still), "{text}");
}

#[tokio::test]
async fn cancelling_ends_the_whole_group_and_shows_what_there_was() {
    let scene = Scene::new();
    let cancel = async {
        let pids = pids(&scene).await;
        assert!(pids.iter().all(|pid| runs(pid)));
        scene.context.cancel.cancel();
        pids
    };
    let input = json!({"command": STUBBORN});
    let (text, pids) = tokio::join!(scene.error("Bash", &input), cancel);
    assert_eq!(text, "interrupted: the call was stopped before it finished\nbefore");
    assert!(pids.iter().all(|pid| !runs(pid)));
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_nobody_behind() {
    let scene = Scene::new();
    let input = json!({"command": STUBBORN});
    let pids = tokio::select! {
        _ = scene.call("Bash", &input) => panic!("it ended"),
        pids = pids(&scene) => pids,
    };
    wait_until("their end", || pids.iter().all(|pid| !runs(pid))).await;
}

#[tokio::test]
async fn a_background_child_does_not_hold_the_call() {
    let scene = Scene::new();
    let command = json!({"command": "sleep 600 & echo $! > pid; echo started"});
    let text = in_time(scene.text("Bash", &command)).await;
    assert!(text.starts_with("started\n[a process that the command started still runs"), "{text}");
    let pid = std::fs::read_to_string(scene.path("pid")).unwrap();
    // Had the call ended it, that would show only after a moment: a whole call later.
    scene.text("Bash", &json!({"command": "true"})).await;
    assert!(runs(pid.trim()), "it was meant to go on");
    scene.text("Bash", &json!({"command": "kill $(cat pid)"})).await;
}

#[tokio::test]
async fn mistakes_are_explained() {
    let mut scene = Scene::new();
    let text = scene.error("Bash", &json!({"command": "true", "timeout": 600_001})).await;
    assert!(text.ends_with("`timeout`: 600001 is not between 1 and 600000 milliseconds"), "{text}");
    let text = scene.error("Bash", &json!({"command": "  "})).await;
    assert!(text.ends_with("`command`: is empty"), "{text}");
    let text = scene.error("Bash", &json!({"command": "a\0b"})).await;
    assert!(text.starts_with("cannot run `bash`: "), "{text}");
    scene.context.folder = scene.path("gone");
    let text = scene.error("Bash", &json!({"command": "true"})).await;
    assert!(text.contains("gone: no such folder"), "{text}");
}

/// A machine with `sh` and no bash.
#[tokio::test]
async fn without_bash_there_is_sh() {
    let mut scene = Scene::new();
    std::os::unix::fs::symlink("/bin/sh", scene.path("sh")).unwrap();
    let environment = Environment::from_pairs([("PATH", scene.folder.path())]);
    scene.context = CallContext::new(scene.folder.path(), environment, 1_000);
    assert_eq!(scene.text("Bash", &json!({"command": "echo $0"})).await, "sh");
    // What only reads was judged as bash would run it.
    let refused = scene.call("Bash", &json!({"command": "echo hello"})).await;
    assert!(refused.is_error);
}
