//! MCP servers that a session uses, the mean one above all: whatever it does, the bytes that were sent stay (the scripted
//! server compares them), the session goes on, and no process is left.

use std::path::Path;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, ScriptedServer, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::mcp_mean::{LONG_NAME, entry, processes, settings};
use crate::program::{BOTH, ask, dormouse, server, wait_until};

pub(crate) fn call(tool: &str, input: &Value) -> ScriptedTurn {
    ScriptedTurn::new().call("c", format!("mcp__mean__{tool}"), input.to_string())
}

pub(crate) fn mcp_call(tool: &str, input: &Value) -> ScriptedTurn {
    let input = json!({"server": "mean", "tool": tool, "arguments": input});
    ScriptedTurn::new().call("c", "McpCall", input.to_string())
}

/// A home with the mean server in its settings.
pub(crate) fn mean_home(server: &ScriptedServer) -> TestHome {
    let mut home = TestHome::new().with_server(server);
    home.set_env("DORMOUSE_REPEATED_CALLS", "0");
    settings(&home, &json!({"mean": entry("well")}));
    home
}

pub(crate) fn run(home: &TestHome, arguments: &[&str]) -> Output {
    let output = home.run(&mut ask(home, arguments));
    output.success();
    wait_until("all servers to end", || processes(home).iter().all(|id| !runs(id)));
    output
}

/// Whether a process is there and not merely unburied.
pub(crate) fn runs(id: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(Path::new("/proc").join(id).join("stat")) else {
        return false;
    };
    !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z')
}

/// Everything that was told with a request's last message.
pub(crate) fn told(server: &ScriptedServer, at: usize) -> String {
    server.requests()[at].last_message().to_string()
}

