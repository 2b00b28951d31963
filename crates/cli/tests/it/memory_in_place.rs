//! Another agent's memory directory, used where it is through the setting: every byte that need not change stays,
//! and so does every time of a file that is not touched.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::json as value;

use crate::memory_cli::{add, files_below, json, memory, names};
use crate::program::{ask, server};

const INDEX: &str = "# Memory index\n\n- [Deploy steps](project_deploy.md) — staging first, *then* ask\n* [Tabs](feedback_tabs.md): four wide\n\n## Other\n<!-- keep me -->\n- [User](user_role.md) - who\n";
const TABS: &str = "---\nname: tabs\ndescription: \"Tabs: four wide\"\nmetadata:\n  node_type: memory\n  type: feedback\n  originSessionId: 0198-aa\nmodified: 2026-09-01T10:00:00.000Z\n---\n\nUse tabs. See [[deploy-steps]] and [[gone]].\n\n**Why:** habit\n";
const DEPLOY: &str = "---\r\nname: deploy-steps\r\ndescription: staging first\r\ntype: project\r\n---\r\nRun `make deploy`.\r\n";
const ROLE: &str = "---\nname: role\nmetadata: {type: user}\n---\nA dormouse.";

/// A home whose settings point at a hand-made directory.
fn in_place() -> (TestHome, PathBuf) {
    let home = TestHome::new();
    let folder = home.user_home().join(".claude/projects/-home-me-app/memory");
    fs::create_dir_all(&folder).unwrap();
    for (number, (name, text)) in [
        ("MEMORY.md", INDEX),
        ("feedback_tabs.md", TABS),
        ("project_deploy.md", DEPLOY),
        ("user_role.md", ROLE),
    ]
    .into_iter()
    .enumerate()
    {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000 + number as u64);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    fs::create_dir_all(home.dormouse_home()).unwrap();
    let setting = r#"{"autoMemoryDirectory": "~/.claude/projects/-home-me-app/memory"}"#;
    fs::write(home.dormouse_home().join("settings.json"), setting).unwrap();
    (home, folder)
}

/// Names, bytes and times.
fn state(folder: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let time = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    files_below(folder)
        .into_iter()
        .map(|(path, bytes)| (path.clone(), bytes, time(&path)))
        .collect()
}

fn without(
    state: Vec<(PathBuf, Vec<u8>, SystemTime)>,
    names: &[&str],
) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    state.into_iter().filter(|(path, ..)| names.iter().all(|name| !path.ends_with(name))).collect()
}

#[test]
fn looking_changes_nothing_at_all() {
    let (home, folder) = in_place();
    let before = state(&folder);
    let list = json(&home, &["list"], 0);
    assert_eq!(names(&list).len(), 3);
    for (name, kind) in [("tabs", "feedback"), ("deploy-steps", "project"), ("role", "user")] {
        assert_eq!(json(&home, &["show", name], 0)["type"], kind);
    }
    // The age is that of the file's own word, where it has one.
    assert_eq!(json(&home, &["show", "tabs"], 0)["age_days"], 61);
    assert_eq!(names(&json(&home, &["search", "deploy"], 0)).len(), 2);
    let path = json(&home, &["path", "--scope", "project"], 0);
    assert_eq!((&path[0]["path"], &path[0]["chosen_by"]), (&value!(folder), &value!("setting")));
    for command in ["log", "doctor", "lint", "inbox", "export", "restore"] {
        memory(&home, &[command]);
    }
    assert_eq!(state(&folder), before);
}

