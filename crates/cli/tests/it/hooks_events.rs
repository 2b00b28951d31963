//! Events beyond calls and prompts: memory, dreams, rounds, settings, files, folders, set-up, skills, agents, the end.

use std::path::Path;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, RecordedRequest, Reply, ScriptedServer, TestHome, WireFormat, needs};
use serde_json::{Value, json};

use crate::hooks_contract::{
    bash, command, done, go, go_in_time, group, home, last, lines, script, scripted, settings,
};
use crate::program::{ask, dormouse, server, wait_until};
use crate::talk::{leave, say, talk};

#[test]
fn a_saved_memory_is_told_and_one_that_comes_back() {
    needs!("python");
    let hooks = json!({
        "MemorySaved": group("project", command("memory_journal.py")),
        "MemoryRecalled": group("", command("memory_journal.py")),
    });
    let memory = json!({"name": "harbour", "description": "where the ships of the harbour land", "type": "project",
        "content": "Ships land at the east quay of the harbour."});
    let turns = vec![ScriptedTurn::new().call("m", "MemorySave", memory.to_string()), done()];
    let (home, server, output) = go(scripted(turns), hooks);
    output.success();
    let saved = &lines(&home, "memory.jsonl")[0];
    assert_eq!((&saved["scope"], &saved["author"]), (&json!("project"), &json!("model")));
    assert_eq!(saved["memories"][0]["effect"], "added");
    assert_eq!(saved["memories"][0]["memory"], "harbour.md");
    assert!(Path::new(saved["memories"][0]["file_path"].as_str().unwrap()).exists());
    server.expect_break("another session");
    server.push(done());
    home.run(&mut ask(&home, &["where do the ships of the harbour land"])).success();
    let all = lines(&home, "memory.jsonl");
    let recalled = &all[1];
    assert_eq!(recalled["hook_event_name"], "MemoryRecalled");
    assert_eq!(recalled["memories"][0]["memory"], "harbour.md");
    assert_eq!(recalled["query"], "where do the ships of the harbour land");
    assert!(recalled["tokens"].as_u64().unwrap() > 0);
    server.finish();
}

#[test]
fn a_dream_is_told_when_it_begins_and_when_it_ends() {
    let server = scripted(Vec::new());
    let home = crate::dream::home(&server, &["alpha", "beta"]);
    settings(
        &home,
        json!({
            "DreamStart": group("", command("dream_report.sh")),
            "DreamEnd": group("completed", command("dream_report.sh")),
        }),
    );
    let memory = crate::dream::memory("alpha", "The fact about alpha, and the one about beta.");
    server.push_fork(crate::dream::save(ScriptedTurn::new(), "s", &memory));
    server.push_fork(ScriptedTurn::new().text("merged"));
    home.run(&mut dormouse(&home, &["dream", "--now"])).success();
    let told = lines(&home, "dreams.jsonl");
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0]["hook_event_name"], "DreamStart");
    assert_eq!(told[0]["scopes"], json!(["project", "user"]));
    assert_eq!(
        (&told[1]["status"], &told[1]["dream_id"]),
        (&json!("completed"), &told[0]["dream_id"])
    );
    assert_eq!(told[1]["report"]["id"], told[1]["dream_id"]);
    server.finish();
}

#[test]
fn the_end_of_a_session_has_little_time() {
    // The usual deadline: nothing else in this test depends on it.
    let hooks = json!({"SessionEnd": group("other", command("goodbye.sh"))});
    let (home, server, output) = go_in_time(scripted(vec![done()]), hooks, &[("end_hooks", 1_500)]);
    output.success();
    assert!(
        output.stderr.contains("hooks at the end of the session timed out"),
        "{}",
        output.stderr
    );
    let ended: Value = serde_json::from_str(&home.read("ended.json")).unwrap();
    assert_eq!(ended["reason"], "other");
    assert!(!home.project().join("too-late").exists());
    server.finish();
}

