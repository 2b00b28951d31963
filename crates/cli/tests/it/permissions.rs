//! What a headless run permits: reading, what rules and modes allow, and nothing else.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::Value;

use crate::program::{ask, dormouse, server};

/// Runs one call under these flags; gives the result that the model was told.
fn result_of(home: &TestHome, flags: &[&str], tool: &str, input: &str) -> String {
    let server = server(WireFormat::Anthropic)
        .reply(
            ScriptedTurn::new()
                .call("r", "Read", r#"{"file_path":"a.txt"}"#)
                .call("t", tool, input),
        )
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let mut home_command = ask(home, &["go"]);
    home_command.args(flags).env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "k");
    home_command.env("DORMOUSE_MODEL", server.model());
    home.run(&mut home_command).success();
    let body = server.requests()[1].json();
    let results =
        body["messages"].as_array().unwrap().last().unwrap()["content"].as_array().unwrap().clone();
    server.finish();
    results[1]["content"].as_str().unwrap().to_owned()
}

fn home() -> TestHome {
    let home = TestHome::new();
    home.write("a.txt", "one\ntwo\n");
    home
}

#[test]
fn commands_that_only_read_run_and_others_do_not() {
    let home = home();
    assert_eq!(result_of(&home, &[], "Bash", r#"{"command":"wc -l a.txt"}"#), "2 a.txt");
    let refused = result_of(&home, &[], "Bash", r#"{"command":"touch harm"}"#);
    assert!(
        refused.contains("Bash was not run")
            && refused.contains("--allowed-tools 'Bash(touch harm)'"),
        "{refused}"
    );
    assert!(!home.project().join("harm").exists());
}

/// The first of two commands gets its input only once the second one has: one after the other, it would time out.
#[test]
fn commands_that_only_read_run_side_by_side() {
    let home = TestHome::new();
    let pipes = ["first", "second"].map(|name| home.project().join(name));
    let made = std::process::Command::new("mkfifo").args(&pipes).status().unwrap();
    assert!(made.success());
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("f", "Bash", r#"{"command":"cat first"}"#).call(
            "s",
            "Bash",
            r#"{"command":"cat second"}"#,
        ))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let [first, second] = pipes;
    let feeding = std::thread::spawn(move || {
        std::fs::write(second, "two").unwrap();
        std::fs::write(first, "one").unwrap();
    });
    let mut command = ask(&home, &["go"]);
    command.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "k");
    home.run(command.env("DORMOUSE_MODEL", server.model())).success();
    let body = server.requests()[1].json();
    let results = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!([&results[0]["content"], &results[1]["content"]], ["one", "two"]);
    feeding.join().unwrap();
    server.finish();
}

#[test]
fn rules_and_modes_permit_more() {
    let home = home();
    result_of(
        &home,
        &["--allowed-tools", "Bash(touch:*)"],
        "Bash",
        r#"{"command":"touch by-rule"}"#,
    );
    assert!(home.project().join("by-rule").exists());
    let edit = r#"{"file_path":"a.txt","old_string":"two","new_string":"2"}"#;
    let refused = result_of(&home, &[], "Edit", edit);
    assert!(refused.contains("Edit was not run"), "{refused}");
    assert_eq!(home.read("a.txt"), "one\ntwo\n");
    result_of(&home, &["--permission-mode", "acceptEdits"], "Edit", edit);
    assert_eq!(home.read("a.txt"), "one\n2\n");
    let hook = r#"{"file_path":".git/hooks/pre-commit","content":"touch harm"}"#;
    let refused = result_of(&home, &["--permission-mode", "accept-edits"], "Write", hook);
    assert!(refused.contains("files there configure programs"), "{refused}");
    result_of(&home, &["--permission-mode", "bypass"], "Bash", r#"{"command":"touch by-mode"}"#);
    assert!(home.project().join("by-mode").exists());
    let flags = ["--permission-mode", "bypass", "--disallowed-tools", "Bash(touch:*)"];
    result_of(&home, &flags, "Bash", r#"{"command":"touch denied"}"#);
    assert!(!home.project().join("denied").exists());
}

#[test]
fn a_verdict_without_running_anything() {
    let home = home();
    let check = |arguments: &[&str]| -> Value {
        let mut all = vec!["permissions", "check"];
        all.extend(arguments);
        all.push("--json");
        let run = home.run(&mut dormouse(&home, &all));
        let verdict: Value = serde_json::from_str(&run.stdout).unwrap();
        let code = match verdict["verdict"].as_str() {
            Some("allow") => 0,
            Some("ask") => 3,
            _ => 4,
        };
        run.expect_code(code);
        verdict
    };
    assert_eq!(check(&["MemorySave", "{}"])["verdict"], "allow");
    assert_eq!(check(&["mcp__a__b", "{}"])["verdict"], "ask");
    let verdict = check(&["Bash", "git diff"]);
    assert_eq!(
        (&verdict["verdict"], &verdict["read_only"]),
        (&Value::from("allow"), &Value::from(true))
    );
    let verdict = check(&["Bash", "find . -delete"]);
    assert_eq!(
        (&verdict["verdict"], &verdict["read_only"]),
        (&Value::from("ask"), &Value::from(false))
    );
    assert!(verdict["why"].as_str().unwrap().contains("-delete"), "{verdict}");
    assert!(home.project().join("a.txt").exists());
    assert_eq!(check(&["Edit", "a.txt"])["verdict"], "ask");
    assert_eq!(check(&["Edit", "a.txt", "--permission-mode", "plan"])["verdict"], "deny");
    assert_eq!(check(&["Read", "a.txt"])["verdict"], "allow");
    let output = home.run(&mut dormouse(&home, &["permissions", "check", "Teleport", "x"]));
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("tools: Bash, BashOutput"), "{}", output.stderr);
    std::fs::create_dir_all(home.dormouse_home()).unwrap();
    let settings = r#"{"permissions":{"deny":["Read(a.txt)"],"allow":["Bash(make:*)"]}}"#;
    std::fs::write(home.dormouse_home().join("settings.json"), settings).unwrap();
    assert_eq!(check(&["Read", "a.txt"])["verdict"], "deny");
    assert_eq!(check(&["Bash", "make all"])["verdict"], "allow");
}

#[test]
fn a_rule_that_is_none_is_said() {
    let home = home();
    let output = home.run(&mut ask(&home, &["--allowed-tools", "Bash(", "hi"]));
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("is not a rule"), "{}", output.stderr);
}

/// A request leaves the machine, so it asks; one to this machine needs a rule that names it.
#[test]
fn fetching_needs_a_rule() {
    let page = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", page.local_addr().unwrap());
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = page.accept().unwrap();
        let _request = stream.read(&mut [0; 4096]).unwrap();
        let body = "<p>nuts: 52";
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}", body.len());
        write!(stream, "{head}\r\n\r\n{body}").unwrap();
    });
    let result = |flags: &[&str]| {
        let home = TestHome::new();
        home.write("a.txt", "");
        let input = serde_json::json!({ "url": url }).to_string();
        result_of(&home, flags, "WebFetch", &input)
    };
    let denied = result(&[]);
    assert!(denied.contains("--allowed-tools 'WebFetch(domain:127.0.0.1)'"), "{denied}");
    let refused = result(&["--allowed-tools", "WebFetch"]);
    assert!(refused.contains("which is not a public address"), "{refused}");
    let fetched = result(&["--allowed-tools", "WebFetch(domain:127.0.0.1)"]);
    assert!(fetched.ends_with("nuts: 52"), "{fetched}");
}

/// Whoever reads the answer learns what it was made without, and a rule for no tool is said.
#[test]
fn a_denial_is_told_to_the_person_too() {
    let mut home = home();
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("t", "Bash", r#"{"command":"touch harm"}"#))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    home.use_server(&server);
    let flags = ["--output-format", "json", "--disallowed-tools", "Reed(.env)", "go"];
    let output = home.run(&mut ask(&home, &flags));
    let summary: Value = serde_json::from_str(&output.success().stdout).unwrap();
    assert_eq!(summary["permission_denials"][0]["tool_input"]["command"], "touch harm");
    assert!(output.stderr.contains("--allowed-tools 'Bash(touch harm)'"), "{}", output.stderr);
    assert!(
        output.stderr.contains("names an unknown tool (did you mean `Read`?)"),
        "{}",
        output.stderr
    );
    server.finish();
}

/// Arguments that do not fit are no question, and grant nothing.
#[test]
fn a_call_that_would_fail_is_not_asked_about() {
    let home = home();
    let text = result_of(&home, &[], "Bash", r#"{"commands":"ls"}"#);
    assert!(text.contains("invalid arguments"), "{text}");
}