#[test]
fn a_change_touches_its_own_lines_and_no_other() {
    let (home, folder) = in_place();
    let before = state(&folder);
    memory(&home, &["edit", "tabs", "--description", "Tabs: eight wide"]).success();
    let tabs = TABS
        .replace("\"Tabs: four wide\"", "\"Tabs: eight wide\"")
        .replace("modified: 2026-09-01T10:00:00.000Z", "modified: \"2026-11-02T09:00:00Z\"");
    assert_eq!(home.read(folder.join("feedback_tabs.md")), tabs);
    let line = |text: &str| text.contains("(feedback_tabs.md)");
    let same = |a: &str, b: &str| {
        let rest =
            |text: &str| text.lines().filter(|l| !line(l)).map(str::to_owned).collect::<Vec<_>>();
        rest(a) == rest(b)
    };
    let index = home.read(folder.join("MEMORY.md"));
    assert!(same(&index, INDEX) && index.contains("Tabs: eight wide"), "{index}");
    let touched = ["feedback_tabs.md", "MEMORY.md"];
    assert_eq!(without(state(&folder), &touched), without(before.clone(), &touched));

    let path = add(&home, "Nuts", &["--type", "project", "--body", "forty"]);
    assert_eq!(path, folder.join("nuts.md"));
    let index_with = home.read(folder.join("MEMORY.md"));
    assert_eq!(index_with.lines().filter(|line| line.contains("nuts.md")).count(), 1);
    memory(&home, &["rm", "Nuts"]).success();
    assert_eq!(home.read(folder.join("MEMORY.md")), index);
    memory(&home, &["rm", "role"]).success();
    assert_eq!(
        home.read(folder.join("MEMORY.md")),
        index.replace("- [User](user_role.md) - who\n", "")
    );
    // Three times back, and all is as it was: bytes and times.
    for _ in 0..3 {
        memory(&home, &["undo"]).success();
    }
    memory(&home, &["undo", "2"]).success();
    let now = state(&folder);
    assert_eq!(without(now.clone(), &["MEMORY.md"]), without(before.clone(), &["MEMORY.md"]));
    assert_eq!(home.read(folder.join("MEMORY.md")), INDEX);
    assert_eq!(now.len(), before.len(), "no file of ours: {now:?}");
}

#[test]
fn a_session_uses_it_where_it_is() {
    let server = server(WireFormat::Anthropic).start();
    let (home, folder) = in_place();
    let home = home.with_server(&server);
    let before = state(&folder);
    let save =
        value!({"name": "Nuts", "description": "how many", "type": "project", "content": "forty"});
    server.push(ScriptedTurn::new().call("s", "MemorySave", save.to_string()));
    server.push(ScriptedTurn::new().text("done"));
    home.run(&mut ask(&home, &["remember: forty nuts"])).success();
    let first = server.requests()[0].messages()[0].to_string();
    assert!(first.contains("staging first, *then* ask"), "{first}");
    let touched = ["nuts.md", "MEMORY.md"];
    assert_eq!(without(state(&folder), &touched), without(before, &touched));
    assert!(home.read(folder.join("MEMORY.md")).contains("(nuts.md)"));
    assert_eq!(state(&folder).len(), 5);
    server.finish();
}

#[test]
fn a_project_can_not_point_memory_elsewhere() {
    let home = TestHome::new();
    home.write(".dormouse/settings.json", r#"{"autoMemoryDirectory": "/tmp/elsewhere/memory"}"#);
    let output = memory(&home, &["path", "--scope", "user"]);
    assert!(output.success().stderr.contains("cannot be set by a project"), "{}", output.stderr);
    assert_eq!(Path::new(output.stdout.trim()), home.dormouse_home().join("memory"));
    for (refused, why) in [("relative/path", "relative"), ("/", "root"), ("~/../x", "`..`")] {
        fs::create_dir_all(home.dormouse_home()).unwrap();
        let setting = value!({"autoMemoryDirectory": refused}).to_string();
        fs::write(home.dormouse_home().join("settings.json"), setting).unwrap();
        let output = memory(&home, &["list"]);
        assert!(output.expect_code(2).stderr.contains(why), "{refused}: {}", output.stderr);
        assert!(output.stderr.contains("hint: change or unset the setting `autoMemoryDirectory`"));
    }
}
