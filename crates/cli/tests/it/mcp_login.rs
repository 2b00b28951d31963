//! Logging in at a remote MCP server, against an authorization server that others wrote (`scripts/oauth-server` fetches it). The
//! test is the browser.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, Running, ScriptedServer, TestHome, WireFormat, needs, test_part};
use serde_json::{Value, json};

use crate::mcp_client::told;
use crate::mcp_mean::settings;
use crate::program::{ask, dormouse, server};

/// The authorization server with its MCP server.
struct Guarded {
    _running: Running,
    base: String,
}

impl Guarded {
    /// Access tokens live this long, in seconds. One of less than half a minute is renewed before every use.
    fn start(home: &TestHome, seconds: &str) -> Self {
        let modules = &test_part("oauth-server").unwrap()[0];
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oauth/server.mjs");
        let mut command = Command::new("node");
        command.arg(script).args([modules, seconds]);
        let running = home.spawn(&mut command);
        running.wait_for_stdout(|text| text.contains('\n'));
        let base =
            running.stdout().lines().find(|line| line.starts_with("http")).unwrap().to_owned();
        Self { _running: running, base }
    }

    fn get(&self, path: &str) -> Value {
        let (_, _, body) = get(&format!("{}{path}", self.base), &BTreeMap::new());
        serde_json::from_str(&body).unwrap()
    }

    /// A home whose settings have the server under the name `safe`.
    fn configure(&self, home: &TestHome, oauth: &Value) {
        let entry = json!({"type": "http", "url": format!("{}/mcp", self.base), "oauth": oauth});
        settings(home, &json!({"safe": entry}));
    }
}

