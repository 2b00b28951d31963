//! The scripts in `tests/hooks`, written as people write them for existing agents, run unchanged by the real program.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use dormouse_model::script::Turn;
use dormouse_testkit::{Output, ScriptedServer, TestHome, Wire};
use serde_json::{Value, json};

use crate::compaction_by_hand::three;
use crate::program::{ask, dormouse, server, wait_until};
use crate::talk::{leave, say, talk};

/// A script of the folder, as a command.
pub(crate) fn script(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks").join(name);
    assert!(path.exists(), "{}", path.display());
    let with = if name.contains(".py") { "python3" } else { "sh" };
    let with = if name.ends_with("call.sh") || name.ends_with("later.sh") { "bash" } else { with };
    format!("{with} {}", path.display())
}

/// A list of one group.
fn group(matcher: &str, handler: impl Into<Value>) -> Value {
    let handler: Value = handler.into();
    json!([{"matcher": matcher, "hooks": [handler]}])
}

fn command(name: &str) -> Value {
    json!({"type": "command", "command": script(name)})
}

pub(crate) fn settings(home: &TestHome, hooks: impl Into<Value>) {
    let hooks: Value = hooks.into();
    let allow = ["Bash(touch:*)", "Bash(echo:*)", "Write", "Edit"];
    let settings = json!({"hooks": hooks, "permissions": {"allow": allow}, "smallModel": "small"});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
}

fn home(server: &ScriptedServer, hooks: Value) -> TestHome {
    let home = TestHome::new().with_server(server);
    settings(&home, hooks);
    home
}

fn go(server: ScriptedServer, hooks: Value) -> (TestHome, ScriptedServer, Output) {
    let home = home(&server, hooks);
    let output = home.run(&mut ask(&home, &["go"]));
    (home, server, output)
}

fn bash(command: &str) -> Turn {
    Turn::new().call("t", "Bash", json!({ "command": command }).to_string())
}

fn done() -> Turn {
    Turn::new().text("done")
}

fn scripted(turns: Vec<Turn>) -> ScriptedServer {
    server(Wire::Anthropic).side_model("small").replies(turns).start()
}

/// The blocks of the last message of a request, as text.
fn last(server: &ScriptedServer, request: usize) -> String {
    server.requests()[request].last_message()["content"].to_string()
}

