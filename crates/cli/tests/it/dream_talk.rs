//! Dreams beside a conversation: when they begin by themselves, what they read, and how they end (B-18, B-24).

use dormouse_conversation::metrics::{JobMetric, JobOutcome, Metric};
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, Reply, ScriptedServer, TestHome, WireFormat};

use crate::dream::{
    bytes, good_dream, home, lock_time, memory, project_memory, read, run, save, sessions,
    test_now, with,
};
use crate::program::{BOTH, ask, server, wait_until};
use crate::session_notes::figures;
use crate::talk::{leave, say, talk, wait_for_prompt};

/// The dreams that have ended.
fn dreams(home: &TestHome) -> Vec<JobMetric> {
    let job = |figure| match figure {
        Metric::Job(job) if job.name == "dream" => Some(job),
        _ => None,
    };
    figures(home).into_iter().filter_map(job).collect()
}

fn dreamer(names: &[&str]) -> (ScriptedServer, TestHome) {
    let server = server(WireFormat::Anthropic).start();
    let home = home(&server, names);
    (server, home)
}

#[test]
fn a_dream_begins_after_a_turn_and_reads_what_the_turn_wrote_to_the_cache() {
    for wire in BOTH {
        let server = server(wire).start();
        let home = home(&server, &["a", "b", "c", "d", "e"]);
        sessions(&home, 4);
        good_dream(&server);
        server.push(ScriptedTurn::new().text("Good morning."));
        let mut terminal = talk(&home, &[], (100, 40));
        say(&mut terminal, "good morning", "Good morning.");
        wait_until("the dream", || dreams(&home).len() == 1);
        let (requests, forks) = (server.requests(), server.fork_requests());
        assert_eq!(forks.len(), 2);
        assert!(requests[0].written > 1_000, "{}", requests[0].written);
        assert_eq!(forks[0].usage.cache_read_input_tokens, requests[0].written, "{wire:?}");
        assert_eq!(forks[0].tool_names(), requests[0].tool_names());
        // The user hears of it with the next answer, and one key takes all of it back.
        let before = read(&project_memory(&home), "a.md");
        assert!(before.contains("and that about b"), "{before}");
        server.push(ScriptedTurn::new().text("You are welcome."));
        say(&mut terminal, "thank you", "You are welcome.");
        let shown = terminal.all_rows().join("\n");
        assert!(shown.contains("memory: Improved 4 memories in a dream"), "{shown}");
        assert_eq!(lock_time(&home, "project"), Some(test_now()));
        terminal.type_keys("\x1bu");
        terminal.wait_for_text("undid change");
        wait_until("the undo", || project_memory(&home).join("b.md").exists());
        wait_for_prompt(&terminal);
        leave(terminal);
        let job = &dreams(&home)[0];
        assert_eq!((job.outcome, job.turns, job.changed), (JobOutcome::Completed, 2, 4));
        server.finish();
    }
}

/// A turn with nothing due looks at one file: where the sessions are counted, the program would die.
#[test]
fn a_turn_with_nothing_due_does_not_count_the_sessions() {
    let (server, mut home) = dreamer(&["a", "b"]);
    server.push_fork(ScriptedTurn::new().text("nothing to do"));
    run(&home, &["--now"]).success();
    home.set_env("DORMOUSE_FAULT", "abort@dream.scan_sessions");
    let off = [("DORMOUSE_DREAM", "0"), ("DORMOUSE_DAILY_LOG", "1"), ("DORMOUSE_REMOTE", "1")];
    for (variable, value) in [("TZ", "UTC")].into_iter().chain(off) {
        if variable == "DORMOUSE_REMOTE" {
            let elsewhere = home.root().join("remote-memory");
            home.set_env("DORMOUSE_REMOTE_MEMORY_DIR", elsewhere);
        }
        if variable != "TZ" {
            // Now the time would be up.
            home.set_env("DORMOUSE_TEST_NOW", "2026-11-04T09:00:00Z");
        }
        home.set_env(variable, value);
        let server = crate::program::server(WireFormat::Anthropic).start();
        home.use_server(&server);
        server.push(ScriptedTurn::new().text("Good morning."));
        let mut terminal = talk(&home, &[], (80, 30));
        say(&mut terminal, "good morning", "Good morning.");
        leave(terminal);
        if variable != "TZ" {
            home.unset_env(variable);
        }
        server.finish();
    }
    // Nor does anybody dream beside a headless run.
    let server = crate::program::server(WireFormat::Anthropic).start();
    home.use_server(&server);
    server.push(ScriptedTurn::new().text("Good morning."));
    home.run(&mut ask(&home, &["good morning"])).success();
    assert_eq!(dreams(&home).len(), 0);
}