/// Status, headers and body of a GET.
fn get(url: &str, cookies: &BTreeMap<String, String>) -> (u16, Vec<(String, String)>, String) {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let cookies: Vec<String> =
        cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!(
        "GET /{path} HTTP/1.0\r\nhost: {host}\r\naccept: text/html\r\ncookie: {}\r\n\r\n",
        cookies.join("; ")
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let headers = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
    (status, headers.collect(), body.to_owned())
}

/// Follows redirects with cookies, as a browser does. The last page.
fn browse(start: &str) -> String {
    let mut cookies = BTreeMap::new();
    let mut url = start.to_owned();
    for _ in 0..20 {
        let (status, headers, body) = get(&url, &cookies);
        for (_, cookie) in headers.iter().filter(|(name, _)| name == "set-cookie") {
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            cookies.insert(name.to_owned(), value.to_owned());
        }
        if !(300..400).contains(&status) {
            return body;
        }
        let (_, location) = headers.iter().find(|(name, _)| name == "location").unwrap();
        let origin: Vec<&str> = url.splitn(4, '/').take(3).collect();
        url = match location.strip_prefix('/') {
            Some(path) => format!("{}/{path}", origin.join("/")),
            None => location.clone(),
        };
    }
    panic!("too many redirects: {url}");
}

/// Runs `dormouse mcp login safe` with a browser that does what the server says; the address that was opened, and the end.
fn login(home: &TestHome) -> (String, Output) {
    let running = home.spawn(&mut dormouse(home, &["mcp", "login", "safe"]));
    running.wait_for_stdout(|text| text.contains('\n'));
    let address = running.stdout().trim().to_owned();
    browse(&address);
    (address, running.wait())
}

fn field(address: &str, name: &str) -> String {
    let query = address.split_once('?').unwrap().1;
    let pair = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
    pair.unwrap_or_default().replace("%3A", ":").replace("%2F", "/")
}

fn calls(count: usize) -> ScriptedServer {
    let mut script = server(WireFormat::Anthropic);
    for _ in 0..count {
        script = script
            .reply(ScriptedTurn::new().call("c", "mcp__safe__repeat", "{}"))
            .reply(ScriptedTurn::new().text("done"));
    }
    script.start()
}

fn home_for(server: &ScriptedServer) -> TestHome {
    let mut home = TestHome::new().with_server(server);
    home.set_env("PATH", std::env::var_os("PATH").unwrap());
    home
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// None of the tokens stands anywhere but in the file that is for them.
fn check_no_leak(home: &TestHome, guarded: &Guarded, outputs: &[&Output]) {
    let tokens = guarded.get("/log")["tokens"].clone();
    let tokens: Vec<&str> = tokens.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(tokens.len() >= 2, "{tokens:?}");
    let leaks = |text: &str| tokens.iter().any(|token| text.contains(token));
    for file in files(home.root()) {
        let is_store = file.parent().is_some_and(|folder| folder.ends_with("mcp-tokens"));
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(is_store || !leaks(&text), "{}", file.display());
        if is_store {
            let mode = file.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{}", file.display());
        }
    }
    for output in outputs {
        assert!(!leaks(&output.stdout) && !leaks(&output.stderr), "{output:?}");
    }
}

#[test]
fn login_call_renewal_and_logout() {
    needs!("oauth-server");
    let server = calls(2);
    let home = home_for(&server);
    let guarded = Guarded::start(&home, "3600");
    guarded.configure(&home, &json!({}));
    // Before: every place says what to do.
    let hint = "it needs a login: run `dormouse mcp login safe`";
    let list = home.run(&mut dormouse(&home, &["mcp", "list"]));
    assert!(list.success().stdout.contains(hint), "{}", list.stdout);
    let (address, login) = login(&home);
    login.success();
    assert!(login.stderr.contains("Logged in to `safe`"), "{}", login.stderr);
    assert_eq!(field(&address, "code_challenge_method"), "S256");
    assert_eq!(field(&address, "resource"), format!("{}/mcp", guarded.base));
    assert!(field(&address, "state").len() >= 32 && field(&address, "code_challenge").len() >= 43);
    let first = home.run(&mut ask(&home, &["go"]));
    first.success();
    // The server repeats the token; the model and the transcript do not get it.
    assert!(told(&server, 1).contains("you sent [secret]"), "{}", told(&server, 1));
    // The token is refused although it looks good: it is renewed, and the call is made.
    guarded.get("/expire");
    server.expect_break("another session");
    let second = home.run(&mut ask(&home, &["go on"]));
    second.success();
    assert!(told(&server, 3).contains("you sent [secret]"), "{}", told(&server, 3));
    let log = guarded.get("/log");
    assert_eq!(log["granted"], json!(["authorization_code", "refresh_token"]), "{log}");
    assert_eq!(log["registered"], 1, "{log}");
    check_no_leak(&home, &guarded, &[&list, &login, &first, &second]);
    let logout = home.run(&mut dormouse(&home, &["mcp", "logout", "safe"]));
    assert!(logout.success().stderr.contains("Logged out of `safe`."), "{}", logout.stderr);
    assert_eq!(guarded.get("/log")["revoked"], 2, "both tokens");
    let tokens = home.dormouse_home().join("mcp-tokens");
    assert!(files(&tokens).iter().all(|file| file.extension().is_some_and(|end| end == "lock")));
    let again = home.run(&mut dormouse(&home, &["mcp", "logout", "safe"]));
    assert!(again.success().stderr.contains("There is no login"), "{}", again.stderr);
    let list = home.run(&mut dormouse(&home, &["mcp", "list"]));
    assert!(list.success().stdout.contains(hint), "{}", list.stdout);
    server.finish();
}

/// A refresh token is good for one use; a second use ends the login. Processes that renew at once take turns.
#[test]
fn processes_take_turns_to_renew() {
    needs!("oauth-server");
    let server = server(WireFormat::Anthropic).start();
    let home = home_for(&server);
    let guarded = Guarded::start(&home, "20");
    guarded.configure(&home, &json!({"clientId": "known"}));
    login(&home).1.success();
    let list = || home.spawn(&mut dormouse(&home, &["mcp", "list"]));
    let running: Vec<Running> = (0..4).map(|_| list()).collect();
    let outputs: Vec<Output> = running.into_iter().map(Running::wait).collect();
    for output in &outputs {
        assert!(output.success().stdout.contains("mcp__safe__repeat"), "{output:?}");
    }
    let log = guarded.get("/log");
    assert_eq!(log["registered"], 0, "its id is in the settings: {log}");
    let granted = log["granted"].as_array().unwrap();
    assert!(granted.iter().skip(1).all(|kind| kind == "refresh_token"), "{log}");
    assert!(granted.len() > 4, "each has renewed: {log}");
    check_no_leak(&home, &guarded, &outputs.iter().collect::<Vec<_>>());
    server.finish();
}

#[test]
fn a_login_that_fails_says_why_and_leaves_nothing() {
    needs!("oauth-server");
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("hello")).start();
    let home = home_for(&server);
    let guarded = Guarded::start(&home, "3600");
    guarded.configure(&home, &json!({}));
    // A session starts without it, and says what to do.
    let session = home.run(&mut ask(&home, &["hi"]));
    let hint =
        "MCP server `safe` is not available: it needs a login: run `dormouse mcp login safe`";
    assert!(session.success().stderr.contains(hint), "{}", session.stderr);
    // An answer with another state is not taken, and does not end the wait.
    let running = home.spawn(&mut dormouse(&home, &["mcp", "login", "safe"]));
    running.wait_for_stdout(|text| text.contains('\n'));
    let callback = field(running.stdout().trim(), "redirect_uri");
    let forged = format!("{callback}?code=forged&state=guessed");
    assert_eq!(get(&forged, &BTreeMap::new()).0, 400);
    assert_eq!(get(&callback.replace("callback", "other"), &BTreeMap::new()).0, 404);
    guarded.get("/deny");
    browse(running.stdout().trim());
    let output = running.wait();
    output.expect_code(1);
    let reason = "not logged in to `safe`: the login was refused: access_denied (the user said no)";
    assert!(output.stderr.contains(reason), "{}", output.stderr);
    assert_eq!(guarded.get("/log")["granted"], json!([]));
    // Servers that one cannot log in at.
    settings(
        &home,
        &json!({
            "program": {"command": "true"},
            "own": {"type": "http", "url": "https://mcp.invalid/", "headers": {"Authorization": "Bearer x"}},
            "plain": {"type": "http", "url": "http://mcp.invalid/"},
        }),
    );
    for (name, reason) in [
        ("program", "it is a program on this machine"),
        ("own", "its entry has an `Authorization` header"),
        ("plain", "its address is not https"),
    ] {
        let output = home.run(&mut dormouse(&home, &["mcp", "login", name]));
        output.expect_code(1);
        assert!(output.stderr.contains(reason), "{}", output.stderr);
    }
    home.run(&mut dormouse(&home, &["mcp", "login", "nobody"])).expect_code(2);
    server.finish();
}

/// A server that answers every request with these bodies, by the end of the path.
fn answering(pages: impl FnOnce(&str) -> Vec<(&'static str, Value)>) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let pages = pages(&base);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 8192];
            let count = stream.read(&mut request).unwrap_or(0);
            let head = String::from_utf8_lossy(&request[..count]).into_owned();
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let page = pages.iter().find(|(known, _)| path == *known);
            let (status, body) = match page {
                Some((_, body)) => ("200 OK", body.to_string()),
                None if path == "/mcp" => ("401 Unauthorized", "{}".to_owned()),
                None => ("404 Not Found", "{}".to_owned()),
            };
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            let _gone = stream.write_all(answer.as_bytes());
        }
    });
    base
}

