//! Hooks that post, that ask a model, and that send an agent; each with its time.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{HANGS, Reply, TestHome, WireFormat, needs};
use serde_json::{Value, json};

use crate::hooks_contract::{bash, command, done, go, group, home, last, scripted, settings};
use crate::program::{ask, server};

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
        // Long enough for a busy machine to send the request.
        let timeout = if path == "/slow" { 5 } else { HANGS.as_secs() };
        json!({
            "type": "http",
            "url": format!("http://127.0.0.1:{}{path}", self.port),
            "headers": {"Authorization": "Bearer $POLICY_TOKEN", "X-Secret": "[$NOT_ALLOWED]"},
            "allowedEnvVars": ["POLICY_TOKEN"],
            "timeout": timeout,
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
    needs!("python");
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
    needs!("python");
    for (path, said) in [
        ("/empty", None),
        ("/plain", Some("not a JSON object")),
        ("/broken", Some("the server returned 500")),
        ("/elsewhere", Some("the server returned 307")),
        ("/slow", Some("timed out after 5 s")),
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
            None => assert!(!output.stderr.contains("ignored"), "{}", output.stderr),
        }
        server.finish();
    }
}

#[test]
fn a_model_is_asked() {
    let prompt = json!({"type": "prompt", "prompt": "Is this harmless? $ARGUMENTS Answer."});
    let hooks = json!({"PreToolUse": group("Bash", prompt)});
    let server = server(WireFormat::Anthropic)
        .side_model("small")
        .side_reply(
            ScriptedTurn::new().text(r#"{"ok":false,"reason":"the model would rather not"}"#),
        )
        .side_reply(ScriptedTurn::new().text(r#"{"ok":true}"#))
        .side_reply(ScriptedTurn::new().text("I think it is fine"))
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
fn a_call_that_is_refused_as_hopeless_is_refused() {
    let prompt = json!({"type": "prompt", "prompt": "Is this harmless?"});
    let agent = json!({"type": "agent", "prompt": "Is this harmless?"});
    let no = || ScriptedTurn::new().text(r#"{"ok":false,"reason":"never","impossible":true}"#);
    for hook in [prompt, agent] {
        let server = scripted(vec![bash("touch a"), done()]);
        server.push_side(no());
        server.push_fork(no());
        let (home, server, output) = go(server, json!({"PreToolUse": group("Bash", hook)}));
        output.success();
        assert!(last(&server, 1).contains("Bash was not run: never"), "{}", last(&server, 1));
        assert!(!home.project().join("a").exists());
        let asked = server.side_requests().into_iter().chain(server.fork_requests());
        assert!(asked.into_iter().all(|request| !request.text().contains("impossible")));
    }
}

#[test]
fn a_model_keeps_another_from_stopping_unless_it_can_not_be_helped() {
    let prompt = json!({"type": "prompt", "prompt": "Are the tests green?", "model": "small"});
    let server = server(WireFormat::OpenAi)
        .side_model("small")
        .side_reply(ScriptedTurn::new().text(r#"{"ok":false,"reason":"they are red"}"#))
        .side_reply(
            ScriptedTurn::new().text(r#"{"ok":false,"reason":"no tests","impossible":true}"#),
        )
        .replies(vec![ScriptedTurn::new().text("finished"), done()])
        .start();
    let (_, server, output) = go(server, json!({"Stop": group("", prompt)}));
    assert_eq!(output.success().stdout.trim(), "done");
    assert!(server.requests()[1].last_message().to_string().contains("they are red"));
    assert!(output.stderr.contains("asks for something impossible (ignored)"), "{}", output.stderr);
    server.finish();
}

#[test]
fn an_agent_looks_around_first() {
    let prompt = json!({"type": "agent", "prompt": "Does notes.txt forbid this?"});
    let hooks = json!({"PreToolUse": group("Bash", prompt)});
    let server = scripted(vec![bash("touch a"), done()]);
    server.push_fork(ScriptedTurn::new().call("r", "Read", r#"{"file_path":"notes.txt"}"#));
    server.push_fork(ScriptedTurn::new().call("w", "Write", r#"{"file_path":"x","content":"x"}"#));
    server.push_fork(
        ScriptedTurn::new().text(r#"{"ok": false, "reason": "notes.txt says no touching"}"#),
    );
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
fn each_kind_has_its_time() {
    needs!("python");
    let slow = |mut handler: Value| {
        // Long enough for a busy machine to start and send all four.
        handler["timeout"] = json!(5);
        handler
    };
    let server = server(WireFormat::Anthropic)
        .side_model("small")
        .side_reply(
            Reply::from(ScriptedTurn::new().text("{}"))
                .stop_after(1)
                .then(dormouse_testkit::End::Hang),
        )
        .replies(vec![bash("touch a"), done()])
        .start();
    server.push_fork(
        Reply::from(ScriptedTurn::new().text("{}")).stop_after(1).then(dormouse_testkit::End::Hang),
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
    let timed_out = |text: &str| output.stderr.matches(text).count();
    assert_eq!(timed_out("timed out after 5 s (ignored)"), 3, "{}", output.stderr);
    assert_eq!(timed_out("ignored: timed out after 5 s"), 1, "{}", output.stderr);
    server.finish();
}
