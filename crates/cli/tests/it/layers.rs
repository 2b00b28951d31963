//! The cheap layers in the real program: old results cleared after a pause, oldest rounds left out (C-6, C-7).

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Reply, ScriptedServer, TestHome, WireFormat};

use crate::program::{BOTH, ask, server, transcript};
use crate::talk::{leave, say, talk};

const CLEARED_AFTER: &str = "2026-11-02T12:00:00Z";
const NOTE: &str = "cleared";

/// A session in which a file was read seven times.
fn seven_looks(server: &ScriptedServer) -> TestHome {
    let home = TestHome::new().with_server(server);
    home.write("nuts.txt", "a nut in the larder\n".repeat(300));
    for number in 0..7 {
        server.push(ScriptedTurn::new().call(
            format!("c{number}"),
            "Bash",
            r#"{"command":"cat nuts.txt"}"#,
        ));
    }
    server.push(ScriptedTurn::new().text("seven looks"));
    home.run(&mut ask(&home, &["count"])).success();
    home
}

/// How many results of the last request still say what they said.
fn whole_results(server: &ScriptedServer) -> usize {
    let text = server.requests().last().unwrap().text();
    text.matches("a nut in the larder").count() / 300
}

#[test]
fn after_a_pause_old_results_are_cleared_and_stay_so() {
    for wire in BOTH {
        let server = server(wire).start();
        let mut home = seven_looks(&server);
        // A minute later nothing happens: the server compares the bytes.
        server.push(ScriptedTurn::new().text("soon"));
        home.run(&mut ask(&home, &["-c", "soon after"])).success();
        assert_eq!(whole_results(&server), 7);
        home = home.with_now(CLEARED_AFTER);
        server.push(ScriptedTurn::new().text("later"));
        server.expect_break("cleared after a pause");
        let output = home.run(&mut ask(&home, &["-c", "hours later"]));
        assert!(output.success().stderr.contains("2 old tool results"), "{}", output.stderr);
        assert_eq!(whole_results(&server), 5);
        assert!(server.requests().last().unwrap().text().contains(NOTE));
        // A minute later, after another resume, the same bytes.
        server.push(ScriptedTurn::new().text("again"));
        home.run(&mut ask(&home, &["-c", "and on"])).success();
        assert_eq!(whole_results(&server), 5);
        server.finish();
    }
}

#[test]
fn where_thinking_is_bound_nothing_is_cleared_unless_the_person_says_so() {
    let server = server(WireFormat::Anthropic).model("claude-opus-5-5").start();
    let mut home = seven_looks(&server).with_now(CLEARED_AFTER);
    server.push(ScriptedTurn::new().text("later"));
    home.run(&mut ask(&home, &["-c", "hours later"])).success();
    assert_eq!(whole_results(&server), 7);
    home.set_env("DORMOUSE_TIME_CLEARING", "1");
    server.push(ScriptedTurn::new().text("later still"));
    server.expect_break("cleared after a pause");
    let home = home.with_now("2026-11-02T18:00:00Z");
    home.run(&mut ask(&home, &["-c", "hours later again"])).success();
    assert_eq!(whole_results(&server), 5);
    server.finish();
}

#[test]
fn the_oldest_rounds_are_left_out_whole_and_a_marker_says_so() {
    let server = server(WireFormat::Anthropic).window(16_000).max_output(4_000).start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_CONTEXT_WINDOW", "16000");
    home.set_env("DORMOUSE_SNIP", "1");
    home.set_env("DORMOUSE_AUTO_COMPACT", "0");
    home.write("nuts.txt", "a nut in the larder\n".repeat(200));
    for number in 0..12 {
        server.push(ScriptedTurn::new().call(
            format!("c{number}"),
            "Bash",
            r#"{"command":"cat nuts.txt"}"#,
        ));
    }
    server.push(ScriptedTurn::new().text("twelve looks"));
    (0..2).for_each(|_| server.expect_break("snip"));
    let output = home.run(&mut ask(&home, &["count, and mind the acorns"]));
    assert!(output.success().stderr.contains("are left out from now on"), "{}", output.stderr);
    let sizes: Vec<u64> =
        server.requests().iter().map(|request| request.usage.input_total()).collect();
    assert!(sizes.iter().all(|size| *size < 12_000), "{sizes:?}");
    let text = server.requests().last().unwrap().text();
    assert!(text.contains("earlier messages were left out here"), "{text}");
    assert_eq!(transcript(&home).matches("a nut in the larder").count(), 12 * 200);
    // A resume sends the same bytes.
    server.push(ScriptedTurn::new().text("again"));
    home.run(&mut ask(&home, &["-c", "and on"])).success();
    server.finish();
}

