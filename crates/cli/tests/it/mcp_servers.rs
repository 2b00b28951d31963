//! MCP servers that others wrote: three of the protocol's own, from npm (`scripts/mcp-servers` fetches them), and ours,
//! over both transports and in both eras.

use std::path::{Path, PathBuf};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Running, ScriptedServer, TestHome, WireFormat, needs, test_part};
use serde_json::{Value, json};

use crate::mcp_mean::settings;
use crate::program::{ask, dormouse, server, wait_until};
use crate::talk::{leave, talk, wait_for_menu, wait_for_prompt};

/// Where the servers from npm are.
fn from_npm() -> PathBuf {
    PathBuf::from(&test_part("mcp-servers").unwrap()[0])
}

/// A home that finds node.
fn home_with(server: &ScriptedServer, servers: &Value) -> TestHome {
    let mut home = TestHome::new().with_server(server);
    home.set_env("PATH", std::env::var_os("PATH").unwrap());
    settings(&home, servers);
    home
}

/// The processes whose command line names a file.
fn processes_of(program: &Path) -> usize {
    let named = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&program.display().to_string())
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(named).count()
}

fn run(home: &TestHome) {
    home.run(&mut ask(home, &["go"])).success();
}

/// Each call, and what its result has to hold.
fn check(servers: impl FnOnce(&Path) -> Value, calls: &[(&str, Value, &str)]) {
    let mut script = server(WireFormat::Anthropic);
    for (tool, input, _) in calls {
        script = script.reply(ScriptedTurn::new().call("c", *tool, input.to_string()));
    }
    let server = script.reply(ScriptedTurn::new().text("done")).start();
    let home = home_with(&server, &json!({}));
    settings(&home, &servers(&home.project()));
    run(&home);
    for (place, (tool, _, expected)) in calls.iter().enumerate() {
        let told = server.requests()[place + 1].last_message().to_string();
        assert!(told.contains(expected), "{tool}: {expected}: {told}");
    }
    server.finish();
}

#[test]
fn everything_over_stdio() {
    needs!("mcp-servers");
    let program = from_npm().join("mcp-server-everything");
    check(
        |_| json!({"every": {"command": program}}),
        &[
            ("mcp__every__echo", json!({"message": "hello there"}), "Echo: hello there"),
            ("mcp__every__get-sum", json!({"a": 2, "b": 40}), "42"),
            ("mcp__every__get-tiny-image", json!({}), "\"media_type\":\"image/png\""),
            ("mcp__every__get-structured-content", json!({"location": "New York"}), "temperature"),
            ("mcp__every__get-resource-links", json!({"count": 2}), "[link to the resource "),
            ("mcp__every__get-sum", json!({"a": "x"}), "\"is_error\":true"),
        ],
    );
}

#[test]
fn prompts_of_everything() {
    needs!("mcp-servers");
    let server = server(WireFormat::Anthropic).start();
    let home = home_with(
        &server,
        &json!({"every": {"command": from_npm().join("mcp-server-everything")}}),
    );
    for (prompt, expected) in [
        ("/mcp__every__simple-prompt", "This is a simple prompt"),
        (
            "/mcp__every__args-prompt 'New Orleans' Louisiana",
            "What's weather in New Orleans, Louisiana?",
        ),
        ("/mcp__every__resource-prompt Text 1", "[resource demo://resource/dynamic/text/1]"),
    ] {
        if !server.requests().is_empty() {
            server.expect_break("another session");
        }
        server.push(ScriptedTurn::new().text("done"));
        home.run(&mut ask(&home, &[prompt])).success();
        let told = server.requests().pop().unwrap().last_message().to_string();
        assert!(told.contains(expected), "{prompt}: {told}");
    }
    server.finish();
}

/// Its question has a field of every kind that there is.
#[test]
fn the_question_of_everything() {
    needs!("mcp-servers");
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("c", "mcp__every__trigger-elicitation-request", "{}"))
        .reply(ScriptedTurn::new().text("it is done"))
        .start();
    let home = home_with(
        &server,
        &json!({"every": {"command": from_npm().join("mcp-server-everything")}}),
    );
    let mut terminal = talk(&home, &[], (120, 50));
    terminal.enter("go");
    // What is left empty, what is typed, and what is taken as it is offered.
    for (about, keys) in [
        ("Your full, legal name", "aAda\r"),
        ("Agree to the terms", "y"),
        ("Favorite first line", "s"),
        ("Your email address", "s"),
        ("Portfolio", "s"),
        ("Your date of birth", "s"),
        ("Your favorite integer", "a\r"),
        ("Favorite number", "a\x7f\x7f\x7f\x7f2.5\r"),
        ("Choose your favorite friend", "c"),
        ("Choose your favorite instruments", "a1, 3\r"),
        ("Choose your favorite hero", "s"),
        ("Choose your favorite types of fish", "a2\r"),
        ("Choose your favorite type of pet", "b"),
        ("Send this to `every`?", "y"),
    ] {
        wait_for_menu(&terminal, about);
        for key in keys.chars() {
            terminal.type_keys(&key.to_string());
        }
    }
    terminal.wait_for_text("it is done");
    wait_for_prompt(&terminal);
    let told = server.requests()[1].last_message().to_string();
    for expected in [
        "Name: Ada",
        "Agreed to terms: true",
        "Favorite Integer: 42",
        "Favorite Number: 2.5",
        "Joey",
        "Guitar",
        "Violin",
        "fish-2",
        "pet-2",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    assert!(!told.contains("Piano") && !told.contains("hero-"), "{told}");
    leave(terminal);
    server.finish();
}

