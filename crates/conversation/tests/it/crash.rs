//! Real crashes: a child process writes and is ended at every fault point in turn; afterwards the file
//! is old or new, never torn.

use std::process::Command;

use dormouse_base::{Dir, RelPath};
use dormouse_conversation::transcript::load_transcript;

use crate::transcript::Desk;

/// Set for the child: where to write.
const PLACE: &str = "CRASH_TEST_FOLDER";
const OLD: &[u8] = b"old content\n";
const NEW: &[u8] = b"new content, which is longer\n";

/// What the child does. Run as a test of its own, it does nothing.
#[test]
fn child() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let dir = Dir::create(std::path::PathBuf::from(place)).unwrap();
    dir.replace(&RelPath::new("deep/file.md").unwrap(), NEW).unwrap();
    let desk = Desk::new();
    let transcript = dormouse_conversation::transcript::Transcript::create(
        &dir,
        desk.session,
        crate::transcript::envelope(),
        desk.clock.clone(),
        desk.ids.clone(),
    );
    let mut transcript = transcript.unwrap();
    for text in ["one", "two", "three"] {
        transcript.record_message(&desk.user(text)).unwrap();
    }
    transcript.sync().unwrap();
}

fn run_child(place: &std::path::Path, fault: &str) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--nocapture"])
        .env(PLACE, place)
        .env("DORMOUSE_FAULT", fault)
        .output()
        .unwrap();
    output.status.success()
}

fn walk_through(action: &str) {
    for passing in 1.. {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open(folder.path()).unwrap();
        let file = RelPath::new("deep/file.md").unwrap();
        dir.replace(&file, OLD).unwrap();
        let finished = run_child(folder.path(), &format!("{action}@*#{passing}"));
        let content = dir.read(&file).unwrap();
        assert!(content == OLD || content == NEW, "{action} at {passing}: torn");
        let entries = dir.entries().unwrap();
        for entry in entries.iter().filter(|entry| entry.name.contains(".jsonl")) {
            let loaded = load_transcript(&dir.read(&RelPath::new(&entry.name).unwrap()).unwrap());
            assert_eq!(loaded.warnings, [], "{action} at {passing}");
            let texts: Vec<String> =
                loaded.messages.iter().map(dormouse_conversation::Message::text).collect();
            assert!(
                ["one", "two", "three"]
                    .starts_with(&texts.iter().map(String::as_str).collect::<Vec<_>>())
            );
        }
        // Whatever happened, the next run goes through.
        assert!(run_child(folder.path(), ""), "{action} at {passing}: stuck");
        assert_eq!(dir.read(&file).unwrap(), NEW);
        if finished {
            assert!(passing > 8, "the child passed only {passing} points");
            return;
        }
    }
}

#[test]
fn killed_at_every_point() {
    walk_through("abort");
}

#[test]
fn refused_at_every_point() {
    walk_through("enospc");
    walk_through("eio");
}
