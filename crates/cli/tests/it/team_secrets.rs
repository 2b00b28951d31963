//! T-9 on samples of published formats: what is found and what is wrongly found, and where it is refused: when a memory is
//! written, when it is sent, and at the server.

use std::io::{Read, Write};
use std::net::TcpStream;

use dormouse_testkit::{TestHome, harmless_samples, secret_samples};
use serde_json::{Value, json};

use crate::memory_cli::memory;
use crate::program::dormouse;
use crate::team::{SSH, TeamServer, team};

/// Formats that no rule knows, and harmless texts that a rule takes for secrets. The lists are part of `docs/team.md`.
const MISSED: &[&str] = &[];
const WRONGLY_FOUND: &[&str] = &[];

/// Files of the samples, as another program would write them into the team's directory.
fn folder_of(home: &TestHome) -> std::path::PathBuf {
    let path = memory(home, &["path", "--scope", "team"]).success().stdout.trim().to_owned();
    std::fs::create_dir_all(&path).unwrap();
    path.into()
}

#[test]
fn secrets_are_found_when_sending_and_harmless_texts_are_sent() {
    let server = TeamServer::start();
    let ana = server.member("Ana", "write", SSH);
    let folder = folder_of(&ana);
    let samples: Vec<(String, bool, &str, String)> = secret_samples()
        .into_iter()
        .map(|sample| (true, sample))
        .chain(harmless_samples().into_iter().map(|sample| (false, sample)))
        .enumerate()
        .map(|(number, (is_secret, sample))| {
            (format!("sample-{number}.md"), is_secret, sample.what, sample.text)
        })
        .collect();
    for (file, _, _, text) in &samples {
        std::fs::write(folder.join(file), format!("{text}\n")).unwrap();
    }
    let output = ana.run(&mut dormouse(&ana, &["team", "sync", "--json"]));
    let report: Value = serde_json::from_str(&output.expect_code(1).stdout).unwrap();
    let held: Vec<&str> = report["held_back"]
        .as_array()
        .unwrap()
        .iter()
        .map(|held| held["file"].as_str().unwrap())
        .collect();
    let is_held = |file: &String| held.contains(&file.as_str());
    let missed: Vec<&str> = samples
        .iter()
        .filter(|(file, is_secret, _, _)| *is_secret && !is_held(file))
        .map(|(_, _, what, _)| *what)
        .collect();
    let wrongly: Vec<&str> = samples
        .iter()
        .filter(|(file, is_secret, _, _)| !is_secret && is_held(file))
        .map(|(_, _, what, _)| *what)
        .collect();
    assert_eq!((missed.as_slice(), wrongly.as_slice()), (MISSED, WRONGLY_FOUND));
    // The message names rule and line, never the value.
    for sample in secret_samples() {
        let longest = sample.text.split_whitespace().max_by_key(|word| word.len()).unwrap();
        assert!(!output.stdout.contains(longest), "{}", sample.what);
    }
}

/// Neither a write nor a client of another make gets one through.
#[test]
fn secrets_are_refused_when_writing_and_by_the_server() {
    let server = TeamServer::start();
    let ana = server.member("Ana", "write", SSH);
    let token = server.token("Eve", "write");
    let host = server.url.trim_start_matches("http://").to_owned();
    let found = secret_samples().into_iter().filter(|sample| !MISSED.contains(&sample.what));
    for (number, sample) in found.enumerate() {
        // One in ten through the command, which is a process each; all through the server.
        if number % 10 == 0 {
            let more = ["add", sample.what, "--type", "project", "--scope", "team", "--body"];
            let output = memory(&ana, &[&more[..], &[sample.text.as_str()]].concat());
            assert_ne!(output.code, Some(0), "{}", sample.what);
        }
        let body = json!({"entries": [{"name": "note.md", "content": sample.text}]}).to_string();
        let request = format!(
            "POST /v1/repos/host%2Fowner%2Frepo/memory HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
             if-match: \"0-0\"\r\nidempotency-key: sample-{number}-key\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(&host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("\"code\":\"secret\""), "{}: {answer}", sample.what);
    }
    assert!(team(&ana, &["log"]).success().stdout.trim().is_empty());
}
