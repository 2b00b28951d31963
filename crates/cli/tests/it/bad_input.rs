//! Bad input gets a clear error, and nothing is lost.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, TestHome, WireFormat};

use crate::program::{ask, dormouse, server, transcript};

fn settings(home: &TestHome, text: &str) {
    std::fs::create_dir_all(home.dormouse_home()).unwrap();
    std::fs::write(home.dormouse_home().join("settings.json"), text).unwrap();
}

#[test]
fn unreadable_settings_name_file_line_and_what_was_expected() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    settings(&home, "{\n  \"model\": [1]\n}");
    let output = home.run(&mut ask(&home, &["hi"]));
    assert_eq!(output.code, Some(2));
    let place = home.dormouse_home().join("settings.json");
    let expected =
        format!("error: {}, line 2, column 11: expected a string, not a list", place.display());
    assert!(output.stderr.contains(&expected), "{}", output.stderr);
    settings(&home, "{\"provider\": {\"kind\": \"antropic\"}}");
    let output = home.run(&mut ask(&home, &["hi"]));
    assert!(output.stderr.contains("expected `anthropic` or `openai`"), "{}", output.stderr);
    settings(&home, "{}");
    let output = home.run(&mut ask(&home, &["--settings", "/no/such/file", "hi"]));
    assert!(
        output.stderr.contains("cannot read the settings file /no/such/file"),
        "{}",
        output.stderr
    );
}

#[test]
fn an_unknown_setting_is_warned_about() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("ok")).start();
    let home = TestHome::new().with_server(&server);
    settings(&home, r#"{"smalModel": "x"}"#);
    let output = home.run(&mut ask(&home, &["hi"]));
    assert_eq!(output.success().stdout, "ok\n");
    assert!(
        output.stderr.contains("unknown setting `smalModel` (did you mean `smallModel`?)"),
        "{}",
        output.stderr
    );
    server.finish();
}

/// A secret in the settings stays there.
#[test]
fn a_setting_that_looks_like_a_secret_is_sent_nowhere() {
    let server = server(WireFormat::Anthropic)
        .canary("canary-in-a-setting")
        .reply(ScriptedTurn::new().text("ok"))
        .start();
    let home = TestHome::new().with_server(&server);
    settings(
        &home,
        r#"{"provider": {"keyEnv": "ANTHROPIC_API_KEY"}, "note": "canary-in-a-setting"}"#,
    );
    home.run(&mut ask(&home, &["hi"])).success();
    assert!(!transcript(&home).contains("canary-in-a-setting"));
    assert!(!transcript(&home).contains(home.key()));
    server.finish();
}

#[test]
fn a_bad_line_in_the_middle_of_a_transcript_is_skipped_and_named() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("one"))
        .reply(ScriptedTurn::new().text("two"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["first prompt"])).success();
    let file = &home.transcripts()[0];
    let text = transcript(&home);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.insert(2, "{\"type\":\"user\", this is not JSON");
    std::fs::write(file, lines.join("\n") + "\n").unwrap();
    let output = home.run(&mut ask(&home, &["-c", "second prompt"]));
    assert_eq!(output.success().stdout, "two\n");
    assert!(output.stderr.contains("line 3 was skipped"), "{}", output.stderr);
    assert!(server.requests()[1].text().contains("first prompt"));
    server.finish();
}

#[test]
fn a_torn_last_line_is_dropped_said_and_kept_aside() {
    let server = server(WireFormat::Anthropic)
        .replies(["one", "two", "three"].map(|text| ScriptedTurn::new().text(text)))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["first prompt"])).success();
    let file = &home.transcripts()[0];
    let text = transcript(&home) + r#"{"type":"user","uuid":"torn in the mid"#;
    std::fs::write(file, text).unwrap();
    let output = home.run(&mut ask(&home, &["-c", "second prompt"]));
    assert_eq!(output.success().stdout, "two\n");
    assert!(output.stderr.contains("was cut off by a crash"), "{}", output.stderr);
    // Only once, and not even half a line is lost.
    let output = home.run(&mut ask(&home, &["-c", "third prompt"]));
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("three\n", ""));
    assert!(transcript(&home).contains("torn in the mid"));
    server.finish();
}

/// More than any window: the ends are sent, and all of it is in a file.
#[test]
fn two_megabytes_on_standard_input() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("done")).start();
    let home = TestHome::new().with_server(&server);
    let much = "all work and no play\n".repeat(100_000);
    let output = home.run_with_input(&mut ask(&home, &["review"]), &much);
    assert_eq!(output.success().stdout, "done\n");
    assert!(server.fork_requests().is_empty(), "nothing larger than the window is sent");
    let folder = home.transcripts()[0].with_extension("").join("said");
    let file = folder.read_dir().unwrap().next().unwrap().unwrap().path();
    assert!(server.single_request().text().contains(file.to_str().unwrap()));
    assert!(std::fs::read_to_string(file).unwrap().contains(&much));
    server.finish();
}

#[test]
fn a_working_directory_that_was_deleted() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let gone = home.root().join("gone");
    std::fs::create_dir(&gone).unwrap();
    let program = env!("CARGO_BIN_EXE_dormouse");
    let script = format!("cd {0} && rmdir {0} && exec {program} -p hi", gone.display());
    let output = home.run(home.command("sh").args(["-c", &script]));
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("the working directory cannot be used"), "{}", output.stderr);
}

