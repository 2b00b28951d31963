//! `/compact` and `/context`, in a real terminal: all of it, a part of it, with words to it, at any fullness.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{RecordedRequest, ScriptedServer, Terminal, TestHome, WireFormat};
use serde_json::json;

use crate::compacting::{
    SMALL, SUMMARY, boundaries, home, last_text, lines, long_prompt, nothing_is_lost, small,
    text_of,
};
use crate::program::{BOTH, ask, server};
use crate::talk::{leave, say, talk};

/// Says three things, each answered.
pub(crate) fn three(server: &ScriptedServer, home: &TestHome) -> Terminal {
    let mut terminal = talk(home, &[], (150, 40));
    for number in 1..=3 {
        server.push(
            ScriptedTurn::new().text(format!("answer {number}. {}", "It is so. ".repeat(200))),
        );
        say(&mut terminal, &format!("question number {number}"), &format!("answer {number}."));
    }
    terminal
}

fn answered(server: &ScriptedServer, terminal: &mut Terminal, question: &str) -> RecordedRequest {
    let last = format!("the very last answer to {question}");
    server.push(ScriptedTurn::new().text(&last));
    say(terminal, question, &last);
    server.requests().pop().unwrap()
}

#[test]
fn nothing_to_compact_and_numbers_that_are_none() {
    let server = server(WireFormat::Anthropic).start();
    let empty = TestHome::new().with_server(&server);
    let mut terminal = talk(&empty, &[], (150, 40));
    say(&mut terminal, "/compact", "Nothing to compact yet");
    say(&mut terminal, "/compact from", "/compact upto NUMBER replaces all earlier ones");
    leave(terminal);
    let home = TestHome::new().with_server(&server);
    let mut terminal = three(&server, &home);
    say(&mut terminal, "/compact from", "replaces all earlier ones");
    let shown = terminal.screen();
    for row in ["question number 1", "question number 2", "question number 3"] {
        assert!(shown.contains(row), "{shown}");
    }
    for (order, number) in [
        ("from 4", "4"),
        ("upto 0", "0"),
        ("from 99999999999999999999999", "99999999999999999999999"),
    ] {
        let expected = format!("There is no message {number}");
        say(&mut terminal, &format!("/compact {order}"), &expected);
    }
    say(&mut terminal, "/compact upto 1", "Nothing to compact yet");
    assert!(server.fork_requests().is_empty());
    assert!(boundaries(&home).is_empty());
    // How full it is.
    say(&mut terminal, "/context", "left until then");
    let shown = terminal.screen();
    for row in ["system prompt", "answers", "free", "reserved for compaction", "167,000 tokens"] {
        assert!(shown.contains(row), "{row}: {shown}");
    }
    // The rows are the whole window.
    let rows = shown.lines().filter(|row| row.ends_with(['█', '░', '▒']));
    let tokens = |row: &str| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let percent = words.iter().position(|word| *word == "%").unwrap();
        words[percent - 2].replace(',', "").parse::<u64>().unwrap()
    };
    assert_eq!(rows.map(tokens).sum::<u64>(), 200_000, "{shown}");
    leave(terminal);
    server.finish();
}

