//! A team's memory in sessions: what the team turned off, hooks, tokens from a command, runs without a terminal.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::{Value, json};

use crate::memory_cli::{add, json as memory_json};
use crate::program::{dormouse, server, wait_until};
use crate::recall_turn::recalled;
use crate::talk::{leave, talk};
use crate::team::{HTTPS, SSH, TeamServer, team};

const RUNNER: [&str; 6] =
    ["--type", "project", "--scope", "team", "--body", "The CI runner needs Docker 24."];

fn set(home: &TestHome, settings: &Value) {
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
}

fn config(home: &TestHome, key: &str) -> Value {
    let output = home.run(&mut dormouse(home, &["config", "list", "--json"]));
    let entries: Value = serde_json::from_str(&output.success().stdout).unwrap();
    entries.as_array().unwrap().iter().find(|entry| entry["key"] == key).cloned().unwrap()
}

/// T-13: a layer that the team turned off is off at every member's, whatever they set, until the team turns it on.
#[test]
fn a_layer_that_the_team_turned_off_is_off() {
    let team_server = TeamServer::start();
    let owner = team_server.member("admin", "owner", HTTPS);
    let mut ana = team_server.member("Ana", "write", SSH);
    let model = server(WireFormat::Anthropic).start();
    ana.use_server(&model);
    add(&ana, "CI runner", &RUNNER);
    team(&owner, &["layers", "--off", "recall", "--off", "dream"]).success();
    set(&ana, &json!({"layers": {"recall": true}}));
    assert_eq!(config(&ana, "layers.recall")["value"], true, "not before Ana hears of it");
    let synced = team(&ana, &["sync"]).success().stdout.clone();
    assert!(synced.contains("recall, dream"), "{synced}");
    let recall = config(&ana, "layers.recall");
    assert_eq!(recall["value"], false);
    assert!(recall["origin"].as_str().unwrap().starts_with("team: http://"), "{recall}");
    let ask = |ana: &TestHome| {
        model.push(ScriptedTurn::new().text("Docker 24."));
        let prompt = "which docker does the CI runner need?";
        ana.run(&mut dormouse(ana, &["-p", prompt])).success();
        model.requests().last().unwrap().text()
    };
    assert!(!ask(&ana).contains("The CI runner needs Docker 24."));
    for name in ["team", "memory"] {
        let refused = team(&owner, &["layers", "--off", name]);
        refused.expect_code(1);
        assert!(refused.stderr.contains("cannot be off for everybody"), "{}", refused.stderr);
    }
    team(&owner, &["layers", "--none"]).success();
    team(&ana, &["sync"]).success();
    assert_eq!(config(&ana, "layers.recall")["value"], true);
    assert!(ask(&ana).contains("The CI runner needs Docker 24."));
}

