//! The scripts in `tests/hooks`, written as people write them for existing agents, run unchanged by the real program.

use std::path::Path;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{HANGS, Output, ScriptedServer, TestHome, WireFormat, needs};
use serde_json::{Value, json};

use crate::compaction_by_hand::three;
use crate::program::{ask, dormouse, server};
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
pub(crate) fn group(matcher: &str, handler: impl Into<Value>) -> Value {
    let handler: Value = handler.into();
    json!([{"matcher": matcher, "hooks": [handler]}])
}

pub(crate) fn command(name: &str) -> Value {
    json!({"type": "command", "command": script(name)})
}

pub(crate) fn settings(home: &TestHome, hooks: impl Into<Value>) {
    let hooks: Value = hooks.into();
    let allow = ["Bash(touch:*)", "Bash(echo:*)", "Write", "Edit"];
    let settings = json!({"hooks": hooks, "permissions": {"allow": allow}, "smallModel": "small"});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
}

pub(crate) fn home(server: &ScriptedServer, hooks: Value) -> TestHome {
    let home = TestHome::new().with_server(server);
    settings(&home, hooks);
    home
}

pub(crate) fn go(server: ScriptedServer, hooks: Value) -> (TestHome, ScriptedServer, Output) {
    go_in_time(server, hooks, &[])
}

/// The same with these deadlines.
pub(crate) fn go_in_time(
    server: ScriptedServer,
    hooks: Value,
    deadlines: &[(&str, u64)],
) -> (TestHome, ScriptedServer, Output) {
    let mut home = home(&server, hooks);
    home.set_deadlines(deadlines);
    let output = home.run(&mut ask(&home, &["go"]));
    (home, server, output)
}

pub(crate) fn bash(command: &str) -> ScriptedTurn {
    ScriptedTurn::new().call("t", "Bash", json!({ "command": command }).to_string())
}

pub(crate) fn done() -> ScriptedTurn {
    ScriptedTurn::new().text("done")
}

pub(crate) fn scripted(turns: Vec<ScriptedTurn>) -> ScriptedServer {
    server(WireFormat::Anthropic).side_model("small").replies(turns).start()
}

/// The blocks of the last message of a request, as text.
pub(crate) fn last(server: &ScriptedServer, request: usize) -> String {
    server.requests()[request].last_message()["content"].to_string()
}