#[test]
fn a_round_of_calls_is_looked_at_as_a_whole() {
    needs!("python");
    let hooks = json!({"PostToolBatch": group("", command("batch.py"))});
    let two = ScriptedTurn::new().call("a", "Bash", r#"{"command":"echo one"}"#).call(
        "b",
        "Glob",
        r#"{"pattern":"*"}"#,
    );
    let turns = vec![two, bash("echo STOP")];
    let (home, server, output) = go(scripted(turns), hooks);
    output.expect_code(3);
    assert!(last(&server, 1).contains("round of Bash, Glob"), "{}", last(&server, 1));
    assert!(output.stderr.contains("a hook stopped the turn: this round goes too far"));
    let rounds = lines(&home, "batches.jsonl");
    assert_eq!(rounds[0]["tool_calls"][0]["tool_use_id"], "a");
    assert!(rounds[0]["tool_calls"][0]["tool_response"].as_str().unwrap().contains("one"));
    // The conversation is whole, and goes on.
    server.push(done());
    home.run(&mut ask(&home, &["--continue", "more"])).success();
    server.finish();
}

#[test]
fn settings_and_files_that_change_are_noticed() {
    let hooks = json!({
        "ConfigChange": group("user_settings", json!({"type": "command",
            "command": format!("{}; echo not now >&2; exit 2", script("record.sh"))})),
        "FileChanged": group(".env.test|watched.txt", command("record.sh")),
        "SessionStart": group("", json!({"type": "command",
            "command": "echo '{\"hookSpecificOutput\":{\"watchPaths\":[\"deep/watched.txt\"]}}'"})),
    });
    let server = scripted(vec![bash("touch .env.test"), done(), done(), done()]);
    let home = home(&server, hooks);
    home.write("deep/watched.txt", "1");
    let mut terminal = talk(&home, &[], (150, 40));
    say(&mut terminal, "first", "done");
    wait_until("the new file is told", || home.project().join("events.jsonl").exists());
    let file = home.dormouse_home().join("settings.json");
    home.write(
        &file,
        home.read(&file).replace("\"smallModel\":\"small\"", "\"smallModel\":\"smaller\""),
    );
    home.write("deep/watched.txt", "12");
    say(&mut terminal, "second", "not now");
    wait_until("all are told", || lines(&home, "events.jsonl").len() == 3);
    leave(terminal);
    let events = lines(&home, "events.jsonl");
    let told = |name: &str| {
        let of = |event: &&Value| event["hook_event_name"] == name;
        events.iter().filter(of).collect::<Vec<_>>()
    };
    let files: Vec<(&Value, &Value)> =
        told("FileChanged").iter().map(|event| (&event["event"], &event["file_path"])).collect();
    let path = |name: &str| json!(home.project().join(name));
    assert_eq!(files[0], (&json!("add"), &path(".env.test")), "{events:?}");
    assert_eq!(files[1], (&json!("change"), &path("deep/watched.txt")), "{events:?}");
    let config = told("ConfigChange")[0];
    assert_eq!(config["source"], "user_settings");
    assert!(config["file_path"].as_str().unwrap().ends_with("settings.json"));
}

#[test]
fn a_project_is_set_up() {
    let hooks = json!({"Setup": [{"matcher": "init", "hooks": [command("setup.sh")]},
        {"matcher": "maintenance", "hooks": [command("setup.sh")]}]});
    let server = scripted(vec![done(), done()]);
    let home = home(&server, hooks);
    home.run(&mut ask(&home, &["--init", "go"])).success();
    assert!(last(&server, 0).contains("dependencies are installed"));
    home.run(&mut dormouse(&home, &["--init-only"])).success();
    home.run(&mut ask(&home, &["--maintenance", "go"])).success();
    assert_eq!(home.read("setups"), "init\ninit\nmaintenance\n");
    server.finish();
}

#[test]
fn a_skill_that_is_called_is_an_event_and_brings_hooks() {
    needs!("python");
    let hooks = json!({"UserPromptExpansion": group("deploy", command("record.sh"))});
    let server = scripted(vec![bash("touch a"), done(), bash("touch b"), done()]);
    let home = home(&server, hooks);
    let skill = format!(
        "---\nname: deploy\ndescription: deploys\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: {}\n---\nDeploy.\n",
        script("json_wins.py")
    );
    home.write(home.dormouse_home().join("skills/deploy/SKILL.md"), skill);
    home.run(&mut ask(&home, &["/deploy now"])).success();
    let told = &lines(&home, "events.jsonl")[0];
    assert_eq!((&told["command_name"], &told["command_args"]), (&json!("deploy"), &json!("now")));
    assert!(!home.project().join("a").exists(), "the skill's hook denies");
    // The user speaks again: what the skill brought is gone.
    home.run(&mut ask(&home, &["--continue", "and now"])).success();
    assert!(home.project().join("b").exists());
    server.finish();
}

