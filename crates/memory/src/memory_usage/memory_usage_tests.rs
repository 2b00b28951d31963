//! What turns say about memories, and what rules forbid.

use super::*;
use crate::anchor::Anchor;

fn memory(name: &str, body: &str) -> MemoryInContext {
    MemoryInContext {
        file: "rule.md".into(),
        name: name.into(),
        description: String::new(),
        kind: Some(MemoryType::Feedback),
        body: body.into(),
        anchors: Vec::new(),
        arrival: ContextTiming::BeforeTurn,
        updated: false,
    }
}

fn effect(memory: &MemoryInContext, turn: &TurnActivity) -> TurnUsage {
    assess_usage(std::slice::from_ref(memory), turn)[0]
}

fn answer(text: &str) -> TurnActivity {
    TurnActivity { answers: vec![text.into()], ..TurnActivity::default() }
}

fn command(text: &str) -> TurnActivity {
    TurnActivity { commands: vec![text.into()], ..TurnActivity::default() }
}

#[test]
fn an_answer_cites_what_it_names_or_quotes() {
    let body = "Ships land at the east quay because the west quay is being dredged until May.";
    let cited = |name: &str, said: &str| effect(&memory(name, body), &answer(said)).cited;
    for (said, expected) in [
        ("As rule.md says.", true),
        ("See `/home/me/memory/rule.md`: east.", true),
        ("See other-rule.md, rule.mdx and rule.md.bak.", false),
        ("They LAND at the east quay, because the west quay is closed.", true),
        ("They land at the east quay, because west is closed.", false),
        ("The Quay of East says so.", true),
        ("The quay of the east says so.", false),
        ("", false),
    ] {
        assert_eq!(cited("Quay of East", said), expected, "{said}");
    }
    // A name that people say anyway is no citation.
    assert!(!cited("Quay", "The quay is closed."));
    assert!(cited("QUAY-7", "By quay-7."));
    let chinese = memory("发布", "发布之前必须先在预演环境里完整跑一遍所有的迁移脚本。");
    assert!(effect(&chinese, &answer("记得：发布之前必须先在预演环境里完整跑一遍。")).cited);
    assert!(!effect(&chinese, &answer("发布之前先跑一遍迁移脚本。")).cited);
}

#[test]
fn it_is_heeded_where_what_it_is_about_comes_up() {
    let mut quay = memory("Quay", "Ships land with `land_ships --slow`; the limit is MAX_SHIPS.");
    let heeded = |memory: &MemoryInContext, turn: &TurnActivity| effect(memory, turn).heeded;
    assert!(heeded(&quay, &command("grep -rn MAX_SHIPS .")));
    assert!(heeded(&quay, &command("./land_ships --slow 3")));
    assert!(!heeded(&quay, &command("sleep --slow 3")), "half of a command");
    assert!(!heeded(&quay, &command("ls quay")), "one plain word");
    quay.description = "where ships land".into();
    let edit =
        TurnActivity { words: vec!["fn landing(ship: Ship) {}".into()], ..TurnActivity::default() };
    assert!(heeded(&quay, &edit), "two plain words, by their stems");
    quay.anchors = Anchor::parse("src/quay.rs 0123456789abcdef").into_iter().collect();
    let read = |path: &str| TurnActivity { paths: vec![path.into()], ..TurnActivity::default() };
    assert!(heeded(&quay, &read("/home/me/app/src/quay.rs")));
    assert!(!heeded(&quay, &read("/home/me/app/src/other_quay.rs")));
    assert!(!heeded(&quay, &TurnActivity::default()));
}

#[test]
fn what_does_the_forbidden_heeds_nothing() {
    let rule =
        memory("No force", "Never run `git push --force`. Use `git push --force-with-lease`.");
    assert!(effect(&rule, &command("git push --force-with-lease")).heeded);
    assert!(!effect(&rule, &command("cd app && git push origin --force")).heeded);
}

#[test]
fn a_correction_counts_only_for_what_was_there_before() {
    let mut rule = memory("Tabs", "Indent with tabs, as `gofmt` does.");
    rule.updated = true;
    let turn = command("gofmt -w main.go");
    assert_eq!(effect(&rule, &turn), TurnUsage { violated: true, ..TurnUsage::default() });
    let came_with_it = MemoryInContext { arrival: ContextTiming::DuringTurn, ..rule.clone() };
    assert!(!effect(&came_with_it, &turn).violated && effect(&came_with_it, &turn).heeded);
    let about_the_project = MemoryInContext { kind: Some(MemoryType::Project), ..rule };
    assert!(!effect(&about_the_project, &turn).violated);
}

#[test]
fn rules_forbid_commands_and_paths() {
    let read = |text: &str| -> Vec<String> {
        let said = |found: Prohibition| {
            let firm = if found.firmness == Firmness::Never { "" } else { "? " };
            match found.thing {
                ProhibitedAction::Command(words) => format!("{firm}$ {}", words.join(" ")),
                ProhibitedAction::Path(path) => format!("{firm}{path}"),
            }
        };
        find_prohibitions("", text).into_iter().map(said).collect()
    };
    for (text, expected) in [
        ("Never run `git push --force`.", &["$ git push --force"][..]),
        ("never use git push --force on shared branches", &["$ git push --force"]),
        ("Don't run `git push --force` on main.", &["? $ git push --force"]),
        ("Use `pnpm`, never `npm` or `yarn add`.", &["$ npm", "$ yarn add"]),
        ("Use `uv` instead of `pip install`.", &["$ pip install"]),
        ("Do not use npm here", &["$ npm"]),
        ("不要运行 `rm -rf`。", &["$ rm -rf"]),
        ("禁止修改 `generated/api.ts`", &["generated/api.ts"]),
        ("别用 `sudo`", &["$ sudo"]),
        ("Never edit `src/generated/` or `Cargo.lock` by hand.", &["src/generated/", "Cargo.lock"]),
        ("Do not run `just deploy prod <tag>`", &["$ just deploy prod"]),
        ("Never run `npm install` without `--frozen-lockfile`.", &["? $ npm install"]),
        // What is asked for is not forbidden.
        ("Never commit without running `cargo test`.", &[]),
        ("Don't forget to run `cargo fmt`.", &[]),
        ("Never skip `cargo test`.", &[]),
        ("Run `cargo test` before you push.", &[]),
        ("Never use `unwrap` in libraries.", &[]),
        ("Never make things up.", &[]),
        ("Never mock the database.", &[]),
        ("Never edit `../outside/x.rs`.", &[]),
        ("Never run `rm -rf $(cat list)`.", &["$ rm -rf"]),
        ("Never run `echo \"a\" > b`.", &[]),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}
