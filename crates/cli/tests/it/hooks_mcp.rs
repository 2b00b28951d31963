//! Hooks and the tools of MCP servers: by whatever way such a tool is called, hooks see the tool and its own arguments.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{HANGS, ScriptedServer, TestHome, WireFormat, needs};
use serde_json::{Value, json};

use crate::hooks_contract::{bash, group, lines};
use crate::mcp_client::{call, mcp_call, run, told};
use crate::mcp_mean::entry;
use crate::program::server;

/// Refuses what it is told to, changes a word and writes down what it got.
const LOOK: &str = r#"python3 -c '
import json, sys
got = json.load(sys.stdin)
open("looked", "a").write(json.dumps(got) + "\n")
word = got.get("tool_input", {}).get("word")
if got["hook_event_name"] == "PreToolUse" and word == "danger":
    print("no danger", file=sys.stderr)
    sys.exit(2)
if got["hook_event_name"] == "PreToolUse" and word == "rough":
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"word": "smooth"}}}))
'"#;

fn home_with(server: &ScriptedServer, start: &str, hooks: &Value) -> TestHome {
    let home = TestHome::new().with_server(server);
    let patience = if start == "late" { 100 } else { HANGS.as_secs() * 1_000 };
    let all = json!({
        "mcpServers": {"mean": entry(start)},
        "permissions": {"allow": ["mcp__mean", "Bash"]},
        "tools": {"mcpStartMs": patience},
        "hooks": hooks,
    });
    home.write(home.dormouse_home().join("settings.json"), all.to_string());
    home
}

#[test]
fn a_call_through_another_tool_is_shown_as_what_it_is() {
    needs!("python");
    for through in [call, mcp_call] {
        let word = |word: &str| through("echo", &json!({ "word": word }));
        let server = server(WireFormat::Anthropic)
            .reply(word("danger"))
            .reply(word("rough"))
            .reply(through("fail", &json!({"word": "soft"})))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        let hook = |matcher: &str| group(matcher, json!({"command": LOOK}));
        let hooks = json!({
            "PreToolUse": hook("mcp__mean__echo"),
            "PostToolUse": hook("mcp__mean__echo"),
            "PostToolUseFailure": hook("mcp__mean__fail"),
            "PostToolBatch": hook(""),
        });
        let home = home_with(&server, "well", &hooks);
        run(&home, &["go"]);
        assert!(
            told(&server, 1).contains("mcp__mean__echo was not run: no danger"),
            "{}",
            told(&server, 1)
        );
        assert!(told(&server, 2).contains("smooth"), "{}", told(&server, 2));
        assert_eq!(home.read("mean-calls"), "echo\nfail\n");
        let seen = lines(&home, "looked");
        let of = |event: &str| {
            let mine = seen.iter().filter(|got| got["hook_event_name"] == event);
            mine.map(|got| (got["tool_name"].clone(), got["tool_input"].clone()))
                .collect::<Vec<_>>()
        };
        let expected = |tool: &str, word: &str| (json!(tool), json!({ "word": word }));
        let (echo, fail) = ("mcp__mean__echo", "mcp__mean__fail");
        assert_eq!(of("PreToolUse"), [expected(echo, "danger"), expected(echo, "rough")]);
        assert_eq!(of("PostToolUse"), [expected(echo, "smooth")]);
        assert_eq!(of("PostToolUseFailure"), [expected(fail, "soft")]);
        let mut batches = seen.iter().filter(|got| got["hook_event_name"] == "PostToolBatch");
        let batch = &batches.next_back().unwrap()["tool_calls"][0];
        assert_eq!(
            (&batch["tool_name"], &batch["tool_input"]["word"]),
            (&json!(fail), &json!("soft"))
        );
        server.finish();
    }
}

