//! The API over real connections.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dormouse_base::SystemClock;
use reqwest::{Method, StatusCode};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::listen::TeamServer;
use super::routes::{OPENAPI, ROUTES};
use super::state::ServerOptions;
use crate::person::{PersonName, TeamRole};
use crate::repository_name::RepositoryName;
use crate::storage::{DatabaseAddress, NewToken, TeamStore};
use crate::token::TeamToken;

const REPO: &str = "/v1/repos/host%2Fowner%2Frepo";

/// A server and tokens of each role.
struct Setup {
    url: String,
    address: SocketAddr,
    http: reqwest::Client,
    reader: TeamToken,
    writer: TeamToken,
    admin: TeamToken,
    elsewhere: TeamToken,
    log: Arc<Mutex<Vec<String>>>,
}

impl Setup {
    async fn send(
        &self,
        token: &TeamToken,
        method: Method,
        path: &str,
        body: Value,
    ) -> (StatusCode, Value) {
        let request = self.request(token, method, path).header("if-match", self.etag(token).await);
        answer(request.body(body.to_string())).await
    }

    fn request(&self, token: &TeamToken, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        let key = uuid::Uuid::new_v4().to_string();
        request
            .header("authorization", format!("Bearer {}", token.expose()))
            .header("idempotency-key", key)
    }

    async fn get(&self, token: &TeamToken, path: &str) -> (StatusCode, Value) {
        answer(self.request(token, Method::GET, path)).await
    }

    async fn etag(&self, token: &TeamToken) -> String {
        let response = self.request(token, Method::GET, REPO).send().await.unwrap();
        response.headers().get("etag").map_or("none", |tag| tag.to_str().unwrap()).to_owned()
    }

    async fn upload(&self, token: &TeamToken, name: &str, content: &str) -> (StatusCode, Value) {
        let body = json!({"entries": [{"name": name, "content": content}]});
        self.send(token, Method::POST, &format!("{REPO}/memory"), body).await
    }
}

async fn answer(request: reqwest::RequestBuilder) -> (StatusCode, Value) {
    let response = request.send().await.unwrap();
    let status = response.status();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

fn code(answer: &(StatusCode, Value)) -> (u16, &str) {
    (answer.0.as_u16(), answer.1["error"]["code"].as_str().unwrap_or(""))
}

async fn add(store: &TeamStore, name: &str, role: TeamRole, repo: Option<&str>) -> TeamToken {
    let token = TeamToken::generate().unwrap();
    let person = PersonName::new(name).unwrap();
    let repository = repo.map(|repo| RepositoryName::new(repo).unwrap());
    let new = NewToken { hash: token.hash(), person, role, repository };
    store.add_token(new, jiff::Timestamp::UNIX_EPOCH, None).await.unwrap();
    token
}

/// Runs a test against a server with these options, and stops it.
fn with_server<F: Future<Output = ()>>(
    change: impl FnOnce(&mut ServerOptions),
    test: impl FnOnce(Arc<Setup>) -> F,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let address = DatabaseAddress::File(folder.path().join("team.db"));
        let store = TeamStore::open(&address).await.unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&log);
        let mut options = ServerOptions::new(
            Arc::new(SystemClock::default()),
            Arc::new(move |line| sink.lock().unwrap().push(format!("{line:?}"))),
        );
        change(&mut options);
        let _already = rustls::crypto::ring::default_provider().install_default();
        let (reader, writer) = (
            add(&store, "rita", TeamRole::Read, None).await,
            add(&store, "will", TeamRole::Write, None).await,
        );
        let (admin, elsewhere) = (
            add(&store, "ada", TeamRole::Admin, None).await,
            add(&store, "eve", TeamRole::Admin, Some("host/other/repo")).await,
        );
        let server = TeamServer::bind("127.0.0.1:0".parse().unwrap(), None).unwrap();
        let url = server.url();
        let address = url.strip_prefix("http://").unwrap().parse().unwrap();
        let http = reqwest::Client::builder().tls_certs_only([]).no_proxy().build().unwrap();
        let setup = Arc::new(Setup { url, address, http, reader, writer, admin, elsewhere, log });
        let stop = CancellationToken::new();
        let serving = server.serve(store, options, stop.clone());
        let testing = async {
            test(setup).await;
            stop.cancel();
        };
        tokio::join!(serving, testing);
    });
}

