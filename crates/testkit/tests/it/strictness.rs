//! The server keeps to its script, keeps what it was sent, and complains.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{End, Gate, Reply, ScriptedServer, WireFormat};

use crate::client::{Client, ask, assistant, body, user};

fn hello() -> ScriptedTurn {
    ScriptedTurn::new().text("hello")
}

/// What `finish` says.
fn complaint(server: ScriptedServer) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| server.finish())).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn an_unscripted_request_is_refused_and_fails() {
    let server = ScriptedServer::builder().start();
    assert_eq!(Client::new(&server).post(&ask()).status, 500);
    assert!(complaint(server).contains("request 0: the script has no reply to it"));
}

#[test]
fn a_reply_nobody_asked_for_fails() {
    let server = ScriptedServer::builder().replies([hello(), hello()]).start();
    Client::new(&server).post(&ask());
    assert!(complaint(server).contains("1 replies were not asked for"));
}

#[test]
fn an_unknown_path_fails() {
    let server = ScriptedServer::builder().start();
    let mut client = Client::new(&server);
    client.send_raw("POST /v1/other HTTP/1.1\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(client.read_answer().unwrap().status, 404);
    assert!(complaint(server).contains("POST /v1/other"));
}

#[test]
fn a_script_that_asks_for_the_impossible_fails() {
    let reply = Reply::Turn(hello()).gate_after(99, &Gate::new()).stop_after(50).then(End::Close);
    let server = ScriptedServer::builder().reply(reply).start();
    Client::new(&server).post(&ask());
    let complaint = complaint(server);
    assert!(complaint.contains("gate_after(99)") && complaint.contains("event 50"), "{complaint}");
}

#[test]
fn a_panic_of_the_answering_function_fails() {
    let server = ScriptedServer::builder().reply_with(|_| unreachable!("on purpose")).start();
    assert_eq!(Client::new(&server).post(&ask()).status, 500);
    assert!(complaint(server).contains("the answering function panicked"));
}

#[test]
fn a_dropped_server_says_nothing() {
    let server = ScriptedServer::builder().reply(hello()).start();
    drop(server);
}

#[test]
fn bad_requests_are_complained_about() {
    let two = body(&[&user("a"), &user("b")]);
    for (bad, words) in [
        ("{", "the body is not JSON"),
        (two.as_str(), "`user` may not follow `user`"),
        (&body(&[&user("my secret text")]), "contains the canary"),
        (&body(&[&user(&"x".repeat(500))]), "do not fit into a window of 100"),
        (&ask().replace("true", "false"), "`stream` is not true"),
        (
            &ask().replace("\"stream\"", "\"cache_control\":{\"ttl\":\"1h\"},\"system\":[{\"type\":\"text\",\"text\":\"s\",\"cache_control\":{}}],\"stream\""),
            "1h stands behind one of 5m",
        ),
    ] {
        let server =
            ScriptedServer::builder().window(100).canary("secret text").reply(hello()).start();
        Client::new(&server).post(bad);
        let complaint = complaint(server);
        assert!(complaint.contains(words), "{complaint}");
    }
}

#[test]
fn overflow_can_be_allowed() {
    let server = ScriptedServer::builder().window(10).allow_overflow().reply(hello()).start();
    Client::new(&server).post(&ask());
    server.finish();
}

#[test]
fn a_changed_prefix_fails_unless_it_was_expected() {
    let first = body(&[&user("a")]);
    let changed = body(&[&user("b")]);
    let run = |server: &ScriptedServer, bodies: &[&str]| {
        let mut client = Client::new(server);
        for text in bodies {
            client.post(text);
        }
    };
    let server = ScriptedServer::builder().replies([hello(), hello(), hello()]).start();
    run(&server, &[&first, &first, &body(&[&user("a"), &assistant("x"), &user("b")])]);
    server.finish();
    let server = ScriptedServer::builder().replies([hello(), hello()]).start();
    run(&server, &[&first, &changed]);
    assert!(complaint(server).contains("request 1: the prefix changes at byte"));
    let server = ScriptedServer::builder().replies([hello(), hello()]).start();
    server.expect_break("compaction");
    run(&server, &[&first, &changed]);
    server.finish();
    let server = ScriptedServer::builder().replies([hello()]).expect_break("compaction").start();
    run(&server, &[&first]);
    assert!(complaint(server).contains("no request broke the prefix, expected: compaction"));
}

#[test]
fn requests_are_kept_as_they_came() {
    let server = ScriptedServer::builder().replies([hello(), hello()]).start();
    let mut client = Client::new(&server);
    client.post(&ask());
    let whole = ask();
    let (one, two) = whole.split_at(7);
    client.send_raw(&format!(
        "POST /v1/messages?beta=true HTTP/1.1\r\nContent-Type: application/json\r\nAnthropic-Version: 1\r\nAuthorization: Bearer k\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{one}\r\n{:x};x=y\r\n{two}\r\n0\r\n\r\n",
        one.len(),
        two.len()
    ));
    assert_eq!(client.read_answer().unwrap().status, 200);
    let requests = server.wait_for_requests(2);
    assert_eq!(requests[1].text(), ask());
    assert_eq!(requests[1].json()["stream"], true);
    assert_eq!(requests[1].path, "/v1/messages?beta=true");
    assert_eq!(requests[1].header("anthropic-version"), Some("1"));
    assert_eq!(requests[1].raw_messages(), [user("go")]);
    assert_eq!(requests[1].raw_field("model"), Some("\"scripted-1\""));
    assert_eq!(requests[1].last_message()["content"], "go");
    assert_eq!((requests[1].index, requests[1].connection), (1, 0), "kept alive");
    server.finish();
}

#[test]
fn a_client_that_leaves_early_is_no_failure() {
    let gate = Gate::new();
    let reply = Reply::Turn(hello()).gate_after(1, &gate);
    let server = ScriptedServer::builder().replies([reply, hello().into()]).start();
    let mut client = Client::new(&server);
    client.send(&ask());
    gate.wait_until_reached();
    drop(client);
    gate.open();
    assert_eq!(Client::new(&server).post(&ask()).status, 200);
    assert_eq!(server.requests()[1].connection, 1);
    server.finish();
}

#[test]
fn a_function_answers_long_conversations() {
    let server = ScriptedServer::builder()
        .reply_with(|request| ScriptedTurn::new().text(format!("answer {}", request.index)).into())
        .start();
    let mut client = Client::new(&server);
    let mut messages = vec![user("go")];
    for turn in 0..30 {
        let texts: Vec<&str> = messages.iter().map(String::as_str).collect();
        let answer = client.post(&body(&texts));
        assert!(answer.text().contains(&format!("{turn}\"")), "{}", answer.text());
        messages.extend([assistant("x"), user("more")]);
    }
    assert_eq!(server.requests().len(), 30);
    server.finish();
}

#[test]
fn models_are_told_about() {
    let server = ScriptedServer::builder().window(123_456).model("m-1").start();
    let mut client = Client::new(&server);
    let one = client.get("/v1/models/m-1").json();
    assert_eq!((&one["id"], &one["max_input_tokens"]), (&"m-1".into(), &123_456.into()));
    assert_eq!(one["max_tokens"], 32_000);
    assert_eq!(client.get("/v1/models?limit=9").json()["data"][0], one);
    assert_eq!(client.get("/v1/models/other").status, 404);
    assert_eq!(server.model_requests(), 3);
    assert!(server.requests().is_empty());
    assert!(!server.url().ends_with("/v1"));
    server.finish();
    let server = ScriptedServer::builder().wire(WireFormat::OpenAi).window(4096).start();
    let list = Client::new(&server).get("/v1/models").json();
    assert_eq!(list["data"][0]["max_model_len"], 4096);
    assert!(server.url().ends_with("/v1"));
    server.finish();
    let server = ScriptedServer::builder().no_model_info().start();
    assert_eq!(Client::new(&server).get("/v1/models").status, 404);
    server.finish();
}
