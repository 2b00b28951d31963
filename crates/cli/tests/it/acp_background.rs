//! What an editor shows of work that goes on by itself: memories that are saved between turns, what a command prints.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, needs};
use serde_json::json;

use crate::acp::{LIBRARIES, all, heard, says, text, updates};
use crate::extraction::{extracting, saves};
use crate::program::{BOTH, server};

const PREFERENCE: &str = "I always want the database tests to run against a real server";

#[test]
fn memories_that_are_saved_between_turns_are_shown_when_that_happens() {
    needs!("acp-clients");
    for (wire, library) in BOTH.into_iter().zip(LIBRARIES) {
        let model = server(wire).start();
        let home = extracting(&model);
        model.push(ScriptedTurn::new().text("Understood."));
        model.push_fork(saves("real databases", "feedback", "Use a real server.", &[PREFERENCE]));
        model.push_fork(ScriptedTurn::new().text("saved"));
        let told = "memory: Saved 1 memory: real-databases.md; undo: `dormouse memory undo`";
        let steps = json!([
            ["new"],
            ["prompt", says(&format!("{PREFERENCE}, please"))],
            ["hear", "Saved 1 memory: real-databases.md"],
        ]);
        let heard = heard(&home, library, &steps);
        assert_eq!(all(&heard, "ended").count(), 1);
        assert!(text(&heard).contains(told), "{}", text(&heard));
        model.finish();
    }
}

#[test]
fn what_a_running_command_prints_is_shown_in_its_call() {
    needs!("acp-clients");
    let command = "echo half-way; while [ ! -e go ]; do sleep 0.05; done; echo done";
    let model = server(BOTH[0])
        .reply(ScriptedTurn::new().call("b", "Bash", json!({ "command": command }).to_string()))
        .reply(ScriptedTurn::new().text("Finished."))
        .start();
    let home = TestHome::new().with_server(&model);
    let go = home.project().join("go").display().to_string();
    let printed = r#"{"text":"half-way","#;
    let steps = json!([["touch", { printed: go }], ["new"], ["prompt", says("run it")]]);
    let heard = heard(&home, "current", &steps);
    let shown = updates(&heard, "tool_call_update");
    let of_call = shown.iter().filter(|update| update["toolCallId"] == "b");
    let contents: Vec<String> = of_call.map(|update| update["content"].to_string()).collect();
    assert!(contents[0].contains("half-way") && !contents[0].contains("done"), "{contents:?}");
    assert!(contents.last().unwrap().contains("done"), "{contents:?}");
    model.finish();
}
