//! Answers to other agents' hooks: what they are told, and that nothing here ever stops them.

use dormouse_testkit::{Output, TestHome};
use serde_json::{Value, json};

use crate::program::dormouse;

fn hook(home: &TestHome, event: &[&str], input: &str) -> Output {
    let mut command = dormouse(home, &["hook"]);
    home.run_with_input(command.args(event), input)
}

/// What the agent is told; none if nothing.
fn told(output: &Output) -> Option<(String, String)> {
    let text = output.success().stdout.trim();
    assert_eq!(output.stderr, "");
    if text.is_empty() {
        return None;
    }
    let answer: Value = serde_json::from_str(text).unwrap();
    let said = &answer["hookSpecificOutput"];
    let text = |key: &str| said[key].as_str().unwrap().to_owned();
    Some((text("hookEventName"), text("additionalContext")))
}

fn add(home: &TestHome, name: &str, body: &str) {
    let arguments =
        ["memory", "add", name, "--type", "project", "--description", name, "--body", body];
    home.run(&mut dormouse(home, &arguments)).success();
}

fn prompt(home: &TestHome, text: &str, session: &str) -> Option<(String, String)> {
    let input = json!({"session_id": session, "cwd": home.project(), "prompt": text,
        "hook_event_name": "UserPromptSubmit"});
    told(&hook(home, &["prompt"], &input.to_string()))
}

#[test]
fn a_session_begins_with_rules_and_index() {
    let home = TestHome::new();
    let input = json!({"cwd": home.project(), "source": "startup", "session_id": "s1"}).to_string();
    let (event, text) = told(&hook(&home, &["session-start"], &input)).unwrap();
    assert!(event == "SessionStart" && text.contains("memory_save"), "{text}");
    assert!(!home.dormouse_home().join("projects").exists(), "looking makes nothing");
    for number in 0..300 {
        let text =
            format!("---\nname: Note {number}\ndescription: {}\n---\nx\n", "long ".repeat(20));
        home.write(home.dormouse_home().join(format!("memory/note-{number}.md")), text);
    }
    home.run(&mut dormouse(&home, &["memory", "doctor", "--mend"]));
    add(&home, "Deployment", "By hand on Fridays.");
    let (_, text) = told(&hook(&home, &["SessionStart"], &input)).unwrap();
    assert!(text.chars().count() <= 10_000 && text.contains("(note-"), "{text}");
    let mut without = TestHome::new();
    without.set_env("DORMOUSE_INDEX", "0");
    add(&without, "Deployment", "By hand on Fridays.");
    let input = json!({"cwd": without.project()}).to_string();
    let (_, text) = told(&hook(&without, &["session-start"], &input)).unwrap();
    assert!(text.contains("memory_save") && !text.contains("deployment.md"), "{text}");
}

#[test]
fn a_prompt_brings_to_mind_what_bears_on_it_once() {
    let home = TestHome::new();
    add(&home, "Deployment procedure", "By hand on Fridays.");
    add(&home, "Coffee machine", "Second floor.");
    let asked = "please explain our deployment procedure";
    let (event, text) = prompt(&home, asked, "s1").unwrap();
    assert_eq!(event, "UserPromptSubmit");
    assert!(text.contains("By hand on Fridays.") && !text.contains("Second floor."), "{text}");
    assert!(text.contains("Memory (saved today): "), "{text}");
    // Once a session; another session, or one that forgot, is told again.
    assert_eq!(prompt(&home, asked, "s1"), None);
    assert!(prompt(&home, asked, "s2").is_some());
    let compacted = json!({"cwd": home.project(), "session_id": "s1", "source": "compact"});
    hook(&home, &["session-start"], &compacted.to_string()).success();
    assert!(prompt(&home, asked, "s1").is_some());
    // Off the topic, or a single word: nothing.
    assert_eq!(prompt(&home, "how do I bake a cake", "s3"), None);
    assert_eq!(prompt(&home, "deployment", "s3"), None);
    // An id that names no file is no way out, and no reason to keep back.
    assert!(prompt(&home, asked, "../../evil").is_some());
    assert!(!home.root().join("evil.seen").exists());
}

#[test]
fn a_stop_leaves_the_transcript_in_the_queue() {
    let home = TestHome::new();
    for session in ["s1", "s2"] {
        let input = json!({"session_id": session, "transcript_path": format!("/t/{session}.jsonl"),
            "cwd": home.project(), "hook_event_name": "Stop", "stop_hook_active": false});
        assert_eq!(told(&hook(&home, &["stop"], &input.to_string())), None);
    }
    let queue = home.read(home.dormouse_home().join("hooks/transcripts.jsonl"));
    let lines: Vec<Value> = queue.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[1]["transcript_path"], &lines[1]["session_id"]),
        (&json!("/t/s2.jsonl"), &json!("s2"))
    );
    assert_eq!(lines[0]["cwd"], json!(home.project()));
}

#[test]
fn nothing_stops_the_other_agent() {
    let home = TestHome::new();
    let log =
        || std::fs::read_to_string(home.dormouse_home().join("hooks/hook.log")).unwrap_or_default();
    for (event, input) in [
        (&["prompt"][..], "no JSON"),
        (&["prompt"], ""),
        (&["prompt"], "{\"prompt\": 5}"),
        (&["prompt"], "{\"prompt\": \"a b\", \"cwd\": \"/does/not/exist\"}"),
        (&["no-such-event"], "{}"),
        (&["--no-such-flag", "x"], "{}"),
        (&[], "{}"),
    ] {
        let before = log();
        assert_eq!(told(&hook(&home, event, input)), None, "{event:?} {input}");
        assert_ne!(log(), before, "{event:?} {input}: the log says why");
    }
    home.write(home.dormouse_home().join("settings.json"), "{ broken");
    assert_eq!(prompt(&home, "two words", "s"), None);
    assert!(log().contains("settings.json"), "{}", log());
}

#[test]
fn with_memory_off_nothing_is_said_or_written() {
    for name in ["DORMOUSE_DISABLE_AUTO_MEMORY", "DORMOUSE_SIMPLE"] {
        let mut home = TestHome::new();
        home.set_env(name, "1");
        for event in ["session-start", "prompt", "stop"] {
            let input = json!({"cwd": home.project(), "prompt": "a b", "transcript_path": "/t"});
            assert_eq!(told(&hook(&home, &[event], &input.to_string())), None);
        }
        assert!(!home.dormouse_home().join("hooks").exists());
    }
}
