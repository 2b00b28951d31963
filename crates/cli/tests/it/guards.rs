//! From a memory to a guard: shown whole, put in on consent, taken out without a trace.

use std::path::PathBuf;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::memory::{add, memory};
use crate::program::{ask, dormouse, server};
use crate::talk::{leave, talk, wait_for_prompt};

const RULE: &str = "Bash(git * push * --force:*)";

fn settings(home: &TestHome) -> PathBuf {
    home.dormouse_home().join("settings.json")
}

/// A rule that the user wrote.
fn forbid(home: &TestHome, name: &str, body: &str) -> String {
    add(home, name, &["--type", "feedback", "--scope", "user", "--body", body])
}

fn guard(home: &TestHome, arguments: &[&str]) -> Output {
    let mut all = vec!["guard"];
    all.extend(arguments);
    memory(home, &all)
}

fn guards(home: &TestHome) -> Value {
    serde_json::from_str(&guard(home, &["--json"]).success().stdout).unwrap()
}

fn bytes(home: &TestHome) -> Option<Vec<u8>> {
    std::fs::read(settings(home)).ok()
}

/// Odd, and none of our business.
const FILES: &[Option<&str>] = &[
    None,
    Some(""),
    Some("{}"),
    Some("{ }\n"),
    Some("{\"model\" :\"m\" ,\"permissions\": {\"deny\":[ ] }}"),
    Some(
        "{\r\n\t\"permissions\": {\r\n\t\t\"deny\": [\r\n\t\t\t\"Read(.env)\"\r\n\t\t]\r\n\t}\r\n}\r\n",
    ),
    Some("{\n  \"hooks\": {\"Stop\": []},\n     \"env\":{\"A\":\"1.50\"}   }"),
    Some("\u{feff}{\"permissions\":{\"allow\":[\"Bash(ls:*)\"]}}"),
];

#[test]
fn what_was_put_in_is_taken_out_to_the_byte() {
    for before in FILES {
        let home = TestHome::new();
        forbid(&home, "No force push", "Never run `git push --force`.");
        forbid(&home, "Pnpm", "Use `pnpm`, never `npm`. Don't edit `gen/`, either.");
        forbid(&home, "Mocks", "Never mock the database in tests.");
        if let Some(text) = before {
            home.write(settings(&home), text);
        }
        let before = bytes(&home);
        let files = ["no-force-push.md", "pnpm.md", "mocks.md"];
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            for file in files {
                guard(&home, &[file, "--install"]).success();
            }
            let value: Value =
                serde_json::from_str(home.read(settings(&home)).trim_start_matches('\u{feff}'))
                    .unwrap();
            let denied = value["permissions"]["deny"].as_array().unwrap();
            for rule in [RULE, "Bash(npm:*)", "Edit(gen/**)"] {
                assert!(denied.contains(&rule.into()), "{rule}: {value}");
            }
            assert_eq!(value["hooks"]["PreToolUse"][0]["matcher"], "Bash|Edit|Write");
            let listed = guards(&home);
            assert_eq!(listed["guards"].as_array().unwrap().len(), 3);
            assert!(
                listed["guards"].as_array().unwrap().iter().all(|guard| guard["in_force"] == true)
            );
            for at in order {
                guard(&home, &[files[at], "--remove"]).success();
            }
            assert_eq!(bytes(&home), before, "{order:?}");
        }
        assert_eq!(guards(&home), json!({"offers": [], "guards": []}));
    }
}

