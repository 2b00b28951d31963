//! What a person may set about compaction: switches, a window for compacting ahead, hooks that have a say.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, Reply, ScriptedServer, TestHome, WireFormat};
use serde_json::json;

use crate::compacting::{
    ALL_TOOLS, SUMMARY, boundaries, fill, home, home_for, last_text, long_prompt, small, summaries,
};
use crate::program::{BOTH, ask, server, wait_until};
use crate::talk::{leave, say, talk};

fn goes_on(home: &TestHome, server: &ScriptedServer, prompt: &str) -> Output {
    server.push(ScriptedTurn::new().text("done"));
    let output = home.run(&mut ask(home, &["-c", prompt]));
    assert_eq!(output.stdout, "done\n", "{}", output.stderr);
    output
}

/// Without compacting ahead a window fills up to its end; then room is made all the same.
#[test]
fn nothing_ahead_but_a_full_window_is_no_end() {
    for (switch, value) in [("DORMOUSE_AUTO_COMPACT", "0"), ("DORMOUSE_REACTIVE_ONLY", "1")] {
        for wire in BOTH {
            let server = small(wire).fork_with(summaries()).start();
            let mut home = home(&server);
            home.set_env(switch, value);
            home.write(home.dormouse_home().join("settings.json"), ALL_TOOLS);
            fill(&home, &server, 5);
            assert!(boundaries(&home).is_empty(), "{switch}: nothing is compacted ahead");
            server.expect_break("the summary of what fits");
            server.expect_break("compaction");
            goes_on(&home, &server, &long_prompt(6));
            assert_eq!(boundaries(&home).len(), 1, "{switch}");
            assert!(last_text(&server).contains(&long_prompt(6)));
            server.finish();
        }
    }
}

/// Reactive only: the server's word counts, and nothing else.
#[test]
fn reactive_only_waits_for_the_server() {
    let server = server(WireFormat::Anthropic).no_model_info().start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_REACTIVE_ONLY", "1");
    fill(&home, &server, 2);
    server.push(Reply::prompt_too_long(12_000, 11_000));
    server.push_fork(ScriptedTurn::new().text(SUMMARY));
    server.expect_break("the summary of what fits");
    server.expect_break("compaction");
    goes_on(&home, &server, "go on");
    assert_eq!(boundaries(&home).len(), 1);
    server.finish();
}

#[test]
fn a_smaller_window_for_compacting_ahead() {
    let server = small(WireFormat::Anthropic).window(200_000).fork_with(summaries()).start();
    let mut home = home_for(&server, 200_000);
    home.set_env("DORMOUSE_AUTO_COMPACT_WINDOW", "24000");
    fill(&home, &server, 3);
    server.expect_break("compaction");
    let mut number = 3;
    while boundaries(&home).is_empty() && number < 8 {
        number += 1;
        goes_on(&home, &server, &long_prompt(number));
    }
    // Long before the window of the model is full.
    assert_eq!(boundaries(&home).len(), 1);
    assert!(number < 8, "{number}");
    let mut terminal = talk(&home, &["--continue"], (150, 40));
    say(&mut terminal, "/context", "left until then");
    let shown = terminal.screen();
    assert!(shown.contains("of 200,000 tokens") && shown.contains("16,200 tokens"), "{shown}");
    leave(terminal);
    server.finish();
    home.set_env("DORMOUSE_AUTO_COMPACT_WINDOW", "much");
    let output = home.run(&mut ask(&home, &["hi"]));
    assert!(output.stderr.contains("not a number of tokens"), "{}", output.stderr);
}

fn with_hooks(server: &ScriptedServer, hooks: &[(&str, &str, &str)]) -> TestHome {
    let home = home(server);
    let mut events = serde_json::Map::new();
    for (event, matcher, command) in hooks {
        let hook = json!({"matcher": matcher, "hooks": [{"type": "command", "command": command}]});
        let groups = events.entry(*event).or_insert_with(|| json!([]));
        groups.as_array_mut().unwrap().push(hook);
    }
    let settings = json!({ "hooks": events }).to_string();
    home.write(home.dormouse_home().join("settings.json"), settings);
    home
}

const REFUSES: (&str, &str, &str) = ("PreCompact", "auto", "echo not now >&2; exit 2");

/// A hook that refuses a compaction ahead: it is skipped, and the request goes out.
#[test]
fn a_hook_that_refuses_a_compaction_ahead_has_it_skipped() {
    let server = small(WireFormat::Anthropic).start();
    let home = with_hooks(&server, &[REFUSES]);
    fill(&home, &server, 3);
    let output = goes_on(&home, &server, &long_prompt(4));
    assert_eq!(
        output.stderr.matches("A hook refused the compaction: not now").count(),
        1,
        "{}",
        output.stderr
    );
    assert!(boundaries(&home).is_empty() && server.fork_requests().is_empty());
    goes_on(&home, &server, &long_prompt(5));
    // A full window is not sent, whatever a hook wants.
    let output = home.run(&mut ask(&home, &["-c", &long_prompt(6)]));
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(output.stderr.contains("so the request was not sent"), "{}", output.stderr);
    // By hand it is another matter: this hook is for `auto`.
    let mut terminal = talk(&home, &["--continue"], (150, 40));
    server.push_fork(ScriptedTurn::new().text(SUMMARY));
    server.expect_break("compaction");
    say(&mut terminal, "/compact", "compacted with");
    server.push(ScriptedTurn::new().text("usable again"));
    say(&mut terminal, "and now?", "usable again");
    leave(terminal);
}

/// A hook that refuses what is to mend a refused request: the server's error shows.
#[test]
fn a_hook_that_refuses_the_mending_has_the_error_shown() {
    let server = small(WireFormat::Anthropic).start();
    let home = with_hooks(&server, &[REFUSES, ("PreCompact", "manual", "echo never >&2; exit 2")]);
    fill(&home, &server, 2);
    server.push(Reply::gateway_too_long());
    let output = home.run(&mut ask(&home, &["-c", "go on"]));
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("Input is too long for requested model"), "{}", output.stderr);
    assert!(output.stderr.contains("A hook refused the compaction: not now"), "{}", output.stderr);
    let mut terminal = talk(&home, &["--continue"], (150, 40));
    say(&mut terminal, "/compact", "A hook blocked the compaction: never");
    server.push(ScriptedTurn::new().text("usable again"));
    say(&mut terminal, "and now?", "usable again");
    leave(terminal);
    assert!(boundaries(&home).is_empty());
    server.finish();
}

/// Hooks that hang do not hold the user up.
#[test]
fn an_interrupt_does_not_wait_for_hooks() {
    let hangs = "touch hangs; sleep 300";
    for event in ["PreCompact", "SessionStart", "PostCompact"] {
        let matcher = if event == "SessionStart" { "compact" } else { "auto" };
        let server = small(WireFormat::Anthropic).fork_with(summaries()).start();
        let home = with_hooks(&server, &[(event, matcher, hangs)]);
        fill(&home, &server, 3);
        let mut running = home.spawn(&mut ask(&home, &["-c", &long_prompt(4)]));
        running.close_stdin();
        wait_until("the hook to hang", || home.project().join("hangs").exists());
        running.interrupt();
        let output = running.wait();
        assert_eq!(output.code, Some(130), "{event}: {output:?}");
        let done = usize::from(event != "PreCompact");
        assert_eq!(boundaries(&home).len(), done, "{event}: as before, or wholly compacted");
    }
}
