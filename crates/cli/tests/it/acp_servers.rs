//! MCP servers that the editor brings along: asked about once, remembered as long as they stay the same.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{ScriptedServer, TestHome, needs};
use serde_json::{Value, json};

use crate::acp::{LIBRARIES, all, heard, says};
use crate::mcp_mean::{entry, processes, settings};
use crate::program::{BOTH, dormouse, server};

fn echo(word: &str) -> ScriptedTurn {
    let input = json!({"server": "My-mean", "tool": "echo", "arguments": {"word": word}});
    ScriptedTurn::new().call("c", "McpCall", input.to_string())
}

/// The mean server as an editor names it, and one that cannot be used.
fn offered(start: &str) -> Value {
    let entry = entry(start);
    let variables = entry["env"].as_object().unwrap().iter();
    let variables: Vec<_> =
        variables.map(|(name, value)| json!({"name": name, "value": value})).collect();
    json!(["servers", [
        {"name": "My mean", "command": entry["command"], "args": entry["args"], "env": variables},
        {"type": "sse", "name": "old", "url": "http://127.0.0.1:1/sse", "headers": []},
    ]])
}

fn place(model: &ScriptedServer) -> TestHome {
    let home = TestHome::new().with_server(model);
    settings(&home, &json!({}));
    home
}

#[test]
fn a_server_of_the_editor_starts_only_when_the_user_allows_it() {
    needs!("acp-clients");
    for (wire, library) in BOTH.into_iter().zip(LIBRARIES) {
        let model = server(wire)
            .reply(echo("refused"))
            .reply(ScriptedTurn::new().text("No."))
            .reply(ScriptedTurn::new().text("No again."))
            .start();
        let home = place(&model);
        let steps = json!([
            offered("well"),
            ["new"],
            ["answer", "reject_once"],
            ["prompt", says("echo")],
            ["prompt", says("again")],
        ]);
        let heard = heard(&home, library, &steps);
        let initialized = all(&heard, "initialized").next().unwrap();
        let known = &initialized["agentCapabilities"]["mcpCapabilities"];
        assert_eq!(known, &json!({"http": true, "sse": false}));
        let asked: Vec<_> = all(&heard, "asked").collect();
        assert_eq!(asked.len(), 1, "asked once in a session: {asked:?}");
        let shown = asked[0].to_string();
        assert!(shown.contains("My-mean") && shown.contains("MEAN_TOKEN"), "{shown}");
        assert!(!shown.contains("tok-en-0123456789"), "values of variables are not shown");
        assert_eq!(processes(&home), Vec::<String>::new(), "a call does not start it either");
        let told = model.requests()[1].text();
        assert!(told.contains("the user has not allowed it yet"), "{told}");
        model.finish();
    }
}

#[test]
fn an_answer_for_always_holds_until_the_servers_change_or_the_trust_is_revoked() {
    needs!("acp-clients");
    let model = server(BOTH[0])
        .reply(echo("first"))
        .reply(ScriptedTurn::new().text("One."))
        .reply(ScriptedTurn::new().text("Two."))
        .reply(ScriptedTurn::new().text("Three."))
        .reply(ScriptedTurn::new().text("Four."))
        .start();
    let home = place(&model);
    model.expect_break("tools from the start");
    model.expect_break("the tools of another server");
    let asked = |start: &str, answer: &str| {
        let steps = json!([
            offered(start),
            ["new"],
            ["answer", answer],
            ["prompt", says("use the server")],
        ]);
        all(&heard(&home, "current", &steps), "asked").count()
    };
    assert_eq!(asked("well", "allow_always"), 1);
    assert_eq!(processes(&home).len(), 1);
    let told = model.requests()[1].text();
    assert!(told.contains("echo heard"), "{told}");
    assert_eq!(asked("well", "reject_once"), 0, "it is known");
    let listed = model.requests()[2].text();
    assert!(listed.contains("mcp__My-mean__echo"), "its tools are there from the start");
    assert_eq!(asked("more", "reject_once"), 1, "it is another one");
    assert_eq!(processes(&home).len(), 2);
    home.run(&mut dormouse(&home, &["permissions", "trust", "--revoke"])).success();
    assert_eq!(asked("well", "reject_once"), 1);
    assert_eq!(processes(&home).len(), 2);
    model.finish();
}