/// A run without a terminal sends what it saved before it ends, and hooks are told.
#[test]
fn a_headless_run_sends_what_it_saved_and_hooks_are_told() {
    let team_server = TeamServer::start();
    let ben = team_server.member("Ben", "write", HTTPS);
    let mut ana = team_server.member("Ana", "write", SSH);
    let model = server(WireFormat::Anthropic).start();
    ana.use_server(&model);
    let told = ana.root().join("synced.jsonl");
    let command = format!("cat >> {}; echo >> {}", told.display(), told.display());
    set(
        &ana,
        &json!({
            "hooks": {"TeamSynced": [{"hooks": [{"type": "command", "command": command}]}]},
            "memory": {"policy": [{"writer": "model", "scope": "team", "rule": "auto"}]},
        }),
    );
    let save = json!({
        "name": "Docker", "description": "which docker the runner needs", "type": "project",
        "scope": "team", "content": "The CI runner needs Docker 24.",
    });
    model.push(ScriptedTurn::new().call("save", "MemorySave", save.to_string()));
    model.push(ScriptedTurn::new().text("Saved."));
    let prompt = "remember for the team: the CI runner needs Docker 24";
    ana.run(&mut dormouse(&ana, &["-p", prompt])).success();
    let saved = memory_json(&ana, &["list", "--scope", "team"], 0);
    assert_eq!(saved[0]["name"], "Docker", "{}", model.requests().last().unwrap().text());
    let log = team(&ben, &["log"]).success().stdout.clone();
    assert!(log.contains("Ana  docker.md"), "{log}");

    let session = talk(&ana, &[], (24, 80));
    add(&ben, "CI runner", &RUNNER);
    team(&ben, &["sync"]).success();
    let events = || -> Vec<Value> {
        let text = std::fs::read_to_string(&told).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    let pulled = json!([{"memory": "ci-runner.md", "author": "Ben"}]);
    wait_until("the hook is told", || events().iter().any(|event| event["pulled"] == pulled));
    let events = events();
    let event = events.iter().find(|event| event["pulled"] == pulled).unwrap();
    assert_eq!(
        (&event["hook_event_name"], &event["repository"]),
        (&json!("TeamSynced"), &json!("host.example/owner/repo"))
    );
    leave(session);
}

/// `team.keyCommand` prints the token: none is stored, and a failing command is named.
#[test]
fn a_command_can_print_the_token() {
    let team_server = TeamServer::start();
    let token = team_server.token("Ana", "write");
    let home = TestHome::new();
    home.git_init();
    home.git(&["remote", "add", "origin", SSH]);
    let file = home.root().join("ring");
    home.write(file.clone(), &token);
    let use_command = |command: &str| set(&home, &json!({"team": {"keyCommand": command}}));
    use_command(&format!("cat {}", file.display()));
    team(&home, &["join", &team_server.url]).success();
    team(&home, &["sync"]).success();
    let kept = crate::memory_cli::files_below(&home.dormouse_home());
    assert!(kept.iter().all(|(_, bytes)| !bytes.windows(4).any(|part| part == b"dmt_")));
    use_command("echo locked >&2; exit 1");
    let refused = team(&home, &["sync"]);
    refused.expect_code(2);
    assert!(
        refused.stderr.contains("`team.keyCommand` printed no key: locked"),
        "{}",
        refused.stderr
    );
    assert!(memory_json(&home, &["list"], 0).as_array().unwrap().is_empty());
}

/// T-16: a note by somebody else that contradicts the user's own memory says so, in both languages.
#[test]
fn a_contradiction_of_the_users_own_memory_is_said() {
    let team_server = TeamServer::start();
    let ben = team_server.member("Ben", "write", HTTPS);
    let mut ana = team_server.member("Ana", "write", SSH);
    let model = server(WireFormat::Anthropic).start();
    ana.use_server(&model);
    let cases = [
        (
            "Staging deployments",
            "Deployments to staging run on Fridays.",
            "Deployments to staging do not run on Fridays.",
            "do deployments to staging run on Fridays?",
        ),
        (
            "提交前格式化",
            "提交前要运行格式化脚本。",
            "提交前不要运行格式化脚本。",
            "提交前要运行格式化脚本吗？",
        ),
        (
            "CI runner",
            "The CI runner needs Docker 24.",
            "The CI runner needs a large disk.",
            "which docker does the CI runner need?",
        ),
    ];
    for (name, theirs, own, _) in cases {
        add(&ben, name, &["--type", "project", "--scope", "team", "--body", theirs]);
        add(
            &ana,
            &format!("{name} 2"),
            &["--type", "project", "--scope", "project", "--body", own],
        );
    }
    team(&ben, &["sync"]).success();
    team(&ana, &["sync"]).success();
    for (name, theirs, _, prompt) in cases {
        model.push(ScriptedTurn::new().text("Yes."));
        ana.run(&mut dormouse(&ana, &["-p", prompt])).success();
        let shown = recalled(model.requests().last().unwrap());
        let said = shown.iter().map(|(_, text)| text).find(|text| text.contains(theirs));
        let said = said.unwrap_or_else(|| panic!("{name} is not recalled: {shown:?}"));
        let expected = name != "CI runner";
        assert_eq!(said.contains("It contradicts the user's own memory"), expected, "{said}");
    }
}