/// A window in which spans are folded, with so many looks in one turn.
fn folding(answer: impl Fn() -> Reply + Send + 'static) -> (ScriptedServer, TestHome) {
    let server = server(WireFormat::Anthropic)
        .window(24_000)
        .max_output(4_000)
        .fork_with(move |_| answer())
        .start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_CONTEXT_WINDOW", "24000");
    home.set_env("DORMOUSE_CONTEXT_COLLAPSE", "1");
    home.write("nuts.txt", "a nut in the larder\n".repeat(200));
    (server, home)
}

fn looks(server: &ScriptedServer, count: usize) {
    for number in 0..count {
        server.push(ScriptedTurn::new().call(
            format!("c{number}"),
            "Bash",
            r#"{"command":"cat nuts.txt"}"#,
        ));
    }
    server.push(ScriptedTurn::new().text("all looked at"));
}

#[test]
fn spans_are_folded_ahead_of_need_and_unfolded_to_the_byte() {
    let (server, home) =
        folding(|| ScriptedTurn::new().text("<summary>the larder was looked at</summary>").into());
    looks(&server, 22);
    server.allow_breaks("collapse", 8);
    let output = home.run(&mut ask(&home, &["count, and mind the acorns"]));
    assert!(output.success().stderr.contains("/expand restores them"), "{}", output.stderr);
    let sizes: Vec<u64> =
        server.requests().iter().map(|request| request.usage.input_total()).collect();
    assert!(sizes.iter().all(|size| *size < 20_000), "{sizes:?}");
    let text = server.requests().last().unwrap().text();
    assert!(text.contains("the larder was looked at") && text.contains("folded from="), "{text}");
    assert!(!transcript(&home).contains("compact_boundary"), "no compaction beside it");
    // A resume sends the same bytes.
    server.push(ScriptedTurn::new().text("again"));
    home.run(&mut ask(&home, &["-c", "and on"])).success();
    assert_eq!(transcript(&home).matches("a nut in the larder").count(), 22 * 200);
    server.finish();
}

#[test]
fn a_summary_that_fails_or_is_larger_is_not_committed() {
    let larger = format!("<summary>{}</summary>", "words and words ".repeat(4_000));
    for answer in [larger.as_str(), " "] {
        let answer = answer.to_owned();
        let (server, home) = folding(move || ScriptedTurn::new().text(answer.clone()).into());
        looks(&server, 16);
        let output = home.run(&mut ask(&home, &["count"]));
        assert!(
            output.success().stderr.is_empty() || !output.stderr.contains("/expand"),
            "{}",
            output.stderr
        );
        assert!(!transcript(&home).contains("<folded from="));
        server.finish();
    }
}

#[test]
fn expand_gives_back_every_byte() {
    let (server, home) =
        folding(|| ScriptedTurn::new().text("<summary>the larder was looked at</summary>").into());
    looks(&server, 18);
    server.allow_breaks("collapse", 8);
    home.run(&mut ask(&home, &["count, and mind the acorns"])).success();
    let folded = server.requests().last().unwrap().text();
    let folds = folded.matches("<folded from=").count();
    assert!(folds > 0, "{folded}");
    let mut terminal = talk(&home, &["-c"], (100, 24));
    say(&mut terminal, "/expand", "messages restored");
    server.push(ScriptedTurn::new().text("I see them again"));
    say(&mut terminal, "go on", "I see them again");
    let unfolded = server.requests().last().unwrap().text();
    assert_eq!(unfolded.matches("<folded from=").count(), folds - 1);
    let nuts = |text: &str| text.matches("a nut in the larder").count() / 200;
    assert!(nuts(&unfolded) > nuts(&folded), "{} {}", nuts(&unfolded), nuts(&folded));
    leave(terminal);
    server.finish();
}
