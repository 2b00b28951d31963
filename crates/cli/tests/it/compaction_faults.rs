//! A compaction that is cut off, by a crash, by the disk or by the user: the conversation is as before or
//! wholly compacted, and the next prompt works.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, Reply, ScriptedServer, TestHome, WireFormat};

use crate::compacting::{
    SMALL, SUMMARY, boundaries, fill, home, last_text, long_prompt, nothing_is_lost, small,
    summaries, text_of,
};
use crate::program::{BOTH, ask, server};
use crate::talk::{leave, say, talk, wait_for_prompt};

/// The next prompt works, and what was said is still there.
#[track_caller]
fn still_usable(home: &TestHome, server: &ScriptedServer, said: &[String], what: &str) {
    server.push(ScriptedTurn::new().text("still usable"));
    server.expect_break("compaction");
    goes_on(home, server, said, what);
}

#[track_caller]
fn goes_on(home: &TestHome, server: &ScriptedServer, said: &[String], what: &str) {
    let output = home.run(&mut ask(home, &["-c", "go on"]));
    assert_eq!(output.stdout, "still usable\n", "{what}: {}", output.stderr);
    let sent = last_text(server);
    assert!(sent.contains("go on"), "{what}");
    nothing_is_lost(home, &sent, said, SMALL);
}

#[test]
fn killed_while_the_summary_streams() {
    for wire in BOTH {
        let gate = Gate::new();
        let server = small(wire).start();
        let home = home(&server);
        let mut said = fill(&home, &server, 3);
        said.push(long_prompt(4));
        server.push_fork(Reply::from(ScriptedTurn::new().text(SUMMARY)).gate_after(3, &gate));
        let mut running = home.spawn(&mut ask(&home, &["-c", &said[3]]));
        running.close_stdin();
        gate.wait_until_reached();
        running.kill9();
        running.wait();
        assert_eq!(boundaries(&home).len(), 0);
        server.push_fork(ScriptedTurn::new().text(SUMMARY));
        still_usable(&home, &server, &said, "killed");
        assert_eq!(boundaries(&home).len(), 1);
        server.finish();
    }
}