pub(crate) fn lines(home: &TestHome, name: &str) -> Vec<Value> {
    let text = home.read(name);
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn exit_code_two_blocks_with_what_stands_on_standard_error() {
    let hooks = json!({"PreToolUse": group("Bash", command("block_dangerous.py"))});
    let turns = vec![bash("touch a && rm -rf a"), bash("touch fine"), done()];
    let (home, server, output) = go(scripted(turns), hooks);
    output.success();
    assert!(
        last(&server, 1).contains("Bash was not run: blocked by policy:"),
        "{}",
        last(&server, 1)
    );
    assert!(!home.project().join("a").exists() && home.project().join("fine").exists());
    server.finish();
}

#[test]
fn the_input_of_a_call_is_changed() {
    let hooks = json!({"PreToolUse": group("Bash", command("rewrite_npm.py"))});
    let (_, server, output) = go(scripted(vec![bash("npm test"), done()]), hooks);
    output.success();
    assert!(last(&server, 1).contains("pnpm test"), "{}", last(&server, 1));
    server.finish();
}

#[test]
fn the_output_of_a_call_is_changed() {
    let hooks = json!({"PostToolUse": group("Bash", command("hide_emails.py"))});
    let (_, server, output) = go(scripted(vec![bash("echo ask ann@example.org"), done()]), hooks);
    output.success();
    let told = last(&server, 1);
    assert!(told.contains("ask [address]") && !told.contains("ann@example.org"), "{told}");
    assert!(told.contains("addresses were taken out"), "{told}");
    server.finish();
}

#[test]
fn a_compaction_is_refused() {
    let server = scripted(Vec::new());
    let home = home(&server, json!({"PreCompact": group("manual", command("no_compaction.sh"))}));
    home.write("RELEASING", "");
    let mut terminal = three(&server, &home);
    say(&mut terminal, "/compact", "a hook refused it: no compaction while a release is under way");
    let seen = lines(&home, "compactions.jsonl");
    assert_eq!(
        (&seen[0]["trigger"], &seen[0]["custom_instructions"]),
        (&json!("manual"), &Value::Null)
    );
    leave(terminal);
    server.finish();
}

#[test]
fn a_stop_that_is_blocked_goes_on() {
    let hooks = json!({"Stop": group("", command("tests_first.py"))});
    let (home, server, output) = go(scripted(vec![Turn::new().text("finished"), done()]), hooks);
    assert_eq!(output.success().stdout.trim(), "done");
    assert!(last(&server, 1).contains("run the tests before you stop"));
    let seen: Vec<Value> =
        lines(&home, "stops.jsonl").iter().map(|stop| stop["stop_hook_active"].clone()).collect();
    assert_eq!(seen, [json!(false), json!(true)]);
    server.finish();
}

#[test]
fn an_async_hook_is_not_waited_for_and_ends_with_the_session() {
    let logs = json!({"type": "command", "command": script("log_call.sh"), "async": true});
    // One that ends only when the next call has run: whoever waited for it would wait in vain.
    let waits = json!({"type": "command", "async": true, "timeout": 5, "if": "Bash(touch first)",
        "command": "until [ -e released ]; do sleep 0.02; done; touch was-released"});
    let hooks = json!({"PostToolUse": [{"hooks": [logs, waits]}]});
    let turns = vec![bash("touch first"), bash("touch released"), done()];
    let (home, server, output) = go(scripted(turns), hooks);
    output.success();
    assert!(home.project().join("was-released").exists());
    assert_eq!(lines(&home, "calls.jsonl")[0]["tool_name"], "Bash");
    assert!(output.stderr.contains("a call was logged"), "{}", output.stderr);
    assert!(!last(&server, 1).contains("a call was logged"));
    server.finish();
}

#[test]
fn an_async_hook_wakes_the_model() {
    let handler =
        json!({"type": "command", "command": script("lint_later.sh"), "asyncRewake": true});
    let hooks = json!({"PostToolUse": group("Write", handler)});
    let write = |id: &str, text: &str| {
        Turn::new().call(id, "Write", json!({"file_path": "a.rs", "content": text}).to_string())
    };
    let turns = vec![
        write("w", "// XXX"),
        Turn::new().text("finished"),
        bash("echo looking"),
        Turn::new().text("clean"),
    ];
    let (_, server, output) = go(scripted(turns), hooks);
    assert_eq!(output.success().stdout.trim(), "clean", "{}", output.stderr);
    // It stopped, was woken by the linter, and went on.
    assert!(last(&server, 2).contains("a.rs still has a XXX"), "{}", last(&server, 2));
    assert!(!server.requests()[1].text().contains("still has a XXX"));
    server.finish();
}

#[test]
fn a_hook_that_wakes_for_ever_is_not_heard_for_ever() {
    let handler =
        json!({"type": "command", "command": "echo again >&2; exit 2", "asyncRewake": true});
    let (_, server, output) = go(scripted(vec![done(); 11]), json!({"Stop": group("", handler)}));
    output.success();
    assert!(output.stderr.contains("woke the model 10 times in a row"), "{}", output.stderr);
    assert_eq!(server.requests().len(), 11);
    server.finish();
}

/// A policy service on this machine, ended with the test.
struct Policy {
    child: Child,
    port: u16,
    log: PathBuf,
}

impl Policy {
    fn start(folder: &Path) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks/policy_server.py");
        let log = folder.join("policy.jsonl");
        let mut child = std::process::Command::new("python3")
            .args([&file, &log])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap(), log }
    }

    fn hook(&self, path: &str) -> Value {
        json!({
            "type": "http",
            "url": format!("http://127.0.0.1:{}{path}", self.port),
            "headers": {"Authorization": "Bearer $POLICY_TOKEN", "X-Secret": "[$NOT_ALLOWED]"},
            "allowedEnvVars": ["POLICY_TOKEN"],
            "timeout": 2,
        })
    }

    fn seen(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

#[test]
fn json_is_posted_and_the_answer_decides() {
    let server = scripted(vec![bash("touch never"), done()]);
    let mut home = TestHome::new().with_server(&server);
    home.set_env("POLICY_TOKEN", "t0ken");
    home.set_env("NOT_ALLOWED", "s3cret");
    let policy = Policy::start(home.root());
    settings(&home, json!({"PreToolUse": group("Bash", policy.hook("/deny"))}));
    home.run(&mut ask(&home, &["go"])).success();
    assert!(last(&server, 1).contains("Bash was not run: the policy service says no"));
    assert!(!home.project().join("never").exists());
    let seen = policy.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0]["authorization"], "Bearer t0ken");
    assert_eq!((&seen[0]["secret"], &seen[0]["type"]), (&json!("[]"), &json!("application/json")));
    assert_eq!(seen[0]["body"]["tool_input"]["command"], "touch never");
    assert_eq!(seen[0]["body"]["hook_event_name"], "PreToolUse");
    server.finish();
}

