//! Who dreams, and when the last dream was, whatever happens to the one that dreams (B-19, B-20).

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::SystemTime;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, RecordedRequest, Reply, ScriptedServer, TestHome, WireFormat};
use serde_json::Value;

use crate::dream::{bytes, delete, home, lock_time, memory, run, save, sessions, test_now, with};
use crate::program::{dormouse, server};
use crate::session_notes::is_first;

const NEVER: Option<SystemTime> = Some(SystemTime::UNIX_EPOCH);

/// Corrects a memory of each kind, and is done.
fn corrects(request: &RecordedRequest) -> Reply {
    if !is_first(request) {
        return ScriptedTurn::new().text("done").into();
    }
    let turn =
        save(ScriptedTurn::new(), "1", &with(memory("a", "The better fact."), "file", "a.md"));
    let rule = with(memory("tabs", "Use tabs, always."), "file", "tabs.md");
    delete(save(turn, "2", &with(rule, "type", "feedback")), "3", "b.md", "over").into()
}

/// What lies about of a dream.
fn leftovers(home: &TestHome) -> Vec<PathBuf> {
    let states = home.dormouse_home().join("state").read_dir().unwrap();
    let drafts = states.map(|entry| entry.unwrap().path().join("dreaming"));
    drafts
        .filter_map(|folder| folder.read_dir().ok()?.next())
        .map(|entry| entry.unwrap().path())
        .collect()
}

fn dreaming() -> (ScriptedServer, TestHome) {
    let server = server(WireFormat::Anthropic).fork_with(corrects).start();
    let home = home(&server, &["a", "b", "c"]);
    sessions(&home, 5);
    (server, home)
}

#[test]
fn of_twenty_that_start_at_once_one_dreams() {
    let server = server(WireFormat::Anthropic).start();
    let home = home(&server, &["a", "b"]);
    let gate = Gate::new();
    server.push_fork(Reply::from(ScriptedTurn::new().text("done")).gate_after(1, &gate));
    let (sender, codes) = channel();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            let (sender, home) = (sender.clone(), &home);
            scope.spawn(move || {
                let output = run(home, &["--now"]);
                sender.send((output.code, output.stdout.clone())).unwrap();
            });
        }
        server.wait_for_fork_requests(1);
        for _ in 0..19 {
            let (code, said) = codes.recv().unwrap();
            assert_eq!(code, Some(3), "{said}");
            assert!(said.contains("a dream over this memory is running: process "), "{said}");
        }
        assert_eq!(lock_time(&home, "project"), NEVER, "trying is no dream");
        gate.open();
        let (code, said) = codes.recv().unwrap();
        assert_eq!(code, Some(0), "{said}");
    });
    assert_eq!(lock_time(&home, "project"), Some(test_now()));
    server.finish();
}

#[test]
fn the_kernel_frees_the_lock_of_one_that_is_killed() {
    let server = server(WireFormat::Anthropic).start();
    let home = home(&server, &["a", "b"]);
    let before = bytes(&home);
    let gate = Gate::new();
    let change = save(ScriptedTurn::new(), "1", &with(memory("a", "Half done."), "file", "a.md"));
    server.push_fork(change);
    server.push_fork(Reply::from(ScriptedTurn::new().text("done")).gate_after(1, &gate));
    let owner = home.spawn(&mut dormouse(&home, &["dream", "--now"]));
    server.wait_for_fork_requests(2);
    assert!(!leftovers(&home).is_empty(), "it works on a copy");
    owner.kill9();
    owner.wait();
    assert_eq!((bytes(&home), lock_time(&home, "project")), (before, NEVER));
    assert!(!leftovers(&home).is_empty(), "nobody was left to remove it");
    server.push_fork(ScriptedTurn::new().text("done"));
    run(&home, &["--now"]).success();
    assert_eq!((leftovers(&home), lock_time(&home, "project")), (Vec::new(), Some(test_now())));
}

#[test]
fn one_that_is_interrupted_changes_nothing_and_says_so() {
    let server = server(WireFormat::Anthropic).start();
    let home = home(&server, &["a", "b"]);
    let before = bytes(&home);
    let gate = Gate::new();
    server.push_fork(Reply::from(ScriptedTurn::new().text("done")).gate_after(1, &gate));
    let owner = home.spawn(&mut dormouse(&home, &["dream", "--now"]));
    server.wait_for_fork_requests(1);
    owner.interrupt();
    let output = owner.wait();
    assert!(
        output.expect_code(130).stderr.contains("Interrupted. Nothing changed."),
        "{}",
        output.stderr
    );
    assert_eq!((bytes(&home), lock_time(&home, "project")), (before, NEVER));
    assert_eq!(leftovers(&home), Vec::<PathBuf>::new());
    let log: Value =
        serde_json::from_str(&run(&home, &["log", "--json"]).success().stdout).unwrap();
    assert_eq!(log[0]["status"], "killed");
}

