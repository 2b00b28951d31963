//! Layer 1 in the real program: large results go to a file, the same bytes are sent for ever after.

use dormouse_model::script::Turn;
use dormouse_testkit::{TestHome, Wire};

use crate::program::{BOTH, ask, server, transcript};

fn cat(id: &str, file: &str) -> Turn {
    Turn::new().call(id, "Bash", format!(r#"{{"command":"cat {file}"}}"#))
}

/// The files that were stored, by name.
fn stored(home: &TestHome) -> Vec<(String, String)> {
    let session = home.transcripts()[0].with_extension("");
    let Ok(folder) = session.join("tool-results").read_dir() else { return Vec::new() };
    let mut files: Vec<(String, String)> = folder
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_large_result_is_stored_and_its_preview_never_changes() {
    for wire in BOTH {
        let server = server(wire)
            .reply(cat("big", "big.txt"))
            .reply(cat("json", "big.json"))
            .reply(Turn::new().call("empty", "Bash", r#"{"command":"cat empty.txt"}"#))
            .reply(Turn::new().text("done"))
            .reply(Turn::new().text("again"))
            .start();
        let home = TestHome::new().with_server(&server);
        let big = "a line of the large file 睡鼠\n".repeat(9_000);
        let json = format!("[{}1]", "{\"n\": 1.10},".repeat(5_000));
        home.write("big.txt", &big);
        home.write("big.json", &json);
        home.write("empty.txt", "");
        home.run(&mut ask(&home, &["hi"])).success();
        home.run(&mut ask(&home, &["-c", "hi"])).success();
        let files = stored(&home);
        assert_eq!(
            files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["big.txt", "json.json"]
        );
        assert_eq!(files[0].1, big.trim_end());
        assert_eq!(files[1].1, json);
        // The server itself checks that what was sent stays the same, after the resume too.
        let last = server.requests().last().unwrap().text();
        assert_eq!(last.matches("<persisted-output>").count(), 2);
        assert!(last.contains("tool-results/big.txt") && last.len() < 40_000, "{}", last.len());
        assert!(transcript(&home).len() < 60_000, "the transcript holds the preview only");
        server.finish();
    }
}

/// Each is within its limit, together they are not: the largest go.
#[test]
fn results_of_one_message_are_bounded_together() {
    let mut turn = Turn::new();
    for n in 0..10 {
        turn = turn.call(format!("c{n}"), "Bash", format!(r#"{{"command":"cat f{n}.txt"}}"#));
    }
    let server = server(Wire::Anthropic)
        .window(1_000_000)
        .reply(turn)
        .reply(Turn::new().text("ok"))
        .reply(Turn::new().text("again"))
        .start();
    let mut home = TestHome::new().with_server(&server);
    // Ten of 29,000 characters are more than 200,000.
    for n in 0..10 {
        home.write(format!("f{n}.txt"), "0123456789".repeat(2_900 + n));
    }
    home.set_env("DORMOUSE_CONTEXT_WINDOW", "1000000");
    home.run(&mut ask(&home, &["hi"])).success();
    home.run(&mut ask(&home, &["-c", "hi"])).success();
    let names: Vec<String> = stored(&home).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["c6.txt", "c7.txt", "c8.txt", "c9.txt"]);
    assert_eq!(server.requests()[2].text().matches("<persisted-output>").count(), 4);
    server.finish();
}

/// A disk that refuses costs the rest of the result, not the turn.
#[test]
fn a_disk_that_refuses() {
    let server = server(Wire::Anthropic)
        .reply(cat("big", "big.txt"))
        .reply(Turn::new().text("done"))
        .start();
    let mut home = TestHome::new().with_server(&server);
    home.write("big.txt", "a line\n".repeat(20_000));
    home.set_env("DORMOUSE_FAULT", "enospc@base.write_temporary#2");
    let output = home.run(&mut ask(&home, &["hi"]));
    assert_eq!(output.success().stdout, "done\n");
    let second = server.requests()[1].text();
    assert!(second.contains("could not be stored") && second.contains("No space left"), "{second}");
    server.finish();
}
