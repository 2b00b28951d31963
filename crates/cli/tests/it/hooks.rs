//! Hooks of the kind people have already, run unchanged: scripts in sh and Python, with the field names
//! and exit codes of that contract.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{HANGS, Output, ScriptedServer, TestHome, WireFormat, needs};
use serde_json::{Value, json};

use crate::program::{ask, server};

/// A home whose settings run these scripts: `(event, matcher, script, timeout)`.
fn home(hooks: &[(&str, &str, &str)]) -> TestHome {
    let home = TestHome::new();
    home.write("a.txt", "one\ntwo\n");
    let mut events = serde_json::Map::new();
    for (number, (event, matcher, script)) in hooks.iter().enumerate() {
        let file = home.root().join(format!("hook-{number}"));
        home.write(&file, script);
        let interpreter =
            if script.starts_with("#!/usr/bin/env python3") { "python3" } else { "sh" };
        let group = json!({
            "matcher": matcher,
            "hooks": [{
                "type": "command",
                "command": format!("{interpreter} {}", file.display()),
                "timeout": HANGS.as_secs(),
            }],
        });
        let groups = events.entry(*event).or_insert_with(|| json!([]));
        groups.as_array_mut().unwrap().push(group);
    }
    let settings = json!({"hooks": events, "permissions": {"allow": ["Bash(touch:*)", "Edit"]}});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
    home
}

fn run(home: &mut TestHome, turns: Vec<ScriptedTurn>) -> (Output, ScriptedServer) {
    let server = server(WireFormat::Anthropic).replies(turns).start();
    home.use_server(&server);
    let output = home.run(&mut ask(home, &["go"]));
    (output, server)
}

fn touch(name: &str) -> ScriptedTurn {
    ScriptedTurn::new().call("t", "Bash", json!({"command": format!("touch {name}")}).to_string())
}

/// The blocks of the last message of a request.
fn last(server: &ScriptedServer, request: usize) -> Vec<Value> {
    server.requests()[request].last_message()["content"].as_array().unwrap().clone()
}

fn done() -> ScriptedTurn {
    ScriptedTurn::new().text("done")
}

#[test]
fn a_tool_is_blocked_by_exit_code_two() {
    let guard = r#"
command=$(sed -n 's/.*"command":"\([^"]*\)".*/\1/p')
case "$command" in
  *forbidden*) echo "never touch what is forbidden" >&2; exit 2 ;;
esac
"#;
    let mut home = home(&[("PreToolUse", "Bash|Write", guard)]);
    let (output, server) = run(&mut home, vec![touch("forbidden"), touch("fine"), done()]);
    output.success();
    assert_eq!(last(&server, 1)[0]["content"], "Bash was not run: never touch what is forbidden");
    assert!(!home.project().join("forbidden").exists());
    assert!(home.project().join("fine").exists());
    server.finish();
}

#[test]
fn input_is_changed_and_context_added() {
    needs!("python");
    let rewrite = r#"#!/usr/bin/env python3
import json, sys
call = json.load(sys.stdin)
assert call["hook_event_name"] == "PreToolUse" and call["permission_mode"] == "default"
assert call["tool_name"] == "Bash" and call["tool_use_id"] == "t", call
new = dict(call["tool_input"], command=call["tool_input"]["command"] + "-changed")
print(json.dumps({"hookSpecificOutput": {
    "hookEventName": "PreToolUse", "permissionDecision": "allow",
    "updatedInput": new, "additionalContext": "names get an ending"}}))
"#;
    let report = r#"#!/usr/bin/env python3
import json, os, sys
call = json.load(sys.stdin)
assert call["tool_input"]["command"] == "touch x-changed", call
assert isinstance(call["tool_response"], str) and call["duration_ms"] >= 0
print(json.dumps({"hookSpecificOutput": {
    "hookEventName": "PostToolUse",
    "additionalContext": os.path.basename(os.environ["CLAUDE_PROJECT_DIR"]) + " " + call["cwd"][-7:],
    "updatedToolOutput": "made it"}}))
"#;
    let mut home = home(&[("PreToolUse", "Bash", rewrite), ("PostToolUse", "^B", report)]);
    let (output, server) = run(&mut home, vec![touch("x"), done()]);
    output.success();
    assert!(home.project().join("x-changed").exists() && !home.project().join("x").exists());
    let blocks = last(&server, 1);
    assert_eq!(blocks[0]["content"], "made it", "{}", output.stderr);
    let notes = blocks[1]["text"].as_str().unwrap();
    assert!(notes.contains("names get an ending\nproject project"), "{notes}");
    // The same bytes when the session goes on.
    server.push(done());
    home.run(&mut ask(&home, &["--continue", "again"])).success();
    server.finish();
}