#[test]
fn one_that_fails_leaves_the_time_alone() {
    let server = server(WireFormat::Anthropic).start();
    let home = home(&server, &["a", "b"]);
    for _ in 0..3 {
        server.push_fork(Reply::server_error_500());
    }
    let output = run(&home, &["--now"]);
    assert!(
        output.expect_code(1).stdout.contains("nothing was changed: the request failed"),
        "{}",
        output.stdout
    );
    assert_eq!(lock_time(&home, "project"), NEVER);
    assert_eq!(leftovers(&home), Vec::<PathBuf>::new());
}

/// The process dies at each step of applying: each memory is old or new, the next dream goes on from there, and
/// undo gives every byte back.
#[test]
fn one_that_crashes_leaves_each_memory_old_or_new() {
    // What is new by then: the project's memory, the user's; and whether the dream counts for each.
    for (fault, project, user, counts) in [
        ("dream.copied", false, false, [false, false]),
        ("dream.copied#2", false, false, [false, false]),
        ("dream.apply", false, false, [false, false]),
        ("dream.applied", true, false, [false, false]),
        ("dream.apply#2", true, false, [false, false]),
        ("dream.applied#2", true, true, [false, false]),
        ("dream.stamp", true, true, [false, false]),
        ("base.stamp#2", true, true, [true, false]),
    ] {
        let (server, mut home) = dreaming();
        let before = bytes(&home);
        home.set_env("DORMOUSE_FAULT", format!("abort@{fault}"));
        let died = run(&home, &[]);
        assert_ne!(died.code, Some(0), "{fault}: {}", died.stdout);
        home.unset_env("DORMOUSE_FAULT");
        let after = bytes(&home);
        let is_new = |file: &str| {
            let of = |files: &std::collections::BTreeMap<PathBuf, Vec<u8>>| {
                files.iter().find(|(path, _)| path.ends_with(file)).map(|(_, bytes)| bytes.clone())
            };
            of(&before) != of(&after)
        };
        assert_eq!(
            (is_new("a.md"), is_new("b.md"), is_new("tabs.md")),
            (project, project, user),
            "{fault}"
        );
        let stamped = |counts: bool| if counts { Some(test_now()) } else { NEVER };
        let times = [lock_time(&home, "project"), lock_time(&home, "user")];
        // The user's memory may not have been reached.
        let times = times.map(|time| time.or(NEVER));
        assert_eq!(times, counts.map(stamped), "{fault}");
        let doctor = home.run(&mut dormouse(&home, &["memory", "doctor", "--json"]));
        assert!(!doctor.stdout.contains("line"), "{fault}: {}", doctor.stdout);
        if project {
            home.run(&mut dormouse(&home, &["memory", "undo"])).success();
            assert_eq!(bytes(&home), before, "{fault}");
        }
        // What the user has undone is theirs from then on, and is put before them.
        let improved = 3 - 2 * usize::from(project) - usize::from(user);
        let again = run(&home, &["--now"]).success().stdout.clone();
        assert!(again.contains(&format!("Improved {improved} memor")), "{fault}: {again}");
        assert_eq!(leftovers(&home), Vec::<PathBuf>::new(), "{fault}");
        drop(server);
    }
}

#[test]
fn where_there_are_no_locks_or_nothing_can_be_written_there_is_no_dream() {
    let (server, mut home) = dreaming();
    let before = bytes(&home);
    for (fault, said) in
        [("enolck", "the file system has no locks"), ("erofs", "Read-only file system")]
    {
        home.set_env("DORMOUSE_FAULT", format!("{fault}@base.lock_unsigned"));
        let output = run(&home, &["--now"]);
        assert!(output.expect_code(1).stderr.contains(said), "{}", output.stderr);
        assert_eq!((bytes(&home), lock_time(&home, "project")), (before.clone(), NEVER));
    }
    assert!(server.fork_requests().is_empty(), "nobody was asked");
}

/// Another project's dream may have the user's memory: then only the project's is dreamt over.
#[test]
fn the_persons_memory_is_left_to_another_dream() {
    let (_server, home) = dreaming();
    let other = server(WireFormat::Anthropic).start();
    let gate = Gate::new();
    other.push_fork(Reply::from(ScriptedTurn::new().text("done")).gate_after(1, &gate));
    let mut elsewhere = TestHome::new().with_server(&other);
    elsewhere.set_env("DORMOUSE_HOME", home.dormouse_home());
    let first = elsewhere.spawn(&mut dormouse(&elsewhere, &["dream", "--now"]));
    other.wait_for_fork_requests(1);
    let output = run(&home, &["--now"]);
    let text = &output.success().stdout;
    assert!(
        text.contains("left out: the user memory: a dream over this memory is running"),
        "{text}"
    );
    assert!(text.ends_with("Improved 2 memories\n"), "{text}");
    gate.open();
    first.wait().success();
}