/// From a message on: what stands before it stays to the byte, and is read from the cache.
#[test]
fn from_a_message_on_the_front_stays() {
    for wire in BOTH {
        let server = server(wire).minimum_cacheable(64).start();
        let home = TestHome::new().with_server(&server);
        let mut terminal = three(&server, &home);
        server.push_fork(ScriptedTurn::new().text(SUMMARY));
        say(&mut terminal, "/compact from 3", "compacted with a summary by the model");
        server.expect_break("the part from the third message on");
        let after = answered(&server, &mut terminal, "and now?");
        let before = server.requests()[1].clone();
        let (old, new) = (before.messages(), after.messages());
        let bare = |message: &serde_json::Value| {
            message.to_string().replace(r#""cache_control":{"type":"ephemeral"},"#, "")
        };
        assert!(old.iter().map(bare).eq(new[..old.len()].iter().map(bare)), "the front changed");
        assert!(
            after.usage.cache_read_input_tokens >= before.usage.cache_read_input_tokens,
            "{:?} {:?}",
            before.usage,
            after.usage
        );
        assert!(after.usage.cache_read_input_tokens > 1_000, "{:?}", after.usage);
        let text = text_of(&after);
        assert!(text.contains("answer 2.") && !text.contains("answer 3."), "{text}");
        assert!(
            text.contains("The user wants the parser mended.")
                && text.contains("question number 3")
        );
        // The part is marked for the model.
        assert!(text_of(&server.fork_requests()[0]).contains("[summarise from here]"));
        leave(terminal);
        // The same after a resume: the server compares the bytes.
        server.push(ScriptedTurn::new().text("resumed"));
        home.run(&mut ask(&home, &["-c", "go on"])).success();
        server.finish();
    }
}

/// Up to a message: that one and what follows stay as they are.
#[test]
fn up_to_a_message_the_rest_stays() {
    for wire in BOTH {
        let server = server(wire).start();
        let home = TestHome::new().with_server(&server);
        let mut terminal = three(&server, &home);
        server.push_fork(ScriptedTurn::new().text(SUMMARY));
        say(&mut terminal, "/compact upto 3", "compacted with a summary by the model");
        server.expect_break("the part up to the third message");
        let text = text_of(&answered(&server, &mut terminal, "and now?"));
        assert!(text.contains("answer 3.") && !text.contains("answer 2."), "{text}");
        for number in 1..=3 {
            assert!(text.contains(&format!("question number {number}")), "{text}");
        }
        let fork = text_of(&server.fork_requests()[0]);
        assert!(fork.contains("answer 2.") && !fork.contains("question number 3"), "{fork}");
        leave(terminal);
        server.push(ScriptedTurn::new().text("resumed"));
        home.run(&mut ask(&home, &["-c", "go on"])).success();
        server.finish();
    }
}

/// Words to it reach the model and the hooks; the hooks are told of the summary.
#[test]
fn words_to_it_and_hooks_around_it() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let hook = |matcher: &str, command: &str| json!([{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}]);
    let mut before = hook("manual", "cat > before.json");
    before.as_array_mut().unwrap().extend(hook("auto", "touch wrong").as_array().unwrap().clone());
    let settings =
        json!({"hooks": {"PreCompact": before, "PostCompact": hook("manual", "cat > after.json")}});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
    let mut terminal = three(&server, &home);
    server.push_fork(ScriptedTurn::new().text(SUMMARY));
    server.expect_break("compaction");
    say(
        &mut terminal,
        "/compact from now on only the names",
        "compacted with a summary by the model",
    );
    answered(&server, &mut terminal, "and now?");
    assert!(text_of(&server.fork_requests()[0]).contains("from now on only the names"));
    let said = |file: &str| serde_json::from_str::<serde_json::Value>(&home.read(file)).unwrap();
    let (before, after) = (said("before.json"), said("after.json"));
    assert_eq!(before["custom_instructions"], "from now on only the names");
    assert_eq!(
        (&before["trigger"], &before["hook_event_name"]),
        (&json!("manual"), &json!("PreCompact"))
    );
    assert_eq!(
        (&after["trigger"], &after["hook_event_name"]),
        (&json!("manual"), &json!("PostCompact"))
    );
    assert!(
        after["compact_summary"].as_str().unwrap().contains("The user wants the parser mended.")
    );
    assert!(!home.project().join("wrong").exists());
    assert_eq!(boundaries(&home)[0]["compactMetadata"]["trigger"], "manual");
    leave(terminal);
    server.finish();
}

/// A session that was resumed, compacted twice: the second summary stands on the first.
#[test]
fn in_a_session_that_was_resumed_and_again() {
    let server = server(WireFormat::OpenAi).start();
    let home = TestHome::new().with_server(&server);
    leave(three(&server, &home));
    let mut terminal = talk(&home, &["--continue"], (150, 40));
    server.push_fork(ScriptedTurn::new().text(SUMMARY));
    say(&mut terminal, "/compact", "compacted with a summary by the model");
    say(&mut terminal, "/compact", "Nothing to compact yet");
    server.expect_break("compaction");
    answered(&server, &mut terminal, "and now?");
    leave(terminal);
    let mut terminal = talk(&home, &["--continue"], (150, 40));
    server.push_fork(ScriptedTurn::new().text(SUMMARY.replace("parser", "lexer")));
    say(&mut terminal, "/compact", "compacted with a summary by the model");
    server.expect_break("compaction");
    let text = text_of(&answered(&server, &mut terminal, "once more?"));
    assert!(text_of(&server.fork_requests()[1]).contains("the parser mended"));
    assert!(text.contains("the lexer mended"), "{text}");
    for said in ["question number 1", "question number 3", "and now?", "once more?"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    leave(terminal);
    server.finish();
}

/// The window is full to the brim, and nothing is done ahead: `/compact` works all the same.
#[test]
fn at_a_hundred_percent() {
    for wire in BOTH {
        let server = small(wire).start();
        let mut home = home(&server);
        home.set_env("DORMOUSE_AUTO_COMPACT", "0");
        let said: Vec<String> = (1..=4).map(long_prompt).collect();
        for (number, prompt) in said.iter().enumerate() {
            // The last answer fills what is left, and more.
            let answer = "an answer ".repeat(if number == 3 { 1_700 } else { 1 });
            server.push(ScriptedTurn::new().text(answer));
            crate::compacting::say(&home, prompt, number > 0);
        }
        let mut terminal = talk(&home, &["--continue"], (150, 40));
        say(&mut terminal, "/context", "left until then");
        assert!(terminal.screen().contains(" 0 %"), "{}", terminal.screen());
        server.push_fork(ScriptedTurn::new().text(SUMMARY));
        server.expect_break("the oldest are left out for the summary");
        server.expect_break("compaction");
        say(&mut terminal, "/compact", "compacted with a summary by the model");
        server.push(ScriptedTurn::new().text("the very last answer"));
        say(&mut terminal, "and now?", "the very last answer");
        nothing_is_lost(&home, &last_text(&server), &said, SMALL);
        assert!(!lines(&home).is_empty());
        leave(terminal);
        let problems = server.problems();
        assert!(
            problems.iter().all(|problem| problem.contains("no request broke")),
            "{problems:?}"
        );
    }
}
