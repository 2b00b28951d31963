//! Setting other agents up, and taking it back: to the byte, and around what somebody else changed.

use std::path::PathBuf;

use dormouse_testkit::{Output, TestHome};

use crate::program::dormouse;

fn setup(home: &TestHome, arguments: &[&str]) -> Output {
    let mut command = dormouse(home, &["setup", "--program", "dormouse"]);
    home.run(command.args(arguments))
}

/// An agent, a file of its, and texts that it may have: comments, odd formatting, nothing at all.
fn cases() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let json = vec![
        "{}",
        "{}\n",
        "{ }",
        "",
        "\n",
        "{\n  \"theme\": \"dark\"\n}\n",
        "{\"theme\":\"dark\",\"mcpServers\":{\"a\":{\"command\":\"a\"}}}",
        "{\n\t// my servers\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"a\"}, // one\n\t\t/* two */ \"b\": {\"command\": \"b\"},\n\t},\n}\n",
        "{\r\n    \"mcpServers\": {\r\n    },\r\n    \"x\": [1, 2,],\r\n}\r\n",
        "\u{feff}{\n  \"mcpServers\": {}, \"text\": \"a } \\\" { // no comment\"\n}",
        "// first\n{ /* empty */ }\n// last\n",
    ];
    let toml = vec![
        "",
        "model = \"x\"",
        "# comment\nmodel = \"x\" # odd\n\n[mcp_servers.a]\ncommand = \"a\"\n",
        "[a]\r\nb = 1\r\n",
    ];
    let yaml = vec![
        "",
        "GOOSE_MODEL: x\n",
        "# mine\nextensions:\n  a:\n    type: builtin   # odd\n    name: a\n\nGOOSE_MODEL: x\n",
        "extensions:\n    a:\n        type: builtin\nz: 1",
        "extensions:",
    ];
    vec![
        ("claude-code", ".claude.json", json.clone()),
        ("claude-code", ".claude/settings.json", {
            let mut texts = json.clone();
            texts.push("{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"beep\"}]}\n    ]\n  }\n}\n");
            texts
        }),
        ("codex", ".codex/config.toml", toml),
        ("gemini-cli", ".gemini/settings.json", json.clone()),
        ("opencode", ".config/opencode/opencode.jsonc", json.clone()),
        ("goose", ".config/goose/config.yaml", yaml),
        ("cursor", ".cursor/mcp.json", json.clone()),
        ("vscode", ".vscode/mcp.json", json),
    ]
}

fn path(home: &TestHome, agent: &str, file: &str) -> PathBuf {
    if agent == "vscode" { home.project().join(file) } else { home.user_home().join(file) }
}

#[test]
fn what_is_put_in_is_taken_out_to_the_byte() {
    let home = TestHome::new();
    for (agent, file, texts) in cases() {
        let path = path(&home, agent, file);
        for text in texts {
            home.write(&path, text);
            setup(&home, &[agent, "--yes"]).success();
            let changed = home.read(&path);
            assert!(changed.contains("dormouse"), "{agent}: {text:?}");
            assert!(changed.len() > text.len());
            setup(&home, &[agent, "--yes"]).success();
            assert_eq!(home.read(&path), changed, "a second time changes nothing");
            setup(&home, &[agent, "--undo", "--yes"]).success();
            assert_eq!(home.read(&path), text, "{agent}: {changed}");
        }
    }
}

#[test]
fn a_file_that_was_not_there_goes_again() {
    let home = TestHome::new();
    for (agent, file, _) in cases() {
        let path = path(&home, agent, file);
        assert!(!path.exists());
        setup(&home, &[agent, "--yes"]).success();
        let made = if agent == "opencode" { path.with_extension("json") } else { path };
        assert!(made.exists(), "{agent}");
        setup(&home, &[agent, "--undo", "--yes"]).success();
        assert!(!made.exists(), "{agent}");
    }
}

