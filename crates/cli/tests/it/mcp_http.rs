//! The MCP server over HTTP: who is let in, and that both eras are served there as well.

use std::io::{Read, Write};
use std::net::TcpStream;

use dormouse_testkit::{HANGS, Running, TestHome};
use serde_json::{Value, json};

use crate::program::dormouse;

struct Door {
    running: Running,
    address: String,
    token: String,
}

/// What came back.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    /// The message in it, be it plain or the last of a stream.
    fn message(&self) -> Value {
        let mut data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        let text = data.rfind(|data| data.starts_with('{'));
        let text = text.unwrap_or_else(|| self.body.lines().find(|l| l.starts_with('{')).unwrap());
        serde_json::from_str(text).unwrap()
    }

    fn header(&self, name: &str) -> Option<String> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, v)| v.to_owned())
    }
}

impl Door {
    fn open(home: &TestHome) -> Self {
        let running = home.spawn(&mut dormouse(home, &["mcp", "--http", "--port", "0"]));
        running.wait_for_stdout(|text| text.contains('\n'));
        let url = running.stdout().trim().to_owned();
        let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{url}");
        let token = home.read(home.dormouse_home().join("mcp-token")).trim().to_owned();
        assert!(!running.stderr().contains(&token));
        Self { running, address, token }
    }

    fn try_send(&self, request: &str) -> (std::io::Result<()>, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        // For a server that hangs.
        stream.set_read_timeout(Some(HANGS)).unwrap();
        let sent = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        (sent.and(read.map(drop)), String::from_utf8(bytes).unwrap())
    }

    fn send(&self, request: &str) -> Answer {
        let (sent, text) = self.try_send(request);
        sent.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn try_post(&self, body: &Value) -> (std::io::Result<()>, String) {
        self.try_send(&self.request(body, &[]))
    }

    fn post(&self, body: &Value, headers: &[(&str, &str)]) -> Answer {
        self.send(&self.request(body, headers))
    }

    /// A request with these headers beside the usual ones; one that is given replaces the usual one.
    fn request(&self, body: &Value, headers: &[(&str, &str)]) -> String {
        let body = body.to_string();
        let (bearer, length) = (format!("Bearer {}", self.token), body.len().to_string());
        let usual = [
            ("Host", self.address.as_str()),
            ("Authorization", &bearer),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
            ("Content-Length", &length),
            ("Connection", "close"),
        ];
        let mut text = "POST /mcp HTTP/1.1\r\n".to_owned();
        let kept = usual.iter().filter(|(name, _)| !headers.iter().any(|(own, _)| own == name));
        for (name, value) in kept.chain(headers).filter(|(_, value)| !value.is_empty()) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        format!("{text}\r\n{body}")
    }

    /// A call in the newer era.
    fn call(&self, tool: &str, arguments: &Value) -> Answer {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "web", "version": "1"},
        }}});
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", tool),
        ];
        self.post(&body, &headers)
    }
}

fn initialize(name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": name, "version": "1"}}})
}

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
}

#[test]
fn only_whoever_has_the_token_is_let_in() {
    let home = TestHome::new();
    let door = Door::open(&home);
    let wrong = format!("Bearer {}x", door.token);
    for header in
        [("Authorization", ""), ("Authorization", &wrong), ("Authorization", "Basic eDp5")]
    {
        let answer = door.post(&initialize("t"), &[header]);
        assert_eq!(answer.status, 401, "{header:?}");
        assert_eq!(answer.header("www-authenticate").unwrap(), "Bearer");
    }
    // A page elsewhere, and a name that somebody made lead here.
    for header in [("Origin", "https://evil.example"), ("Origin", "null"), ("Host", "evil.example")]
    {
        assert_eq!(door.post(&initialize("t"), &[header]).status, 403, "{header:?}");
    }
    let local = ("Origin", "http://localhost:6274");
    assert_eq!(door.post(&initialize("t"), &[local]).status, 200);
    let bearer = format!("Authorization: Bearer {}\r\nConnection: close", door.token);
    let elsewhere = door.send(&format!("GET / HTTP/1.1\r\nHost: localhost\r\n{bearer}\r\n\r\n"));
    assert_eq!(elsewhere.status, 404);
    assert_eq!(door.send("nonsense\r\n\r\n").status, 400);
    assert!(!home.dormouse_home().join("projects").exists());
    // Still there, and ends when told to.
    assert_eq!(door.post(&initialize("t"), &[]).status, 200);
    door.running.interrupt();
    door.running.wait().success();
}

#[test]
fn several_clients_of_both_eras_share_it() {
    let home = TestHome::new();
    let door = Door::open(&home);
    let sessions: Vec<String> = (0..3)
        .map(|number| {
            let hello = door.post(&initialize(&format!("agent{number}")), &[]);
            assert_eq!(hello.message()["result"]["protocolVersion"], "2025-11-25");
            hello.header("mcp-session-id").unwrap()
        })
        .collect();
    for session in &sessions {
        let headers =
            [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(door.post(&initialized, &headers).status, 202);
        let tools = door.post(&list(), &headers).message();
        assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 8, "{tools}");
        let save = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "memory_save", "arguments": {"name": format!("From {session}"),
            "description": "d", "type": "project", "content": session}}});
        let saved = door.post(&save, &headers).message();
        assert_eq!(saved["result"]["structuredContent"]["status"], "done", "{saved}");
    }
    let listed = door.call("memory_list", &json!({})).message();
    assert_eq!(listed["result"]["structuredContent"]["total"], 3, "{listed}");
    let log = home.run(&mut dormouse(&home, &["memory", "log", "--json"]));
    assert!(log.success().stdout.contains("client:agent2"), "{}", log.stdout);
    let unknown = door.post(&list(), &[("Mcp-Session-Id", "no-such-session")]);
    assert_eq!(unknown.status, 404);
    // Refused before all of it was sent: what could not be sent any more is no matter.
    let huge = json!({"x": "y".repeat(20 * 1024 * 1024)});
    let (sent, answer) = door.try_post(&huge);
    assert!(sent.is_err() || answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert_eq!(door.post(&initialize("t"), &[]).status, 200);
}

#[test]
fn the_same_token_serves_the_next_time() {
    let home = TestHome::new();
    let first = Door::open(&home).token.clone();
    assert_eq!(Door::open(&home).token, first);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = home.run(&mut dormouse(&home, &["mcp", "--http", "--port", &port]));
    refused.expect_code(1);
    assert!(refused.stderr.contains("choose another port"), "{}", refused.stderr);
}
