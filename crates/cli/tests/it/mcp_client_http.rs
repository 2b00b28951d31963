//! An MCP server over HTTP that is mean: it answers without end, and forgets sessions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::{Value, json};

use crate::mcp_mean::settings;
use crate::program::{ask, server};

/// What the server has seen.
#[derive(Default)]
struct Seen {
    sessions: usize,
    /// Sessions up to this one are forgotten.
    forgotten: usize,
    goodbyes: usize,
}

struct Door {
    url: String,
    seen: Arc<Mutex<Seen>>,
}

impl Door {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen::default()));
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &seen));
            }
        });
        Self { url, seen }
    }
}

/// One request and its answer.
fn serve(mut stream: TcpStream, seen: &Mutex<Seen>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut line) = (Vec::new(), String::new());
    while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
        head.push(std::mem::take(&mut line).trim().to_lowercase());
    }
    let header = |name: &str| {
        head.iter().find_map(|line| line.strip_prefix(name)).map(|v| v.trim().to_owned())
    };
    let length = header("content-length:").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let session = header("mcp-session-id:").and_then(|session| session.parse::<usize>().ok());
    let Some(method) = head.first().and_then(|line| line.split(' ').next()) else { return };
    match method {
        "post" => heed(&mut stream, session, &serde_json::from_slice(&body).unwrap(), seen),
        "delete" => {
            seen.lock().unwrap().goodbyes += 1;
            answer(&mut stream, "200 OK", "", "");
        }
        _ => answer(&mut stream, "405 Method Not Allowed", "", ""),
    }
}

fn heed(stream: &mut TcpStream, session: Option<usize>, message: &Value, seen: &Mutex<Seen>) {
    let method = message["method"].as_str().unwrap();
    let result = |result: Value| {
        json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()
    };
    let mut seen = seen.lock().unwrap();
    match method {
        // Not even an error of the protocol.
        "server/discover" => answer(stream, "400 Bad Request", "", "what?"),
        "initialize" => {
            seen.sessions += 1;
            let session =
                format!("Mcp-Session-Id: {}\r\nContent-Type: application/json\r\n", seen.sessions);
            let info = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "web", "version": "1"}});
            answer(stream, "200 OK", &session, &result(info));
        }
        _ if session.is_none_or(|session| session <= seen.forgotten) => {
            answer(stream, "404 Not Found", "", "");
        }
        _ if message["id"].is_null() => answer(stream, "202 Accepted", "", ""),
        "tools/list" => {
            let tools = ["echo", "big", "stream", "forget"];
            let tools = tools.map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
            answer(
                stream,
                "200 OK",
                "Content-Type: application/json\r\n",
                &result(json!({ "tools": tools })),
            );
        }
        _ => {
            let text = match message["params"]["name"].as_str().unwrap() {
                "big" => "z".repeat(20 << 20),
                "stream" => return stream_without_end(stream),
                "forget" => {
                    seen.forgotten = seen.sessions;
                    "forgotten".to_owned()
                }
                _ => format!("in session {}", session.unwrap()),
            };
            let content = json!({"content": [{"type": "text", "text": text}]});
            answer(stream, "200 OK", "Content-Type: application/json\r\n", &result(content));
        }
    }
}

fn answer(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let length = body.len();
    // Whoever does not read to the end is within its rights.
    let _gone = write!(
        stream,
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
}

fn stream_without_end(stream: &mut TcpStream) {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: ";
    let piece = vec![b'x'; 1 << 16];
    let mut sent = stream.write_all(head.as_bytes());
    while sent.is_ok() {
        sent = stream.write_all(&piece);
    }
}

#[test]
fn answers_without_end_are_cut_off_and_a_forgotten_session_is_begun_anew() {
    let call = |tool: &str| ScriptedTurn::new().call("c", format!("mcp__web__{tool}"), "{}");
    let server = server(WireFormat::Anthropic)
        .replies(["big", "stream", "echo", "forget", "echo"].map(call))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let door = Door::open();
    let home = TestHome::new().with_server(&server);
    settings(&home, &json!({"web": {"type": "http", "url": door.url, "timeout": 300_000}}));
    home.run(&mut ask(&home, &["go"])).success();
    let told = |at: usize| server.requests()[at].last_message().to_string();
    for at in [1, 2] {
        assert!(told(at).contains("more than 16 MiB"), "{at}: {}", told(at));
    }
    assert!(told(3).contains("in session "), "{}", told(3));
    assert!(told(4).contains("forgotten"), "{}", told(4));
    assert!(told(5).contains("in session "), "{}", told(5));
    assert_ne!(told(3), told(5), "another session");
    assert!(door.seen.lock().unwrap().goodbyes >= 1, "it says goodbye");
    server.finish();
}
