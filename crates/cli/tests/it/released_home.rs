//! A home that the released program made (0.1.0) opens unchanged: its sessions, memories, history, settings and figures
//! are read as they are, and a session of it is continued.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::Value;

use crate::program::{ask, dormouse, server};

/// The home folder and the session in the fixture.
const OLD_ROOT: &str = "/home/user";
/// A time after everything in it.
const AFTERWARDS: &str = "2026-11-17T08:00:00Z";
const SESSION: &str = "01a1e272-0024-7a46-b12e-f9f07fc155c3";

/// Puts the fixture into a home, with its paths changed to those of the test.
fn open_released_home(home: &TestHome) {
    let target = home.dormouse_home();
    let states = state_folders(home);
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/released-home");
    let project = home.project().display().to_string();
    let flat = |path: &str| -> String {
        path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
    };
    let renamed = |text: &str| {
        let text = text.replace(&format!("{OLD_ROOT}/project"), &project);
        let text = text.replace(&format!("{OLD_ROOT}/.dormouse"), &target.display().to_string());
        text.replace("-home-user-project", &flat(&project))
    };
    for file in files_below(&fixture) {
        let relative = file.strip_prefix(&fixture).unwrap().display().to_string();
        let relative = match relative.strip_prefix("state/") {
            Some(rest) => {
                let (folder, rest) = rest.split_once('/').unwrap();
                let scope = if folder.contains("projects") { "project" } else { "user" };
                format!("state/{}/{rest}", states[scope])
            }
            None => renamed(&relative),
        };
        let path = target.join(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, renamed(&std::fs::read_to_string(&file).unwrap())).unwrap();
    }
}

/// What the program calls the state folders of this home's memories: it is asked, and its answer removed again.
fn state_folders(home: &TestHome) -> BTreeMap<&'static str, String> {
    for scope in ["user", "project"] {
        let arguments = [
            "memory",
            "add",
            "x",
            "--type",
            "project",
            "--scope",
            scope,
            "--description",
            "x",
            "--body",
            "x",
        ];
        home.run(&mut dormouse(home, &arguments)).success();
    }
    let folders: Vec<String> = std::fs::read_dir(home.dormouse_home().join("state"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('-'))
        .collect();
    assert_eq!(folders.len(), 2, "{folders:?}");
    std::fs::remove_dir_all(home.dormouse_home()).unwrap();
    let scope = |name: &str| if name.contains("-projects-") { "project" } else { "user" };
    folders.into_iter().map(|name| (scope(&name), name)).collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// The bytes of everything that belongs to the user: not caches, locks, or marks of upkeep.
fn contents(home: &TestHome) -> BTreeMap<PathBuf, Vec<u8>> {
    let root = home.dormouse_home();
    files_below(&root)
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            !path.starts_with(root.join("cache"))
                && !name.ends_with("lock")
                && name != "purge.due"
                && !path.starts_with(root.join("figures"))
        })
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

fn json(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.run(&mut dormouse(home, arguments));
    serde_json::from_str(&output.success().stdout).unwrap()
}

#[test]
fn it_is_read_as_it_is() {
    let home = TestHome::new().with_now(AFTERWARDS);
    open_released_home(&home);
    let before = contents(&home);
    let sessions = json(&home, &["sessions", "--json"]);
    assert_eq!(sessions[0]["session_id"], SESSION, "{sessions}");
    let memories = json(&home, &["memory", "list", "--json"]);
    let names: Vec<&str> =
        memories.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Tabs", "Nuts in dozens"]);
    assert_eq!(memories[1]["trust"], "typed");
    let log = home.run(&mut dormouse(&home, &["memory", "log", "--json"]));
    let changes: Value = serde_json::from_str(&log.success().stdout).unwrap();
    assert_eq!(changes.as_array().unwrap().len(), 4, "{changes}");
    let stats = json(&home, &["stats", "--all", "--json"]);
    assert_eq!(stats["total"]["requests"], 4, "{stats}");
    let model = home.run(&mut dormouse(&home, &["config", "get", "model"]));
    assert!(model.success().stdout.contains("claude-fixture"), "{}", model.stdout);
    assert_eq!(contents(&home), before, "reading changes nothing");
}

#[test]
fn its_history_still_restores_and_undoes() {
    let home = TestHome::new().with_now(AFTERWARDS);
    open_released_home(&home);
    home.run(&mut dormouse(&home, &["memory", "restore", "old.md"])).success();
    let shown = home.run(&mut dormouse(&home, &["memory", "show", "old.md"]));
    assert!(shown.success().stdout.contains("Goes."), "{}", shown.stdout);
    home.run(&mut dormouse(&home, &["memory", "undo"])).success();
    home.run(&mut dormouse(&home, &["memory", "show", "nuts-in-dozens.md"])).success();
}

#[test]
fn its_session_is_continued() {
    let server =
        server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("As before.")).start();
    let home = TestHome::new().with_now(AFTERWARDS).with_server(&server);
    open_released_home(&home);
    let transcript = home.transcripts().remove(0);
    let before = std::fs::read(&transcript).unwrap();
    home.run(&mut ask(&home, &["-c", "and now?"])).success();
    let request = server.requests().remove(0);
    let text = request.text();
    for said in
        ["How many nuts does the plan ask for?", "Remember: count nuts in dozens.", "and now?"]
    {
        assert!(text.contains(said), "{said} is missing: {text}");
    }
    assert!(std::fs::read(&transcript).unwrap().starts_with(&before), "a transcript only grows");
    server.finish();
}