/// A hook that nobody waits for can add to what is watched.
#[test]
fn a_changed_file_leads_to_others() {
    let add = r#"cat >> events.txt; echo '{"hookSpecificOutput":{"watchPaths":["deep/next"]}}'"#;
    let hooks = json!({"FileChanged": [
        {"matcher": "first", "hooks": [{"type": "command", "command": add}]},
        {"matcher": "next", "hooks": [{"type": "command", "command": "touch noticed"}]},
    ]});
    let server = scripted(vec![bash("touch first"), done(), done(), done()]);
    let home = home(&server, hooks);
    home.write("deep/next", "1");
    let mut terminal = talk(&home, &[], (150, 40));
    say(&mut terminal, "one", "done");
    wait_until("the first is told", || home.project().join("events.txt").exists());
    // What the hook has printed is read a moment after it has written: the next turns look again.
    let mut size = 1;
    wait_until("the next is watched", || {
        size += 1;
        home.write("deep/next", "1".repeat(size));
        server.push(done());
        say(&mut terminal, &format!("turn {size}"), "done");
        home.project().join("noticed").exists()
    });
    leave(terminal);
}

#[test]
fn a_session_that_goes_on_in_another_folder_is_told() {
    let server = scripted(vec![done(), done(), done()]);
    let home = home(&server, json!({"CwdChanged": group("", command("record.sh"))}));
    home.git_init();
    home.write("below/x", "");
    home.run(&mut ask(&home, &["go"])).success();
    assert!(!home.project().join("events.jsonl").exists());
    for _ in 0..2 {
        let mut again = ask(&home, &["--continue", "more"]);
        home.run(again.current_dir(home.project().join("below"))).success();
    }
    let told = lines(&home, "events.jsonl");
    assert_eq!(told.len(), 1, "{told:?}");
    let (old, new) = (home.project(), home.project().join("below"));
    assert_eq!((&told[0]["old_cwd"], &told[0]["new_cwd"]), (&json!(old), &json!(new)));
    server.finish();
}

