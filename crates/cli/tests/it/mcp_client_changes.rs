//! MCP servers that come, go and change while a conversation lasts: what was sent stays, byte for byte (the scripted server
//! compares it); what has changed is told at its end, and enters the next prefix.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{RecordedRequest, Reply, TestHome, WireFormat};
use serde_json::json;

use crate::compacting::SUMMARY;
use crate::mcp_client::{call, mcp_call, mean_home, run, runs, told};
use crate::mcp_mean::{entry, processes, settings};
use crate::program::{server, wait_until};
use crate::talk::{leave, say, talk};

/// The session begins without the late ones, which are told when they come; what never comes holds nothing up.
#[test]
fn late_servers_join_at_the_end_of_the_conversation() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call(
            "c",
            "Bash",
            r#"{"command":"touch go; until [ -e mean-listed ]; do sleep 0.01; done"}"#,
        ))
        .reply(mcp_call("echo", &json!({"word": "late"})))
        .reply(mcp_call("no-such", &json!({})))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    let all = json!({
        "mcpServers": {"mean": entry("late"), "never": entry("never")},
        "permissions": {"allow": ["mcp__mean", "Bash"]},
        "tools": {"mcpStartMs": 100},
    });
    home.write(home.dormouse_home().join("settings.json"), all.to_string());
    let output = run(&home, &["go"]);
    assert!(
        output.stderr.contains("`mean` is still starting") && output.stderr.contains("`never`"),
        "{}",
        output.stderr
    );
    let first = &server.requests()[0];
    assert!(first.tool_names().iter().all(|name| !name.starts_with("mcp__")));
    assert!(
        first.system_text().contains("# MCP server mean\nstill starting"),
        "{}",
        first.system_text()
    );
    // With this result or the next: the call itself waits until the server is there.
    let news = told(&server, 1) + &told(&server, 2);
    assert!(
        news.contains("MCP server mean, now:") && news.contains("- echo: Does echo."),
        "{news}"
    );
    assert!(news.contains("Be careful with it."), "{news}");
    assert!(told(&server, 2).contains("echo heard"), "{}", told(&server, 2));
    assert!(told(&server, 3).contains("there is no tool `no-such`"), "{}", told(&server, 3));
    server.finish();
}

/// In both eras: an old server tells everybody of a change, a new one who has asked.
#[test]
fn tools_that_change_are_told_and_enter_the_next_prefix() {
    for (start, protocol) in [("well", "2025-06-18"), ("modern", "2026-07-28")] {
        changes(start, protocol);
    }
}

fn changes(start: &str, protocol: &str) {
    let server = server(WireFormat::Anthropic)
        .reply(call("change", &json!({})))
        .reply(call("going", &json!({})))
        .reply(mcp_call("coming", &json!({"word": "new"})))
        .reply(ScriptedTurn::new().text("first done"))
        .reply(call("coming", &json!({"word": "listed"})))
        .reply(ScriptedTurn::new().text("second done"))
        .start();
    let home = TestHome::new().with_server(&server);
    settings(&home, &json!({"mean": entry(start)}));
    let mut terminal = talk(&home, &[], (140, 50));
    say(&mut terminal, "go", "first done");
    let changed = told(&server, 1) + &told(&server, 2);
    assert!(
        changed.contains("Gone since your list of tools was made, a call fails: mcp__mean__going"),
        "{changed}"
    );
    assert!(changed.contains("- coming: Does coming."), "{changed}");
    assert!(told(&server, 2).contains("there is no tool `going` any more"), "{}", told(&server, 2));
    assert!(told(&server, 3).contains("coming heard"), "{}", told(&server, 3));
    say(&mut terminal, "/mcp", "mcp__mean__coming");
    server.expect_break("a new session");
    say(&mut terminal, "/clear", "New session started");
    say(&mut terminal, "again", "second done");
    let names = server.requests()[4].tool_names();
    assert!(
        names.contains(&"mcp__mean__coming".to_owned())
            && !names.contains(&"mcp__mean__going".to_owned())
    );
    assert!(told(&server, 5).contains("coming heard"));
    let connected = format!("connected (mean 1, protocol {protocol})");
    say(&mut terminal, "/mcp reconnect mean", &connected);
    // By the time it answers this, it has said all about the one that was started again.
    say(&mut terminal, "/mcp what", "/mcp lists the MCP servers");
    let rows = terminal.all_rows().concat();
    assert!(!rows.contains("it was stopped"), "{rows}");
    leave(terminal);
    wait_until("all servers to end", || processes(&home).iter().all(|id| !runs(id)));
    server.finish();
}