#[test]
fn after_somebody_else_only_our_lines_go() {
    let home = TestHome::new();
    let file = home.user_home().join(".gemini/settings.json");
    // Somebody adds a server beside ours, in an object that we made, and an option to ours.
    home.write(&file, "{\n  // mine\n  \"theme\": \"dark\"\n}\n");
    setup(&home, &["gemini-cli", "--yes"]).success();
    let ours = r#"{"args":["mcp"],"command":"dormouse"}"#;
    let theirs = home.read(&file).replace(
        ours,
        r#"{"args":["mcp"],"command":"dormouse","trust":true}, "b": {"command": "b"}"#,
    );
    home.write(&file, theirs);
    setup(&home, &["gemini-cli", "--undo", "--yes"]).success();
    assert_eq!(
        home.read(&file),
        "{\n  \"mcpServers\": { \"b\": {\"command\": \"b\"}},\n  // mine\n  \"theme\": \"dark\"\n}\n"
    );
    // Somebody puts theirs before ours, which is then the last and has a comma before it.
    home.write(&file, "{\"mcpServers\":{}}");
    setup(&home, &["gemini-cli", "--yes"]).success();
    home.write(&file, format!("{{\"mcpServers\":{{\"b\":1, \"dormouse\": {ours}}}}}"));
    setup(&home, &["gemini-cli", "--undo", "--yes"]).success();
    assert_eq!(home.read(&file), "{\"mcpServers\":{\"b\":1}}");
    let toml = home.user_home().join(".codex/config.toml");
    home.write(&toml, "model = \"x\"\n");
    setup(&home, &["codex", "--yes"]).success();
    let theirs =
        home.read(&toml) + "env = { A = \"b\" }\n\n# theirs\n[mcp_servers.b]\ncommand = \"b\"\n";
    home.write(&toml, theirs);
    setup(&home, &["codex", "--undo", "--yes"]).success();
    let left = home.read(&toml);
    assert!(
        left.starts_with("model = \"x\"\n")
            && left.ends_with("# theirs\n[mcp_servers.b]\ncommand = \"b\"\n"),
        "{left}"
    );
    assert!(!left.contains("dormouse"), "{left}");
    let yaml = home.user_home().join(".config/goose/config.yaml");
    home.write(&yaml, "extensions:\n  a:\n    name: a\nz: 1\n");
    setup(&home, &["goose", "--yes"]).success();
    let theirs = home.read(&yaml).replace("timeout: 300", "timeout: 10\n    extra: true");
    home.write(&yaml, theirs);
    setup(&home, &["goose", "--undo", "--yes"]).success();
    assert_eq!(home.read(&yaml), "extensions:\n  a:\n    name: a\nz: 1\n");
    let hooks = home.user_home().join(".claude/settings.json");
    setup(&home, &["claude-code", "--yes"]).success();
    let beep = r#"{"hooks":[{"command":"beep","type":"command"}]}"#;
    let theirs = home.read(&hooks).replace("\"Stop\": [", &format!("\"Stop\": [{beep}, "));
    home.write(&hooks, theirs);
    setup(&home, &["claude-code", "--undo", "--yes"]).success();
    let left: serde_json::Value = serde_json::from_str(&home.read(&hooks)).unwrap();
    assert_eq!(left["hooks"]["Stop"].to_string(), format!("[{beep}]"), "{left}");
    assert!(!left.to_string().contains("dormouse"), "{left}");
}

#[test]
fn what_was_put_in_at_different_times_goes_together() {
    let home = TestHome::new();
    let hooks = home.user_home().join(".claude/settings.json");
    setup(&home, &["claude-code", "--yes"]).success();
    let mut text: serde_json::Value = serde_json::from_str(&home.read(&hooks)).unwrap();
    text["hooks"].as_object_mut().unwrap().remove("Stop").unwrap();
    home.write(&hooks, serde_json::to_string_pretty(&text).unwrap());
    setup(&home, &["claude-code", "--yes"]).success();
    assert_eq!(home.read(&hooks).matches("dormouse hook ").count(), 3);
    setup(&home, &["claude-code", "--undo", "--yes"]).success();
    assert!(!home.read(&hooks).contains("dormouse"), "{}", home.read(&hooks));
}

