//! What was in use before a compaction is in use after it (C-18): files as they are now, tasks, skills, the
//! plan and its mode, instruction files, the memory index, what hooks say, memories that were recalled.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{ScriptedServer, Terminal, TestHome, WireFormat};
use serde_json::json;

use crate::compacting::{SUMMARY, last_text, places_are_right};
use crate::program::{BOTH, server};
use crate::talk::{leave, say, talk, wait_for_prompt_in};

/// Does these things, one request each, then says so.
fn works(terminal: &mut Terminal, server: &ScriptedServer, turns: Vec<ScriptedTurn>, done: &str) {
    for turn in turns {
        server.push(turn);
    }
    server.push(ScriptedTurn::new().text(done));
    say(terminal, &format!("please, until {done}"), done);
}

fn compact(terminal: &mut Terminal, server: &ScriptedServer) {
    server.push_fork(ScriptedTurn::new().text(SUMMARY));
    server.expect_break("compaction");
    terminal.enter("/compact");
    terminal.wait_for_text("compacted with a summary by the model");
    wait_for_prompt_in(terminal, &["", "plan ", "bypass "]);
}

fn read(id: &str, file: &str) -> ScriptedTurn {
    ScriptedTurn::new().call(id, "Read", json!({ "file_path": file }).to_string())
}

fn edit(id: &str, file: &str) -> ScriptedTurn {
    let input = json!({"file_path": file, "old_string": "now", "new_string": "then"});
    ScriptedTurn::new().call(id, "Edit", input.to_string())
}

#[test]
fn the_files_that_were_read_last_are_there_as_they_are_now() {
    for wire in BOTH {
        let server = server(wire).start();
        let home = TestHome::new().with_server(&server);
        home.write(
            home.dormouse_home().join("settings.json"),
            r#"{"permissions":{"deny":["Read(secret.txt)"],"allow":["Write","Edit"]}}"#,
        );
        for name in ["one", "two", "three", "gone", "new"] {
            home.write(format!("{name}.txt"), format!("the file {name}, then\n"));
        }
        home.write("big.txt", "a line of the big file, now\n".repeat(900));
        // What must not be sent is not sent again either: the server watches.
        home.write("three.txt", format!("three, now; key={}\n", home.key()));
        let mut terminal = talk(&home, &[], (120, 40));
        let mut turns: Vec<ScriptedTurn> = ["one", "two", "three", "big", "gone", "new"]
            .iter()
            .map(|name| read(name, &format!("{name}.txt")))
            .collect();
        let secret = json!({"file_path": "secret.txt", "content": "a secret word, now"});
        turns.push(ScriptedTurn::new().call("w", "Write", secret.to_string()));
        works(&mut terminal, &server, turns, "all was read");
        home.write("new.txt", "the file new, now\n");
        std::fs::remove_file(home.project().join("gone.txt")).unwrap();
        compact(&mut terminal, &server);
        // Only what is shown whole may be changed without reading it again.
        let turns = vec![
            edit("e1", "one.txt"),
            edit("e2", "big.txt"),
            edit("e3", "new.txt"),
            edit("e4", "three.txt"),
        ];
        works(&mut terminal, &server, turns, "all was tried");
        let requests = server.requests();
        let after = crate::compacting::text_of(&requests[8]);
        assert!(
            after.contains("the file new, now") && after.contains("three, now; key="),
            "{after}"
        );
        assert!(
            after.contains("a line of the big file, now") && after.contains("Read shows the rest")
        );
        for gone in
            ["the file one", "the file two", "the file gone", "the file new, then", "secret word"]
        {
            assert!(!after.contains(gone), "{gone}: {after}");
        }
        let last = last_text(&server);
        assert_eq!(last.matches("has not been read in this conversation").count(), 2, "{last}");
        assert_eq!(home.read("new.txt"), "the file new, then\n");
        assert!(home.read("three.txt").starts_with("three, then"), "{last}");
        leave(terminal);
        server.finish();
    }
}

/// A hook that masks what Read shows masks what is put back, too.
#[test]
fn hooks_see_what_is_put_back() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let command = r#"echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":"masked words"}}'"#;
    let hook = json!([{"matcher": "Read", "hooks": [{"type": "command", "command": command}]}]);
    let settings = json!({"hooks": {"PostToolUse": hook}});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
    home.write("a.txt", "a number that nobody may see\n");
    server.add_canary("a number that nobody may see");
    let mut terminal = talk(&home, &[], (120, 40));
    server.push(read("r", "a.txt"));
    server.push(ScriptedTurn::new().text(format!("{}\n\nSo it is.", "It was read. ".repeat(200))));
    say(&mut terminal, "read it", "So it is.");
    compact(&mut terminal, &server);
    works(&mut terminal, &server, Vec::new(), "the end");
    assert!(last_text(&server).contains("a.txt\nmasked words"), "{}", last_text(&server));
    leave(terminal);
    server.finish();
}

