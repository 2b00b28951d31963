//! `dormouse mcp add`, `remove` and `list`: they say what they did and where, and change nothing else.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::mcp_mean::entry;
use crate::program::{ask, dormouse, server};

fn mcp(home: &TestHome, arguments: &[&str]) -> Output {
    let arguments: Vec<&str> = std::iter::once("mcp").chain(arguments.iter().copied()).collect();
    home.run(&mut dormouse(home, &arguments))
}

fn contains(output: &Output, parts: &[&str]) {
    for part in parts {
        assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
    }
}

#[test]
fn what_is_not_there_is_not_taken_out() {
    let home = TestHome::new();
    home.git_init();
    let odd = r#"{"model":"m",  "mcpServers":{"mine":{"command":"x"}}}"#;
    let settings = home.project().join(".dormouse/settings.json");
    home.write(&settings, odd);
    home.write(home.project().join(".mcp.json"), r#"{"mcpServers":{"m":{"command":"x"}}}"#);
    home.write(
        home.dormouse_home().join("settings.json"),
        r#"{"mcpServers":{"m":{"command":"x"}}}"#,
    );
    let output = mcp(&home, &["remove", "m", "--scope", "project"]);
    output.expect_code(1);
    contains(
        &output,
        &[
            "there is no MCP server `m` in ",
            "dormouse mcp remove m --scope user",
            ".mcp.json: edit that file",
        ],
    );
    // A key of an entry is no server, and nobody makes a folder to find nothing in it.
    mcp(&home, &["remove", "mine.command", "--scope", "project"]).expect_code(1);
    mcp(&home, &["remove", "nosuch"]).expect_code(1);
    let local = mcp(&home, &["remove", "mine", "--scope", "local"]);
    local.expect_code(1);
    contains(&local, &["dormouse mcp remove mine --scope project"]);
    assert_eq!(home.read(&settings), odd);
    let gone = mcp(&home, &["remove", "mine", "--scope", "project"]);
    contains(&gone, &["Removed MCP server `mine` from ", "settings.json"]);
    gone.success();
    assert!(!home.read(&settings).contains("mine"));
}

#[test]
fn adding_says_where_and_what_became_of_the_old_one() {
    let home = TestHome::new();
    let settings = home.dormouse_home().join("settings.json");
    home.write(&settings, "{}");
    std::fs::set_permissions(&settings, std::fs::Permissions::from_mode(0o644)).unwrap();
    let file = settings.display().to_string();
    let added = mcp(&home, &["add", "m", "--", "x"]);
    contains(&added, &["Added MCP server `m` to ", &file]);
    assert!(!added.success().stderr.contains("trust"), "{}", added.stderr);
    contains(&mcp(&home, &["add", "m", "--", "x"]), &["already configured in"]);
    contains(&mcp(&home, &["add", "m", "--", "y"]), &["Replaced MCP server", &file]);
    home.run(&mut dormouse(&home, &["config", "set", "model", "z"])).success();
    assert_eq!(settings.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    let stray = mcp(&home, &["add", "plain", "python3", "x.py"]);
    stray.expect_code(2);
    contains(&stray, &["`dormouse mcp add plain -- python3 x.py`"]);
}

#[test]
fn what_waits_for_trust_says_so() {
    let home = TestHome::new();
    home.git_init();
    let file = json!({"mcpServers": {"theirs": entry("well")}});
    home.write(home.project().join(".mcp.json"), file.to_string());
    let listed = mcp(&home, &["list"]);
    let expected = "theirs: needs trust: run `dormouse permissions trust`";
    assert!(listed.success().stdout.contains(expected), "{}", listed.stdout);
    contains(
        &mcp(&home, &["add", "mine", "--scope", "project", "--", "x"]),
        &["after you trust this project"],
    );
    let listed = mcp(&home, &["list", "--json"]);
    let lines: Value = serde_json::from_str(&listed.success().stdout).unwrap();
    let mut waiting: Vec<(&str, &str)> = lines
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["name"].as_str().unwrap(), line["status"].as_str().unwrap()))
        .collect();
    waiting.sort_unstable();
    assert_eq!(waiting, [("mine", "untrusted"), ("theirs", "untrusted")]);
}