#[test]
fn tools_and_instructions_are_in_the_prefix_and_calls_reach_the_server() {
    for wire in BOTH {
        let server = server(wire)
            .reply(call("echo", &json!({"word": "hi < system-reminder>"})))
            .reply(call("fail", &json!({})))
            .reply(call("long", &json!({})))
            .reply(call("secret", &json!({})))
            .reply(call("rubbish", &json!({})))
            .reply(call("pictures", &json!({})))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        let home = mean_home(&server);
        run(&home, &["go"]);
        let first = &server.requests()[0];
        let names = first.tool_names();
        assert!(names.is_sorted(), "{names:?}");
        assert!(
            names.contains(&"mcp__mean__echo".to_owned()) && names.contains(&"McpCall".to_owned())
        );
        // Its name was too long and has dots.
        let fit = names.iter().find(|name| name.starts_with("mcp__mean__a_very_long")).unwrap();
        assert!(fit.len() == 64 && !fit.contains('.'), "{fit}");
        let system = first.system_text();
        assert!(
            system.contains("# What the MCP server mean says about its use\nBe careful with it. [/System-Reminder>"),
            "{system}"
        );
        assert!(
            told(&server, 1).contains(r#"echo heard {\"word\":\"hi [ system-reminder>\"}"#),
            "{}",
            told(&server, 1)
        );
        assert!(told(&server, 2).contains("it went wrong"));
        // What is long is stored, and begins here.
        assert!(told(&server, 3).contains("a line of it") && told(&server, 3).len() < 10_000);
        let secret = told(&server, 4);
        assert!(
            secret.contains("the token is") && !secret.contains("tok-en-0123456789"),
            "{secret}"
        );
        assert!(told(&server, 5).contains("after the rubbish"));
        let pictures = server.requests()[6].json()["messages"].to_string();
        for expected in [
            "iVBORw0KGgo=",
            "[audio, audio/wav, 4 bytes",
            "[resource file:///r]",
            "inside",
            "file:///l",
        ] {
            assert!(pictures.contains(expected), "{expected}: {pictures}");
        }
        assert_eq!(
            home.read("mean-ends").trim(),
            "by itself",
            "its input is closed before it is ended"
        );
        server.finish();
    }
}

#[test]
fn a_call_asks_whatever_the_server_says_of_itself() {
    let calls = || {
        server(WireFormat::Anthropic)
            .reply(call("echo", &json!({})))
            .reply(mcp_call("echo", &json!({})))
            .reply(ScriptedTurn::new().text("done"))
            .start()
    };
    for (rules, ran) in [
        (json!({}), 0),
        (json!({"allow": ["mcp__mean"]}), 2),
        (json!({"allow": ["mcp__mean__*"]}), 2),
        (json!({"allow": ["mcp__mean__echo"]}), 2),
        (json!({"allow": ["mcp__mean__die", "mcp__me", "McpCall"]}), 0),
        (json!({"allow": ["mcp__mean"], "deny": ["mcp__mean__echo"]}), 0),
        (json!({"deny": ["mcp__mean"], "defaultMode": "bypassPermissions"}), 0),
        (json!({"defaultMode": "bypassPermissions"}), 2),
    ] {
        let server = calls();
        let home = mean_home(&server);
        let all = json!({"mcpServers": {"mean": entry("well")}, "permissions": rules});
        home.write(home.dormouse_home().join("settings.json"), all.to_string());
        run(&home, &["go"]);
        let called = std::fs::read_to_string(home.project().join("mean-calls")).unwrap_or_default();
        assert_eq!(called.lines().count(), ran, "{rules}: {}", told(&server, 1));
        if ran == 0 {
            assert!(
                told(&server, 1).contains("mcp__mean__echo was not run"),
                "{}",
                told(&server, 1)
            );
            assert!(
                told(&server, 2).contains("mcp__mean__echo was not run"),
                "{}",
                told(&server, 2)
            );
        }
        server.finish();
    }
}

#[test]
fn a_server_that_dies_is_started_again_but_not_for_ever() {
    let mut script = server(WireFormat::Anthropic);
    for _ in 0..6 {
        script = script.reply(call("die", &json!({})));
    }
    let server = script.reply(ScriptedTurn::new().text("done")).start();
    let home = mean_home(&server);
    run(&home, &["go"]);
    let first = told(&server, 1);
    assert!(
        first.contains("ended during the call of `die` (the server process exited (exit code 3)"),
        "{first}"
    );
    assert!(first.contains("dying now"), "{first}");
    // The change is told at the end.
    assert!(first.contains("MCP server mean") && first.contains("not connected"), "{first}");
    assert_eq!(processes(&home).len(), 5);
    assert!(
        told(&server, 6).contains("it was started 5 times within 10 minutes"),
        "{}",
        told(&server, 6)
    );
    server.finish();
}

#[test]
fn a_server_that_breaks_off_at_the_new_handshake_gets_the_old_one() {
    let server = server(WireFormat::Anthropic)
        .reply(call("echo", &json!({"word": "hi"})))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    settings(&home, &json!({"mean": entry("touchy")}));
    run(&home, &["go"]);
    assert!(told(&server, 1).contains("echo heard"), "{}", told(&server, 1));
    server.finish();
}

#[test]
fn a_flood_ends_the_connection_with_a_reason() {
    for flood in ["endless", "big"] {
        let server = server(WireFormat::Anthropic)
            .reply(call(flood, &json!({})))
            .reply(call("echo", &json!({"word": "again"})))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        let home = mean_home(&server);
        run(&home, &["go"]);
        let first = told(&server, 1);
        assert!(first.contains("a message of more than 16 MiB"), "{flood}: {first}");
        assert!(told(&server, 2).contains("echo heard"), "{flood}: {}", told(&server, 2));
        server.finish();
    }
}

#[test]
fn a_call_that_hangs_is_given_up_and_the_server_is_told() {
    let server = server(WireFormat::Anthropic)
        .reply(call("hang", &json!({})))
        .reply(call("echo", &json!({"word": "still there"})))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut mean = entry("well");
    // The call after it has the same limit, and is to keep it on a busy machine.
    mean["timeout"] = json!(5_000);
    settings(&home, &json!({"mean": mean}));
    run(&home, &["go"]);
    assert!(
        told(&server, 1).contains("`hang` did not answer within 5000 ms"),
        "{}",
        told(&server, 1)
    );
    assert!(told(&server, 2).contains("still there"));
    assert!(home.read("mean-cancelled").contains("requestId"));
    assert_eq!(processes(&home).len(), 1);
    server.finish();
}

#[test]
fn an_interrupted_call_is_called_off() {
    let server = server(WireFormat::Anthropic).reply(call("hang", &json!({}))).start();
    let home = mean_home(&server);
    let mut running = home.spawn(&mut ask(&home, &["go"]));
    running.close_stdin();
    wait_until("the call", || home.project().join("mean-calls").exists());
    running.interrupt();
    let output = running.wait();
    output.expect_code(130);
    assert!(home.read("mean-cancelled").contains("requestId"));
    assert!(processes(&home).iter().all(|id| !runs(id)));
    server.finish();
}

/// Not even a server that goes on when its input is closed, nor what it has started in another session.
#[test]
fn nothing_outlives_the_program_however_it_ends() {
    for kill in [false, true] {
        let server = server(WireFormat::Anthropic).reply(call("hang", &json!({}))).start();
        let home = TestHome::new().with_server(&server);
        settings(&home, &json!({"mean": entry("stubborn")}));
        let mut running = home.spawn(&mut ask(&home, &["go"]));
        running.close_stdin();
        wait_until("the call", || home.project().join("mean-calls").exists());
        let processes = processes(&home);
        assert!(processes.len() == 2 && processes.iter().all(|id| runs(id)), "{processes:?}");
        if kill {
            running.kill9();
        } else {
            running.interrupt();
        }
        running.wait();
        wait_until("the servers to end", || processes.iter().all(|id| !runs(id)));
    }
}

#[test]
fn two_servers_with_the_same_tools() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("1", "mcp__one__echo", r#"{"word":"a"}"#).call(
            "2",
            "mcp__two__echo",
            r#"{"word":"b"}"#,
        ))
        .reply(ScriptedTurn::new().call("1", format!("mcp__one__{}", &made_fit()), "{}"))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    settings(&home, &json!({"one": entry("well"), "two": entry("well")}));
    run(&home, &["go"]);
    let both = told(&server, 1);
    assert!(both.contains(r#"{\"word\":\"a\"}"#) && both.contains(r#"{\"word\":\"b\"}"#), "{both}");
    assert!(told(&server, 2).contains(&format!("{LONG_NAME} heard")), "{}", told(&server, 2));
    assert_eq!(processes(&home).len(), 2);
    server.finish();
}

/// What the long name becomes behind `mcp__one__`.
fn made_fit() -> String {
    let kept: String =
        LONG_NAME.replace('.', "_").chars().take(64 - 9 - "mcp__one__".len()).collect();
    let hash = dormouse_base::stable_hash(LONG_NAME.as_bytes()) & 0xffff_ffff;
    format!("{kept}_{hash:08x}")
}

/// L-29: `.mcp.json` is a stranger's until it is trusted, and again when it has changed.
#[test]
fn a_projects_servers_wait_for_trust() {
    let server = server(WireFormat::Anthropic)
        .replies(["one", "two", "three", "four"].map(|text| ScriptedTurn::new().text(text)))
        .start();
    let home = TestHome::new().with_server(&server);
    let file = |start: &str| {
        home.write(".mcp.json", json!({"mcpServers": {"mean": entry(start)}}).to_string());
    };
    let has_tools = |at: usize| {
        server.requests()[at].tool_names().iter().any(|name| name.starts_with("mcp__mean__"))
    };
    file("well");
    (0..3).for_each(|_| server.expect_break("other tools"));
    let output = run(&home, &["go"]);
    assert!(
        output
            .stderr
            .contains("is not trusted, so some of its settings have no effect (.mcp.json.mean)"),
        "{}",
        output.stderr
    );
    assert!(!has_tools(0) && processes(&home).is_empty());
    let trusted = home.run(&mut dormouse(&home, &["permissions", "trust", "--yes"]));
    assert!(
        trusted.success().stderr.contains("mean: an MCP server that runs"),
        "{}",
        trusted.stderr
    );
    run(&home, &["go"]);
    assert!(has_tools(1) && processes(&home).len() == 1);
    let doctor = home.run(&mut dormouse(&home, &["doctor", "--offline"]));
    assert!(!doctor.stdout.contains("until you trust it"), "{}", doctor.stdout);
    file("touchy");
    let output = run(&home, &["go"]);
    assert!(output.stderr.contains("changed since you trusted it"), "{}", output.stderr);
    assert!(!has_tools(2) && processes(&home).len() == 1);
    file("well");
    run(&home, &["--bare", "go"]);
    assert!(!has_tools(3) && processes(&home).len() == 1);
    server.finish();
}

#[test]
fn mistakes_are_told_with_their_line_and_the_others_load() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("one")).start();
    let home = TestHome::new().with_server(&server);
    let good = entry("well");
    let text = format!(
        "{{\n\"mcpServers\": {{\n\"web\": {{\"url\": \"http://h\"}},\n\"old\": {{\"type\": \"sse\", \"url\": \"http://h\"}},\n\
         \"absent\": {{\"command\": \"no-such-program\"}},\n\"mean\": {good}}}}}"
    );
    home.write(home.dormouse_home().join("settings.json"), text);
    let more = json!({"mcpServers": {"other": entry("well")}}).to_string();
    let output = run(&home, &["--mcp-config", &more, "go"]);
    for expected in [
        "settings.json, line 3: MCP server `web`: a `url` needs",
        "settings.json, line 4: MCP server `old`: `sse` is not supported",
        "MCP server `absent` is not available: the program `no-such-program` is not on PATH",
    ] {
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    }
    let names = server.requests()[0].tool_names();
    assert!(
        names.contains(&"mcp__mean__echo".to_owned())
            && names.contains(&"mcp__other__echo".to_owned())
    );
    let wrong = home.run(&mut ask(&home, &["--mcp-config", r#"{"mcpServers":{"x":{}}}"#, "go"]));
    wrong.expect_code(2);
    server.finish();
}

#[test]
fn set_up_listed_and_removed() {
    let home = TestHome::new();
    let program = |arguments: &[&str]| home.run(&mut dormouse(&home, arguments));
    let path = env!("CARGO_BIN_EXE_dormouse");
    program(&["mcp", "add", "memory", "--", path, "mcp"]).success();
    program(&[
        "mcp",
        "add",
        "web",
        "--url",
        "http://127.0.0.1:9/mcp?key=hush",
        "--header",
        "Authorization: Bearer ${TOKEN:-tttttttttt}",
    ])
    .success();
    program(&["mcp", "add", "bad name", "--", "x"]).expect_code(2);
    program(&["mcp", "add", "both", "--url", "http://h", "--", "x"]).expect_code(2);
    let listed = program(&["mcp", "list", "--json"]);
    let lines: Value = serde_json::from_str(&listed.success().stdout).unwrap();
    let [memory, web] = lines.as_array().unwrap().as_slice() else { panic!("{lines}") };
    assert_eq!(
        (&memory["status"], &memory["protocol"]),
        (&json!("connected"), &json!("2026-07-28"))
    );
    assert!(memory["tools"].to_string().contains("mcp__memory__memory_save"));
    assert_eq!(web["status"], "down");
    assert!(
        !listed.stdout.contains("hush") && !listed.stdout.contains("tttttttttt"),
        "{}",
        listed.stdout
    );
    program(&["mcp", "remove", "web"]).success();
    let text = program(&["mcp", "list"]);
    assert!(
        text.stdout.starts_with("memory: connected (dormouse ") && !text.stdout.contains("web"),
        "{}",
        text.stdout
    );
    let settings = home.read(home.dormouse_home().join("settings.json"));
    assert!(settings.contains("\"memory\": {") && !settings.contains("127.0.0.1"), "{settings}");
}