/// Addresses that a server names lead nowhere that the user has not named, and metadata of others are not taken.
#[test]
fn a_server_cannot_send_the_login_elsewhere() {
    let server = server(WireFormat::Anthropic).start();
    let home = home_for(&server);
    let of_issuer = |issuer: &str, methods: &[&str]| {
        json!({
            "issuer": issuer, "authorization_endpoint": "https://10.1.2.3/auth",
            "token_endpoint": format!("{issuer}/token"), "code_challenge_methods_supported": methods,
        })
    };
    // The server's own address stands for `OWN`.
    for (resource, issuer, metadata, reason) in [
        ("https://other.example/mcp", "OWN", Value::Null, "which is another server"),
        ("OWN/mcp", "http://10.1.2.3/login", Value::Null, "only https is safe for a login"),
        ("OWN/mcp", "https://10.1.2.3/login", Value::Null, "it is in a private network"),
        ("OWN/mcp", "https://169.254.169.254/latest", Value::Null, "it is in a private network"),
        ("OWN/mcp", "file:///etc/passwd", Value::Null, "only https is safe for a login"),
        ("OWN/mcp", "OWN", of_issuer("https://login.example", &["S256"]), "name another issuer"),
        ("OWN/mcp", "OWN", of_issuer("OWN", &["plain"]), "does not support PKCE with S256"),
        ("OWN/mcp", "OWN", of_issuer("OWN", &["S256"]), "it is in a private network"),
    ] {
        let base = answering(|base| {
            let own = |text: &str| text.replace("OWN", base);
            let found = json!({"resource": own(resource), "authorization_servers": [own(issuer)]});
            let metadata = serde_json::from_str(&own(&metadata.to_string())).unwrap();
            let mut pages = vec![("/.well-known/oauth-protected-resource/mcp", found)];
            pages.push(("/.well-known/oauth-authorization-server", metadata));
            pages
        });
        let entry = json!({"type": "http", "url": format!("{base}/mcp")});
        settings(&home, &json!({ "safe": entry }));
        let output = home.run(&mut dormouse(&home, &["mcp", "login", "safe"]));
        output.expect_code(1);
        assert!(output.stderr.contains(reason), "{resource} {issuer}: {}", output.stderr);
        assert_eq!(output.stdout, "", "nothing was opened");
    }
    server.finish();
}
