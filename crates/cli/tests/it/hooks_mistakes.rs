//! Every mistake in a hook is told with its file, its line and the reason; the others run. And `dormouse hooks`.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::{Value, json};

use crate::hooks_contract::{bash, done, group, last, scripted, settings};
use crate::program::{ask, dormouse, server};
use crate::talk::{leave, say, talk};

/// A mistake in the third line of `hooks`, and what is said of it.
const MISTAKES: &[(&str, &str)] = &[
    (
        r#""PreTolUse": [{"hooks": []}]"#,
        "hooks.PreTolUse: unknown event (did you mean `PreToolUse`?)",
    ),
    (r#""Nothing": []"#, "hooks.Nothing: unknown event"),
    (r#""TeammateIdle": []"#, "hooks.TeammateIdle: this event never happens here: agent teams"),
    (r#""MessageDisplay": []"#, "hooks.MessageDisplay: this event never happens here"),
    (r#""Stop": {"hooks": []}"#, "hooks.Stop: expected a list of matchers with hooks"),
    (r#""Stop": [5]"#, "hooks.Stop[0]: expected an object with `hooks`"),
    (r#""Stop": [{"matcher": "x"}]"#, "hooks.Stop[0]: missing field `hooks`"),
    (r#""Stop": [{"hooks": {}}]"#, "hooks.Stop[0]: invalid type: map, expected a sequence"),
    (r#""Stop": [{"matcher": "(", "hooks": []}]"#, "hooks.Stop[0].matcher: regex parse error"),
    (
        r#""Stop": [{"matcher": 5, "hooks": []}]"#,
        "hooks.Stop[0]: invalid type: integer `5`, expected a string",
    ),
    (
        r#""Stop": [{"hooks": ["true"]}]"#,
        "hooks.Stop[0].hooks[0]: expected an object with `type` and its fields",
    ),
    (
        r#""Stop": [{"hooks": [{"type": "comand", "command": "x"}]}]"#,
        "hooks.Stop[0].hooks[0]: unknown kind `comand` (did you mean `command`?)",
    ),
    (
        r#""Stop": [{"hooks": [{"type": "mcp_tool", "server": "x"}]}]"#,
        "hooks.Stop[0].hooks[0]: `tool` is missing",
    ),
    (
        r#""Stop": [{"hooks": [{"type": "command"}]}]"#,
        "hooks.Stop[0].hooks[0]: `command` is missing",
    ),
    (
        r#""Stop": [{"hooks": [{"type": "prompt", "prompt": " "}]}]"#,
        "hooks.Stop[0].hooks[0]: `prompt` is missing",
    ),
    (r#""Stop": [{"hooks": [{"type": "agent"}]}]"#, "hooks.Stop[0].hooks[0]: `prompt` is missing"),
    (r#""Stop": [{"hooks": [{"type": "http"}]}]"#, "hooks.Stop[0].hooks[0]: `url` is missing"),
    (
        r#""Stop": [{"hooks": [{"type": "http", "url": "ftp://x"}]}]"#,
        "hooks.Stop[0].hooks[0]: `url`: `ftp://x` does not start with http",
    ),
    (
        r#""Stop": [{"hooks": [{"command": "x", "timeout": -1}]}]"#,
        "hooks.Stop[0].hooks[0]: `timeout`: -1 is not a valid number of seconds",
    ),
    (
        r#""Stop": [{"hooks": [{"command": "x", "timeout": "long"}]}]"#,
        "hooks.Stop[0].hooks[0]: invalid type: string \"long\"",
    ),
    (
        r#""Stop": [{"hooks": [{"command": "x", "shell": "fish"}]}]"#,
        "hooks.Stop[0].hooks[0]: `shell`: expected bash, sh or powershell, not `fish`",
    ),
    (
        r#""Stop": [{"hooks": [{"command": "x", "args": "y"}]}]"#,
        "hooks.Stop[0].hooks[0]: invalid type: string \"y\"",
    ),
    (
        r#""Stop": [{"hooks": [{"command": "x", "if": "Bash(x)"}]}]"#,
        "hooks.Stop[0].hooks[0]: `if` works only for tool events, and `Stop` is not one",
    ),
    (
        r#""PreToolUse": [{"hooks": [{"command": "x", "if": "Bash("}]}]"#,
        "hooks.PreToolUse[0].hooks[0]: `if`: `Bash(` is not a rule",
    ),
    (
        r#""SessionStart": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]"#,
        "hooks.SessionStart[0].hooks[0]: `SessionStart` runs only hooks of the kinds `command` and `mcp_tool`, not `prompt`",
    ),
];

fn with_settings(text: &str) -> TestHome {
    let home = TestHome::new();
    home.write(home.dormouse_home().join("settings.json"), text);
    home
}

#[test]
fn each_mistake_is_told_with_its_file_and_line_and_the_others_run() {
    for (mistake, said) in MISTAKES {
        let good = r#""UserPromptSubmit": [{"hooks": [{"command": "touch ran"}]}]"#;
        let home = with_settings(&format!("{{\n \"hooks\": {{\n  {mistake},\n  {good}\n }}\n}}"));
        let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("done")).start();
        let home = home.with_server(&server);
        let output = home.run(&mut ask(&home, &["go"]));
        output.success();
        let file = home.dormouse_home().join("settings.json");
        let expected = format!("user settings, {}, line 3, {said}", file.display());
        assert!(output.stderr.contains(&expected), "{expected}\n{}", output.stderr);
        assert!(home.project().join("ran").exists(), "{mistake}");
        server.finish();
    }
}

/// A file of settings that is no JSON, or whose hooks are no object, stops the program, as any other mistake of that
/// kind in it does.
#[test]
fn a_file_that_is_not_json_is_named_with_its_line() {
    for (text, said) in
        [("{\n \"hooks\": {,}\n}", "line 2, column"), ("{\n \"hooks\": []\n}", "line 2, column")]
    {
        let home = with_settings(text);
        let output = home.run(&mut dormouse(&home, &["hooks"]));
        output.expect_code(2);
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
}

fn listed(home: &TestHome, arguments: &[&str]) -> Vec<Value> {
    let output = home.run(&mut dormouse(home, &[&["hooks", "--json"], arguments].concat()));
    let all: Value = serde_json::from_str(&output.success().stdout).unwrap();
    all["hooks"].as_array().unwrap().clone()
}

const SETTINGS: &str = r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash|Write",
        "hooks": [
          {"type": "command", "command": "./check.sh", "timeout": 30},
          {"type": "prompt", "prompt": "well?", "if": "Bash(git push:*)"},
          {"type": "command", "command": "./check.sh", "timeout": 30}
        ]
      },
      {"matcher": "Edit", "hooks": [{"type": "http", "url": "http://localhost:1/", "async": true}]}
    ],
    "Stop": [{"hooks": [{"command": "true"}]}]
  }
}"#;

#[test]
fn what_would_run_is_listed_with_the_reason() {
    let home = with_settings(SETTINGS);
    let project = json!({"hooks": {"PreToolUse": [{"hooks": [{"command": "theirs"}]}]}});
    home.write(".dormouse/settings.json", project.to_string());
    let push = r#"{"command":"git push"}"#;
    let all = listed(&home, &["PreToolUse", "--tool", "Bash", "--input", push]);
    let seen: Vec<(Value, Value, Value)> = all
        .iter()
        .map(|hook| (hook["kind"].clone(), hook["line"].clone(), hook["why_not"].clone()))
        .collect();
    let file = home.dormouse_home().join("settings.json");
    let twin = format!("duplicate of {}:7", file.display());
    assert_eq!(
        seen,
        [
            (json!("command"), json!(7), Value::Null),
            (json!("prompt"), json!(8), Value::Null),
            (json!("command"), json!(9), json!(twin)),
            (json!("http"), json!(12), json!("its matcher `Edit` does not match `Bash`")),
            (json!("command"), json!(1), json!("the project is not trusted")),
        ]
    );
    assert_eq!(
        (&all[0]["timeout_seconds"], &all[1]["timeout_seconds"]),
        (&json!(30.0), &json!(30.0))
    );
    assert_eq!(
        (&all[0]["origin"], &all[4]["origin"]),
        (&json!("user settings"), &json!("project settings"))
    );
    let ls = listed(&home, &["PreToolUse", "--tool", "Bash", "--input", r#"{"command":"ls"}"#]);
    assert_eq!(ls[1]["why_not"], "its `if` `Bash(git push:*)` does not match the call");
    assert_eq!(listed(&home, &[]).len(), 6);
    assert_eq!(listed(&home, &["Stop"]).len(), 1);
    let off = listed(&home, &["Stop", "--settings", r#"{"disableAllHooks":true}"#]);
    assert_eq!(off[0]["why_not"], "`disableAllHooks` is set");
    let text = home.run(&mut dormouse(&home, &["hooks", "Stop"]));
    let expected = format!(
        "Stop: command `true` (matcher *, 600 s; user settings, {}:14): runs\n",
        file.display()
    );
    assert_eq!(text.success().stdout, expected);
    let wrong = home.run(&mut dormouse(&home, &["hooks", "stop"]));
    assert!(wrong.expect_code(2).stderr.contains("did you mean `Stop`?"), "{}", wrong.stderr);
}

#[test]
fn nobody_else_silences_a_hook_by_setting_it_as_well() {
    let server = scripted(vec![bash("touch never"), done()]);
    let mut home = TestHome::new().with_server(&server);
    let managed = home.root().join("managed");
    home.set_env("DORMOUSE_TEST_MANAGED", &managed);
    let no = json!({"command": "echo 'the house says no' >&2; exit 2"});
    let mut later = no.clone();
    later["async"] = json!(true);
    settings(&home, json!({"PreToolUse": group("Bash", later)}));
    let theirs = json!({"hooks": {"PreToolUse": group("Bash", no)}});
    home.write(managed.join("settings.json"), theirs.to_string());
    home.run(&mut ask(&home, &["go"])).success();
    assert!(
        last(&server, 1).contains("Bash was not run: the house says no"),
        "{}",
        last(&server, 1)
    );
    assert!(!home.project().join("never").exists());
    let all = listed(&home, &["PreToolUse", "--tool", "Bash"]);
    assert!(all.iter().all(|hook| hook["why_not"].is_null()), "{all:?}");
    server.finish();
}

#[test]
fn managed_hooks_alone_run_where_the_organisation_says_so() {
    let mut home = with_settings(r#"{"hooks":{"Stop":[{"hooks":[{"command":"mine"}]}]}}"#);
    let managed = home.root().join("managed");
    home.set_env("DORMOUSE_TEST_MANAGED", &managed);
    let text =
        r#"{"allowManagedHooksOnly":true,"hooks":{"Stop":[{"hooks":[{"command":"ours"}]}]}}"#;
    home.write(managed.join("settings.json"), text);
    let all = listed(&home, &["Stop"]);
    assert_eq!(
        (&all[0]["what"], &all[0]["why_not"]),
        (&json!("mine"), &json!("`allowManagedHooksOnly` is set"))
    );
    assert_eq!((&all[1]["what"], &all[1]["runs"]), (&json!("ours"), &json!(true)));
}

#[test]
fn the_conversation_shows_its_hooks() {
    let server = server(WireFormat::Anthropic).start();
    let home = with_settings(r#"{"hooks":{"Stop":[{"hooks":[{"command":"my-check"}]}]}}"#)
        .with_server(&server);
    let mut terminal = talk(&home, &[], (150, 40));
    say(&mut terminal, "/hooks", "my-check");
    assert!(terminal.screen().contains("Stop"), "{}", terminal.screen());
    leave(terminal);
    server.finish();
}

#[test]
fn asked_about_an_event_that_is_none_it_lists_those_that_are() {
    let home = TestHome::new();
    let output = home.run(&mut dormouse(&home, &["hooks", "Nope"]));
    output.expect_code(2);
    for part in ["`Nope`: unknown event", "events: ", "PreToolUse, ", "SessionEnd"] {
        assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
    }
}