#[test]
fn what_somebody_else_changed_meanwhile_stays() {
    let home = TestHome::new();
    forbid(&home, "No force push", "Never run `git push --force`.");
    forbid(&home, "Pnpm", "Use `pnpm`, never `npm`.");
    home.write(settings(&home), "{\"model\":\"m\"}");
    guard(&home, &["no-force-push.md", "--install"]).success();
    guard(&home, &["pnpm.md", "--install"]).success();
    // Made pretty by an editor, with a rule more and another model.
    let value: Value = serde_json::from_str(&home.read(settings(&home))).unwrap();
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    let pretty = pretty
        .replace("\"Bash(npm:*)\"", "\"Bash(npm:*)\",\n      \"Read(.env)\"")
        .replace("\"m\"", "\"n\"");
    home.write(settings(&home), &pretty);
    guard(&home, &["no-force-push.md", "--remove"]).success();
    guard(&home, &["pnpm.md", "--remove"]).success();
    let after: Value = serde_json::from_str(&home.read(settings(&home))).unwrap();
    assert_eq!(after, json!({"model": "n", "permissions": {"deny": ["Read(.env)"]}}));

    // A rule that the user had already is linked, and stays theirs.
    home.write(settings(&home), "{\"permissions\":{\"deny\":[\"Bash(npm:*)\"]}}");
    let before = bytes(&home);
    let shown = guard(&home, &["pnpm.md"]);
    assert!(shown.stdout.contains("= permissions.deny: \"Bash(npm:*)\""), "{}", shown.stdout);
    guard(&home, &["pnpm.md", "--install"]).success();
    guard(&home, &["pnpm.md", "--remove"]).success();
    assert_eq!(bytes(&home), before);

    // Two memories may rest on one rule.
    forbid(&home, "Npm again", "Never use `npm`.");
    home.write(settings(&home), "{}");
    guard(&home, &["pnpm.md", "--install"]).success();
    guard(&home, &["npm-again.md", "--install"]).success();
    guard(&home, &["pnpm.md", "--remove"]).success();
    assert!(home.read(settings(&home)).contains("Bash(npm:*)"));
    guard(&home, &["npm-again.md", "--remove"]).success();
    assert_eq!(home.read(settings(&home)), "{}");
}

#[test]
fn a_file_that_is_no_settings_is_not_touched() {
    let home = TestHome::new();
    forbid(&home, "No force push", "Never run `git push --force`.");
    guard(&home, &["no-force-push.md", "--install"]).success();
    for broken in ["{\"model\":", "[]", "{\"permissions\": 5}"] {
        home.write(settings(&home), broken);
        for option in ["--install", "--remove"] {
            let output = guard(&home, &["no-force-push.md", option]);
            assert_ne!(output.code, Some(0), "{broken}");
            assert!(output.stderr.contains("the file"), "{}", output.stderr);
            assert_eq!(home.read(settings(&home)), broken);
        }
    }
    // Mended, it can be taken out; what is gone is gone.
    home.write(settings(&home), "{}");
    let output = guard(&home, &["no-force-push.md", "--remove"]);
    assert!(
        output.success().stderr.contains("Some of its lines were missing already"),
        "{}",
        output.stderr
    );
    assert_eq!(home.read(settings(&home)), "{}");
}

#[test]
fn a_guard_really_stops_the_command() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.git_init();
    forbid(&home, "No force push", "Never run `git push --force`.");
    let call =
        |line: &str| ScriptedTurn::new().call("b", "Bash", json!({ "command": line }).to_string());
    let run = |line: &str| {
        if !server.requests().is_empty() {
            server.expect_break("another session");
        }
        server.push(call(line));
        server.push(ScriptedTurn::new().text("done"));
        home.run(&mut ask(&home, &["--permission-mode", "bypass", "do the thing"])).success();
        server.requests().last().unwrap().text()
    };
    assert!(!run("git push origin main --force").contains("denies it"));
    guard(&home, &["no-force-push.md", "--install"]).success();
    let told = run("git push origin main --force");
    assert!(told.contains(&format!("the rule `{RULE}` denies it")));
    assert!(run("git -C . push --force").contains("denies it"), "options of git itself");
    assert!(!run("git push --force-with-lease").contains("denies it"));
    guard(&home, &["no-force-push.md", "--remove"]).success();
    assert!(!run("git push origin main --force").contains("denies it"));
    server.finish();
}