#[test]
fn bad_arguments() {
    let home = TestHome::new();
    for (arguments, said) in [
        (&["--max-turns", "0", "-p", "x"][..], "--max-turns"),
        (&["--output-format", "xml"], "stream-json"),
        (&["--continue", "--resume", "x"], "cannot be used with"),
        (&["--no-such-flag"], "--no-such-flag"),
        (&["-p"], "no prompt given"),
        (&["-p", "   "], "no prompt given"),
        (&["hello"], "interactive mode needs a terminal"),
        (&["-p", "again", "--resume"], "--resume needs a session id"),
        (&["-p", "hi", "--resume", ""], "is not a session id"),
        (&["-p", "--resume", "hello there"], "is not a session id"),
    ] {
        let output = home.run(&mut dormouse(&home, arguments));
        assert_eq!(output.code, Some(2), "{arguments:?} {output:?}");
        assert!(output.stderr.contains(said), "{arguments:?}: {}", output.stderr);
    }
}

#[test]
fn a_window_that_is_no_window() {
    let server = server(WireFormat::Anthropic).start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_CONTEXT_WINDOW", "3999");
    let output = home.run(&mut ask(&home, &["hi"]));
    assert!(
        output.stderr.contains("a context window of 3999 tokens is too small"),
        "{}",
        output.stderr
    );
    home.set_env("DORMOUSE_CONTEXT_WINDOW", "huge");
    let output = home.run(&mut ask(&home, &["hi"]));
    assert!(output.stderr.contains("`huge`, not a number of tokens"), "{}", output.stderr);
    assert!(output.stderr.contains("hint: set DORMOUSE_CONTEXT_WINDOW to"), "{}", output.stderr);
    let checked = home.run(&mut dormouse(&home, &["doctor", "--offline"]));
    assert!(checked.stdout.contains("`huge`, not a number of tokens"), "{}", checked.stdout);
}

#[test]
fn a_small_window_gets_the_short_prompt_and_it_is_said() {
    let server =
        server(WireFormat::Anthropic).window(8_000).reply(ScriptedTurn::new().text("ok")).start();
    let home = TestHome::new().with_server(&server);
    let output = home.run(&mut ask(&home, &["hi"]));
    assert_eq!(output.success().stdout, "ok\n");
    assert!(
        output.stderr.contains("context window of 8000 tokens (reported by the server)"),
        "{}",
        output.stderr
    );
    assert!(server.single_request().body.len() < 8_000);
    server.finish();
}

/// A disk that says no at some point of a run: an error that says so, and a transcript that loads.
fn disk_fault(fault: &str, said: &str) -> Output {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("one"))
        .reply(ScriptedTurn::new().text("looking").call("t1", "Read", r#"{"file_path":"a.txt"}"#))
        .reply(ScriptedTurn::new().text("after"))
        .start();
    let mut home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    home.run(&mut ask(&home, &["first prompt"])).success();
    home.set_env("DORMOUSE_FAULT", fault);
    let output = home.run(&mut ask(&home, &["-c", "second prompt"]));
    assert_eq!(output.code, Some(1), "{fault}: {output:?}");
    assert!(output.stderr.contains(said), "{fault}: {}", output.stderr);
    home.unset_env("DORMOUSE_FAULT");
    if server.requests().len() < 2 {
        // Nothing was asked: use up the reply that was meant for it.
        home.run(&mut ask(&home, &["-c", "again"])).success();
    }
    while server.requests().len() < 3 {
        let after = home.run(&mut ask(&home, &["-c", "third prompt"]));
        assert!(!after.success().stderr.contains("warning"), "{fault}: {}", after.stderr);
    }
    assert!(server.requests()[2].text().contains("first prompt"));
    server.finish();
    output
}

#[test]
fn a_full_disk_ends_the_turn_and_the_transcript_loads() {
    for append in 1..=4 {
        let output = disk_fault(&format!("enospc@base.append#{append}"), "No space left on device");
        assert!(output.stderr.contains("hint: the disk is full"), "{}", output.stderr);
    }
}

#[test]
fn a_home_that_can_not_be_written() {
    let output = disk_fault("erofs@base.open_write", "Read-only file system");
    assert!(output.stderr.contains("set DORMOUSE_HOME"), "{}", output.stderr);
    disk_fault("eacces@base.open_write", "Permission denied");
}

/// The same on a real file system that is read-only: a plain write is shown to fail first.
#[test]
fn a_real_read_only_home() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    std::fs::create_dir_all(home.dormouse_home()).unwrap();
    let program = env!("CARGO_BIN_EXE_dormouse");
    // A mount namespace of its own: nothing of it is seen outside.
    let script = format!(
        "mount --bind {0} {0} && mount -o remount,ro,bind {0} || exit 77; touch {0}/x 2>/dev/null && exit 78; exec {program} -p hi",
        home.dormouse_home().display()
    );
    let output =
        home.run(home.command("unshare").args(["--mount", "--map-root-user", "sh", "-c", &script]));
    if output.code == Some(77) || output.stderr.contains("unshare failed") {
        // A machine without namespaces has the fault points of the test above.
        return;
    }
    assert_ne!(output.code, Some(78), "the mount is not read-only");
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.stderr.contains("Read-only file system") && output.stderr.contains("DORMOUSE_HOME"),
        "{output:?}"
    );
}