#[test]
fn no_status_and_no_plain_text_decides() {
    for (path, said) in [
        ("/empty", None),
        ("/plain", Some("no JSON object")),
        ("/broken", Some("the server answered 500")),
        ("/elsewhere", Some("the server answered 307")),
        ("/slow", Some("took longer than 2 s")),
        ("/huge", Some("larger than 1000000 bytes")),
    ] {
        let server = scripted(vec![bash("touch made"), done()]);
        let home = TestHome::new().with_server(&server);
        let policy = Policy::start(home.root());
        settings(&home, json!({"PreToolUse": group("Bash", policy.hook(path))}));
        let output = home.run(&mut ask(&home, &["go"]));
        output.success();
        assert!(home.project().join("made").exists(), "{path}");
        assert_eq!(policy.seen().len(), 1, "{path}: no redirect is followed");
        match said {
            Some(said) => assert!(output.stderr.contains(said), "{path}: {}", output.stderr),
            None => assert!(!output.stderr.contains("decides nothing"), "{}", output.stderr),
        }
        server.finish();
    }
}

#[test]
fn a_model_is_asked() {
    let prompt = json!({"type": "prompt", "prompt": "Is this harmless? $ARGUMENTS Answer."});
    let hooks = json!({"PreToolUse": group("Bash", prompt)});
    let server = server(Wire::Anthropic)
        .side_model("small")
        .side_reply(Turn::new().text(r#"{"ok":false,"reason":"the model would rather not"}"#))
        .side_reply(Turn::new().text(r#"{"ok":true}"#))
        .side_reply(Turn::new().text("I think it is fine"))
        .replies(vec![bash("touch a"), bash("touch b"), bash("touch c"), done()])
        .start();
    let (home, server, output) = go(server, hooks);
    output.success();
    assert!(last(&server, 1).contains("Bash was not run: the model would rather not"));
    let made = |name: &str| home.project().join(name).exists();
    assert!(!made("a") && made("b") && made("c"));
    let asked = server.side_requests();
    let text = asked[0].text();
    assert!(text.contains(r#"Is this harmless? {\"session_id\":"#), "{text}");
    assert!(text.contains("touch a") && text.contains("json_schema"), "{text}");
    // A bad answer decides nothing, and is told.
    assert!(output.stderr.contains("did not answer with"), "{}", output.stderr);
    server.finish();
}

#[test]
fn a_model_keeps_another_from_stopping_unless_it_can_not_be_helped() {
    let prompt = json!({"type": "prompt", "prompt": "Are the tests green?", "model": "small"});
    let server = server(Wire::OpenAi)
        .side_model("small")
        .side_reply(Turn::new().text(r#"{"ok":false,"reason":"they are red"}"#))
        .side_reply(Turn::new().text(r#"{"ok":false,"reason":"no tests","impossible":true}"#))
        .replies(vec![Turn::new().text("finished"), done()])
        .start();
    let (_, server, output) = go(server, json!({"Stop": group("", prompt)}));
    assert_eq!(output.success().stdout.trim(), "done");
    assert!(server.requests()[1].last_message().to_string().contains("they are red"));
    assert!(output.stderr.contains("can not be had"), "{}", output.stderr);
    server.finish();
}

#[test]
fn an_agent_looks_around_first() {
    let prompt = json!({"type": "agent", "prompt": "Does notes.txt forbid this?"});
    let hooks = json!({"PreToolUse": group("Bash", prompt)});
    let server = scripted(vec![bash("touch a"), done()]);
    server.push_fork(Turn::new().call("r", "Read", r#"{"file_path":"notes.txt"}"#));
    server.push_fork(Turn::new().call("w", "Write", r#"{"file_path":"x","content":"x"}"#));
    server.push_fork(Turn::new().text(r#"{"ok": false, "reason": "notes.txt says no touching"}"#));
    server.expect_break("the agent of a hook starts with nothing");
    let home = home(&server, hooks);
    home.write("notes.txt", "no touching");
    home.run(&mut ask(&home, &["go"])).success();
    assert!(last(&server, 1).contains("Bash was not run: notes.txt says no touching"));
    assert!(!home.project().join("a").exists() && !home.project().join("x").exists());
    let forks = server.fork_requests();
    assert_eq!(forks.len(), 3);
    // It starts with nothing of the conversation, and its own calls are no event.
    assert!(!forks[0].messages().iter().any(|message| message.to_string().contains("\"go\"")));
    assert!(forks[1].text().contains("no touching") && forks[2].text().contains("may not be"));
    server.finish();
}

#[test]
fn answers_come_in_the_order_of_the_sources() {
    let server = scripted(vec![done()]);
    let mut home = TestHome::new().with_server(&server);
    let who = |name: &str| {
        json!({"hooks": {"UserPromptSubmit": group("", json!({
            "type": "command", "command": format!("{} {name}", script("who.sh"))}))}})
    };
    let managed = home.root().join("managed");
    home.set_env("DORMOUSE_TEST_MANAGED", &managed);
    home.write(managed.join("settings.json"), who("managed").to_string());
    home.write(home.dormouse_home().join("settings.json"), who("user").to_string());
    home.write(".dormouse/settings.json", who("project").to_string());
    home.write(".dormouse/settings.local.json", who("local").to_string());
    home.run(&mut dormouse(&home, &["permissions", "trust", "--yes"])).success();
    let given = who("session").to_string();
    home.run(&mut ask(&home, &["--settings", &given, "go"])).success();
    let told = last(&server, 0);
    let places: Vec<usize> = ["user", "project", "local", "managed", "session"]
        .iter()
        .map(|name| {
            told.find(&format!("this is from {name}")).unwrap_or_else(|| panic!("{name}: {told}"))
        })
        .collect();
    assert!(places.is_sorted(), "{told}");
    server.finish();
}

#[test]
fn each_kind_has_its_time() {
    let slow = |mut handler: Value| {
        handler["timeout"] = json!(0.3);
        handler
    };
    let server = server(Wire::Anthropic)
        .side_model("small")
        .side_reply(
            dormouse_testkit::Reply::from(Turn::new().text("{}"))
                .stop_after(1)
                .then(dormouse_testkit::End::Hang),
        )
        .replies(vec![bash("touch a"), done()])
        .start();
    server.expect_break("the agent of a hook starts with nothing");
    server.push_fork(
        dormouse_testkit::Reply::from(Turn::new().text("{}"))
            .stop_after(1)
            .then(dormouse_testkit::End::Hang),
    );
    let home = TestHome::new().with_server(&server);
    let policy = Policy::start(home.root());
    let hooks = [
        command("slow.sh"),
        policy.hook("/slow"),
        json!({"type": "prompt", "prompt": "well?"}),
        json!({"type": "agent", "prompt": "well?"}),
    ];
    let hooks: Vec<Value> = hooks.into_iter().map(slow).collect();
    settings(&home, json!({"PreToolUse": [{"hooks": hooks}]}));
    let output = home.run(&mut ask(&home, &["go"]));
    output.success();
    assert!(home.project().join("a").exists());
    assert_eq!(output.stderr.matches("took longer than 0.3 s").count(), 4, "{}", output.stderr);
    server.finish();
}

#[test]
fn json_counts_over_an_odd_exit_code() {
    let hooks = json!({"PreToolUse": group("Bash", command("json_wins.py"))});
    let (home, server, output) = go(scripted(vec![bash("touch a"), done()]), hooks);
    output.success();
    assert!(last(&server, 1).contains("decided before the clean-up failed"));
    assert!(!home.project().join("a").exists());
    server.finish();
}

#[test]
fn context_that_is_too_long_goes_to_a_file_and_the_session_has_a_title() {
    let hooks = json!({"SessionStart": group("startup", command("house_style.py"))});
    let (home, server, output) = go(scripted(vec![done()]), hooks);
    output.success();
    let told = last(&server, 0);
    assert!(told.contains("source startup\\nrule 0:") && !told.contains("rule 1999"), "{told}");
    assert!(told.contains("cut here; all of it is in "));
    assert!(told.contains("as if the person had said it:\\nbegin with the open issues"), "{told}");
    let own = home.transcripts()[0].with_extension("");
    let kept: Vec<_> = own.join("hook-output").read_dir().unwrap().collect();
    assert_eq!(kept.len(), 1);
    let text = std::fs::read_to_string(kept[0].as_ref().unwrap().path()).unwrap();
    assert!(text.contains("rule 1999: be kind to readers"));
    let sessions = home.run(&mut dormouse(&home, &["sessions"]));
    assert!(sessions.success().stdout.contains("the house style"), "{}", sessions.stdout);
    server.finish();
}

#[test]
fn a_saved_memory_is_told_and_one_that_comes_back() {
    let hooks = json!({
        "MemorySaved": group("project", command("memory_journal.py")),
        "MemoryRecalled": group("", command("memory_journal.py")),
    });
    let memory = json!({"name": "harbour", "description": "where the ships of the harbour land", "type": "project",
        "content": "Ships land at the east quay of the harbour."});
    let turns = vec![Turn::new().call("m", "MemorySave", memory.to_string()), done()];
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
    server.push_fork(crate::dream::save(Turn::new(), "s", &memory));
    server.push_fork(Turn::new().text("merged"));
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
    let hooks = json!({"SessionEnd": group("other", command("goodbye.sh"))});
    let (home, server, output) = go(scripted(vec![done()]), hooks);
    output.success();
    assert!(output.stderr.contains("took too long at the end"), "{}", output.stderr);
    let ended: Value = serde_json::from_str(&home.read("ended.json")).unwrap();
    assert_eq!(ended["reason"], "other");
    assert!(!home.project().join("too-late").exists());
    server.finish();
}

#[test]
fn a_round_of_calls_is_looked_at_as_a_whole() {
    let hooks = json!({"PostToolBatch": group("", command("batch.py"))});
    let two = Turn::new().call("a", "Bash", r#"{"command":"echo one"}"#).call(
        "b",
        "Glob",
        r#"{"pattern":"*"}"#,
    );
    let turns = vec![two, bash("echo STOP")];
    let (home, server, output) = go(scripted(turns), hooks);
    output.expect_code(3);
    assert!(last(&server, 1).contains("round of Bash, Glob"), "{}", last(&server, 1));
    assert!(output.stderr.contains("a hook ended the turn: this round goes too far"));
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
        "FileChanged": group(".env.test|other", command("record.sh")),
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
    wait_until("all are told", || lines(&home, "events.jsonl").len() == 2);
    leave(terminal);
    let events = lines(&home, "events.jsonl");
    let told: Vec<(&Value, &Value)> =
        events.iter().map(|event| (&event["hook_event_name"], &event["event"])).collect();
    assert_eq!(told[0], (&json!("FileChanged"), &json!("add")), "{events:?}");
    assert_eq!(told[1], (&json!("ConfigChange"), &Value::Null), "{events:?}");
    assert_eq!(events[1]["source"], "user_settings");
    assert!(events[1]["file_path"].as_str().unwrap().ends_with("settings.json"));
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
    // The person speaks again: what the skill brought is gone.
    home.run(&mut ask(&home, &["--continue", "and now"])).success();
    assert!(home.project().join("b").exists());
    server.finish();
}

#[test]
fn a_denied_call_may_be_tried_again() {
    let hooks = json!({"PermissionDenied": group("Bash", command("retry.py"))});
    let (_, server, output) = go(scripted(vec![bash("rm a.txt"), done()]), hooks);
    output.success();
    assert!(last(&server, 1).contains("may be tried again"), "{}", last(&server, 1));
    server.finish();
}

#[test]
fn what_a_hook_is_doing_is_shown() {
    let handler =
        json!({"type": "command", "command": "true", "statusMessage": "checking the rules"});
    let (_, server, output) = go(scripted(vec![done()]), json!({"Stop": group("", handler)}));
    output.success();
    assert!(output.stderr.contains("checking the rules"), "{}", output.stderr);
    server.finish();
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

/// The shell and the list of arguments of a command are those that it names.
#[test]
fn a_command_names_its_shell_or_has_none() {
    let hooks = json!({"UserPromptSubmit": [{"hooks": [
        {"type": "command", "command": "[[ x == x ]] && touch bash-ran", "shell": "bash"},
        {"type": "command", "command": "touch", "args": ["one file; not two"]},
    ]}]});
    let (home, server, output) = go(scripted(vec![done()]), hooks);
    output.success();
    assert!(home.project().join("bash-ran").exists());
    assert!(home.project().join("one file; not two").exists());
    server.finish();
}
