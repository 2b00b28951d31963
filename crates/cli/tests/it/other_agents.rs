//! The first session in a repository: what other agents know about it is offered, shown, imported and taken back.

use std::fs;

use dormouse_base::ProjectSlug;
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::json as value;

use crate::memory_cli::{json, memory, names};
use crate::program::server;
use crate::talk::{leave, say, talk, wait_for_prompt};

const TABS: &str =
    "---\nname: tabs\ndescription: tabs are four wide\ntype: feedback\n---\n\nUse tabs.\n";
const RULE: &str = "---\ndescription: 提交信息\nglobs: *.rs\n---\n\n提交信息用中文写。\n";

/// A repository that three agents have worked in.
fn known_to_others(home: TestHome) -> TestHome {
    home.git(&["init", "-q"]);
    let slug = ProjectSlug::of(&home.project().canonicalize().unwrap());
    let claude = home.user_home().join(".claude/projects").join(slug.as_str()).join("memory");
    fs::create_dir_all(&claude).unwrap();
    fs::write(claude.join("feedback_tabs.md"), TABS).unwrap();
    fs::write(claude.join("MEMORY.md"), "- [Tabs](feedback_tabs.md)\n").unwrap();
    let codex = home.user_home().join(".codex/memories");
    fs::create_dir_all(&codex).unwrap();
    let project = home.project().canonicalize().unwrap();
    let groups = format!(
        "# Task Group: releases\nscope: cutting a release\napplies_to: cwd={}; reuse_rule=safe\n\n\
         ## Reusable knowledge\n- tags are signed\n\n\
         # Task Group: elsewhere\nscope: x\napplies_to: cwd=/elsewhere\n## Reusable knowledge\n- y\n",
        project.display()
    );
    fs::write(codex.join("MEMORY.md"), groups).unwrap();
    fs::create_dir_all(home.project().join(".cursor/rules")).unwrap();
    fs::write(home.project().join(".cursor/rules/commits.mdc"), RULE).unwrap();
    home
}

#[test]
fn memories_of_other_agents_are_listed_imported_and_taken_back() {
    let home = known_to_others(TestHome::new());
    let listed = json(&home, &["import"], 0);
    let found: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| (agent["agent"].as_str().unwrap(), agent["memories"].clone()))
        .collect();
    assert_eq!(
        found,
        [
            ("claude-code", value!([{"name": "tabs", "description": "tabs are four wide"}])),
            ("codex", value!([{"name": "releases", "description": "cutting a release"}])),
            ("cursor", value!([{"name": "commits", "description": "提交信息"}])),
        ]
    );
    assert_eq!(json(&home, &["list"], 0), value!([]), "listing imports nothing");
    let text = memory(&home, &["import"]).success().stderr.clone();
    assert!(text.contains("`dormouse memory import --from codex` imports them"), "{text}");
    for agent in ["claude-code", "codex", "cursor"] {
        memory(&home, &["import", "--from", agent]).success();
    }
    let mut all = names(&json(&home, &["list"], 0));
    all.sort();
    assert_eq!(all, ["commits", "releases", "tabs"]);
    let shown = memory(&home, &["show", "commits"]).success().stdout.clone();
    assert!(shown.contains("For files: *.rs") && shown.contains("提交信息用中文写。"), "{shown}");
    // The memory directory of the other agent is as it was, and a second import adds nothing.
    let again = memory(&home, &["import", "--from", "claude-code"]).success().stderr.clone();
    assert!(again.contains("0 imported, 1 already known"), "{again}");
    memory(&home, &["undo"]).success();
    assert_eq!(names(&json(&home, &["list"], 0)).len(), 2, "one import is one change");
}

#[test]
fn an_agent_that_knows_nothing_is_an_error_that_says_where_it_looked() {
    let home = TestHome::new();
    let output = memory(&home, &["import", "--from", "cursor"]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(output.stderr.contains("Cursor has no memories about this project"));
    assert!(output.stderr.contains(".cursor/rules"), "{}", output.stderr);
    let none = memory(&home, &["import"]).success().stderr.clone();
    assert!(none.contains("no other agent has memories"), "{none}");
    let both = memory(&home, &["import", "x.json", "--from", "codex"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
}

#[test]
fn the_first_session_offers_it_once() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("Hello.")).start();
    let home = known_to_others(TestHome::new().with_server(&server));
    let mut terminal = talk(&home, &[], (100, 30));
    wait_for_prompt(&terminal);
    let screen = terminal.screen();
    assert!(screen.contains("/init has an AGENTS.md written"), "{screen}");
    assert!(screen.contains("Claude Code (1), Codex (1), Cursor (1)"), "{screen}");
    say(&mut terminal, "/memory import", "releases: cutting a release");
    say(&mut terminal, "/memory import --from codex", "1 imported");
    say(&mut terminal, "hi", "Hello.");
    leave(terminal);
    server.finish();
    let terminal = talk(&home, &[], (100, 30));
    wait_for_prompt(&terminal);
    let screen = terminal.screen();
    assert!(!screen.contains("New here") && !screen.contains("Other agents"), "{screen}");
    leave(terminal);
}
