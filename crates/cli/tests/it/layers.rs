//! The cheap layers in the real program: old results cleared after a pause, oldest rounds left out (C-6, C-7).

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Reply, ScriptedServer, TestHome, WireFormat};

use crate::compacting::ALL_TOOLS;
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
    home.run(ask(&home, &["count"]).env("DORMOUSE_REPEATED_CALLS", "0")).success();
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
        if wire == WireFormat::OpenAi {
            // The cache of a server on this machine does not expire, so clearing would only cost: unless the user says when.
            let settings = home.dormouse_home().join("settings.json");
            home.write(settings, r#"{"timeClearing":{"idleMinutes":60}}"#);
        }
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

/// A server without a cache is paid for every token of every request: nothing needs to go cold first (C-31).
#[test]
fn without_a_cache_old_results_are_cleared_as_soon_as_that_is_cheaper() {
    for (minimum, whole) in [(0, 12), (u64::MAX, 5)] {
        let server = server(WireFormat::Anthropic).minimum_cacheable(minimum).start();
        let home = TestHome::new().with_server(&server);
        for number in 0..12 {
            let file = format!("nuts{number}.txt");
            home.write(&file, "a nut in the larder\n".repeat(300));
            let arguments = format!(r#"{{"file_path":"{file}"}}"#);
            server.push(ScriptedTurn::new().call(format!("c{number}"), "Read", arguments));
        }
        server.push(ScriptedTurn::new().text("twelve looks"));
        home.run(&mut ask(&home, &["count"])).success();
        assert_eq!(whole_results(&server), 12, "not in the middle of a turn");
        server.push(ScriptedTurn::new().text("soon"));
        server.allow_breaks("cleared", 1);
        let output = home.run(&mut ask(&home, &["-c", "soon after"]));
        assert_eq!(output.success().stderr.contains("which is cheaper"), whole == 5);
        assert_eq!(whole_results(&server), whole, "{}", output.stderr);
        server.push(ScriptedTurn::new().text("again"));
        home.run(&mut ask(&home, &["-c", "and on"])).success();
        assert_eq!(whole_results(&server), whole, "the same bytes");
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
    home.write(home.dormouse_home().join("settings.json"), ALL_TOOLS);
    home.set_env("DORMOUSE_REPEATED_CALLS", "0");
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
    home.set_env("DORMOUSE_REPEATED_CALLS", "0");
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
    // The user's words and the names are the program's to keep, and the line says what went (C-29).
    assert!(text.contains("The user's words in it") && text.contains("mind the acorns"), "{text}");
    assert!(text.contains("Names that stood in it") && text.contains("nuts.txt"), "{text}");
    let commit =
        transcript(&home).lines().find(|line| line.contains("\"removed\":[")).map(str::to_owned);
    let commit: serde_json::Value = serde_json::from_str(&commit.unwrap()).unwrap();
    let removed = &commit["compactMetadata"]["removed"][0];
    assert!(removed["messages"].as_array().is_some_and(|ids| ids.len() > 2), "{removed}");
    assert!(removed["tokens"].as_u64().is_some_and(|tokens| tokens > 1_000), "{removed}");
    let asked = server.fork_requests()[0].text();
    assert!(
        asked.contains("The part consists of the messages 1 to")
            && asked.contains("[2] you: (calls Bash")
    );
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