#[test]
fn plain_output_at_session_start_and_prompt_is_context() {
    let start = "cat > $CLAUDE_PROJECT_DIR/start.json; echo 'use tabs'";
    let prompt = "cat > $CLAUDE_PROJECT_DIR/prompt.json; echo 'ticket 42'";
    let mut home = home(&[
        ("SessionStart", "startup", start),
        ("SessionStart", "resume", "echo 'welcome back'"),
        ("UserPromptSubmit", "", prompt),
    ]);
    let (output, server) = run(&mut home, vec![done()]);
    output.success();
    let texts = |request: usize| -> Vec<String> {
        let blocks = last(&server, request);
        blocks.iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect()
    };
    let [.., notes, prompt] = &texts(0)[..] else { panic!() };
    assert!(
        notes.contains("use tabs\nticket 42") && notes.starts_with("<system-reminder>"),
        "{notes}"
    );
    assert_eq!(prompt, "go");
    let start: Value = serde_json::from_str(&home.read("start.json")).unwrap();
    assert_eq!(
        (&start["source"], &start["hook_event_name"]),
        (&json!("startup"), &json!("SessionStart"))
    );
    let transcript = std::path::PathBuf::from(start["transcript_path"].as_str().unwrap());
    assert!(transcript.exists());
    let prompt: Value = serde_json::from_str(&home.read("prompt.json")).unwrap();
    assert_eq!((&prompt["prompt"], &prompt["session_id"]), (&json!("go"), &start["session_id"]));
    server.push(done());
    home.run(&mut ask(&home, &["--continue", "more"])).success();
    let notes = texts(1).join("\n");
    assert!(notes.contains("welcome back") && !notes.contains("use tabs"), "{notes}");
    server.finish();
}

#[test]
fn a_hook_that_hangs_fails_or_babbles_decides_nothing() {
    let mut home = home(&[
        ("PreToolUse", "Bash", "sleep 600"),
        ("PreToolUse", "Bash", "echo '{\"hookSpecificOutput\": {\"permissionDec'"),
        ("PreToolUse", "Bash", "head -c 3000000 /dev/zero | tr '\\0' x"),
        ("PreToolUse", "Bash", "echo 'something is off' >&2; exit 1"),
        ("PreToolUse", "Bash", "kill -9 $$"),
        ("PreToolUse", "Bash", "exec /no/such/program"),
    ]);
    // The first alone is to run out of time.
    let file = home.dormouse_home().join("settings.json");
    let long = format!("\"timeout\":{}", HANGS.as_secs());
    home.write(&file, home.read(&file).replacen(&long, "\"timeout\":0.3", 1));
    let (output, server) = run(&mut home, vec![touch("x"), done()]);
    output.success();
    assert!(home.project().join("x").exists());
    assert_eq!(last(&server, 1).len(), 1);
    for said in [
        "timed out after 0.3 s (ignored)",
        "printed invalid JSON (ignored)",
        "exited with code 1 (ignored): something is off",
        "exited with code 137",
        "exited with code 127",
    ] {
        assert!(output.stderr.contains(said), "{said}: {}", output.stderr);
    }
    server.finish();
}

#[test]
fn a_prompt_is_blocked_and_not_kept() {
    let guard =
        r#"grep -q secret && { echo '{"decision":"block","reason":"no secrets"}'; }; exit 0"#;
    let mut home = home(&[("UserPromptSubmit", "", guard)]);
    let server = server(WireFormat::Anthropic).reply(done()).reply(done()).start();
    home.use_server(&server);
    home.run(&mut ask(&home, &["hi"])).success();
    let blocked = home.run(&mut ask(&home, &["--continue", "my secret"]));
    blocked.expect_code(3);
    assert!(blocked.stderr.contains("a hook blocked the prompt; it was not sent: no secrets"));
    assert_eq!(server.requests().len(), 1);
    home.run(&mut ask(&home, &["--continue", "hello"])).success();
    assert!(!server.requests()[1].text().contains("my secret"));
    server.finish();
}

