//! What every session pays (L-41): tools and system prompt of the first request, and the tools that are announced by name
//! and described when the model asks.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{RecordedRequest, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{ask, server, transcript};

const BOTH: [WireFormat; 2] = [WireFormat::Anthropic, WireFormat::OpenAi];

/// The limit on the wire, in a large window with memory on.
const MOST_BYTES: usize = 20_000;

/// The bytes of tools and system prompt, as they were sent.
fn prompt_bytes(request: &RecordedRequest, wire: WireFormat) -> (usize, usize) {
    let tools = request.raw_field("tools").unwrap().len();
    let system = match wire {
        WireFormat::Anthropic => request.raw_field("system").unwrap().len(),
        WireFormat::OpenAi => request.raw_messages()[0].len(),
    };
    (tools, system)
}

fn done() -> ScriptedTurn {
    ScriptedTurn::new().text("done")
}

fn call(id: &str, tool: &str, input: &Value) -> ScriptedTurn {
    ScriptedTurn::new().call(id, tool, input.to_string())
}

/// With a search tool besides, which only some have.
#[test]
fn tools_and_system_prompt_fit_into_the_limit() {
    let settings = r#"{"webSearch":{"provider":"searxng","url":"http://127.0.0.1:9"}}"#;
    for wire in BOTH {
        let server = server(wire).reply(done()).start();
        let home = TestHome::new().with_server(&server);
        home.write("AGENTS.md", "Use tabs.\n");
        home.git_init();
        home.run(&mut ask(&home, &["--settings", settings, "go"])).success();
        let request = server.single_request();
        let (tools, system) = prompt_bytes(&request, wire);
        assert!(tools + system <= MOST_BYTES, "{wire:?}: {tools} + {system}");
        assert!(request.system_text().contains("# Memory"), "memory is on");
        assert!(request.tool_names().contains(&"WebSearch".to_owned()));
        // Seldom needed tools are there by name.
        let names = request.tool_names();
        let description = request.raw_field("tools").unwrap();
        for rare in ["BashOutput", "ExitPlan", "KillShell", "NotebookEdit", "SendMessage"] {
            assert!(!names.contains(&rare.to_owned()), "{names:?}");
            assert!(description.contains(&format!("- {rare}: ")), "{description}");
        }
        server.finish();
    }
}

/// The result of a call, as it was sent back.
fn result_of(request: &RecordedRequest, id: &str) -> String {
    let marks = [format!(r#""tool_use_id":"{id}""#), format!(r#""tool_call_id":"{id}""#)];
    let messages = request.raw_messages();
    let found = messages.iter().find(|text| marks.iter().any(|mark| text.contains(mark)));
    (*found.unwrap_or_else(|| panic!("no result of {id}: {messages:?}"))).to_owned()
}

/// The model asks for a tool, is told how to call it, and calls it; the tools stay as they were sent, and what it called is
/// sent back as it came.
#[test]
fn a_tool_that_is_announced_by_name_is_described_and_called() {
    for wire in BOTH {
        let server = server(wire).start();
        let home = TestHome::new().with_server(&server);
        let long = json!({"command": "printf 'a\\nb\\n'; sleep 600", "run_in_background": true});
        server.push(call("c1", "Bash", &long));
        server.push(call("c2", "MoreTools", &json!({"tool": "KillShell"})));
        let arguments = json!({"tool": "KillShell", "arguments": {"shell_id": "shell_1"}});
        server.push(call("c3", "MoreTools", &arguments));
        server.push(call("c4", "MoreTools", &json!({"tool": "Nothing"})));
        server.push(call("c5", "BashOutput", &json!({"shell_id": "shell_1"})));
        server.push(done());
        home.run(&mut ask(&home, &["--allowed-tools", "Bash", "go"])).success();
        let requests = server.requests();
        let last = requests.last().unwrap();
        let described = result_of(last, "c2");
        assert!(
            described.contains("Ends a command that Bash runs in the background"),
            "{described}"
        );
        assert!(described.contains("shell_id"), "{described}");
        assert!(result_of(last, "c3").contains("shell_1 has ended"), "{}", last.text());
        assert!(result_of(last, "c4").contains("BashOutput, ExitPlan, KillShell"));
        // A model that calls it by its own name is understood as well.
        assert!(result_of(last, "c5").contains("shell_1"), "{}", last.text());
        let tools = requests[0].raw_field("tools").unwrap();
        assert!(requests.iter().all(|request| request.raw_field("tools").unwrap() == tools));
        assert!(last.raw_messages().iter().any(|message| message.contains("MoreTools")));
        server.finish();
    }
}

/// Rules and denials are about the tool that is called, however the call arrives.
#[test]
fn a_rule_covers_a_tool_that_is_called_through_another() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let message =
        json!({"to": "nobody", "message": "hello", "summary": "says hello to nobody now"});
    server.push(call("c1", "MoreTools", &json!({"tool": "SendMessage", "arguments": message})));
    server.push(done());
    let output = home.run(&mut ask(
        &home,
        &["--disallowed-tools", "SendMessage", "--output-format", "stream-json", "go"],
    ));
    let last = server.requests().pop().unwrap();
    assert!(result_of(&last, "c1").contains("is_error"), "{}", last.text());
    assert!(output.success().stdout.contains("SendMessage"), "{output:?}");
    assert!(transcript(&home).contains(r#""name":"MoreTools""#), "kept as received");
    server.finish();
}