#[test]
fn a_rule_without_a_command_is_said_when_it_comes_up() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let body = "Never mock the database in tests: $(touch smuggled) `touch smuggled` \"; touch smuggled; \" ' \\ \n{\"a\":1}";
    forbid(&home, "Mocks", body);
    let shown = guard(&home, &["mocks.md"]).success().stdout.clone();
    assert!(shown.contains("--remind") && !shown.contains("smuggled"), "{shown}");
    guard(&home, &["mocks.md", "--install"]).success();
    let edit = json!({"file_path": "tests/db.rs", "content": "let database = mock();"}).to_string();
    server.push(ScriptedTurn::new().call("w", "Write", edit));
    server.push(ScriptedTurn::new().text("done"));
    let said = ["--permission-mode", "bypass", "please write something for the orders"];
    let mut command = ask(&home, &said);
    command.env("DORMOUSE_RECALL", "0");
    home.run(&mut command).success();
    let requests = server.requests();
    let rule = "The user had to say this several times";
    assert!(!requests[0].text().contains(rule));
    assert!(requests[1].text().contains(rule));
    // And with the user's own words.
    server.expect_break("another session");
    server.push(ScriptedTurn::new().text("done"));
    let mut command = ask(&home, &["may I mock the database of the orders?"]);
    command.env("DORMOUSE_RECALL", "0");
    home.run(&mut command).success();
    assert!(server.requests()[2].text().contains(rule));
    assert!(!home.project().join("smuggled").exists());
    server.finish();
}

/// What the guard has brought is not recalled once more.
#[test]
fn a_guard_and_recall_bring_a_memory_once() {
    let body = "Never mock the database in tests: use the container.";
    let prompt = "Never mock the database in tests?";
    for (has_guard, expected) in [(false, "Memory (saved "), (true, "The user had to say this")] {
        let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("done")).start();
        let home = TestHome::new().with_server(&server);
        forbid(&home, "Never mock the database in tests", body);
        if has_guard {
            guard(&home, &["never-mock-the-database-in-tests.md", "--install"]).success();
        }
        home.run(&mut ask(&home, &[prompt])).success();
        let text = server.single_request().text();
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.matches("use the container").count(), 1, "{text}");
        server.finish();
    }
}

#[test]
fn a_project_keeps_its_guards_to_itself_and_away_from_the_shared_file() {
    let home = TestHome::new();
    home.git_init();
    home.write(".dormouse/settings.json", "{}");
    add(
        &home,
        "Generated",
        &["--type", "feedback", "--scope", "project", "--body", "Never edit `gen/api.ts` by hand."],
    );
    let shown = guard(&home, &["generated.md", "--json"]).success().stdout.clone();
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["installed"], false);
    assert!(
        shown["settings"].as_str().unwrap().ends_with(".dormouse/settings.local.json"),
        "{shown}"
    );
    guard(&home, &["generated.md", "--install"]).success();
    let check = ["permissions", "check", "Write", "gen/api.ts"];
    assert!(home.run(&mut dormouse(&home, &check)).stdout.starts_with("deny"));
    assert_eq!(home.read(".dormouse/settings.json"), "{}");
    guard(&home, &["generated.md", "--remove"]).success();
    assert!(!home.project().join(".dormouse/settings.local.json").exists());
    assert!(!home.run(&mut dormouse(&home, &check)).stdout.starts_with("deny"));
}

#[test]
fn a_guard_outlasts_its_memory_and_that_is_told() {
    let home = TestHome::new();
    let path = forbid(&home, "No force push", "Never run `git push --force`.");
    let doctor = || home.run(&mut dormouse(&home, &["doctor", "--offline"])).stdout;
    guard(&home, &["no-force-push.md", "--install"]).success();
    assert!(doctor().contains("`No force push`, in "), "{}", doctor());
    home.write(settings(&home), "{}");
    assert!(doctor().contains("guard `No force push` is missing from"), "{}", doctor());
    guard(&home, &["no-force-push.md", "--remove"]).success();
    guard(&home, &["no-force-push.md", "--install"]).success();
    let removed = memory(&home, &["rm", "no-force-push.md"]);
    let how = format!(
        "Its guard is still active. To remove it, run `dormouse memory guard {path} --remove`."
    );
    assert!(removed.stderr.contains(&how), "{}", removed.stderr);
    assert!(doctor().contains("is active, but its memory no longer exists"), "{}", doctor());
    guard(&home, &[&path, "--remove"]).success();
    assert_eq!(home.read(settings(&home)), "{}");
    let output = guard(&home, &[&path, "--remove"]);
    assert_eq!(output.code, Some(1));
}

