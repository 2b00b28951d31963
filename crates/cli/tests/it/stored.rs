//! Layer 1 in the real program: large results go to a file, the same bytes are sent for ever after.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};

use crate::program::{BOTH, ask, server, transcript};

fn cat(id: &str, file: &str) -> ScriptedTurn {
    ScriptedTurn::new().call(id, "Bash", format!(r#"{{"command":"cat {file}"}}"#))
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
            .reply(ScriptedTurn::new().call("empty", "Bash", r#"{"command":"cat empty.txt"}"#))
            .reply(ScriptedTurn::new().text("done"))
            .reply(ScriptedTurn::new().text("again"))
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
    let mut turn = ScriptedTurn::new();
    for n in 0..10 {
        turn = turn.call(format!("c{n}"), "Bash", format!(r#"{{"command":"cat f{n}.txt"}}"#));
    }
    let server = server(WireFormat::Anthropic)
        .window(1_000_000)
        .reply(turn)
        .reply(ScriptedTurn::new().text("ok"))
        .reply(ScriptedTurn::new().text("again"))
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
    let server = server(WireFormat::Anthropic)
        .reply(cat("big", "big.txt"))
        .reply(ScriptedTurn::new().text("done"))
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

fn bash(id: &str, command: &str) -> ScriptedTurn {
    ScriptedTurn::new().call(id, "Bash", serde_json::json!({ "command": command }).to_string())
}

/// 500 MB go to the file as they come, and not through memory. The command's grandparent is the program.
#[test]
fn output_of_any_size_is_stored_as_it_comes() {
    let server = server(WireFormat::Anthropic)
        .reply(bash("big", "head -c 500000000 /dev/zero | tr '\\0' x; echo; echo the end; exit 4"))
        .reply(bash("peak", "grep VmHWM /proc/$(cut -d' ' -f4 /proc/$PPID/stat)/status"))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["--permission-mode", "bypass", "hi"])).success();
    let file = home.transcripts()[0].with_extension("").join("tool-results/big.txt");
    assert_eq!(file.metadata().unwrap().len(), 500_000_000 + 1 + 7 + 1 + 13);
    let requests = server.requests();
    let preview = requests[1].text();
    assert!(preview.contains("500000022 characters (500000022 bytes), too much to show."));
    assert!(preview.contains("[499998022 more bytes in the file]"), "{preview}");
    let last = requests[2].text();
    let peak = last.split("VmHWM:").nth(1).unwrap().trim_start_matches(['\\', 't', ' ']);
    let peak: u64 = peak.split(' ').next().unwrap().parse().unwrap();
    assert!(peak < 150_000, "the program took {peak} kB at its peak");
    std::fs::remove_file(file).unwrap();
    server.finish();
}

/// What is stored as it comes looks the same as what is stored in one piece, and Read shows its parts.
#[test]
fn a_result_of_30_mb_is_read_in_parts() {
    let read = |id: &str, home: &TestHome, offset: u32| {
        let file = home.transcripts()[0].with_extension("").join("tool-results/big.txt");
        let input = serde_json::json!({"file_path": file, "offset": offset, "limit": 2});
        ScriptedTurn::new().call(id, "Read", input.to_string())
    };
    let server = server(WireFormat::Anthropic)
        .reply(bash("big", "seq -f 'line %.0f of very many 睡鼠' 1000000"))
        .start();
    let home = TestHome::new().with_server(&server);
    server.push(ScriptedTurn::new().text("stored"));
    home.run(&mut ask(&home, &["--permission-mode", "bypass", "hi"])).success();
    server.push(read("middle", &home, 500_000));
    server.push(read("end", &home, 999_999));
    server.push(ScriptedTurn::new().text("done"));
    home.run(&mut ask(&home, &["-c", "hi"])).success();
    let lines: Vec<String> =
        (1..=1_000_000).map(|n| format!("line {n} of very many 睡鼠")).collect();
    let whole = lines.join("\n");
    assert!(whole.len() > 28_000_000, "{}", whole.len());
    let files = stored(&home);
    assert!(files.len() == 1 && files[0].1 == whole, "the file is what was printed");
    let path = home.transcripts()[0].with_extension("").join("tool-results/big.txt");
    let head = whole.split_at(whole.floor_char_boundary(2_000)).0.rsplit_once('\n').unwrap().0;
    let expected = format!(
        "<persisted-output>\n{} characters ({} bytes), too much to show. The whole result is in\n{}\nRead it in parts with `offset` and `limit`. It begins:\n\n{head}\n[{} more bytes in the file]\n</persisted-output>",
        whole.chars().count(),
        whole.len(),
        path.display(),
        whole.len() - head.len(),
    );
    let shown = serde_json::to_string(&expected).unwrap();
    assert!(server.requests()[1].text().contains(&shown), "{}", server.requests()[1].text());
    let last = server.requests().last().unwrap().text();
    assert!(
        last.contains("line 500000 of very many") && last.contains("line 1000000 of very many")
    );
    server.finish();
}

/// A key in a result that is stored as it comes is in no file.
#[test]
fn a_key_in_a_long_result_is_not_stored() {
    let server = server(WireFormat::Anthropic)
        .reply(bash("big", "for n in $(seq 20); do cat key.txt; done"))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.write("key.txt", format!("{}\n", home.key()).repeat(2_000));
    home.run(&mut ask(&home, &["--permission-mode", "bypass", "hi"])).success();
    assert_eq!(
        stored(&home),
        [("big.txt".to_owned(), "[secret]\n".repeat(40_000).trim_end().to_owned())]
    );
    server.finish();
}

/// A disk that is full while a long result is stored costs the rest of it, whichever write it is.
#[test]
fn a_disk_that_refuses_a_long_result() {
    let mut refused = 0;
    for place in 1..=24 {
        let server = server(WireFormat::Anthropic)
            .reply(bash("big", "yes | head -c 3000000; exit 5"))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        let mut home = TestHome::new().with_server(&server);
        home.set_env("DORMOUSE_FAULT", format!("enospc@base.open_write#{place}"));
        let output = home.run(&mut ask(&home, &["--permission-mode", "bypass", "hi"]));
        let Some(request) = server.requests().into_iter().nth(1) else { continue };
        assert_eq!(output.success().stdout, "done\n");
        let text = stored(&home).pop().map(|(_, text)| text).unwrap_or_default();
        if text.contains("more bytes were not kept: cannot write") {
            refused += 1;
            assert!(text.len() < 300_000 && text.ends_with("[exit code 5]"), "{}", text.len());
            assert!(request.text().contains("<persisted-output>"));
        }
        server.finish();
    }
    assert!(refused > 0, "no write of a long result was refused");
}