#[test]
fn everything_over_http() {
    needs!("mcp-servers");
    let program = from_npm().join("mcp-server-everything");
    let port = free_port();
    let home = TestHome::new();
    let mut command = home.command(&program);
    command
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .env("PATH", std::env::var_os("PATH").unwrap());
    let door = home.spawn(&mut command);
    door.wait_for_stderr(|text| text.contains("listening"));
    check(
        |_| json!({"every": {"type": "http", "url": format!("http://127.0.0.1:{port}/mcp")}}),
        &[
            ("mcp__every__echo", json!({"message": "by the wire"}), "Echo: by the wire"),
            ("mcp__every__get-sum", json!({"a": 2, "b": 40}), "42"),
        ],
    );
    door.kill9();
    door.wait();
}

#[test]
fn files_and_memory_over_stdio() {
    needs!("mcp-servers");
    let bin = from_npm();
    let (files, memory) = (bin.join("mcp-server-filesystem"), bin.join("mcp-server-memory"));
    let told = "\"entityType\": \"animal\"".replace('"', "\\\"");
    check(
        |project| {
            std::fs::write(project.join("nuts.txt"), "fifty-two nuts").unwrap();
            let graph = project.join("graph.json");
            json!({
                "files": {"command": files, "args": [project]},
                "memory": {"command": memory, "env": {"MEMORY_FILE_PATH": graph}},
            })
        },
        &[
            ("mcp__files__read_text_file", json!({"path": "nuts.txt"}), "fifty-two nuts"),
            ("mcp__files__read_text_file", json!({"path": "/etc/passwd"}), "\"is_error\":true"),
            (
                "mcp__memory__create_entities",
                json!({"entities": [{"name": "Hazel", "entityType": "animal", "observations": ["sleeps"]}]}),
                &told,
            ),
            ("mcp__memory__search_nodes", json!({"query": "sleeps"}), "Hazel"),
        ],
    );
    wait_until("the servers to end", || processes_of(&memory) == 0);
}

/// Ours speaks the new era to who asks for it.
#[test]
fn our_own_over_both_transports() {
    let save = json!({"name": "Build server", "description": "which", "type": "project", "content": "badger"});
    let calls = [
        ("mcp__own__memory_save", save, "build-server.md"),
        ("mcp__own__memory_search", json!({"query": "badger"}), "badger"),
        ("mcp__own__memory_read", json!({"name": "../../etc/passwd"}), "\"is_error\":true"),
    ];
    check(|_| json!({"own": {"command": env!("CARGO_BIN_EXE_dormouse"), "args": ["mcp"]}}), &calls);
    let other = TestHome::new();
    let (door, url, token) = own_door(&other);
    let headers = json!({"Authorization": format!("Bearer {token}")});
    check(|_| json!({"own": {"type": "http", "url": url, "headers": headers}}), &calls);
    door.kill9();
    door.wait();
}

#[test]
fn a_door_that_is_shut_says_why() {
    let other = TestHome::new();
    let (door, url, _) = own_door(&other);
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("done")).start();
    let home = home_with(
        &server,
        &json!({
            "own": {"type": "http", "url": url},
            "nobody": {"type": "http", "url": "http://127.0.0.1:9/mcp"},
        }),
    );
    let output = home.run(&mut ask(&home, &["go"]));
    let stderr = &output.success().stderr;
    assert!(
        stderr.contains("`own` is not available: it answered 401 Unauthorized; set `headers`"),
        "{stderr}"
    );
    assert!(
        stderr.contains("`nobody` is not available: ") && stderr.contains("refused"),
        "{stderr}"
    );
    door.kill9();
    door.wait();
    server.finish();
}

fn own_door(home: &TestHome) -> (Running, String, String) {
    let door = home.spawn(&mut dormouse(home, &["mcp", "--http", "--port", "0"]));
    door.wait_for_stdout(|text| text.contains('\n'));
    let url = door.stdout().trim().to_owned();
    let token = home.read(home.dormouse_home().join("mcp-token")).trim().to_owned();
    (door, url, token)
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
