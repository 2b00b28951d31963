//! Operating a team server: its settings from options, variables and a file, and TLS (T-10, T-18).

use dormouse_testkit::{Running, TestHome};
use serde_json::json;

use crate::program::dormouse;
use crate::team::SSH;

/// Starts a server with an empty database; waits for the first token and for where it listens.
fn serve(
    home: &TestHome,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (Running, String, String) {
    let mut command = dormouse(home, &["team", "serve"]);
    command.args(arguments).envs(variables.iter().copied());
    let running = home.spawn(&mut command);
    // The two streams are read apart: that one is there does not say that the other is.
    running.wait_for_stdout(|text| text.ends_with('\n'));
    running.wait_for_stderr(|text| text.contains("://") && text.ends_with('\n'));
    let (said, token) = (running.stderr(), running.stdout().trim().to_owned());
    let url = said.split_whitespace().find(|word| word.starts_with("http")).unwrap().to_owned();
    (running, url, token)
}

#[test]
fn an_option_counts_before_a_variable_and_a_variable_before_the_file() {
    let home = TestHome::new();
    let file = home.root().join("server.json");
    let in_file = home.root().join("from-file.db");
    let settings =
        json!({"listen": "127.0.0.1:0", "database": in_file, "log": "none", "maxEntries": 3});
    home.write(file.clone(), settings.to_string());
    let config = ["--config", file.to_str().unwrap()];
    let (running, _, _) = serve(&home, &config, &[]);
    drop(running);
    assert!(in_file.exists());

    let in_variable = home.root().join("from-variable.db");
    let variable = ("DORMOUSE_TEAM_DATABASE", in_variable.to_str().unwrap());
    let (running, _, _) = serve(&home, &config, &[variable]);
    drop(running);
    assert!(in_variable.exists());

    let in_option = home.root().join("from-option.db");
    let option = ["--database", in_option.to_str().unwrap()];
    let with_file = [variable, ("DORMOUSE_TEAM_CONFIG", file.to_str().unwrap())];
    let (running, _, _) = serve(&home, &option, &with_file);
    drop(running);
    assert!(in_option.exists());

    let refused = |text: &str, variables: &[(&str, &str)], expected: &str| {
        home.write(file.clone(), text);
        let mut command = dormouse(&home, &["team", "serve"]);
        let output = home.run(command.args(config).envs(variables.iter().copied()));
        output.expect_code(2);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
    };
    refused(r#"{"listne": "127.0.0.1:0"}"#, &[], "unknown field `listne`");
    refused("{}", &[("DORMOUSE_TEAM_RATE", "many")], "DORMOUSE_TEAM_RATE is `many`");
    refused(r#"{"tlsCert": "chain.pem"}"#, &[], "a certificate needs its key");
}

/// A client verifies the server's certificate, and gives its token to nobody else.
#[test]
fn the_connection_is_encrypted_and_the_certificate_verified() {
    let home = TestHome::new();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (chain, key) = (home.root().join("chain.pem"), home.root().join("key.pem"));
    home.write(chain.clone(), made.cert.pem());
    home.write(key.clone(), made.signing_key.serialize_pem());
    let (chain, key) = (chain.to_str().unwrap(), key.to_str().unwrap());
    let tls = ["--listen", "127.0.0.1:0", "--log", "text", "--tls-cert", chain, "--tls-key", key];
    let (running, url, token) = serve(&home, &tls, &[]);
    assert!(url.starts_with("https://"), "{url}");
    let port = url.rsplit(':').next().unwrap().trim_end_matches('/');

    let ana = TestHome::new();
    ana.git_init();
    ana.git(&["remote", "add", "origin", SSH]);
    let join = |url: &str, trusted: &str| {
        let mut command = dormouse(&ana, &["team", "join", url]);
        command.env("SSL_CERT_FILE", trusted);
        ana.run_with_input(&mut command, &format!("{token}\n"))
    };
    let named = format!("https://localhost:{port}");
    join(&named, chain).success();
    let mut sync = dormouse(&ana, &["team", "sync"]);
    ana.run(sync.env("SSL_CERT_FILE", chain)).success();

    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    home.write(home.root().join("other.pem"), other.cert.pem());
    let other = home.root().join("other.pem");
    let strangers = join(&named, other.to_str().unwrap());
    strangers.expect_code(1);
    assert!(strangers.stderr.contains("certificate"), "{}", strangers.stderr);
    let wrong_name = join(&format!("https://127.0.0.1:{port}"), chain);
    wrong_name.expect_code(1);
    assert!(wrong_name.stderr.contains("certificate"), "{}", wrong_name.stderr);
    let plain = join(&format!("http://127.0.0.1:{port}"), chain);
    plain.expect_code(1);
    assert!(!plain.stderr.contains(&token) && !running.stderr().contains(&token));
}

/// Ten thousand connections that say nothing, or half a request, keep nobody else waiting.
#[test]
fn idle_connections_keep_nobody_waiting() {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    let resource = rustix::process::Resource::Nofile;
    let mut limit = rustix::process::getrlimit(resource);
    limit.current = limit.maximum;
    rustix::process::setrlimit(resource, limit).unwrap();
    // Where the machine allows fewer open files, fewer are tried.
    let most = limit.maximum.map_or(10_000, |most| most.saturating_sub(1_000).min(10_000));
    let home = TestHome::new();
    let (_running, url, _) = serve(&home, &["--listen", "127.0.0.1:0", "--log", "none"], &[]);
    let address = url.trim_start_matches("http://").to_owned();
    let mut open = Vec::new();
    for number in 0..most {
        let mut stream = TcpStream::connect(&address).unwrap();
        if number % 2 == 0 {
            // The server may have closed it already.
            let _gone = stream.write_all(b"GET /v1/repos/a%2Fb%2Fc/mem");
        }
        open.push(stream);
    }
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.write_all(b"GET /ready HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(open);
}
