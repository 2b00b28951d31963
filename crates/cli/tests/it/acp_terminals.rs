//! Commands in terminals of the editor.

use std::path::Path;

use dormouse_model::script::ScriptedTurn;
use dormouse_sandbox::{SandboxSupport, support};
use dormouse_testkit::{ScriptedServer, TestHome, needs};
use serde_json::{Value, json};

use crate::acp::{LIBRARIES, all, heard, says, updates};
use crate::program::{BOTH, server, wait_until};

fn bash(id: &str, input: &Value) -> ScriptedTurn {
    ScriptedTurn::new().call(id, "Bash", input.to_string())
}

/// A home with this mode of the sandbox: in a sandbox, commands run in our own shell.
fn place(model: &ScriptedServer, sandbox: &str) -> TestHome {
    let home = TestHome::new().with_server(model);
    let settings = json!({"sandbox": {"mode": sandbox}});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
    home
}

fn offers() -> Value {
    json!(["offers", {"terminal": true}])
}

#[test]
fn a_command_runs_in_a_terminal_that_its_call_shows() {
    needs!("acp-clients");
    for (wire, library) in BOTH.into_iter().zip(LIBRARIES) {
        let model = server(wire)
            .reply(bash("b", &json!({"command": "touch made; echo out; echo err >&2; exit 3"})))
            .reply(ScriptedTurn::new().text("Done."))
            .reply(bash("no", &json!({"command": "touch denied"})))
            .reply(ScriptedTurn::new().text("Not done."))
            .start();
        let home = place(&model, "off");
        let steps = json!([
            offers(),
            ["new"],
            ["prompt", says("run it")],
            ["answer", "reject_once"],
            ["prompt", says("run another")],
        ]);
        let heard = heard(&home, library, &steps);
        let created: Vec<_> = all(&heard, "created").collect();
        assert_eq!(created.len(), 1, "the second was rejected: {created:?}");
        assert_eq!(created[0]["command"], "bash");
        assert_eq!(created[0]["cwd"], home.project().to_str().unwrap());
        let variables = created[0]["env"].as_array().unwrap();
        let key = variables.iter().find(|one| one["name"].as_str().unwrap().ends_with("API_KEY"));
        assert_eq!(key.unwrap()["value"], "", "commands do not see the key");
        let shown = updates(&heard, "tool_call_update");
        let terminal = json!([{"type": "terminal", "terminalId": "terminal-1"}]);
        assert_eq!((&shown[0]["content"], &shown[0]["toolCallId"]), (&terminal, &json!("b")));
        assert_eq!((&shown[1]["content"], &shown[1]["status"]), (&terminal, &json!("completed")));
        assert_eq!(all(&heard, "released").count(), 1);
        let seen = model.requests()[1].text();
        assert!(["out", "err", "[exit code 3]"].iter().all(|part| seen.contains(part)), "{seen}");
        assert!(home.project().join("made").exists());
        model.finish();
    }
}

#[test]
fn a_command_that_is_cancelled_or_takes_too_long_is_killed_and_its_terminal_released() {
    needs!("acp-clients");
    for library in LIBRARIES {
        let model = server(BOTH[0])
            .reply(bash("t", &json!({"command": "sleep 600", "timeout": 200})))
            .reply(ScriptedTurn::new().text("Too slow."))
            .reply(bash(
                "c",
                &json!({"command": "echo $$ > pid; echo ready; exec sleep 600", "timeout": 600_000}),
            ))
            .start();
        let home = place(&model, "off");
        let steps = json!([
            offers(),
            ["new"],
            ["prompt", says("wait")],
            ["stop_command", says("wait again")],
        ]);
        let heard = heard(&home, library, &steps);
        let ends: Vec<_> = all(&heard, "ended").map(|end| &end["stopReason"]).collect();
        assert_eq!(ends, ["end_turn", "cancelled"]);
        let killed: Vec<_> = all(&heard, "killed").collect();
        assert_eq!(killed, ["terminal-1", "terminal-1"], "the first was released before");
        assert_eq!(all(&heard, "released").count(), 2);
        let seen = model.requests()[1].text();
        assert!(seen.contains("still running after 200 ms"), "{seen}");
        let process = Path::new("/proc").join(home.read("pid").trim());
        wait_until("the end of the command", || !process.exists());
        model.finish();
    }
}

#[test]
fn commands_in_a_sandbox_or_in_the_background_run_in_our_own_shell() {
    needs!("acp-clients");
    let model = server(BOTH[0])
        .reply(bash("b", &json!({"command": "sleep 600", "run_in_background": true})))
        .reply(ScriptedTurn::new().text("Started."))
        .start();
    let home = place(&model, "off");
    let steps = json!([offers(), ["new"], ["prompt", says("start it")]]);
    let told = heard(&home, "current", &steps);
    assert_eq!(all(&told, "created").count(), 0);
    model.finish();
    if support() == SandboxSupport::None {
        return;
    }
    let model = server(BOTH[0])
        .reply(bash("s", &json!({"command": "echo in-the-sandbox > s.txt; cat s.txt"})))
        .reply(ScriptedTurn::new().text("Done."))
        .start();
    let home = place(&model, "auto");
    let told = heard(&home, "current", &steps);
    assert_eq!(all(&told, "created").count(), 0);
    let seen = model.requests()[1].text();
    assert!(seen.contains("in-the-sandbox"), "{seen}");
    model.finish();
}
