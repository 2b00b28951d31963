//! Forks of a conversation, in the real program: what they may do (nothing, for a summary), what they read
//! from the cache, and what breaks of the cache are told.

use std::time::Duration;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{RecordedRequest, Reply, TestHome, WireFormat};
use serde_json::json;

use crate::compacting::{
    ALL_TOOLS, SUMMARY, boundaries, fill, home, long_prompt, small, summaries, text_of,
};
use crate::program::{BOTH, ask, server};
use crate::session_notes::{home_of, long_turn, with_more, writes};
use crate::talk::{leave, say, talk};

/// What a notice of a break begins with.
const BROKE: &str = "tokens from its cache instead of";

/// A summary's fork that would rather do something else: denied, with reasons, and nothing is done.
#[test]
fn a_summary_that_calls_tools_is_denied_and_nothing_happens() {
    for wire in BOTH {
        let answer = |request: &RecordedRequest| -> Reply {
            if request.last_message().to_string().contains("no other tool either") {
                return ScriptedTurn::new().text(SUMMARY).into();
            }
            let write = json!({"file_path": "harm", "content": "x"}).to_string();
            let save = json!({"name": "n", "description": "d", "type": "user", "content": "c"});
            ScriptedTurn::new()
                .call("1", "Write", write)
                .call("2", "Bash", r#"{"command":"touch harm"}"#)
                .call("3", "Bash", r#"{"command":"ls"}"#)
                .call("4", "MemorySave", save.to_string())
                .call(
                    "5",
                    "Edit",
                    r#"{"file_path":"a.txt","old_string":"one","new_string":"harm"}"#,
                )
                .call("6", "TodoWrite", r#"{"todos":[]}"#)
                .call("7", "Skill", r#"{"skill":"deploy"}"#)
                .call("8", "Agent", r#"{"prompt":"fork yourself"}"#)
                .call("9", "ExitPlan", r#"{"plan":"harm"}"#)
                .call("10", "Read", r#"{"file_path":"a.txt"}"#)
                .into()
        };
        let server = small(wire).fork_with(answer).start();
        let home = home(&server);
        home.write("a.txt", "one\n");
        home.write(home.dormouse_home().join("settings.json"), ALL_TOOLS);
        let skill =
            "---\nname: deploy\ndescription: Ships it.\nallowed-tools: Bash\n---\nShip it.\n";
        home.write(home.dormouse_home().join("skills/deploy/SKILL.md"), skill);
        fill(&home, &server, 3);
        server.push(ScriptedTurn::new().call("t", "Bash", r#"{"command":"touch harm"}"#));
        server.push(ScriptedTurn::new().text("done"));
        server.expect_break("compaction");
        let flags = ["-c", &long_prompt(4)];
        let output = home.run(&mut ask(&home, &flags));
        assert_eq!(output.success().stdout, "done\n");
        assert!(output.stderr.contains("with a summary by the model"), "{}", output.stderr);
        let forks = server.fork_requests();
        assert_eq!(forks.len(), 2);
        let told = text_of(&forks[1]);
        for name in [
            "Write",
            "Bash",
            "MemorySave",
            "Edit",
            "TodoWrite",
            "Skill",
            "Agent",
            "ExitPlan",
            "Read",
        ] {
            assert!(told.contains(&format!("{name} may not be called here")), "{name}: {told}");
        }
        // The fork's skill lent the conversation nothing either.
        assert!(!home.project().join("harm").exists(), "{}", output.stderr);
        assert_eq!(home.read("a.txt"), "one\n");
        let memory = home.dormouse_home().join("memory");
        assert!(!memory.exists() || memory.read_dir().unwrap().next().is_none());
        assert!(!home.transcripts()[0].with_extension("").join("plan.md").exists());
        // Nothing of it is in the transcript.
        assert!(!crate::program::transcript(&home).contains("fork yourself"));
        server.finish();
    }
}

/// Whoever looks at the conversation's calls looks at those of its forks.
#[test]
fn hooks_see_the_calls_of_forks() {
    let server = server(WireFormat::Anthropic).fork_with(writes("a line")).start();
    let hook = r#""hooks":{"PreToolUse":[{"matcher":"Edit","hooks":[{"type":"command","command":"echo not by forks >&2; exit 2"}]}]}"#;
    let home = home_of(&server, &with_more(hook));
    let gate = long_turn(&server, "t0");
    let mut running = home.spawn(&mut ask(&home, &["go"]));
    running.close_stdin();
    let forks = server.wait_for_fork_requests(2);
    gate.open();
    running.wait().success();
    assert!(text_of(&forks[1]).contains("not by forks"), "{}", text_of(&forks[1]));
}

/// A fork reads what the conversation's last request wrote: at the start of a turn, and in the middle of one,
/// with results behind it that were never sent.
#[test]
fn forks_read_what_the_last_request_wrote() {
    for wire in BOTH {
        let server = small(wire).fork_with(summaries()).start();
        let home = home(&server);
        home.write("a.txt", "a line of the file\n".repeat(380));
        for number in 0..5 {
            server.push(ScriptedTurn::new().call(
                format!("r{number}"),
                "Read",
                r#"{"file_path":"a.txt"}"#,
            ));
        }
        server.push(ScriptedTurn::new().text("done"));
        server.expect_break("compaction");
        let output = home.run(&mut ask(&home, &["read it again and again"]));
        assert_eq!(output.success().stdout, "done\n");
        let (requests, forks) = (server.requests(), server.fork_requests());
        assert_eq!(forks.len(), 1);
        let fork = &forks[0];
        let parent = &requests[4];
        assert!(
            fork.messages().len() > parent.messages().len() + 1,
            "results that were not sent yet"
        );
        assert_eq!(fork.usage.cache_read_input_tokens, parent.written, "{wire:?}");
        assert!(parent.written > 5_000, "{}", parent.written);
        assert_eq!(fork.tool_names(), parent.tool_names());
        assert!(!output.stderr.contains(BROKE), "{}", output.stderr);
        server.finish();
    }
}

/// A compaction is announced: no break is told, in this turn or after a resume.
#[test]
fn a_compaction_is_no_break_of_the_cache() {
    for wire in BOTH {
        let server = small(wire).fork_with(summaries()).start();
        let home = home(&server);
        fill(&home, &server, 3);
        server.expect_break("compaction");
        for number in 4..=6 {
            server.push(ScriptedTurn::new().text("done"));
            let output =
                home.run(&mut ask(&home, &["-c", &format!("go on {number} {}", long_prompt(4))]));
            assert!(!output.success().stderr.contains(BROKE), "{}", output.stderr);
            if number == 4 {
                assert_eq!(boundaries(&home).len(), 1);
            }
        }
    }
}

/// A server that loses its cache in the middle of a session is told of, with the cause.
#[test]
fn a_cache_that_is_lost_is_told() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (150, 40));
    for number in 1..=3 {
        server.push(ScriptedTurn::new().text(format!("answer number {number}")));
        say(&mut terminal, "go on", &format!("answer number {number}"));
        assert!(!terminal.screen().contains(BROKE), "{}", terminal.screen());
    }
    server.advance(Duration::from_hours(24));
    server.push(ScriptedTurn::new().text("the last answer"));
    say(&mut terminal, "go on", "the last answer");
    let shown = terminal.screen();
    assert!(shown.contains("The server read 0 tokens from its cache instead of"), "{shown}");
    assert!(shown.contains("nothing we sent changed"), "{shown}");
    leave(terminal);
    server.finish();
}