/// Dead between any two lines of a boundary: it does not count, and the next one does.
#[test]
fn killed_between_the_lines_of_the_boundary() {
    for passing in 1..=2 {
        let mut calls = 0;
        let server = small(WireFormat::Anthropic)
            .fork_with(summaries())
            .reply_with(move |request| {
                calls += 1;
                if request.last_message().to_string().contains("go on") {
                    return ScriptedTurn::new().text("still usable").into();
                }
                ScriptedTurn::new()
                    .call(format!("r{calls}"), "Read", r#"{"file_path":"a.txt"}"#)
                    .into()
            })
            .start();
        let mut home = home(&server);
        home.write("a.txt", "a line of a file that is in use\n".repeat(200));
        let said = vec!["read the file, again and again".to_owned()];
        home.set_env("DORMOUSE_FAULT", format!("abort@transcript.boundary#{passing}"));
        let output = home.run(&mut ask(&home, &[&said[0]]));
        assert_eq!(output.code, None, "it died: {}", output.stderr);
        home.unset_env("DORMOUSE_FAULT");
        assert_eq!(boundaries(&home).len(), 1, "a half one");
        server.expect_break("compaction");
        goes_on(&home, &server, &said, "aborted");
        assert_eq!(boundaries(&home).len(), 2);
        // What came with the half one does not count.
        let asked = text_of(&server.fork_requests()[1]);
        assert!(asked.contains(&said[0]) && !asked.contains("(summary 1)"), "{asked}");
        // The whole one counts, after another resume too.
        goes_on(&home, &server, &said, "again");
        server.finish();
    }
}

/// A disk that takes no more in the middle of it: told, and nothing is half done.
#[test]
fn a_disk_that_is_full_in_the_middle_of_it() {
    let server = small(WireFormat::Anthropic).fork_with(summaries()).start();
    let mut home = home(&server);
    let mut said = fill(&home, &server, 3);
    said.push(long_prompt(4));
    home.set_env("DORMOUSE_FAULT", "enospc@transcript.boundary");
    let output = home.run(&mut ask(&home, &["-c", &said[3]]));
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(output.stderr.contains("No space left"), "{}", output.stderr);
    home.unset_env("DORMOUSE_FAULT");
    still_usable(&home, &server, &said, "full");
    server.finish();
}

#[test]
fn interrupted_while_the_summary_streams() {
    for wire in BOTH {
        let gate = Gate::new();
        let server = small(wire).start();
        let home = home(&server);
        let mut said = fill(&home, &server, 3);
        said.push(long_prompt(4));
        server.push_fork(Reply::from(ScriptedTurn::new().text(SUMMARY)).gate_after(3, &gate));
        let mut running = home.spawn(&mut ask(&home, &["-c", &said[3]]));
        running.close_stdin();
        gate.wait_until_reached();
        running.interrupt();
        let output = running.wait();
        assert_eq!(output.code, Some(130), "{output:?}");
        assert_eq!(boundaries(&home).len(), 0);
        server.push_fork(ScriptedTurn::new().text(SUMMARY));
        still_usable(&home, &server, &said, "interrupted");
        server.finish();
    }
}

/// Ctrl-C while `/compact` works: as before, and the same session goes on with the same bytes.
#[test]
fn compact_by_hand_is_stopped_with_ctrl_c() {
    let gate = Gate::new();
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    server.push(ScriptedTurn::new().text("the first answer"));
    let mut terminal = talk(&home, &[], (100, 30));
    say(&mut terminal, "a first word", "the first answer");
    server.push_fork(Reply::from(ScriptedTurn::new().text(SUMMARY)).gate_after(3, &gate));
    terminal.enter("/compact");
    gate.wait_until_reached();
    terminal.type_keys("\x03");
    terminal.wait_for_text("Interrupted. Conversation unchanged.");
    wait_for_prompt(&terminal);
    server.push(ScriptedTurn::new().text("the second answer"));
    say(&mut terminal, "a second word", "the second answer");
    leave(terminal);
    assert!(boundaries(&home).is_empty());
    server.finish();
}

/// The breaker belongs to the session: a chain of runs stops asking for summaries after three failures like one process does.
/// A small model that loses itself in a loop is stopped, and the conversation is folded without it. In a small window it is asked
/// for plain text: no draft.
#[test]
fn a_summary_that_only_repeats_itself_is_ended_and_the_program_folds() {
    for wire in BOTH {
        let server = small(wire).start();
        let home = home(&server);
        let mut said = fill(&home, &server, 3);
        said.push(long_prompt(4));
        let gate = Gate::new();
        let answer = ScriptedTurn::new().text("I will read the file again. ".repeat(400));
        // The rest of the answer never comes: a program that waited for its end would hang here.
        server.push_fork(Reply::from(answer).gate_after(100, &gate));
        server.push(ScriptedTurn::new().text("folded"));
        server.expect_break("compaction");
        let output = home.run(&mut ask(&home, &["-c", &said[3]]));
        assert_eq!(output.success().stdout, "folded\n", "{}", output.stderr);
        assert!(output.stderr.contains("repeated itself"), "{}", output.stderr);
        let asked = server.fork_requests();
        assert_eq!(asked.len(), 1, "it is not asked again");
        let asked = text_of(&asked[0]);
        assert!(asked.contains("words of plain text") && !asked.contains("<draft>"), "{asked}");
        nothing_is_lost(&home, &last_text(&server), &said, SMALL);
        gate.open();
        server.finish();
    }
}

#[test]
fn a_summarizer_that_always_fails_is_asked_three_times_by_a_chain_of_runs() {
    let server = small(WireFormat::Anthropic)
        .fork_with(|_| Reply::bad_request_400("no summaries today"))
        .start();
    let home = home(&server);
    fill(&home, &server, 3);
    server.allow_breaks("compaction", 8);
    for number in 4..12 {
        let prompt = long_prompt(number);
        server.push(ScriptedTurn::new().text(format!("answer {number}")));
        crate::compacting::say(&home, &prompt, true);
    }
    assert!(boundaries(&home).len() >= 5, "{}", boundaries(&home).len());
    assert_eq!(server.fork_requests().len(), 3);
}