/// What came after the list of tools was made is known by its name alone; that is no reason to let it pass.
#[test]
fn a_condition_holds_for_tools_that_are_not_listed() {
    let refuse = |rule: &str| json!({"command": "echo no >&2; exit 2", "if": rule});
    for (rule, ran) in [
        ("mcp__mean__echo", false),
        ("mcp__mean", false),
        ("mcp__mean__echo(secret/**)", false),
        ("mcp__mean__fail", true),
        ("Bash", true),
    ] {
        let server = server(WireFormat::Anthropic)
            .reply(bash("touch go; until [ -e mean-listed ]; do sleep 0.01; done"))
            .reply(mcp_call("echo", &json!({"word": "x"})))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        let home =
            home_with(&server, "late", &json!({"PreToolUse": group("mcp__.*", refuse(rule))}));
        run(&home, &["go"]);
        assert_eq!(home.project().join("mean-calls").exists(), ran, "{rule}: {}", told(&server, 2));
        server.finish();
    }
}

/// A hook of the kind `mcp_tool`: its arguments come from the event, its text counts like a command's output, and what fails
/// decides nothing.
#[test]
fn hooks_call_tools_of_servers() {
    let server = server(WireFormat::Anthropic)
        .reply(bash("touch forbidden"))
        .reply(bash("touch allowed"))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let tool = |tool: &str, input: Value| json!({"type": "mcp_tool", "server": "mean", "tool": tool, "input": input});
    let verdict = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"said the tool"}}"#;
    let mut refuse = tool("say", json!({"word": verdict}));
    refuse["if"] = "Bash(touch forbidden)".into();
    let look = tool(
        "echo",
        json!({"word": "${tool_input.command} at ${hook_event_name}", "all": ["${tool_input}"]}),
    );
    let prompt = json!([
        {"hooks": [tool("say", json!({"word": "a word for ${prompt}"}))]},
        {"hooks": [tool("fail", json!({}))]},
        {"hooks": [tool("none", json!({}))]},
        {"hooks": [{"type": "mcp_tool", "server": "nobody", "tool": "echo"}]},
        {"hooks": [{"type": "mcp_tool", "server": "mean", "tool": "hang", "timeout": 0.2}]},
    ]);
    let hooks = json!({
        "PreToolUse": [{"hooks": [refuse, look]}],
        "SessionStart": [{"hooks": [tool("say", json!({"word": "at the start"}))]}],
        "UserPromptSubmit": prompt,
    });
    let home = home_with(&server, "well", &hooks);
    let output = run(&home, &["go"]);
    let first = server.requests()[0].text();
    assert!(first.contains("a word for go") && first.contains("at the start"), "{first}");
    for notice in [
        "hook `mean: fail` ignored: it went wrong",
        "hook `mean: none` ignored: MCP server `mean`: there is no tool `none`",
        "hook `nobody: echo` ignored: there is no MCP server `nobody` in this conversation",
        "hook `mean: hang` timed out after 0.2 s",
    ] {
        assert!(output.stderr.contains(notice), "{notice}: {}", output.stderr);
    }
    assert!(told(&server, 1).contains("said the tool"), "{}", told(&server, 1));
    assert!(!home.project().join("forbidden").exists() && home.project().join("allowed").exists());
    let heard = home.read("mean-heard");
    let expected =
        r#"{"all":[{"command":"touch forbidden"}],"word":"touch forbidden at PreToolUse"}"#;
    assert!(heard.contains(expected), "{heard}");
    server.finish();
}

/// Those of a project wait for trust, like its other hooks.
#[test]
fn hooks_of_a_project_call_nothing_before_it_is_trusted() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("done")).start();
    let home = home_with(&server, "well", &json!({}));
    let hook =
        json!({"type": "mcp_tool", "server": "mean", "tool": "echo", "input": {"word": "x"}});
    let settings = json!({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}});
    home.write(".dormouse/settings.json", settings.to_string());
    run(&home, &["go"]);
    assert!(!home.project().join("mean-calls").exists());
    server.finish();
}