#[test]
fn entries_travel_and_unchanged_ones_do_not() {
    with_server(
        |_| {},
        |team| async move {
            let (status, empty) = team.get(&team.reader, &format!("{REPO}/memory")).await;
            assert_eq!((status, &empty["entries"]), (StatusCode::OK, &json!([])));
            let written = team.upload(&team.writer, "a/b.md", "text").await;
            assert_eq!((written.0, &written.1["written"]), (StatusCode::OK, &json!(["a/b.md"])));
            let (_, all) = team.get(&team.reader, &format!("{REPO}/memory")).await;
            assert_eq!(
                (&all["entries"][0]["author"], &all["entries"][0]["content"]),
                (&json!("will"), &json!("text"))
            );
            let etag = team.etag(&team.reader).await;
            let unchanged = team
                .request(&team.reader, Method::GET, &format!("{REPO}/memory"))
                .header("if-none-match", &etag);
            let unchanged = unchanged.send().await.unwrap();
            assert_eq!(unchanged.status(), StatusCode::NOT_MODIFIED);
            assert_eq!(unchanged.headers()["etag"], etag.as_str());
            let stale = team
                .request(&team.writer, Method::POST, &format!("{REPO}/memory"))
                .header("if-match", "\"0-0\"");
            let stale = answer(
                stale.body(json!({"entries": [{"name": "c.md", "content": "x"}]}).to_string()),
            )
            .await;
            assert_eq!(code(&stale), (412, "version_changed"));
            let without = team.request(&team.writer, Method::POST, &format!("{REPO}/memory"));
            assert_eq!(code(&answer(without.body("{}")).await), (428, "if_match_missing"));
            let entry = format!("{REPO}/memory/entries/a%2Fb.md");
            assert_eq!(
                team.send(&team.writer, Method::DELETE, &entry, json!(null)).await.0,
                StatusCode::OK
            );
            assert_eq!(code(&team.get(&team.reader, &entry).await), (404, "not_found"));
            let restored = team
                .send(
                    &team.writer,
                    Method::POST,
                    &format!("{entry}/restore"),
                    json!({"version": 1}),
                )
                .await;
            assert_eq!(restored.0, StatusCode::OK);
            let (_, history) = team.get(&team.reader, &format!("{entry}/history")).await;
            let checksums: Vec<bool> = history["versions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|v| v["checksum"].is_string())
                .collect();
            assert_eq!(checksums, [true, false, true]);
        },
    );
}

#[test]
fn only_the_right_token_opens_a_door() {
    with_server(
        |_| {},
        |team| async move {
            let memory = format!("{REPO}/memory");
            let plain = team.http.get(format!("{}{memory}", team.url));
            assert_eq!(code(&answer(plain).await), (401, "no_token"));
            let unknown = TeamToken::generate().unwrap();
            assert_eq!(code(&team.get(&unknown, &memory).await), (401, "no_token"));
            assert_eq!(code(&team.get(&team.elsewhere, &memory).await), (403, "forbidden"));
            assert_eq!(code(&team.upload(&team.reader, "a.md", "x").await), (403, "forbidden"));
            for (method, path) in [
                (Method::GET, "/v1/tokens"),
                (Method::POST, "/v1/tokens"),
                (Method::PUT, &format!("{REPO}/settings")),
            ] {
                assert_eq!(
                    code(&team.send(&team.writer, method, path, json!({})).await),
                    (403, "forbidden"),
                    "{path}"
                );
            }
            let wanted = json!({"person": "nina", "role": "write"});
            assert_eq!(
                code(&team.send(&team.elsewhere, Method::POST, "/v1/tokens", wanted.clone()).await),
                (403, "forbidden")
            );
            let (status, made) = team.send(&team.admin, Method::POST, "/v1/tokens", wanted).await;
            assert_eq!(status, StatusCode::CREATED);
            let nina = TeamToken::parse(made["token"].as_str().unwrap()).unwrap();
            assert_eq!(team.upload(&nina, "n.md", "x").await.0, StatusCode::OK);
            let revoke = format!("/v1/tokens/{}", made["id"].as_str().unwrap());
            assert_eq!(
                code(&team.send(&team.elsewhere, Method::DELETE, &revoke, json!(null)).await),
                (404, "not_found")
            );
            assert_eq!(
                team.send(&team.admin, Method::DELETE, &revoke, json!(null)).await.0,
                StatusCode::OK
            );
            assert_eq!(code(&team.get(&nina, &memory).await), (401, "no_token"));
            for _ in 0..30 {
                let _guess = team.get(&TeamToken::generate().unwrap(), &memory).await;
            }
            assert_eq!(
                code(&team.get(&unknown, &memory).await),
                (429, "too_many_requests"),
                "guessing"
            );
            let log = team.log.lock().unwrap().join("\n");
            for token in [&team.reader, &team.writer, &team.admin, &nina, &unknown] {
                assert!(!log.contains(token.expose()), "no token in the log");
            }
            assert!(log.contains("/v1/repos/{repo}/memory") && !log.contains("a.md"), "{log}");
        },
    );
}

#[test]
fn names_sizes_and_secrets_are_checked() {
    with_server(
        |options| options.most_entries = 2,
        |team| async move {
            for name in [
                "../a.md",
                "/etc/a.md",
                "a/../../b.md",
                "MEMORY.md",
                ".git/a.md",
                "a.sh",
                "a\u{0}.md",
            ] {
                assert_eq!(
                    code(&team.upload(&team.writer, name, "x").await),
                    (422, "invalid"),
                    "{name:?}"
                );
            }
            let (key, rest) = ("AKIA", "Q3EGRZLPM5YTNW2B");
            let secret =
                team.upload(&team.writer, "a.md", &format!("one\naws_key = {key}{rest}")).await;
            assert_eq!(code(&secret), (422, "secret"));
            let said = secret.1.to_string();
            assert!(said.contains("line 2") && !said.contains(rest), "{said}");
            assert_eq!(
                code(&team.upload(&team.writer, "a.md", &"x".repeat(250_001)).await),
                (413, "too_large")
            );
            assert_eq!(
                team.upload(&team.writer, "a.md", &"\n".repeat(250_000)).await.0,
                StatusCode::OK
            );
            assert_eq!(team.upload(&team.writer, "b.md", "x").await.0, StatusCode::OK);
            let many = team.upload(&team.writer, "c.md", "x").await;
            assert_eq!(
                (code(&many), &many.1["error"]["limit"]),
                ((413, "too_many_entries"), &json!(2))
            );
            let packed = team
                .request(&team.writer, Method::POST, &format!("{REPO}/memory"))
                .header("content-encoding", "gzip");
            assert_eq!(code(&answer(packed.body("x")).await), (415, "compressed"));
            assert_eq!(code(&team.get(&team.reader, "/v1/nothing").await), (404, "not_found"));
        },
    );
}

/// Sends the beginning of a request, and returns what comes back.
async fn raw(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _reset = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_long_body_is_refused_unread_and_a_slow_one_is_cut_off() {
    with_server(
        |options| options.timeout = Duration::from_millis(300),
        |team| async move {
            // Only the head is sent: an answer proves that the server did not wait for the body.
            let head = format!(
                "POST {REPO}/memory HTTP/1.1\r\nhost: x\r\ncontent-length: 9000000\r\n\r\n"
            );
            // On a busy machine this client too may be cut off at the short limit, and tries again.
            let mut refused = String::new();
            while refused.is_empty() {
                refused = raw(team.address, &head).await;
            }
            assert!(
                refused.starts_with("HTTP/1.1 413") && refused.contains("too_large"),
                "{refused}"
            );
            let token = team.writer.expose();
            let slow = format!(
                "POST {REPO}/memory HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nif-match: \"0-0\"\r\n\
             idempotency-key: 12345678\r\ncontent-length: 100\r\n\r\n{{"
            );
            let mut cut_off = String::new();
            while cut_off.is_empty() {
                cut_off = raw(team.address, &slow).await;
            }
            assert!(cut_off.starts_with("HTTP/1.1 408"), "{cut_off}");
            assert_eq!(
                raw(team.address, "GET /health HTTP/1.1\r\nho").await,
                "",
                "a head that never ends"
            );
        },
    );
}

#[test]
fn a_review_hides_a_change_until_an_admin_accepts_it() {
    with_server(
        |_| {},
        |team| async move {
            let settings = json!({"review": true, "switched_off": ["dream"]});
            assert_eq!(
                team.send(&team.admin, Method::PUT, &format!("{REPO}/settings"), settings).await.0,
                StatusCode::OK
            );
            let unknown = json!({"switched_off": ["telepathy"]});
            assert_eq!(
                code(
                    &team
                        .send(&team.admin, Method::PUT, &format!("{REPO}/settings"), unknown)
                        .await
                ),
                (422, "invalid")
            );
            let (_, about) = team.get(&team.writer, REPO).await;
            assert_eq!(
                (&about["review"], &about["switched_off"], &about["person"]),
                (&json!(true), &json!(["dream"]), &json!("will"))
            );
            let sent = team.upload(&team.writer, "a.md", "mine").await;
            assert_eq!((sent.0, &sent.1["proposed"]), (StatusCode::ACCEPTED, &json!(["a.md"])));
            assert_eq!(
                team.get(&team.reader, &format!("{REPO}/memory")).await.1["entries"],
                json!([])
            );
            assert_eq!(
                code(&team.get(&team.reader, &format!("{REPO}/proposals")).await),
                (403, "forbidden")
            );
            let accept = format!("{REPO}/proposals/1/accept");
            assert_eq!(
                code(&team.send(&team.writer, Method::POST, &accept, json!(null)).await),
                (403, "forbidden")
            );
            assert_eq!(
                team.send(&team.admin, Method::POST, &accept, json!(null)).await.0,
                StatusCode::OK
            );
            assert_eq!(
                code(&team.send(&team.admin, Method::POST, &accept, json!(null)).await),
                (404, "not_found")
            );
            let (_, all) = team.get(&team.reader, &format!("{REPO}/memory")).await;
            assert_eq!(all["entries"][0]["author"], json!("will"));
        },
    );
}

#[test]
fn news_reaches_a_listener() {
    with_server(
        |_| {},
        |team| async move {
            let events = team.request(&team.reader, Method::GET, &format!("{REPO}/events"));
            let mut events = events.header("last-event-id", "\"0-0\"").send().await.unwrap();
            team.upload(&team.writer, "a.md", "one").await;
            let event = events.chunk().await.unwrap().unwrap();
            let etag = team.etag(&team.reader).await;
            assert!(String::from_utf8_lossy(&event).contains(&etag), "{event:?}");
            let (status, metrics) = team.get(&team.reader, "/metrics").await;
            assert_eq!(status, StatusCode::OK);
            assert!(
                metrics.as_str().unwrap().contains("dormouse_team_event_streams 1"),
                "{metrics}"
            );
            for path in ["/health", "/ready"] {
                assert_eq!(team.get(&team.reader, path).await.0, StatusCode::OK);
            }
        },
    );
}

#[test]
fn the_description_has_every_route_and_no_other() {
    let document: Value = serde_json::from_str(OPENAPI).unwrap();
    let mut described: Vec<(String, Vec<String>)> = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        described.push((path.clone(), methods.as_object().unwrap().keys().cloned().collect()));
    }
    let mut routes: Vec<(String, Vec<String>)> = Vec::new();
    for (path, methods, _) in ROUTES {
        let mut methods: Vec<String> = methods.iter().map(|method| (*method).to_owned()).collect();
        methods.sort();
        routes.push(((*path).to_owned(), methods));
    }
    routes.sort();
    for (_, methods) in &mut described {
        methods.sort();
    }
    described.sort();
    assert_eq!(described, routes);
    // Every method that is described is answered; every other is refused with 405.
    with_server(
        |options| options.rate = None,
        |team| async move {
            for (path, methods, _) in ROUTES {
                let path = path
                    .replace("{repo}", "host%2Fo%2Fr")
                    .replace("{name}", "a.md")
                    .replace("{id}", "1")
                    .replace("{decision}", "accept")
                    .replace("{person}", "p");
                for method in ["get", "post", "put", "delete"] {
                    let request =
                        team.request(&team.admin, method.to_uppercase().parse().unwrap(), &path);
                    let status = request.send().await.unwrap().status();
                    assert_eq!(
                        status != StatusCode::METHOD_NOT_ALLOWED,
                        methods.contains(&method),
                        "{method} {path}: {status}"
                    );
                }
            }
        },
    );
}
