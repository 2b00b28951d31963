//! `dormouse acp`, driven by libraries that editors use and that others wrote (`scripts/acp-clients` fetches them).

use std::path::Path;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{End, Reply, TestHome, needs, test_part};
use serde_json::{Value, json};

use crate::program::{BOTH, server};

pub(crate) const LIBRARIES: [&str; 2] = ["current", "earlier"];

/// What an editor hears while it takes these steps.
pub(crate) fn heard(home: &TestHome, library: &str, steps: &Value) -> Vec<Value> {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/editor/client.mjs");
    let mut editor = home.command("node");
    editor
        .arg(driver)
        .arg(&test_part("acp-clients").unwrap()[0])
        .arg(library)
        .arg(env!("CARGO_BIN_EXE_dormouse"));
    editor.arg(home.project()).arg(steps.to_string());
    let output = home.run(&mut editor);
    output.success();
    output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn all<'a>(heard: &'a [Value], key: &'static str) -> impl Iterator<Item = &'a Value> {
    heard.iter().filter_map(move |line| line.get(key))
}

/// The updates of a kind.
pub(crate) fn updates<'a>(heard: &'a [Value], kind: &'static str) -> Vec<&'a Value> {
    all(heard, "update").filter(|update| update["sessionUpdate"] == kind).collect()
}

/// All that the agent said.
pub(crate) fn text(heard: &[Value]) -> String {
    let chunks = updates(heard, "agent_message_chunk").into_iter();
    chunks.filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
}

pub(crate) fn says(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

#[test]
fn an_edit_is_asked_about_with_its_difference_and_shown() {
    needs!("acp-clients");
    for (wire, library) in BOTH.into_iter().zip(LIBRARIES) {
        let change = json!({"file_path": "a.txt", "content": "new\n"}).to_string();
        let model = server(wire)
            .reply(ScriptedTurn::new().text("I write it.").call("w", "Write", change.clone()))
            .reply(ScriptedTurn::new().text("Done."))
            .reply(ScriptedTurn::new().call("w2", "Write", change.replace("new", "newer")))
            .reply(ScriptedTurn::new().text("Not done."))
            .start();
        let home = TestHome::new().with_server(&model);
        let steps = json!([
            ["new"],
            ["prompt", says("write a.txt")],
            ["answer", "reject_once"],
            ["prompt", says("write it again")],
        ]);
        let heard = heard(&home, library, &steps);
        let initialized = all(&heard, "initialized").next().unwrap();
        assert_eq!(initialized["agentCapabilities"]["loadSession"], true);
        let opened = all(&heard, "opened").next().unwrap();
        assert_eq!(opened["modes"]["currentModeId"], "default");
        let modes = opened["modes"]["availableModes"].as_array().unwrap();
        let modes: Vec<_> = modes.iter().map(|mode| &mode["id"]).collect();
        assert_eq!(modes, ["plan", "default"], "no mode that allows more than the start");
        let asked: Vec<_> = all(&heard, "asked").collect();
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[0]["toolCallId"], "w");
        let diff =
            asked[0]["content"].as_array().unwrap().iter().find(|part| part["type"] == "diff");
        let diff = diff.expect("the difference");
        assert_eq!((&diff["newText"], &diff["oldText"]), (&json!("new\n"), &json!("")));
        assert_eq!(home.read("a.txt"), "new\n", "the second one was rejected");
        let started = updates(&heard, "tool_call");
        assert_eq!((&started[0]["kind"], &started[0]["toolCallId"]), (&json!("edit"), &json!("w")));
        let finished = updates(&heard, "tool_call_update");
        assert_eq!(finished[0]["status"], "completed");
        let said = text(&heard);
        for expected in ["I write it.", "Done.", "Not done."] {
            assert!(said.contains(expected), "{said}");
        }
        let ends: Vec<_> = all(&heard, "ended").map(|end| &end["stopReason"]).collect();
        assert_eq!(ends, ["end_turn", "end_turn"]);
        model.finish();
    }
}

#[test]
fn a_turn_is_cancelled_and_the_session_is_resumed_with_a_picture() {
    needs!("acp-clients");
    for library in LIBRARIES {
        let hanging =
            Reply::from(ScriptedTurn::new().text("a long answer")).stop_after(3).then(End::Hang);
        let model = server(dormouse_testkit::WireFormat::Anthropic)
            .reply(ScriptedTurn::new().text("It is a test.").call(
                "r",
                "Read",
                r#"{"file_path":"a.txt"}"#,
            ))
            .reply(ScriptedTurn::new().text("I have read it."))
            .reply(hanging)
            .reply(ScriptedTurn::new().text("A dot."))
            .start();
        let home = TestHome::new().with_server(&model);
        home.write("a.txt", "content\n");
        let steps =
            json!([["new"], ["prompt", says("what is this?")], ["stop", says("talk"), "a long"]]);
        let first = heard(&home, library, &steps);
        let ends: Vec<_> = all(&first, "ended").map(|end| &end["stopReason"]).collect();
        assert_eq!(ends, ["end_turn", "cancelled"]);
        let id = all(&first, "opened").next().unwrap()["sessionId"].clone();
        let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        let prompt = json!([
            {"type": "text", "text": "and this?"},
            {"type": "image", "mimeType": "image/png", "data": png},
            {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "unsaved"}},
        ]);
        let again = heard(&home, library, &json!([["load", id], ["prompt", prompt]]));
        let asked = updates(&again, "user_message_chunk");
        assert_eq!(asked[0]["content"]["text"], "what is this?");
        let said = text(&again);
        let order =
            ["It is a test.", "I have read it.", "A dot."].map(|part| said.find(part).unwrap());
        assert!(order.is_sorted(), "{said}");
        let calls = updates(&again, "tool_call");
        assert_eq!((&calls[0]["kind"], &calls[0]["toolCallId"]), (&json!("read"), &json!("r")));
        let last = model.requests().last().unwrap().text();
        assert!(last.contains(png), "the picture was not sent");
        assert!(last.contains("unsaved") && last.contains("what is this?"));
        model.finish();
    }
}