#[test]
fn a_compaction_makes_the_list_of_tools_anew() {
    let server = server(WireFormat::Anthropic)
        .reply(call("change", &json!({})))
        .reply(mcp_call("coming", &json!({})))
        .reply(ScriptedTurn::new().text("first done"))
        .reply(call("coming", &json!({"word": "listed"})))
        .reply(ScriptedTurn::new().text("second done"))
        .start();
    let home = mean_home(&server);
    let mut terminal = talk(&home, &[], (140, 50));
    say(&mut terminal, "go", "first done");
    server.push_fork(ScriptedTurn::new().text(SUMMARY));
    say(&mut terminal, "/compact", "compacted with a summary by the model");
    server.expect_break("the conversation was compacted");
    say(&mut terminal, "again", "second done");
    let names = server.requests()[3].tool_names();
    assert!(names.contains(&"mcp__mean__coming".to_owned()), "{names:?}");
    assert!(!names.contains(&"mcp__mean__going".to_owned()), "{names:?}");
    // Nothing is left to tell of.
    assert!(!server.requests()[3].text().contains("since your list of tools was made"));
    assert!(told(&server, 4).contains("coming heard"), "{}", told(&server, 4));
    leave(terminal);
    server.finish();
}

/// A hook that watches over a tool sees its calls, however they are made.
#[test]
fn hooks_see_the_tool_that_is_called() {
    let server = server(WireFormat::Anthropic)
        .reply(mcp_call("echo", &json!({"word": "past the hook"})))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = mean_home(&server);
    let hook = json!({"type": "command", "command": "echo not this one >&2; exit 2"});
    let all = json!({
        "mcpServers": {"mean": entry("well")},
        "permissions": {"allow": ["mcp__mean"]},
        "hooks": {"PreToolUse": [{"matcher": "mcp__mean__echo", "hooks": [hook]}]},
    });
    home.write(home.dormouse_home().join("settings.json"), all.to_string());
    run(&home, &["go"]);
    assert!(told(&server, 1).contains("not this one"), "{}", told(&server, 1));
    assert!(!home.project().join("mean-calls").exists());
    server.finish();
}

/// L-4: the stored prefix is sent again; what is gone is told.
#[test]
fn a_resume_sends_the_same_bytes_and_tells_what_changed() {
    let server = server(WireFormat::Anthropic)
        .reply(call("echo", &json!({})))
        .reply(ScriptedTurn::new().text("one"))
        .reply(call("echo", &json!({})))
        .reply(ScriptedTurn::new().text("two"))
        .reply(mcp_call("coming", &json!({})))
        .reply(ScriptedTurn::new().text("more"))
        .reply(call("echo", &json!({})))
        .reply(ScriptedTurn::new().text("three"))
        .start();
    let home = mean_home(&server);
    run(&home, &["first"]);
    run(&home, &["--continue", "second"]);
    assert!(told(&server, 3).contains("echo heard"));
    settings(&home, &json!({"mean": entry("more")}));
    run(&home, &["--continue", "with more"]);
    let more = server.requests()[4].json()["messages"].to_string();
    assert!(more.contains("- coming: Does coming."), "{more}");
    assert!(told(&server, 5).contains("coming heard"), "{}", told(&server, 5));
    settings(&home, &json!({}));
    run(&home, &["--continue", "third"]);
    let gone = told(&server, 6) + &server.requests()[6].json()["messages"].to_string();
    assert!(gone.contains("MCP server mean: no longer so"), "{gone}");
    assert!(
        told(&server, 7).contains("there is no tool named `mcp__mean__echo`"),
        "{}",
        told(&server, 7)
    );
    let tools = |at: usize| server.requests()[at].raw_field("tools").unwrap().to_owned();
    assert_eq!(tools(0), tools(6));
    server.finish();
}

/// An agent that may call one tool is told of no other, and does not reach another by a detour.
#[test]
fn an_agent_reaches_no_more_than_its_tools() {
    let order =
        json!({"description": "call something", "prompt": "call it", "subagent_type": "caller"});
    let server = server(WireFormat::Anthropic)
        .agent_with(|request: &RecordedRequest| -> Reply {
            match request.messages().len() {
                1 => call("echo", &json!({"word": "mine"})).into(),
                3 => mcp_call("fail", &json!({})).into(),
                _ => ScriptedTurn::new().text("called").into(),
            }
        })
        .reply(ScriptedTurn::new().call("a", "Agent", order.to_string()))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = mean_home(&server);
    let agent = "---\nname: caller\ndescription: Calls.\ntools: mcp__mean__echo\n---\nYou call.\n";
    home.write(home.dormouse_home().join("agents/caller.md"), agent);
    run(&home, &["go"]);
    let requests = server.agent_requests();
    let names = requests[0].tool_names();
    assert!(names.contains(&"mcp__mean__echo".to_owned()), "{names:?}");
    assert!(!names.contains(&"mcp__mean__fail".to_owned()), "{names:?}");
    assert!(!requests[0].text().contains("Does fail."), "{}", requests[0].text());
    assert!(requests[1].text().contains("echo heard"), "{}", requests[1].text());
    let refused = requests[2].last_message().to_string();
    assert!(refused.contains("mcp__mean__fail is not among the tools"), "{refused}");
    assert_eq!(home.read("mean-calls"), "echo\n");
    server.finish();
}