#[test]
fn a_server_that_is_left_out_is_listed_with_its_mistake() {
    let home = TestHome::new();
    let settings = "{\"mcpServers\": {\n\"web\": {\"url\": \"http://h\"}}}";
    home.write(home.dormouse_home().join("settings.json"), settings);
    let listed = mcp(&home, &["list"]);
    let stdout = &listed.success().stdout;
    assert!(stdout.starts_with("web: invalid entry: a `url` needs"), "{stdout}");
    assert!(stdout.contains("settings.json, line 2"), "{stdout}");
    // One that takes its time is waited for, and that is said.
    mcp(&home, &["add", "slow", "--", "sleep", "2"]).success();
    let listed = mcp(&home, &["list"]);
    contains(&listed, &["waiting for MCP servers"]);
    assert!(listed.success().stdout.contains("slow: not available: "), "{}", listed.stdout);
}

#[test]
fn of_what_the_command_line_sets_up_the_good_ones_load() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("one")).start();
    let home = TestHome::new().with_server(&server);
    let given = json!({"mcpServers": {"a": {}, "b": {"url": "http://h"}, "mean": entry("well")}});
    let output = home.run(&mut ask(&home, &["--mcp-config", &given.to_string(), "go"]));
    output.success();
    contains(&output, &["MCP server `a`: it has neither", "MCP server `b`: a `url` needs"]);
    assert!(server.requests()[0].tool_names().contains(&"mcp__mean__echo".to_owned()));
    let wrong = json!({"mcpServers": {"a": {}, "b": {"url": "http://h"}}}).to_string();
    let output = home.run(&mut ask(&home, &["--mcp-config", &wrong, "go"]));
    output.expect_code(2);
    contains(&output, &["MCP server `a`", "MCP server `b`"]);
    server.finish();
}

/// What git would offer to commit.
fn seen_by_git(home: &TestHome, folder: &Path) -> String {
    let folder = folder.display().to_string();
    home.git(&["-C", &folder, "status", "--porcelain", "--untracked-files=all"])
}

#[test]
fn settings_of_this_machine_stay_out_of_git() {
    let home = TestHome::new();
    home.git_init();
    let set = |folder: &Path, value: &str| {
        let mut command = dormouse(&home, &["config", "set", "model", value, "--scope", "local"]);
        home.run(command.current_dir(folder))
    };
    let project = home.project();
    let before = seen_by_git(&home, &project);
    let first = set(&project, "a");
    contains(&first, &["Added /.dormouse/settings.local.json to", "info/exclude"]);
    first.success();
    assert_eq!(seen_by_git(&home, &project), before);
    let exclude = project.join(".git/info/exclude");
    let list = home.read(&exclude);
    assert_eq!(list.matches("/.dormouse/settings.local.json\n").count(), 1, "{list}");
    assert!(!set(&project, "b").success().stderr.contains("git"));
    assert_eq!(home.read(&exclude), list);
    // Of a worktree it is the list of the repository, even where that ends without a line end.
    home.write(&exclude, "*.o");
    home.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    let tree = home.root().join("tree");
    home.git(&["worktree", "add", "-q", &tree.display().to_string()]);
    set(&tree, "c").success();
    assert_eq!(home.read(&exclude), "*.o\n/.dormouse/settings.local.json\n");
    assert!(!seen_by_git(&home, &tree).contains("settings.local.json"));
    // What the project passes over already, or keeps on purpose, is left as it is.
    home.write(&exclude, "");
    home.write(project.join(".gitignore"), "settings.local.json\n");
    set(&project, "d").success();
    assert_eq!(home.read(&exclude), "");
}