/// The same scripts for agents below the conversation: those of the settings, and an agent's own.
#[test]
fn an_agent_is_watched_and_kept_from_stopping() {
    needs!("python");
    let hooks = json!({
        "SubagentStart": group("careful", command("subagent_stop.py")),
        "SubagentStop": group("careful", command("subagent_stop.py")),
        "PreToolUse": group("Read", command("record.sh")),
        "Stop": group("", json!({"type": "command", "command": "echo x >> stops"})),
        "SessionStart": group("", json!({"type": "command", "command": "echo x >> starts"})),
    });
    let server = server(WireFormat::Anthropic)
        .agent_with(|request: &RecordedRequest| -> Reply {
            let last = request.last_message().to_string();
            if last.contains("name your sources") {
                ScriptedTurn::new().text("52, source: plan.md").into()
            } else if last.contains("52 nuts") {
                ScriptedTurn::new().text("52").into()
            } else {
                ScriptedTurn::new().call("r", "Read", r#"{"file_path":"plan.md"}"#).into()
            }
        })
        .reply(ScriptedTurn::new().call(
            "a",
            "Agent",
            r#"{"description":"count","prompt":"how many nuts?","subagent_type":"careful"}"#,
        ))
        .reply(done())
        .start();
    let home = home(&server, hooks);
    home.write("plan.md", "52 nuts\n");
    let agent = "---\nname: careful\ndescription: counts\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: cat > own-stop.json\n---\nYou count.\n";
    home.write(home.dormouse_home().join("agents/careful.md"), agent);
    let output = home.run(&mut ask(&home, &["go"]));
    output.success();
    assert!(last(&server, 1).contains("52, source: plan.md"), "{}", last(&server, 1));
    let first = server.agent_requests()[0].text();
    assert!(first.contains("agents of this project name their sources"), "{first}");
    let told = lines(&home, "agents.jsonl");
    let names: Vec<&Value> = told.iter().map(|event| &event["hook_event_name"]).collect();
    assert_eq!(names, ["SubagentStart", "SubagentStop", "SubagentStop"]);
    let transcript = Path::new(told[1]["agent_transcript_path"].as_str().unwrap());
    assert!(transcript.exists() && told[1]["agent_transcript_path"] != told[1]["transcript_path"]);
    assert_eq!(told[1]["transcript_path"], json!(home.transcripts()[0]));
    let call = &lines(&home, "events.jsonl")[0];
    assert_eq!((&call["agent_type"], &call["agent_id"]), (&json!("careful"), &told[0]["agent_id"]));
    let own: Value = serde_json::from_str(&home.read("own-stop.json")).unwrap();
    assert_eq!(own["hook_event_name"], "SubagentStop");
    // The conversation above has begun and stopped once.
    assert_eq!((home.read("starts"), home.read("stops")), ("x\n".to_owned(), "x\n".to_owned()));
    server.finish();
}

/// An agent that writes a memory, and the two replies of the session that starts it.
fn with_a_keeper(last: impl Into<Reply>) -> ScriptedServer {
    server(WireFormat::Anthropic)
        .agent_with(|request: &RecordedRequest| -> Reply {
            if request.messages().len() > 1 {
                return ScriptedTurn::new().text("noted").into();
            }
            let text = request.text();
            let (before, _) = text.split_once("/agent-memory/").unwrap_or_else(|| panic!("{text}"));
            let root = before.rsplit(|c: char| c.is_whitespace() || c == '`').next().unwrap();
            let folder = format!("{root}/agent-memory/keeper");
            let note = "---\nname: Tests\ndescription: tests need a clean cache\ntype: project\n---\nCACHE=0\n";
            let input = json!({"file_path": format!("{folder}/tests.md"), "content": note});
            ScriptedTurn::new().call("w", "Write", input.to_string()).into()
        })
        .reply(ScriptedTurn::new().call(
            "a",
            "Agent",
            r#"{"description":"keep","prompt":"write it down","subagent_type":"keeper"}"#,
        ))
        .reply(last)
        .start()
}

fn home_with_keeper(server: &ScriptedServer, memory_saved: &str) -> TestHome {
    let home = home(
        server,
        json!({"MemorySaved": group("", json!({"type": "command", "command": memory_saved}))}),
    );
    let agent = "---\nname: keeper\ndescription: keeps notes\ntools: Glob\nmemory: user\n---\nYou keep notes.\n";
    home.write(home.dormouse_home().join("agents/keeper.md"), agent);
    home
}

/// What an agent writes to its own memory is told with the agent's name.
#[test]
fn the_memory_of_an_agent_is_told_as_such() {
    needs!("python");
    let server = with_a_keeper(done());
    let home = home_with_keeper(&server, &script("memory_journal.py"));
    home.run(&mut ask(&home, &["go"])).success();
    // The session has waited for it.
    let told = &lines(&home, "memory.jsonl")[0];
    assert_eq!(told["memories"][0]["memory"], "tests.md", "{told}");
    assert_eq!(told["agent_type"], "keeper", "{told}");
    server.finish();
}

/// The agent is gone before its hook has ended: the session takes it over.
#[test]
fn a_hook_in_the_background_outlives_its_agent() {
    let gate = Gate::new();
    let server = with_a_keeper(Reply::from(done()).gate_after(0, &gate));
    let home = home_with_keeper(&server, "until [ -e go ]; do sleep 0.02; done; touch ended");
    let mut running = home.spawn(&mut ask(&home, &["go"]));
    running.close_stdin();
    gate.wait_until_reached();
    home.write("go", "");
    gate.open();
    running.wait().success();
    assert!(home.project().join("ended").exists());
    server.finish();
}

#[test]
fn hooks_that_are_stopped_at_the_end_are_named() {
    let server = with_a_keeper(done());
    let mut home = home_with_keeper(&server, "until [ -e never ]; do sleep 0.02; done");
    home.set_deadlines(&[("end_hooks", 100)]);
    let output = home.run(&mut ask(&home, &["go"]));
    let stderr = &output.success().stderr;
    let told = "timed out and were stopped: MemorySaved hook until [ -e never ]";
    assert!(stderr.contains(told), "{stderr}");
    server.finish();
}
