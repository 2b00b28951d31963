//! `dormouse doctor` in the real program: what is well, what is not, and that it changes nothing.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, Reply, TestHome, WireFormat};
use serde_json::Value;

use crate::program::{BOTH, ask, dormouse, server};

/// The findings of an area: status, text and fix.
fn findings(home: &TestHome, code: i32, area: &str) -> Vec<(String, String, String)> {
    let output = home.run(&mut dormouse(home, &["doctor", "--json"]));
    let answer: Value = serde_json::from_str(&output.expect_code(code).stdout).unwrap();
    assert_eq!(answer["ok"], code == 0);
    assert!(!output.stdout.contains(home.key()) && !output.stderr.contains(home.key()));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = answer["findings"].as_array().unwrap().iter();
    all.filter(|finding| finding["area"] == area)
        .map(|finding| (text(&finding["status"]), text(&finding["what"]), text(&finding["fix"])))
        .collect()
}

/// Every file below a folder, with its content and time.
fn everything(folder: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let changed = path.metadata().unwrap().modified().unwrap();
                found.push((path.clone(), std::fs::read(&path).unwrap(), changed));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn all_is_well_and_nothing_is_changed() {
    for wire in BOTH {
        let server = server(wire).reply(ScriptedTurn::new().text("hello")).start();
        let home = TestHome::new().with_server(&server);
        home.git_init();
        home.run(&mut ask(&home, &["hi"])).success();
        let before = everything(home.root());
        let output = home.run(&mut dormouse(&home, &["doctor"]));
        let text = output.success().stdout.clone();
        assert_eq!(everything(home.root()), before);
        for said in [
            format!("{} responds in ", server.url()),
            format!("model {} is available", server.model()),
            format!("{}: private", home.dormouse_home().display()),
            "1 session is closed\n".to_owned(),
            "1 of 1 checked, 0 with damaged lines".to_owned(),
            "git version".to_owned(),
            "is readable".to_owned(),
            "GNU bash".to_owned(),
            "LANG=C.UTF-8".to_owned(),
            "0 problems\n".to_owned(),
        ] {
            assert!(text.contains(&said), "{said}\n{text}");
        }
        assert!(text.contains("_API_KEY, for http://127.0.0.1") && !text.contains(home.key()));
        server.finish();
    }
}

#[test]
fn a_first_run_is_told_what_to_set_and_no_folder_is_made() {
    let home = TestHome::new();
    let found = findings(&home, 1, "key");
    assert_eq!((found[0].0.as_str(), found[0].1.as_str()), ("problem", "no model is set up"));
    assert!(found[0].2.contains("ANTHROPIC_API_KEY"), "{found:?}");
    assert!(findings(&home, 1, "folders")[0].1.contains("not created yet"));
    assert!(findings(&home, 1, "server").is_empty());
    assert!(!home.dormouse_home().exists());
}

#[test]
fn settings_that_are_wrong() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    std::fs::create_dir(home.dormouse_home()).unwrap();
    let file = home.dormouse_home().join("settings.json");
    std::fs::write(&file, r#"{"modle":"x"}"#).unwrap();
    let found = findings(&home, 0, "settings");
    assert_eq!(found[1].0, "warning");
    assert!(found[1].1.contains("did you mean `model`?"), "{found:?}");
    // A project's own: what waits for trust, and what no project may set.
    home.write(".dormouse/settings.json", r#"{"env":{"A":"b"},"autoMemoryDirectory":"/x"}"#);
    let found = findings(&home, 0, "settings");
    assert!(found.iter().any(|found| found.2.contains("permissions trust")), "{found:?}");
    assert!(
        found.iter().any(|found| found.1.contains("cannot set `autoMemoryDirectory`")),
        "{found:?}"
    );
    std::fs::write(&file, "{").unwrap();
    let found = findings(&home, 1, "settings");
    assert!(found[0].0 == "problem" && found[0].1.contains("line 1"), "{found:?}");
    assert!(found.len() > 2, "one bad file does not hide the others: {found:?}");
    std::fs::write(&file, r#"{"provider":{"keyCommand":"echo wrong >&2; exit 3"}}"#).unwrap();
    let found = findings(&home, 1, "key");
    assert!(found[0].0 == "problem" && found[0].1.contains("wrong"), "{found:?}");
}

#[test]
fn a_server_that_is_not_there_or_lists_another_model() {
    let mut home = TestHome::new();
    home.set_env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let found = findings(&home, 1, "server");
    assert!(found[0].0 == "problem" && found[0].1.contains("127.0.0.1:1"), "{found:?}");
    assert!(found[0].2.contains("check that the server is running"), "{found:?}");
    let output = home.run(&mut dormouse(&home, &["doctor", "--offline"]));
    assert!(!output.success().stdout.contains("server  "), "{}", output.stdout);

    let server = server(WireFormat::OpenAi).start();
    home.use_server(&server);
    home.set_env("DORMOUSE_MODEL", "another");
    let found = findings(&home, 0, "server");
    assert!(found[1].0 == "warning" && found[1].2.contains(server.model()), "{found:?}");
}

/// A server that answers every request with this status.
fn refusing(status: &'static str) -> String {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let _request = stream.read(&mut [0; 8192]);
            let body = r#"{"error":{"message":"no such key"}}"#;
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
            let _gone = write!(stream, "{head}connection: close\r\n\r\n{body}");
        }
    });
    format!("http://{address}/v1")
}