#[test]
fn modes_sessions_and_mistakes() {
    needs!("acp-clients");
    let model = server(dormouse_testkit::WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call(
            "t",
            "TodoWrite",
            r#"{"todos":[{"content":"read","status":"in_progress","activeForm":"reading"}]}"#,
        ))
        .reply(ScriptedTurn::new().text("Planned."))
        .start();
    let home = TestHome::new().with_server(&model);
    let steps = json!([
        ["prompt", says("too early")],
        ["new"],
        ["mode", "bypassPermissions"],
        ["mode", "plan"],
        ["prompt", says("plan it")],
        ["list"],
        ["load", "01a00000-0000-7000-8000-000000000000"],
    ]);
    let heard = heard(&home, "current", &steps);
    let refused: Vec<_> = all(&heard, "refused").collect();
    assert_eq!(refused.len(), 3, "{refused:?}");
    assert!(refused[1].to_string().contains("bypassPermissions"), "{refused:?}");
    assert_eq!(all(&heard, "mode").count(), 1);
    let plan = updates(&heard, "plan");
    assert_eq!(plan[0]["entries"][0]["status"], "in_progress");
    let listed = all(&heard, "listed").next().unwrap()["sessions"].as_array().unwrap();
    let opened = all(&heard, "opened").next().unwrap();
    assert_eq!(listed[0]["sessionId"], opened["sessionId"]);
    assert_eq!(listed[0]["title"], "plan it");
    model.finish();
}

#[test]
fn a_line_that_is_too_long_is_an_error_and_the_next_is_answered() {
    let home = TestHome::new();
    let long = "x".repeat(64 * 1024 * 1024 + 1);
    let initialize = json!({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}});
    let input = format!("{long}\nno JSON\n{initialize}\n");
    let output =
        home.run_with_input(home.command(env!("CARGO_BIN_EXE_dormouse")).arg("acp"), &input);
    output.success();
    let lines: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines[0]["error"]["message"].as_str().unwrap().contains("67108864 bytes"));
    assert_eq!((&lines[1]["error"]["code"], &lines[2]["id"]), (&json!(-32700), &json!(7)));
}

#[test]
fn a_cancel_right_behind_its_prompt_finds_it() {
    needs!("acp-clients");
    // The turn cannot end by itself before the editor has written its second line.
    let hangs = Reply::from(ScriptedTurn::new().text("too late")).stop_after(1).then(End::Hang);
    let model = server(dormouse_testkit::WireFormat::Anthropic).reply(hangs).start();
    let home = TestHome::new().with_server(&model);
    let heard = heard(&home, "current", &json!([["new"], ["hasty", says("never mind")]]));
    let ends: Vec<_> = all(&heard, "ended").map(|end| &end["stopReason"]).collect();
    assert_eq!(ends, ["cancelled"]);
}