#[test]
fn the_sessions_are_counted_once_in_ten_minutes() {
    let (server, mut home) = dreamer(&["a", "b"]);
    home.set_env("DORMOUSE_FAULT", "abort@dream.scan_sessions#2");
    let mut terminal = talk(&home, &[], (80, 30));
    for number in 0..3 {
        server.push(ScriptedTurn::new().text(format!("Answer {number}.")));
        say(&mut terminal, &format!("question {number}"), &format!("Answer {number}."));
    }
    wait_until("the count", || dreams(&home).len() == 1);
    assert_eq!(dreams(&home)[0].outcome, JobOutcome::Skipped);
    leave(terminal);
    assert!(server.fork_requests().is_empty());
    server.finish();
}

#[test]
fn a_dream_by_hand_is_looked_at_and_ended() {
    let (server, mut home) = dreamer(&["a", "b"]);
    // The switch is about dreams that begin by themselves.
    home.set_env("DORMOUSE_DREAM", "0");
    let before = bytes(&home);
    let gate = Gate::new();
    server.push(ScriptedTurn::new().text("Good morning."));
    server.push_fork(save(ScriptedTurn::new(), "1", &with(memory("a", "Half."), "file", "a.md")));
    server.push_fork(Reply::from(ScriptedTurn::new().text("done")).gate_after(1, &gate));
    let mut terminal = talk(&home, &[], (100, 40));
    say(&mut terminal, "good morning", "Good morning.");
    say(&mut terminal, "/dream stop", "No dream is running");
    say(&mut terminal, "/dream", "Dreaming in the background");
    server.wait_for_fork_requests(2);
    say(&mut terminal, "/dream", "Dream running: updating");
    assert!(terminal.all_rows().join("\n").contains("project/a.md"));
    say(&mut terminal, "/tasks show dream", "MemorySave a");
    say(&mut terminal, "/dream stop", "Dream stopped. Nothing was changed.");
    wait_until("its end", || dreams(&home).len() == 1);
    let killed = &dreams(&home)[0];
    assert_eq!((killed.outcome, killed.turns), (JobOutcome::Killed, 2));
    say(&mut terminal, "/dream log", "The dream was stopped; nothing was changed");
    assert_eq!(bytes(&home), before);
    // Whoever leaves ends it as well.
    server.push_fork(save(ScriptedTurn::new(), "1", &with(memory("a", "Half."), "file", "a.md")));
    server.push_fork(Reply::from(ScriptedTurn::new().text("done")).gate_after(1, &gate));
    say(&mut terminal, "/dream", "Dreaming in the background");
    server.wait_for_fork_requests(4);
    leave(terminal);
    assert_eq!(bytes(&home), before);
    assert_eq!(lock_time(&home, "project"), Some(std::time::SystemTime::UNIX_EPOCH));
}

/// A dream that fails in the background says so at the prompt, with the reason.
#[test]
fn a_dream_that_fails_says_so() {
    let (server, home) = dreamer(&["a", "b", "c", "d", "e"]);
    sessions(&home, 4);
    server.push_fork(Reply::bad_request_400("no such tool"));
    server.push(ScriptedTurn::new().text("Good morning."));
    let mut terminal = talk(&home, &[], (100, 40));
    say(&mut terminal, "good morning", "Good morning.");
    terminal.wait_for_text("The background task “dream” failed");
    leave(terminal);
}

/// A conversation that fills the window is of no use to a dream, and every request would read it.
#[test]
fn a_dream_by_hand_leaves_a_long_conversation_out() {
    let (server, mut home) = dreamer(&["a", "b"]);
    home.set_env("DORMOUSE_CONTEXT_WINDOW", "60000");
    home.set_env("DORMOUSE_DREAM", "0");
    let mut terminal = talk(&home, &[], (100, 40));
    let long = "seven words that nobody needs any more\n".repeat(4_000);
    for (number, words) in ["Good morning.", &long].into_iter().enumerate() {
        let end = format!("(end of answer {number})");
        server.push(ScriptedTurn::new().text(format!("{words}\n{end}")));
        say(&mut terminal, "go on", &end);
        server.push_fork(ScriptedTurn::new().text("nothing to do"));
        say(&mut terminal, "/dream", "Dreaming in the background");
        wait_until("the dream", || dreams(&home).len() == number + 1);
    }
    let forks = server.fork_requests();
    assert!(forks[0].messages().len() > 2, "a short one goes along");
    assert!(forks[1].body.len() < long.len(), "{} bytes", forks[1].body.len());
    leave(terminal);
    server.finish();
}