/// Counts corrections as sessions would.
fn corrected(home: &TestHome, server: &dormouse_testkit::ScriptedServer, times: usize) -> Output {
    let save = |number: usize| {
        let save = json!({
            "name": "No force push", "description": "what it is about", "type": "feedback",
            "content": format!("Never run `git push --force`. {number}"), "file": "no-force-push.md",
        });
        ScriptedTurn::new().call("m", "MemorySave", save.to_string())
    };
    if !server.requests().is_empty() {
        server.expect_break("another session");
    }
    server.push(ScriptedTurn::new().text("yes"));
    home.run(&mut ask(home, &["may I run git push --force?"])).success();
    let mut last = None;
    for number in 0..times {
        server.push(save(number));
        server.push(ScriptedTurn::new().text("sorry"));
        let output = home.run(&mut ask(home, &["--continue", "no, as I said before"]));
        output.success();
        last = Some(output);
    }
    last.unwrap()
}

#[test]
fn a_refused_guard_is_offered_again_after_three_more() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    forbid(&home, "No force push", "Never run `git push --force`.");
    let offered = |output: &Output| output.stderr.contains("times corrected");
    assert!(!offered(&corrected(&home, &server, 2)));
    assert!(offered(&corrected(&home, &server, 1)));
    let before = bytes(&home);
    guard(&home, &["no-force-push.md", "--refuse"]).success();
    assert_eq!(bytes(&home), before);
    assert_eq!(guards(&home)["offers"], json!([]));
    assert!(!offered(&corrected(&home, &server, 2)));
    let output = corrected(&home, &server, 1);
    assert!(output.stderr.contains("6 times corrected: No force push"), "{}", output.stderr);
    assert_eq!(guards(&home)["offers"][0]["violated"], 6);
    // In force, it is offered no more.
    guard(&home, &["no-force-push.md", "--install"]).success();
    assert!(!offered(&corrected(&home, &server, 1)));
    guard(&home, &["no-force-push.md", "--remove"]).success();
    assert_eq!(bytes(&home), before);
    server.finish();
}

#[test]
fn while_talking_the_guard_is_shown_and_asked_about() {
    let save = |number: u32| {
        let save = json!({
            "name": "No force push", "description": "what it is about", "type": "feedback",
            "content": format!("Never run `git push --force`. {number}"), "file": "no-force-push.md",
        });
        ScriptedTurn::new().call("m", "MemorySave", save.to_string())
    };
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.git_init();
    forbid(&home, "No force push", "Never run `git push --force`.");
    let mut terminal = talk(&home, &["--permission-mode", "bypass"], (120, 50));
    server.push(ScriptedTurn::new().text("first answer"));
    crate::talk::say(&mut terminal, "may I run git push --force?", "first answer");
    for number in 1..=3 {
        server.push(save(number));
        server.push(ScriptedTurn::new().text(format!("sorry {number}")));
        crate::talk::say(&mut terminal, "no, as I said before", &format!("sorry {number}"));
    }
    terminal.wait_for_text(
        "3 times corrected: No force push — `/guard no-force-push.md` shows a guard",
    );
    wait_for_prompt(&terminal);
    terminal.enter("/guard No force push");
    terminal.wait_for_text("Install this guard? [y/N]");
    let shown = terminal.all_rows().join("\n");
    assert!(shown.contains(&format!("+   \"permissions\": {{\"deny\": [\"{RULE}\"]}}")), "{shown}");
    assert!(!settings(&home).exists());
    terminal.enter("y");
    terminal.wait_for_text("Guard installed.");
    wait_for_prompt(&terminal);
    assert!(home.read(settings(&home)).contains(RULE));
    // Here too, at once.
    server.push(ScriptedTurn::new().call(
        "b",
        "Bash",
        json!({"command": "git push --force"}).to_string(),
    ));
    server.push(ScriptedTurn::new().text("I may not"));
    crate::talk::say(&mut terminal, "do it all the same", "I may not");
    assert!(server.requests().last().unwrap().text().contains("denies it"));
    crate::talk::say(&mut terminal, "/guard no-force-push.md --remove", "Guard removed");
    assert!(!settings(&home).exists());
    leave(terminal);
    server.finish();
}