pub(crate) fn lines(home: &TestHome, name: &str) -> Vec<Value> {
    let text = home.read(name);
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn exit_code_two_blocks_with_what_stands_on_standard_error() {
    needs!("python");
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
    needs!("python");
    let hooks = json!({"PreToolUse": group("Bash", command("rewrite_npm.py"))});
    let (_, server, output) = go(scripted(vec![bash("npm test"), done()]), hooks);
    output.success();
    assert!(last(&server, 1).contains("pnpm test"), "{}", last(&server, 1));
    server.finish();
}

#[test]
fn the_output_of_a_call_is_changed() {
    needs!("python");
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
    say(
        &mut terminal,
        "/compact",
        "A hook blocked the compaction: no compaction while a release is under way",
    );
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
    needs!("python");
    let hooks = json!({"Stop": group("", command("tests_first.py"))});
    let (home, server, output) =
        go(scripted(vec![ScriptedTurn::new().text("finished"), done()]), hooks);
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
    let waits = json!({"type": "command", "async": true, "timeout": HANGS.as_secs(), "if": "Bash(touch first)",
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
    needs!("python");
    let handler =
        json!({"type": "command", "command": script("lint_later.sh"), "asyncRewake": true});
    let hooks = json!({"PostToolUse": group("Write", handler)});
    let write = |id: &str, text: &str| {
        ScriptedTurn::new().call(
            id,
            "Write",
            json!({"file_path": "a.rs", "content": text}).to_string(),
        )
    };
    let turns = vec![
        write("w", "// XXX"),
        ScriptedTurn::new().text("finished"),
        bash("echo looking"),
        ScriptedTurn::new().text("clean"),
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
fn json_counts_over_an_odd_exit_code() {
    needs!("python");
    let hooks = json!({"PreToolUse": group("Bash", command("json_wins.py"))});
    let (home, server, output) = go(scripted(vec![bash("touch a"), done()]), hooks);
    output.success();
    assert!(last(&server, 1).contains("decided before the clean-up failed"));
    assert!(!home.project().join("a").exists());
    server.finish();
}

#[test]
fn context_that_is_too_long_goes_to_a_file_and_the_session_has_a_title() {
    needs!("python");
    let hooks = json!({"SessionStart": group("startup", command("house_style.py"))});
    let (home, server, output) = go(scripted(vec![done()]), hooks);
    output.success();
    let told = last(&server, 0);
    assert!(told.contains("source startup\\nrule 0:") && !told.contains("rule 1999"), "{told}");
    assert!(told.contains("truncated; full text in "));
    assert!(told.contains("as if the user had said it:\\nbegin with the open issues"), "{told}");
    let own = home.transcripts()[0].with_extension("");
    let kept: Vec<_> = own.join("hook-output").read_dir().unwrap().collect();
    assert_eq!(kept.len(), 1);
    let text = std::fs::read_to_string(kept[0].as_ref().unwrap().path()).unwrap();
    assert!(text.contains("rule 1999: be kind to readers"));
    let sessions = home.run(&mut dormouse(&home, &["sessions"]));
    assert!(sessions.success().stdout.contains("the house style"), "{}", sessions.stdout);
    server.finish();
}

/// Every event of a prompt has its id, and the effort as field and as variable.
#[test]
fn the_prompt_and_the_effort_are_named() {
    let effort = json!({"type": "command",
        "command": "cat > /dev/null; printf '%s' \"$CLAUDE_EFFORT\" > \"$CLAUDE_PROJECT_DIR/effort\""});
    let hooks = json!({
        "SessionStart": group("", command("record.sh")),
        "UserPromptSubmit": group("", command("record.sh")),
        "PreToolUse": [{"hooks": [command("record.sh"), effort]}],
        "Stop": group("", command("record.sh")),
    });
    let server = scripted(vec![bash("echo hi"), done(), done()]);
    let home = home(&server, hooks);
    home.run(&mut ask(&home, &["--effort", "high", "go"])).success();
    home.run(&mut ask(&home, &["-c", "--effort", "high", "again"])).success();
    let events = lines(&home, "events.jsonl");
    let named = |name: &str| {
        let events = events.iter().filter(|event| event["hook_event_name"] == name);
        events.collect::<Vec<_>>()
    };
    assert!(named("SessionStart").iter().all(|event| event.get("prompt_id").is_none()));
    let prompts = named("UserPromptSubmit");
    assert_eq!(prompts[0]["source"], "sdk");
    let id = prompts[0]["prompt_id"].as_str().unwrap();
    assert_eq!(
        (&named("PreToolUse")[0]["prompt_id"], &named("Stop")[0]["prompt_id"]),
        (&json!(id), &json!(id))
    );
    assert_ne!(prompts[1]["prompt_id"], id);
    assert_eq!(named("Stop")[0]["effort"], json!({"level": "high"}));
    assert_eq!(home.read("effort"), "high");
    server.finish();
}

/// A deferred call is not run and ends the run; when the session continues, the hook is asked again.
#[test]
fn a_deferred_call_waits_for_the_next_run() {
    let defer = r#"cat > /dev/null; [ -e "$CLAUDE_PROJECT_DIR/answered" ] || echo '{"hookSpecificOutput":
        {"permissionDecision":"defer","permissionDecisionReason":"waits for an answer"}}'"#;
    let hooks = json!({"PreToolUse": group("Bash", json!({"type": "command", "command": defer}))});
    let (home, server, output) = go(scripted(vec![bash("touch a")]), hooks);
    assert!(output.stderr.contains("Bash was deferred: waits for an answer"), "{output:?}");
    assert_eq!(server.requests().len(), 1);
    assert!(!home.project().join("a").exists());
    home.write("answered", "");
    server.push(bash("touch a"));
    server.push(done());
    home.run(&mut ask(&home, &["-c", "go on"])).success();
    assert!(server.requests()[1].text().contains("It may be called again later."));
    assert!(home.project().join("a").exists());
    server.finish();
}

/// A hook's title and notification reach the terminal; what could change the screen does not.
#[test]
fn a_hook_notifies_through_the_terminal() {
    let printed = |sequence: &str| {
        let json = json!({"terminalSequence": sequence}).to_string();
        json!({"type": "command", "command": format!("cat > /dev/null; echo '{json}'")})
    };
    let hooks = json!({"Stop": [{"hooks": [
        printed("\u{1b}]777;notify;Build;finished\u{7}"), printed("\u{1b}]52;c;aGk=\u{7}"),
    ]}]});
    let server = scripted(vec![done()]);
    let home = home(&server, hooks);
    let mut terminal = talk(&home, &[], (80, 24));
    say(&mut terminal, "go", "done");
    let has = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|it| it == text.as_bytes());
    crate::program::wait_until("the notification", || {
        has(&terminal.bytes(), "\u{1b}]777;notify;Build;finished\u{7}")
    });
    assert!(!has(&terminal.bytes(), "aGk="), "the clipboard is not a hook's");
    leave(terminal);
    server.finish();
}

#[test]
fn a_denied_call_may_be_tried_again() {
    needs!("python");
    let hooks = json!({"PermissionDenied": group("Bash", command("retry.py"))});
    let (_, server, output) = go(scripted(vec![bash("rm a.txt"), done()]), hooks);
    output.success();
    assert!(last(&server, 1).contains("may be tried again"), "{}", last(&server, 1));
    server.finish();
}

/// While it runs, not afterwards: it ends only when the test has seen it.
#[test]
fn what_a_hook_is_doing_is_shown() {
    let status = |words: &str, file: &str| {
        json!({"type": "command", "statusMessage": words,
            "command": format!("until [ -e {file} ]; do sleep 0.02; done")})
    };
    let hooks = json!({
        "UserPromptSubmit": group("", status("reading the prompt", "seen-prompt")),
        "PreToolUse": group("Bash", status("checking the call", "seen-call")),
        "PostToolBatch": group("", status("checking the round", "seen-round")),
    });
    let server = scripted(vec![bash("touch made"), done()]);
    let home = home(&server, hooks);
    let mut terminal = talk(&home, &[], (150, 40));
    terminal.enter("go");
    for (words, file) in [
        ("reading the prompt", "seen-prompt"),
        ("checking the call", "seen-call"),
        ("checking the round", "seen-round"),
    ] {
        terminal.wait_for_text(words);
        home.write(file, "");
    }
    terminal.wait_for_text("done");
    crate::talk::wait_for_prompt(&terminal);
    leave(terminal);
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

/// A script can say by its first line that nobody need wait for it.
#[test]
fn a_command_steps_aside() {
    let hooks = json!({"PostToolUse": group("Bash", json!({"type": "command",
        "command": script("step_aside.sh"), "timeout": HANGS.as_secs(), "if": "Bash(touch first)"}))});
    let turns = vec![bash("touch first"), bash("touch released"), bash("touch read"), done()];
    let server = scripted(turns);
    let home = home(&server, hooks);
    let output = home.run(&mut ask(&home, &["go"]));
    output.success();
    // It ended only because the next call has run.
    assert!(home.project().join("was-released").exists(), "{}", output.stderr);
    assert!(!output.stderr.contains("ignored"), "{}", output.stderr);
    server.finish();
}
