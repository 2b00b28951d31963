//! Compacting by itself stops when it does not help, and only then (C-20).

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Reply, ServerBuilder, TestHome, WireFormat, typed_text};

use crate::compacting::{SUMMARY, boundaries, home, last_text, small, summaries};
use crate::program::{BOTH, ask};
use crate::talk::{leave, say, talk, texts, wait_for_prompt};

/// A server whose model reads a file again and again, so often and so many times at once, then says that it
/// is done.
fn reads(wire: WireFormat, times: usize, at_once: usize) -> ServerBuilder {
    let mut calls = 0;
    small(wire).reply_with(move |request| {
        let last = texts(&request.last_message()).pop().unwrap();
        let said = typed_text(&last);
        // A prompt begins anew.
        if said.starts_with("begin") {
            calls = 0;
        }
        calls += 1;
        let quick = said.starts_with("just");
        if calls > times || quick {
            return ScriptedTurn::new().text("all done").into();
        }
        let id = |number| format!("c{}-{number}", request.index);
        let call =
            |turn: ScriptedTurn, number| turn.call(id(number), "Read", r#"{"file_path":"a.txt"}"#);
        (0..at_once).fold(ScriptedTurn::new(), call).into()
    })
}

/// About these many tokens.
fn write(home: &TestHome, tokens: usize) {
    home.write("a.txt", "a line of the file\n".repeat(tokens * 4 / 26));
}

/// A long turn on its own, in which the window fills up again and again, but never quickly.
#[test]
fn compactions_far_apart_are_no_loop() {
    for wire in BOTH {
        let server = reads(wire, 90, 1).fork_with(summaries()).start();
        let home = home(&server);
        write(&home, 400);
        let output = home.run(&mut ask(&home, &["begin: read it"]));
        assert_eq!(output.success().stdout, "all done\n");
        assert!(boundaries(&home).len() >= 4, "{}\n{}", boundaries(&home).len(), output.stderr);
        assert!(!output.stderr.contains("again and again"), "{}", output.stderr);
        let requests = server.requests();
        assert_eq!(requests.len(), 91);
        // What was asked for is still known.
        assert!(last_text(&server).contains("begin: read it"), "{}", last_text(&server));
    }
}

/// Three within ten requests: it stops, says what fills the window, and what to do.
#[test]
fn three_within_ten_requests_are_a_loop() {
    let server = reads(WireFormat::Anthropic, 40, 2).fork_with(summaries()).start();
    let home = home(&server);
    write(&home, 1_900);
    let output = home.run(&mut ask(&home, &["begin: read it"]));
    assert_eq!(boundaries(&home).len(), 3, "{}", output.stderr);
    assert_eq!(output.stderr.matches("full three times within ten requests").count(), 1);
    assert!(output.stderr.contains("It was filled by tool results (about"), "{}", output.stderr);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(output.stderr.contains("so the request was not sent"), "{}", output.stderr);
    // Nothing is stuck: another run makes room and goes on.
    let mut terminal = talk(&home, &["--continue"], (200, 50));
    say(&mut terminal, "just answer", "all done");
    leave(terminal);
}

/// A window that fills up quickly stops the turn, not the session: the next prompt makes room again.
#[test]
fn a_loop_ends_with_its_turn() {
    let server = reads(WireFormat::Anthropic, 40, 2).fork_with(summaries()).start();
    let home = home(&server);
    write(&home, 1_900);
    let mut terminal = talk(&home, &[], (200, 50));
    say(&mut terminal, "begin: read it", "so the request was not sent");
    say(&mut terminal, "just answer", "all done");
    leave(terminal);
}

/// The model gives no summary three times in a row: it is told once and asked no more, the folds go on, and a
/// summary by hand closes the breaker.
#[test]
fn the_breaker_opens_after_three_failures_and_a_success_closes_it() {
    let mut asked = 0;
    let server = reads(WireFormat::Anthropic, 120, 1)
        .fork_with(move |request| {
            asked += 1;
            // Two requests each, the second after a word of encouragement.
            let text =
                if asked <= 6 { String::new() } else { format!("{SUMMARY}{}", request.index) };
            Reply::from(ScriptedTurn::new().text(text))
        })
        .start();
    let home = home(&server);
    write(&home, 400);
    let mut terminal = talk(&home, &[], (200, 50));
    terminal.enter("begin: read it");
    terminal.wait_for_text("all done");
    wait_for_prompt(&terminal);
    let folds = boundaries(&home).len();
    assert!(folds >= 5, "{folds}");
    assert_eq!(server.fork_requests().len(), 6, "after three failures it is asked no more");
    let shown = terminal.all_rows().join("\n");
    let times = |text: &str| shown.matches(text).count();
    assert_eq!(times("three times in a row"), 1, "{shown}");
    assert_eq!(times("no summary by the model:"), 3, "{shown}");
    assert_eq!(times("compacted without a model"), folds, "{shown}");
    say(&mut terminal, "/compact", "with a summary by the model");
    assert_eq!(server.fork_requests().len(), 7);
    terminal.enter("begin: read it");
    terminal.wait_for("another summary", |_| server.fork_requests().len() > 7);
    wait_for_prompt(&terminal);
    let ways: Vec<String> = boundaries(&home)
        .iter()
        .map(|line| line["compactMetadata"]["way"].as_str().unwrap().to_owned())
        .collect();
    assert!(ways[..folds].iter().all(|way| way == "fold"), "{ways:?}");
    assert!(ways[folds..].iter().all(|way| way == "model"), "{ways:?}");
    leave(terminal);
}
