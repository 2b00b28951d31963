//! `WebFetch` against a server on this machine, which a rule has to name.

use std::sync::Arc;

use dormouse_permissions::HostPattern;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::Scene;

/// A server that answers by path; its tasks end with it.
struct Server {
    port: u16,
    /// Notified when a request for `/hang` is being answered.
    hangs: Arc<Notify>,
    _tasks: JoinSet<()>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let hangs = Arc::new(Notify::new());
        let notify = Arc::clone(&hangs);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let notify = Arc::clone(&notify);
                connections.spawn(async move {
                    let mut request = Vec::new();
                    while !request.ends_with(b"\r\n\r\n") {
                        if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    let request = String::from_utf8(request).unwrap();
                    // A client that has had enough hangs up.
                    let _gone = stream.write_all(&reply(&request, port)).await;
                    if request.contains(" /hang") {
                        notify.notify_one();
                        std::future::pending::<()>().await;
                    }
                });
            }
        });
        Self { port, hangs, _tasks: tasks }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn reply(request: &str, port: u16) -> Vec<u8> {
    let path = request.split(' ').nth(1).unwrap();
    let page = |kind: &str, body: &[u8]| {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nset-cookie: a=b\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    let moved = |target: &str| {
        format!("HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n")
            .into_bytes()
    };
    match path {
        "/page" => page("text/html", b"<h1>Hello</h1><p>See <a href=/next>next</a>."),
        "/json" => page("application/json", b"{\"a\": 1.10}"),
        "/latin" => page("text/plain; charset=latin1", b"caf\xe9"),
        "/picture" => page("image/png", &[0; 77]),
        "/large" => page("text/plain", &vec![b'x'; 10_000_001]),
        "/endless" => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n";
            [head.as_bytes(), &vec![b'x'; 10_000_001]].concat()
        }
        "/packed" => b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx".to_vec(),
        "/moved" => moved("/echo"),
        "/away" => moved("https://example.com/other?x=1"),
        "/port" => moved(&format!("http://127.0.0.1:{}/page", port ^ 1)),
        "/sneaky" => moved(&format!("http://localhost:{port}/page")),
        "/round" => moved("/round"),
        "/echo" => page("text/plain", request.as_bytes()),
        "/hang" => b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\npart".to_vec(),
        _ => b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(),
    }
}

fn scene() -> Scene {
    let mut scene = Scene::new();
    scene.context.private_hosts = vec![HostPattern::new("127.0.0.1").unwrap()];
    scene
}

#[tokio::test]
async fn pages_text_and_json() {
    let (server, scene) = (Server::start().await, scene());
    let fetch = async |path: &str| scene.text("WebFetch", &json!({"url": server.url(path)})).await;
    let next = server.url("/next");
    let page = server.url("/page");
    assert_eq!(fetch("/page").await, format!("{page}\n\n# Hello\n\nSee [next]({next})."));
    assert!(fetch("/json").await.ends_with("\n\n{\"a\": 1.10}"));
    assert!(fetch("/latin").await.ends_with("\n\ncafé"));
}

#[tokio::test]
async fn what_is_no_text_too_large_or_missing_is_refused() {
    let (server, scene) = (Server::start().await, scene());
    for (path, why) in [
        ("/picture", "it is not text: image/png, 77 bytes"),
        ("/large", "it is larger than 10000000 bytes"),
        ("/endless", "it is larger than 10000000 bytes"),
        ("/packed", "the server compressed it (`gzip`)"),
        ("/missing", "the server returned 404 Not Found"),
        ("/round", "it redirects more than 5 times"),
    ] {
        let error = scene.error("WebFetch", &json!({"url": server.url(path)})).await;
        assert!(error.contains(why), "{path}: {error}");
    }
}

/// Within a host it is followed, without the cookie that was set; to any other it is not.
#[tokio::test]
async fn redirects() {
    let (server, scene) = (Server::start().await, scene());
    let fetch = async |path: &str| scene.text("WebFetch", &json!({"url": server.url(path)})).await;
    let echoed = fetch("/moved").await;
    assert!(echoed.starts_with(&server.url("/echo")), "{echoed}");
    assert!(echoed.contains("GET /echo HTTP/1.1") && !echoed.to_lowercase().contains("cookie"));
    let away = fetch("/away").await;
    assert!(away.contains("redirects to another host:\nhttps://example.com/other?x=1\n"), "{away}");
    assert!(fetch("/port").await.contains("redirects to another host"));
    assert!(fetch("/sneaky").await.contains("redirects to another host"));
}

/// Whatever the name: by number, by another way to write it, by a name that leads here.
#[tokio::test]
async fn private_addresses_need_a_rule_that_names_the_host() {
    let server = Server::start().await;
    let mut scene = Scene::new();
    for patterns in [
        vec![],
        vec![HostPattern::new("*").unwrap()],
        vec![HostPattern::new("example.com").unwrap()],
    ] {
        scene.context.private_hosts = patterns;
        for host in [
            "127.0.0.1",
            "localhost",
            "0x7f.1",
            "2130706433",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "0.0.0.0",
        ] {
            let url = format!("http://{host}:{}/page", server.port);
            let error = scene.error("WebFetch", &json!({"url": url})).await;
            assert!(error.contains("which is not a public address"), "{host}: {error}");
            assert!(error.contains("WebFetch(domain:"), "{error}");
        }
    }
    let error = scene.error("WebFetch", &json!({"url": "http://169.254.169.254/latest"})).await;
    assert!(error.contains("not a public address"), "{error}");
    scene.context.private_hosts = vec![HostPattern::new("localhost").unwrap()];
    let url = format!("http://localhost:{}/json", server.port);
    assert!(scene.text("WebFetch", &json!({"url": url})).await.contains("1.10"));
}

#[tokio::test]
async fn it_can_be_interrupted() {
    let (server, scene) = (Server::start().await, scene());
    let input = json!({"url": server.url("/hang")});
    let cancel = async {
        server.hangs.notified().await;
        scene.context.cancel.cancel();
    };
    let (error, ()) = tokio::join!(scene.error("WebFetch", &input), cancel);
    assert!(error.starts_with("interrupted"), "{error}");
}