#[test]
fn a_key_that_is_not_taken() {
    let mut home = TestHome::new();
    home.set_env("OPENAI_BASE_URL", refusing("401 Unauthorized"));
    home.set_env("OPENAI_API_KEY", home.key());
    let found = findings(&home, 1, "server");
    assert!(found[0].0 == "problem" && found[0].1.contains("no such key"), "{found:?}");
    assert!(found[0].2.contains("OPENAI_API_KEY"), "{found:?}");
    home.set_env("OPENAI_BASE_URL", refusing("404 Not Found"));
    home.set_env("DORMOUSE_MODEL", "any");
    let found = findings(&home, 0, "server");
    assert!(found[1].1.contains("the server lists no models; using any"), "{found:?}");
}

#[test]
fn folders_that_are_no_folders_or_open_to_others() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    std::fs::create_dir(home.dormouse_home()).unwrap();
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(home.dormouse_home(), mode).unwrap();
    let found = findings(&home, 0, "folders");
    assert!(found[0].0 == "warning" && found[0].2.starts_with("chmod 700"), "{found:?}");
    std::fs::write(home.dormouse_home().join("projects"), "").unwrap();
    let found = findings(&home, 1, "folders");
    assert!(found[1].0 == "problem" && found[1].1.contains("not a folder"), "{found:?}");
}

#[test]
fn who_holds_a_session_and_which_lines_are_bad() {
    let gate = Gate::new();
    let server = server(WireFormat::Anthropic)
        .reply(Reply::from(ScriptedTurn::new().text("slowly, slowly")).gate_after(2, &gate))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut running = home.spawn(&mut ask(&home, &["hi"]));
    running.close_stdin();
    gate.wait_until_reached();
    let found = findings(&home, 0, "locks");
    assert_eq!(found.len(), 1);
    assert!(found[0].1.contains(&format!("is open in process {}", running.id())), "{found:?}");
    gate.open();
    running.wait().success();
    assert_eq!(findings(&home, 0, "locks").len(), 1);

    let transcript = &home.transcripts()[0];
    let text = std::fs::read_to_string(transcript).unwrap();
    std::fs::write(transcript, text.replacen('\n', "\nnonsense\n", 1)).unwrap();
    let found = findings(&home, 0, "transcripts");
    assert!(found[0].1.contains("1 with damaged lines"), "{found:?}");
    assert!(found[1].0 == "warning" && found[1].1.contains("line 2 was skipped"), "{found:?}");
    server.finish();
}

/// Without git and bash it says what that means.
#[test]
fn programs_that_are_missing() {
    let server = server(WireFormat::Anthropic).start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("PATH", "/nowhere");
    let found = findings(&home, 0, "git");
    assert!(found[0].0 == "warning" && found[0].2.contains("install git"), "{found:?}");
    let found = findings(&home, 0, "shell");
    assert!(found[0].0 == "warning" && found[0].2.contains("bash 4.4"), "{found:?}");
}

#[test]
fn a_repository_of_somebody_else() {
    let server = server(WireFormat::Anthropic).start();
    let mut home = TestHome::new().with_server(&server);
    home.git_init();
    // Git itself has a switch for its own tests of this.
    home.set_env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    let found = findings(&home, 1, "git");
    assert!(found[1].0 == "problem" && found[1].2.contains("safe.directory"), "{found:?}");
}

#[test]
fn mcp_servers_that_do_not_answer_are_named() {
    let home = TestHome::new();
    let own = env!("CARGO_BIN_EXE_dormouse");
    let servers = serde_json::json!({"mcpServers": {
        "own": {"command": own, "args": ["mcp"]},
        "absent": {"command": "no-such-program"},
        "wrong": {"url": "http://h"},
    }});
    home.write(home.dormouse_home().join("settings.json"), servers.to_string());
    let found = findings(&home, 1, "mcp");
    let [wrong, absent, own] = found.as_slice() else { panic!("{found:?}") };
    assert!(wrong.0 == "problem" && wrong.1.contains("`wrong`: a `url` needs"), "{wrong:?}");
    assert!(absent.0 == "problem" && absent.1.contains("is not on PATH"), "{absent:?}");
    assert!(own.0 == "ok" && own.1.contains("`own` responds (protocol 2026-07-28)"), "{own:?}");
}

/// On a terminal no word is cut at the edge, in either language; sessions have their titles there.
#[test]
fn words_are_not_cut_at_the_edge() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("hello")).start();
    let mut home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["how many nuts before the winter?"])).success();
    for (language, columns) in [("en", 80), ("en", 40), ("zh", 80), ("zh", 40)] {
        home.set_env("LANG", if language == "zh" { "zh_CN.UTF-8" } else { "en_US.UTF-8" });
        for command in [&["doctor", "--offline"][..], &["sessions"][..]] {
            let piped = home.run(&mut dormouse(&home, command)).stdout;
            let mut terminal =
                home.terminal(env!("CARGO_BIN_EXE_dormouse"), command, (columns, 200));
            terminal.wait();
            let rows = terminal.all_rows();
            let shown: Vec<&str> = rows.iter().flat_map(|row| row.split_whitespace()).collect();
            // The counts differ with what is found about the terminal.
            let is_short = |word: &&str| word.chars().all(char::is_alphabetic) && word.len() < 20;
            // What it says about the terminal differs, of course.
            let piped = piped.lines().filter(|line| !line.contains("terminal"));
            for word in piped.flat_map(str::split_whitespace).filter(is_short) {
                assert!(shown.contains(&word), "{language} {columns}: {word}\n{}", rows.join("\n"));
            }
        }
    }
    server.finish();
}