#[test]
fn the_model_goes_on_until_the_stop_hook_is_content() {
    let stop = r#"
input=$(cat); echo "$input" >> "$CLAUDE_PROJECT_DIR/stops.jsonl"
[ -e "$CLAUDE_PROJECT_DIR/tested" ] && exit 0
echo "run the tests first" >&2; exit 2
"#;
    let mut home = home(&[("Stop", "", stop)]);
    let turns = vec![ScriptedTurn::new().text("finished"), touch("tested"), done()];
    let (output, server) = run(&mut home, turns);
    output.success();
    assert_eq!(output.stdout.trim(), "done");
    let told = last(&server, 1)[0]["text"].as_str().unwrap().to_owned();
    assert!(told.contains("run the tests first"), "{told}");
    let stops: Vec<Value> =
        home.read("stops.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen: Vec<_> = stops
        .iter()
        .map(|s| (s["stop_hook_active"].clone(), s["last_assistant_message"].clone()))
        .collect();
    assert_eq!(seen, [(json!(false), json!("finished")), (json!(true), json!("done"))]);
    server.finish();
}

#[test]
fn a_stop_hook_that_is_never_content_is_not_obeyed_for_ever() {
    let mut home = home(&[("Stop", "", "echo more >&2; exit 2")]);
    let (output, server) = run(&mut home, vec![done(); 11]);
    output.success();
    assert!(output.stderr.contains("it is not asked again"), "{}", output.stderr);
    assert_eq!(server.requests().len(), 11);
    server.finish();
}

#[test]
fn everything_stops_where_a_hook_says_so() {
    let halt =
        r#"echo '{"continue": false, "stopReason": "budget spent", "systemMessage": "see you"}'"#;
    let mut home = home(&[("PostToolUse", "", halt)]);
    let (output, server) = run(&mut home, vec![touch("x")]);
    output.expect_code(3);
    assert!(output.stderr.contains("a hook stopped the turn: budget spent"), "{}", output.stderr);
    assert!(output.stderr.contains("see you"), "{}", output.stderr);
    server.push(done());
    home.run(&mut ask(&home, &["--continue", "go on"])).success();
    server.finish();
}

#[test]
fn failures_denials_and_the_end_are_told() {
    let record = |name: &str| format!("cat >> $CLAUDE_PROJECT_DIR/{name}.jsonl");
    let (failed, denied, ended) = (record("failed"), record("denied"), record("ended"));
    let allow = r#"
grep -q '"command":"mkdir' && echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'
exit 0"#;
    let mut home = home(&[
        ("PostToolUseFailure", "", &failed),
        ("PermissionDenied", "", &denied),
        ("PermissionRequest", "Bash", allow),
        ("SessionEnd", "other", &ended),
    ]);
    let turn = ScriptedTurn::new()
        .call("f", "Read", r#"{"file_path":"missing.txt"}"#)
        .call("a", "Bash", r#"{"command":"mkdir made"}"#)
        .call("d", "Bash", r#"{"command":"rm a.txt"}"#);
    let (output, server) = run(&mut home, vec![turn, done()]);
    output.success();
    let read = |name: &str| -> Value { serde_json::from_str(&home.read(name)).unwrap() };
    assert!(read("failed.jsonl")["error"].as_str().unwrap().contains("does not exist"));
    assert_eq!(read("denied.jsonl")["tool_input"]["command"], "rm a.txt");
    assert_eq!(read("ended.jsonl")["reason"], "other");
    assert!(home.project().join("made").exists() && home.project().join("a.txt").exists());
    server.finish();
}

#[test]
fn rules_stand_above_a_hook_that_allows() {
    let allow = r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'"#;
    let mut home = home(&[("PreToolUse", "", allow)]);
    let file = home.dormouse_home().join("settings.json");
    home.write(
        &file,
        home.read(&file).replace("\"allow\":[", "\"deny\":[\"Bash(rm:*)\"],\"allow\":["),
    );
    let turn = ScriptedTurn::new().call("d", "Bash", r#"{"command":"rm a.txt"}"#).call(
        "a",
        "Bash",
        r#"{"command":"mkdir made"}"#,
    );
    let (output, server) = run(&mut home, vec![turn, done()]);
    output.success();
    assert!(home.project().join("a.txt").exists() && home.project().join("made").exists());
    server.finish();
}

#[test]
fn hooks_can_be_turned_off_and_a_bad_one_is_told() {
    let mut home = home(&[("PreToolUse", "", "exit 2")]);
    let (output, server) = run(&mut home, vec![touch("a"), done()]);
    output.success();
    assert!(!home.project().join("a").exists());
    for (flags, name) in
        [(vec!["--bare"], "b"), (vec!["--settings", r#"{"disableAllHooks":true}"#], "c")]
    {
        server.expect_break("another session");
        server.push(touch(name));
        server.push(done());
        home.run(ask(&home, &["go"]).args(flags)).success();
        assert!(home.project().join(name).exists());
    }
    server.expect_break("another session");
    server.push(done());
    let bad = r#"{"hooks":{"PreTolUse":[],"Stop":[{"hooks":[{"type":"mcp_tool"}]}]}}"#;
    let output = home.run(&mut ask(&home, &["--settings", bad, "go"]));
    output.success();
    for said in ["did you mean `PreToolUse`?", "`server` is missing"] {
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
    server.finish();
}

#[test]
fn what_a_hook_says_is_bounded() {
    let mut home = home(&[("SessionStart", "", "seq 20000")]);
    let (output, server) = run(&mut home, vec![done()]);
    output.success();
    let text = server.single_request().text();
    assert!(text.contains("truncated; full text in ") && !text.contains("19999"));
    let kept: Vec<_> =
        home.transcripts()[0].with_extension("").join("hook-output").read_dir().unwrap().collect();
    assert_eq!(kept.len(), 1);
    server.finish();
}
