//! Web search (L-38): through a server of the settings, or by the model's own server; otherwise there is none.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{RecordedRequest, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{BOTH, ask, server, transcript};
use crate::talk::{leave, say, talk};

/// A search server that answers every request with this JSON, and keeps the requests.
struct SearchServer {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl SearchServer {
    fn start(answer: &Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, body) = (Arc::clone(&requests), answer.to_string());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                let (mut request, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    let lower = line.to_lowercase();
                    if let Some(bytes) = lower.strip_prefix("content-length:") {
                        length = bytes.trim().parse().unwrap();
                    }
                    request.push_str(&line);
                    if line.trim().is_empty() {
                        break;
                    }
                }
                let mut content = vec![0; length];
                reader.read_exact(&mut content).unwrap();
                request.push_str(&String::from_utf8(content).unwrap());
                kept.lock().unwrap().push(request);
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                reader.get_mut().write_all(format!("{head}{body}").as_bytes()).unwrap();
            }
        });
        Self { url, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn found() -> Value {
    json!({"results": [
        {"title": "Hazel nuts", "url": "https://nuts.example/hazel", "content": "They  are\nround. NUT_KEY_123456"},
        {"title": "No page", "url": "ftp://nuts.example/x", "content": ""},
    ]})
}

fn done() -> ScriptedTurn {
    ScriptedTurn::new().text("done")
}

fn search(query: &str) -> ScriptedTurn {
    ScriptedTurn::new().call("s", "WebSearch", json!({"query": query}).to_string())
}

/// The last request of a session in which the model searches.
fn searched(wire: WireFormat, settings: &Value, arguments: &[&str]) -> (RecordedRequest, String) {
    let server = server(wire).replies([search("what are nuts?"), done()]).start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("NUT_KEY", "NUT_KEY_123456");
    let settings = json!({"webSearch": settings}).to_string();
    let arguments = [&["--settings", &settings], arguments, &["go"]].concat();
    home.run(&mut ask(&home, &arguments)).success();
    let last = server.requests().pop().unwrap();
    server.finish();
    (last, transcript(&home))
}

#[test]
fn a_search_server_of_the_settings() {
    for wire in BOTH {
        let web = SearchServer::start(&found());
        let settings = json!({"provider": "searxng", "url": web.url});
        let (last, _) = searched(wire, &settings, &["--allowed-tools", "WebSearch"]);
        let text = last.text();
        assert!(text.contains("1. Hazel nuts") && text.contains("https://nuts.example/hazel"));
        assert!(text.contains("They are round.") && !text.contains("ftp://"), "{text}");
        assert!(last.tool_names().contains(&"WebSearch".to_owned()));
        let asked = web.requests();
        assert!(asked[0].starts_with("GET /search?q=what+are+nuts%3F&format=json"), "{asked:?}");
        // Without a rule it needs a confirmation, as fetching a page does.
        let (last, _) = searched(wire, &settings, &[]);
        assert!(last.text().contains("no terminal for confirmation"), "{}", last.text());
        assert_eq!(web.requests().len(), 1);
    }
}

#[test]
fn keys_go_to_the_search_server_and_nowhere_else() {
    for (provider, expected) in [
        ("brave", "x-subscription-token: NUT_KEY_123456"),
        ("tavily", "authorization: Bearer NUT_KEY_123456"),
    ] {
        let answer = if provider == "brave" { json!({"web": found()}) } else { found() };
        let web = SearchServer::start(&answer);
        let settings = json!({"provider": provider, "url": web.url, "keyEnv": "NUT_KEY"});
        let (last, kept) =
            searched(WireFormat::Anthropic, &settings, &["--allowed-tools", "WebSearch"]);
        assert!(last.text().contains("https://nuts.example/hazel"), "{}", last.text());
        let asked = web.requests().remove(0);
        assert!(asked.to_lowercase().contains(&expected.to_lowercase()), "{asked}");
        assert!(asked.contains("what are nuts?") || asked.contains("what+are+nuts%3F"), "{asked}");
        // A page that repeats the key does not bring it to the model.
        assert!(!last.text().contains("NUT_KEY_123456") && !kept.contains("NUT_KEY_123456"));
    }
    let home = TestHome::new();
    for (settings, said) in [
        (json!({"provider": "searxng"}), "webSearch needs `url`"),
        (json!({"provider": "searxng", "url": "file:///etc"}), "webSearch.url is file:///etc"),
        (json!({"provider": "brave"}), "BRAVE_API_KEY is not set"),
    ] {
        let server = server(WireFormat::Anthropic).start();
        let home = TestHome::new().with_server(&server);
        let settings = json!({"webSearch": settings}).to_string();
        let output = home.run(&mut ask(&home, &["--settings", &settings, "go"]));
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(said), "{}", output.stderr);
        server.finish();
    }
    drop(home);
}

/// The first request of a run with these settings.
fn first_request(wire: WireFormat, settings: &Value, arguments: &[&str]) -> RecordedRequest {
    let server = server(wire).reply(done()).start();
    let home = TestHome::new().with_server(&server);
    // A project does not decide who is asked.
    home.write(".dormouse/settings.json", r#"{"webSearch":{"provider":"server"}}"#);
    let settings = settings.to_string();
    let arguments = [&["--settings", &settings], arguments, &["go"]].concat();
    home.run(&mut ask(&home, &arguments)).success();
    let request = server.single_request();
    server.finish();
    request
}

/// As the server sends them, with fields that nobody knows.
const BLOCKS: [&str; 2] = [
    r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"nuts 1.10"},"zeta":1.10}"#,
    r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://nuts.example/a","title":"All nuts","encrypted_content":"Eo8=","page_age":null}]}"#,
];

#[test]
fn the_search_of_the_models_server() {
    let asked = json!({"webSearch": {"provider": "server"}});
    let mark = r#"{"type":"web_search_20250305","name":"web_search","max_uses":8}"#;
    let tools = |wire, settings: &Value, arguments: &[&str]| {
        first_request(wire, settings, arguments).raw_field("tools").unwrap().to_owned()
    };
    assert!(tools(WireFormat::Anthropic, &asked, &[]).contains(mark));
    // Another server in the same format, the other format, and a rule.
    for without in [
        tools(WireFormat::Anthropic, &json!({}), &[]),
        tools(WireFormat::OpenAi, &asked, &[]),
        tools(WireFormat::Anthropic, &asked, &["--disallowed-tools", "WebSearch"]),
        tools(WireFormat::Anthropic, &json!({"webSearch": {"provider": "off"}}), &[]),
    ] {
        assert!(!without.contains("web_search") && !without.contains("WebSearch"), "{without}");
    }
}

#[test]
fn blocks_of_the_server_are_kept_and_shown() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let settings = r#"{"webSearch":{"provider":"server"}}"#;
    home.write(home.dormouse_home().join("settings.json"), settings);
    server.push(ScriptedTurn::new().raw(BLOCKS[0]).raw(BLOCKS[1]).text("All about nuts."));
    let mut terminal = talk(&home, &[], (100, 40));
    say(&mut terminal, "look for nuts", "All about nuts.");
    let screen = terminal.all_rows().join("\n");
    assert!(screen.contains("searched the web: nuts 1.10"), "{screen}");
    assert!(screen.contains("All nuts: https://nuts.example/a"), "{screen}");
    server.push(done());
    say(&mut terminal, "and now?", "done");
    leave(terminal);
    let sent = server.requests().pop().unwrap().text();
    for block in BLOCKS {
        assert!(sent.contains(block), "as received: {sent}");
    }
    server.finish();
}