/// The added lines of a preview, without their signs.
fn added_lines(preview: &str) -> String {
    let added = preview.lines().filter_map(|line| line.strip_prefix("+ "));
    added.collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_happens_unasked() {
    let home = TestHome::new();
    let file = home.user_home().join(".cursor/mcp.json");
    home.write(&file, r#"{"mcpServers":{"a":{"env":{"KEY":"s3cret"}}}}"#);
    let before = home.read(&file);
    let shown = setup(&home, &["cursor"]);
    shown.expect_code(2);
    assert!(shown.stderr.contains("--yes"), "{}", shown.stderr);
    let preview: serde_json::Value = serde_json::from_str(&added_lines(&shown.stdout)).unwrap();
    assert_eq!(preview["mcpServers"]["dormouse"]["command"], "dormouse");
    assert!(!shown.stdout.contains("s3cret"), "what is not ours is not shown");
    assert_eq!(home.read(&file), before);
    // Several entries of one file are one JSON document.
    let shown = setup(&home, &["claude-code"]);
    let (_, hooks) = shown.stdout.split_once("settings.json").unwrap();
    let hooks: serde_json::Value = serde_json::from_str(&added_lines(hooks)).unwrap();
    assert_eq!(hooks["hooks"].as_object().unwrap().len(), 3, "{hooks}");
    // What was there before we came is not ours to take out.
    home.write(&file, r#"{"mcpServers":{"dormouse":{"command":"my-own"}}}"#);
    let before = home.read(&file);
    setup(&home, &["cursor", "--yes"]).success();
    setup(&home, &["cursor", "--undo", "--yes"]).success();
    assert_eq!(home.read(&file), before);
    for broken in
        ["{ \"a\": ", "[1]", "{\"mcpServers\": 5}", "{} {}", "{\"a\" 1}", "{\"mcpServers\": [}"]
    {
        home.write(&file, broken);
        let refused = setup(&home, &["cursor", "--yes"]);
        refused.expect_code(1);
        assert!(refused.stderr.contains("manually"), "{}", refused.stderr);
        assert_eq!(home.read(&file), broken);
    }
    setup(&home, &["emacs"]).expect_code(2);
    // A link to the file of somebody's collection stays one.
    let real = home.root().join("dotfiles.json");
    home.write(&real, "{}\n");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&real, &file).unwrap();
    setup(&home, &["cursor", "--yes"]).success();
    assert!(file.is_symlink() && home.read(&real).contains("dormouse"));
}

/// Extraction is asked for, with a provider; without it, `setup` says what will not happen. A program that is not found by its name
/// is written with its path.
#[test]
fn extraction_is_asked_for() {
    let home = TestHome::new();
    let hooks = path(&home, "claude-code", ".claude/settings.json");
    let plain = setup(&home, &["claude-code", "--yes"]);
    assert!(
        plain.success().stderr.contains("Nothing is learned from its sessions"),
        "{}",
        plain.stderr
    );
    let again = setup(&home, &["claude-code", "--yes", "--extract", "anthropic"]);
    assert!(again.success().stderr.contains("--undo` first"), "{}", again.stderr);
    setup(&home, &["claude-code", "--yes", "--undo"]).success();
    let arguments =
        ["claude-code", "--yes", "--extract", "anthropic", "--extract-model", "claude-haiku-5-5"];
    let asked = setup(&home, &arguments);
    assert!(
        !asked.success().stderr.contains("Nothing is learned from its sessions"),
        "{}",
        asked.stderr
    );
    let written = home.read(&hooks);
    assert!(written.contains("dormouse hook stop extract anthropic claude-haiku-5-5"), "{written}");
    setup(&home, &["claude-code", "--yes", "--undo"]).success();
    let refused = setup(&home, &["codex", "--yes", "--extract", "anthropic"]);
    assert!(refused.stderr.contains("has no hooks"), "{}", refused.stderr);
    let unknown = setup(&home, &["claude-code", "--yes", "--extract", "nosuch"]);
    assert!(unknown.expect_code(2).stderr.contains("no provider `nosuch`"), "{}", unknown.stderr);
    let without_hooks = setup(&home, &["codex", "--yes"]);
    assert!(without_hooks.success().stderr.contains("it has no hooks"), "{}", without_hooks.stderr);
    setup(&home, &["codex", "--yes", "--undo"]).success();
    let mut command = dormouse(&home, &["setup", "claude-code", "--yes"]);
    let whole = home.run(&mut command);
    assert!(whole.success().stderr.contains("is not found by its name"), "{}", whole.stderr);
    let program = env!("CARGO_BIN_EXE_dormouse");
    assert!(home.read(&hooks).contains(&format!("{program} hook stop")), "{}", home.read(&hooks));
}