/// Tasks, skills, hooks, instruction files, the memory index; and what was recalled may be recalled again.
#[test]
fn what_was_in_use_is_in_use() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let hook = |matcher: &str| json!([{"matcher": matcher, "hooks": [{"type": "command", "command": "cat > compact.json; echo the-hook-says-tabs"}]}]);
    let settings = json!({"hooks": {"SessionStart": hook("compact")}});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
    let skill = "---\nname: deploy\ndescription: Ships it.\n---\nShip to the quay at dawn.\n";
    home.write(home.dormouse_home().join("skills/deploy/SKILL.md"), skill);
    home.write("AGENTS.md", "Use tabs, then.\n");
    crate::memory::add(
        &home,
        "Harbour",
        &["--type", "project", "--body", "Ships land at the east quay."],
    );
    let mut terminal = talk(&home, &[], (120, 40));
    let todos = json!({"todos": [
        {"content": "mend the parser", "activeForm": "mending", "status": "in_progress"},
        {"content": "was done", "activeForm": "doing", "status": "completed"},
    ]});
    let turns = vec![
        ScriptedTurn::new().call("s", "Skill", r#"{"skill":"deploy"}"#),
        ScriptedTurn::new().call("t", "TodoWrite", todos.to_string()),
    ];
    for turn in turns {
        server.push(turn);
    }
    server.push(ScriptedTurn::new().text("the first answer"));
    say(&mut terminal, "where do the ships land in the harbour?", "the first answer");
    let before = last_text(&server);
    assert_eq!(before.matches("east quay").count(), 1, "recalled: {before}");
    server.push(ScriptedTurn::new().text("the next answer"));
    say(&mut terminal, "a word behind the skill", "the next answer");
    home.write("AGENTS.md", "Use spaces, now.\n");
    crate::memory::add(&home, "Larder", &["--type", "project", "--body", "Nuts."]);
    compact(&mut terminal, &server);
    server.push(ScriptedTurn::new().text("the second answer"));
    say(&mut terminal, "and the ships, where do they land in the harbour?", "the second answer");
    let after = last_text(&server);
    for there in [
        "mend the parser",
        "Ship to the quay at dawn.",
        "the-hook-says-tabs",
        "Use spaces, now.",
        "larder.md",
        "Ships land at the east quay.",
    ] {
        assert!(after.contains(there), "no `{there}` in\n{after}");
    }
    for gone in ["was done", "Use tabs, then."] {
        assert!(!after.contains(gone), "`{gone}` in\n{after}");
    }
    // A skill's line counts, too.
    assert!(after.contains("[2026-11-02 09:00, line "), "{after}");
    places_are_right(&home, &after);
    let said: serde_json::Value = serde_json::from_str(&home.read("compact.json")).unwrap();
    assert_eq!(
        (&said["source"], &said["hook_event_name"]),
        (&json!("compact"), &json!("SessionStart"))
    );
    leave(terminal);
    server.finish();
}

/// The plan, and that plan mode is on, in the middle of a turn.
#[test]
fn plan_mode_outlasts_a_compaction_in_the_middle_of_a_turn() {
    let server = crate::compacting::small(WireFormat::Anthropic).start();
    let home = crate::compacting::home(&server);
    home.write("a.txt", "a line of the file\n".repeat(380));
    for number in 0..5 {
        server.push(read(&format!("r{number}"), "a.txt"));
    }
    server.push_fork(ScriptedTurn::new().text(SUMMARY));
    server.expect_break("compaction");
    server.push(ScriptedTurn::new().call("w", "Write", r#"{"file_path":"harm","content":"x"}"#));
    let plan = json!({"plan": "# Nuts\n\nCount them."}).to_string();
    server.push(ScriptedTurn::new().call("p", "ExitPlan", plan));
    let flags = ["--permission-mode", "plan", "plan the nuts"];
    let output = home.run(&mut crate::program::ask(&home, &flags));
    assert_eq!(output.success().stdout, "# Nuts\n\nCount them.\n", "{}", output.stderr);
    assert_eq!(crate::compacting::boundaries(&home).len(), 1, "{}", output.stderr);
    let requests = server.requests();
    let after = crate::compacting::text_of(&requests[5]);
    assert_eq!(after.matches("Plan mode is on").count(), 1, "{after}");
    assert!(after.contains("plan the nuts"), "{after}");
    assert!(!home.project().join("harm").exists());
    // The plan that was handed in is there after the next compaction.
    server.push(ScriptedTurn::new().text("noted"));
    home.run(&mut crate::program::ask(&home, &["-c", &crate::compacting::long_prompt(1)]))
        .success();
    server.push_fork(ScriptedTurn::new().text(SUMMARY));
    server.expect_break("compaction");
    for number in 0..4 {
        server.push(read(&format!("s{number}"), "a.txt"));
    }
    server.push(ScriptedTurn::new().text("done"));
    home.run(&mut crate::program::ask(&home, &["-c", "go on"])).success();
    let after = last_text(&server);
    assert!(after.contains("The plan that is being followed stands in"), "{after}");
    assert!(after.contains("Count them."), "{after}");
    server.finish();
}
