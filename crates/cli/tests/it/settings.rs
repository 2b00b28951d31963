//! Layers of settings, where each value comes from, changing one, and the switches.

use dormouse_base::LayerSwitch;
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{ask, dormouse, server};

fn user_settings(home: &TestHome, text: &str) {
    home.write(home.dormouse_home().join("settings.json"), text);
}

/// What `config get --json` says: the value and who says so.
fn get(home: &TestHome, key: &str) -> (Value, String) {
    let output = home.run(&mut dormouse(home, &["config", "get", key, "--json"]));
    output.success();
    let entry: Value = serde_json::from_str(&output.stdout).unwrap();
    let origin = entry["origin"].as_str().unwrap().split(':').next().unwrap().to_owned();
    (entry["value"].clone(), origin)
}

#[test]
fn managed_over_command_line_over_local_over_project_over_user() {
    let mut home = TestHome::new();
    user_settings(&home, r#"{"model":"user","permissions":{"deny":["Read(a)"]}}"#);
    assert_eq!(get(&home, "model"), (json!("user"), "user".into()));
    home.write(
        ".dormouse/settings.json",
        r#"{"model":"project","permissions":{"deny":["Read(b)"]}}"#,
    );
    assert_eq!(get(&home, "model"), (json!("project"), "project".into()));
    home.write(".dormouse/settings.local.json", r#"{"model":"local"}"#);
    assert_eq!(get(&home, "model"), (json!("local"), "local".into()));
    assert_eq!(get(&home, "permissions.deny").0, json!(["Read(b)", "Read(a)"]));

    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("one"))
        .reply(ScriptedTurn::new().text("two"))
        .reply(ScriptedTurn::new().text("three"))
        .start();
    home.use_server(&server);
    home.unset_env("DORMOUSE_MODEL");
    let given = ["--settings", r#"{"model":"given"}"#, "hi"];
    home.run(&mut ask(&home, &["hi"])).success();
    server.expect_break("another model");
    home.run(&mut ask(&home, &given)).success();
    let managed = home.root().join("managed");
    home.write(managed.join("settings.json"), r#"{"model":"managed"}"#);
    home.set_env("DORMOUSE_TEST_MANAGED", &managed);
    server.expect_break("another model");
    home.run(&mut ask(&home, &given)).success();
    let models: Vec<Value> = server.requests().iter().map(|r| r.json()["model"].clone()).collect();
    assert_eq!(models, ["local", "given", "managed"]);
    assert_eq!(get(&home, "model"), (json!("managed"), "managed".into()));
    server.finish();
}

#[test]
fn a_value_is_changed_and_the_rest_stays() {
    let home = TestHome::new();
    let file = home.dormouse_home().join("settings.json");
    user_settings(&home, "{\n  \"smallModel\":   \"s\"\n}\n");
    let run = |arguments: &[&str]| home.run(&mut dormouse(&home, arguments));
    run(&["config", "set", "model", "5"]).success();
    run(&["config", "set", "layers.dream", "false"]).success();
    run(&["config", "set", "permissions.deny", r#"["Read(.env)"]"#, "--scope", "project"])
        .success();
    assert_eq!(
        home.read(&file),
        "{\n  \"smallModel\": \"s\",\n  \"model\": \"5\",\n  \"layers\": {\n    \"dream\": false\n  }\n}\n"
    );
    assert_eq!(get(&home, "permissions.deny"), (json!(["Read(.env)"]), "project".into()));
    assert_eq!(get(&home, "layers.dream"), (json!(false), "user".into()));
    run(&["config", "unset", "layers.dream"]).success();
    assert_eq!(get(&home, "layers.dream"), (json!(true), "default".into()));
    let plain = run(&["config", "get", "model"]);
    assert_eq!(plain.stdout, "5\n");

    let before = home.read(&file);
    for (arguments, said) in [
        (["config", "set", "modle", "x"], "did you mean `model`?"),
        (["config", "set", "layers.dream", "perhaps"], "expected true or false"),
        (["config", "set", "model.name", "x"], "is not an object"),
    ] {
        let output = run(&arguments);
        output.expect_code(2);
        assert!(output.stderr.contains(said), "{}", output.stderr);
        assert_eq!(home.read(&file), before);
    }
    let missing = run(&["config", "get", "smallModle"]);
    missing.expect_code(1);
    assert!(missing.stderr.contains("`smallModle` is not set"), "{}", missing.stderr);
}

#[test]
fn a_name_with_dots_is_one_name() {
    let home = TestHome::new();
    let run = |arguments: &[&str]| home.run(&mut dormouse(&home, arguments));
    run(&["config", "set", "contextWindows.gpt-5.4", "400000"]).success();
    run(&["config", "set", r#"prices."gpt-5.4""#, r#"{"input":1,"output":2}"#]).success();
    run(&["config", "set", "prices.gpt-5.4.input", "3"]).success();
    let file: Value =
        serde_json::from_str(&home.read(home.dormouse_home().join("settings.json"))).unwrap();
    let expected = json!({
        "contextWindows": {"gpt-5.4": 400_000},
        "prices": {"gpt-5.4": {"input": 3, "output": 2}}
    });
    assert_eq!(file, expected);
    assert_eq!(get(&home, "contextWindows.gpt-5.4"), (json!(400_000), "user".into()));
    let list = run(&["config"]);
    assert!(list.stdout.contains(r#"contextWindows."gpt-5.4"  "#), "{}", list.stdout);
    assert_eq!(get(&home, r#"prices."gpt-5.4".output"#).0, json!(2));
    run(&["config", "unset", "prices.gpt-5.4"]).success();
    assert!(!home.read(home.dormouse_home().join("settings.json")).contains("prices"));
}

#[test]
fn defaults_are_shown_where_nothing_is_set() {
    let home = TestHome::new();
    assert_eq!(get(&home, "cacheEdits.above"), (json!(20), "default".into()));
    user_settings(&home, r#"{"cacheEdits":{"above":7}}"#);
    assert_eq!(get(&home, "cacheEdits.above"), (json!(7), "user".into()));
    assert_eq!(get(&home, "cacheEdits.keep"), (json!(5), "default".into()));
    let list = |arguments: &[&str]| home.run(&mut dormouse(&home, arguments)).stdout;
    let all = list(&["config", "list", "--all"]);
    let lines: Vec<String> = all.lines().map(words).collect();
    assert!(lines.contains(&"snip.toPercent 60 (default)".to_owned()), "{all}");
    assert!(lines.iter().filter(|line| line.starts_with("cacheEdits.above ")).count() == 1);
    assert!(!list(&["config"]).contains("snip.toPercent"));
}

fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_listed_names_every_switch_and_its_origin() {
    let mut home = TestHome::new();
    user_settings(&home, r#"{"layers":{"recall":false},"env":{"A":"b"}}"#);
    home.set_env("DORMOUSE_COLLAPSE", "on");
    let list = home.run(&mut dormouse(&home, &["config"]));
    list.success();
    for switch in LayerSwitch::ALL {
        assert!(list.stdout.contains(&format!("layers.{} ", switch.name())), "{}", list.stdout);
    }
    let line = |key: &str| words(list.stdout.lines().find(|line| line.starts_with(key)).unwrap());
    assert_eq!(line("layers.recall "), "layers.recall false (user)");
    assert_eq!(line("layers.collapse "), "layers.collapse true (DORMOUSE_COLLAPSE)");
    assert!(line("env.A ").starts_with("env.A b (user: "));
    home.set_env("DORMOUSE_COLLAPSE", "perhaps");
    let wrong = home.run(&mut dormouse(&home, &["config"]));
    wrong.expect_code(2);
    assert!(wrong.stderr.contains("DORMOUSE_COLLAPSE is `perhaps`"), "{}", wrong.stderr);
}

#[test]
fn results_are_cut_where_storing_is_off() {
    let mut home = TestHome::new();
    home.set_env("DORMOUSE_STORED_RESULTS", "0");
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("t", "Bash", r#"{"command":"seq 20000"}"#))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    home.use_server(&server);
    user_settings(&home, r#"{"tools":{"resultChars":{"Bash":5000}}}"#);
    home.run(&mut ask(&home, &["go"])).success();
    let last = server.requests()[1].json()["messages"].as_array().unwrap().last().unwrap().clone();
    let text = last["content"][0]["content"].as_str().unwrap();
    assert!(text.contains("switched off") && text.len() < 6_000, "{}", text.len());
    server.finish();
}

#[test]
fn the_published_schema_is_the_one_in_force() {
    let home = TestHome::new();
    let printed = home.run(&mut dormouse(&home, &["config", "schema"]));
    printed.success();
    let file =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.schema.json");
    let published = std::fs::read_to_string(file).unwrap();
    assert_eq!(printed.stdout, published);
}

#[test]
fn every_setting_and_switch_is_documented() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manual = std::fs::read_to_string(root.join("docs/configuration.md")).unwrap();
    let schema: Value = serde_json::from_str(
        &std::fs::read_to_string(root.join("docs/settings.schema.json")).unwrap(),
    )
    .unwrap();
    for key in schema["properties"].as_object().unwrap().keys() {
        assert!(manual.contains(&format!("`{key}")), "{key} is not in docs/configuration.md");
    }
    for switch in LayerSwitch::ALL {
        assert!(manual.contains(&format!("`{}`", switch.name())), "{} is missing", switch.name());
    }
}

#[test]
fn what_means_nothing_is_not_set() {
    let home = TestHome::new();
    let run = |arguments: &[&str]| home.run(&mut dormouse(&home, arguments));
    for (key, value, scope, said) in [
        ("permissions.defaultMode", "sometimes", "user", "not `sometimes`"),
        ("permissions.allow", r#"["Bash("]"#, "user", "is not a rule"),
        ("hooks.PreToolUse", "x", "user", "a list of matchers"),
        ("provider.baseUrl", "http://evil", "project", "cannot be set by a project"),
    ] {
        let output = run(&["config", "set", key, value, "--scope", scope]);
        output.expect_code(2);
        assert!(
            output.stderr.contains(said) && output.stderr.contains("nothing was changed"),
            "{}",
            output.stderr
        );
    }
    assert!(!home.dormouse_home().join("settings.json").exists());
    let list = "[]";
    user_settings(&home, list);
    let broken = run(&["config"]);
    broken.expect_code(2);
    assert!(broken.stderr.contains("settings are a JSON object"), "{}", broken.stderr);
}

#[test]
fn setting_something_in_a_trusted_project_keeps_the_trust() {
    let home = TestHome::new();
    let hooks = r#"{"hooks":{"Stop":[{"hooks":[{"command":"true"}]}]}}"#;
    home.write(".dormouse/settings.json", hooks);
    let run = |arguments: &[&str]| home.run(&mut dormouse(&home, arguments));
    run(&["permissions", "trust", "--yes"]).success();
    run(&["config", "set", "layers.dream", "false", "--scope", "project"]).success();
    assert_eq!(run(&["permissions", "trust"]).success().stdout, "Already trusted.\n");
    let said = run(&["config", "set", "env.A", "b", "--scope", "project"]);
    assert!(
        said.success().stderr.contains("you made this change, so it is trusted"),
        "{}",
        said.stderr
    );
    assert_eq!(run(&["permissions", "trust"]).success().stdout, "Already trusted.\n");
}
