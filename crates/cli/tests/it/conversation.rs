//! A long conversation over both wire formats: calls side by side, an interrupt, a `kill -9`, resumes
//! on another day. The server itself checks pairing, alternation, canaries and the prefix of every
//! request; here it is checked that nothing is lost and that the cache is used to the last token.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, RecordedRequest, Reply, ScriptedServer, TestHome, WireFormat};

use crate::program::{ask, server, transcript, wait_until};

const LOOPS: usize = 30;

fn conversation(wire: WireFormat) {
    let server = server(wire).start();
    let mut home = TestHome::new().with_server(&server).with_now("2026-11-15T08:00:00Z");
    // Days pass in it; what is cleared after a pause is another test's.
    home.set_env("DORMOUSE_TIME_CLEARING", "0");
    // The model makes the same calls thirty times.
    home.set_env("DORMOUSE_REPEATED_CALLS", "0");
    for name in ["a.txt", "b.txt", "c.txt"] {
        home.write(name, format!("this is {name}\n").repeat(20));
    }
    home.git_init();

    thirty_requests(&server, &home);
    interrupted_in_the_stream(&server, &home);
    home.set_env("DORMOUSE_TEST_NOW", "2026-11-16T08:00:00Z");
    home.write("a.txt", "changed\n");
    killed_between_call_and_result(&server, &mut home);
    home.set_env("DORMOUSE_TEST_NOW", "2026-11-17T08:00:00Z");
    home.write("new.txt", "new\n");
    after_the_crash(&server, &home);
    once_more(&server, &home);

    the_transcript_is_a_chain(&home);
    let requests = server.requests();
    nothing_is_lost(requests.last().unwrap());
    each_reads_what_the_one_before_wrote(&requests, wire);
    server.finish();
}

/// One prompt, thirty requests, three calls side by side in each.
fn thirty_requests(server: &ScriptedServer, home: &TestHome) {
    for n in 0..LOOPS {
        server.push(
            ScriptedTurn::new()
                .thinking(format!("thought {n}"), format!("sig{n}=="))
                .text(format!("step {n}"))
                .call(format!("a{n}"), "Read", r#"{"file_path":"a.txt"}"#)
                .call(format!("b{n}"), "Read", r#"{"file_path": "b.txt", "limit": 3}"#)
                .call(format!("g{n}"), "Glob", r#"{"pattern":"*.txt"}"#),
        );
    }
    server.push(ScriptedTurn::new().text("all read"));
    let output = home.run(&mut ask(home, &["prompt one"]));
    assert_eq!(output.success().stdout, "all read\n");
}

fn interrupted_in_the_stream(server: &ScriptedServer, home: &TestHome) {
    let gate = Gate::new();
    let text = "this sentence will never come to its end because somebody stops it";
    server.push(Reply::from(ScriptedTurn::new().text(text)).gate_after(4, &gate));
    let arguments = ["--continue", "--output-format", "stream-json", "prompt two"];
    let mut running = home.spawn(&mut ask(home, &arguments));
    running.close_stdin();
    running.wait_for_stdout(|text| text.contains("this sentenc"));
    running.interrupt();
    let output = running.wait();
    gate.open();
    assert_eq!(output.code, Some(130), "{output:?}");
    assert!(!output.stdout.contains("from its cache"), "a false alarm: {}", output.stdout);
    assert!(transcript(home).contains("[interrupted]"));
}

/// The program stops for ever right before the first result is written, and is killed there.
fn killed_between_call_and_result(server: &ScriptedServer, home: &mut TestHome) {
    server.push(
        ScriptedTurn::new().text("looking").call("k1", "Read", r#"{"file_path":"c.txt"}"#).call(
            "k2",
            "Read",
            r#"{"file_path":"b.txt"}"#,
        ),
    );
    home.set_env("DORMOUSE_FAULT", "pause@engine.record_result");
    let mut running = home.spawn(&mut ask(home, &["--continue", "prompt three"]));
    running.close_stdin();
    wait_until("the call to be written down", || transcript(home).contains(r#""id":"k1""#));
    running.kill9();
    let output = running.wait();
    home.unset_env("DORMOUSE_FAULT");
    assert_eq!(output.signal, Some(9), "{output:?}");
    assert!(!transcript(home).contains(r#""tool_use_id":"k1""#), "the fault came too late");
}

fn after_the_crash(server: &ScriptedServer, home: &TestHome) {
    server.push(ScriptedTurn::new().text("going on").call(
        "z1",
        "Read",
        r#"{"file_path":"new.txt"}"#,
    ));
    server.push(ScriptedTurn::new().text("still here"));
    let output = home.run(&mut ask(home, &["--continue", "prompt four"]));
    assert_eq!(output.success().stdout, "still here\n");
    let told = server.requests().last().unwrap().text();
    // The call that was cut off is closed, and what has changed since is told once.
    assert!(told.contains("[interrupted: the call did not finish"), "{told}");
    for (fact, times) in
        [("date is now: Tuesday, 2026-11-17", 1), ("?? new.txt", 1), ("Monday, 2026-11-16", 1)]
    {
        assert_eq!(told.matches(fact).count(), times, "{fact}");
    }
}

fn once_more(server: &ScriptedServer, home: &TestHome) {
    server.push(ScriptedTurn::new().text("the end"));
    let output = home.run(&mut ask(home, &["--continue", "prompt five"]));
    assert_eq!(output.success().stdout, "the end\n");
}

/// Every line has an id of its own, and follows one that is there; none follows itself.
fn the_transcript_is_a_chain(home: &TestHome) {
    let text = transcript(home);
    let mut seen = std::collections::BTreeSet::new();
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let parent = line["parentUuid"].as_str();
        assert!(parent.is_none_or(|parent| seen.contains(parent)), "{line}");
        assert!(seen.insert(line["uuid"].as_str().unwrap().to_owned()), "{line}");
    }
}

fn nothing_is_lost(last: &RecordedRequest) {
    let text = last.text();
    let mut rest = text.as_str();
    let mut expect = |part: &str| match rest.split_once(part) {
        Some((_, after)) => rest = after,
        None => panic!("{part:?} is lost or out of order"),
    };
    expect("prompt one");
    for n in 0..LOOPS {
        expect(&format!("step {n}"));
        expect("this is a.txt");
        expect("this is b.txt");
    }
    expect("all read");
    expect("prompt two");
    expect("this sentenc");
    expect("prompt three");
    expect("looking");
    expect("prompt four");
    expect("going on");
    expect("still here");
    expect("prompt five");
}

fn each_reads_what_the_one_before_wrote(requests: &[RecordedRequest], wire: WireFormat) {
    assert_eq!(requests.len(), LOOPS + 1 + 1 + 1 + 2 + 1);
    for pair in requests.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let read = after.usage.cache_read_input_tokens;
        assert!(read > 0, "request {} read nothing", after.index);
        // An OpenAI-compatible server caches without being told, the whole request before.
        if wire == WireFormat::Anthropic {
            assert_eq!(read, before.written, "request {}", after.index);
        }
    }
}

#[test]
fn a_long_conversation_with_anthropic() {
    conversation(WireFormat::Anthropic);
}

#[test]
fn a_long_conversation_with_openai() {
    conversation(WireFormat::OpenAi);
}

#[test]
fn an_hour_of_cache_where_the_settings_say_so() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("one"))
        .reply(ScriptedTurn::new().text("two"))
        .start();
    let home = TestHome::new().with_server(&server);
    let settings = r#"{"provider":{"cacheTtl":"1h"}}"#;
    home.run(&mut ask(&home, &["--settings", settings, "hi"])).success();
    server.advance(std::time::Duration::from_mins(50));
    home.run(&mut ask(&home, &["--settings", settings, "-c", "again"])).success();
    let requests = server.requests();
    assert!(requests[0].text().contains(r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#));
    assert_eq!(requests[1].usage.cache_read_input_tokens, requests[0].written);
    server.finish();
}

/// The bytes of the first request depend on nothing but what it says: two homes, two time zones, other
/// locale, other order of files on disk.
#[test]
fn the_first_request_is_the_same_everywhere() {
    let body = |variant: bool| {
        let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("ok")).start();
        let mut home = TestHome::new().with_server(&server).with_now("2026-11-15T12:00:00Z");
        let mut files = ["x.txt", "y.txt", "z.txt"];
        if variant {
            files.reverse();
            home.set_env("LANG", "de_DE.UTF-8");
            home.set_env("TZ", "Europe/Berlin");
        }
        for file in files {
            home.write(file, "same");
        }
        home.run(&mut ask(&home, &["hi"])).success();
        let text = server.single_request().text();
        let project = home.project().canonicalize().unwrap();
        server.finish();
        // The project's memory has the project's path in its name.
        let slug = dormouse_base::ProjectSlug::of(&project);
        let root = home.root().canonicalize().unwrap();
        let text = text
            .replace(project.to_str().unwrap(), "/PROJECT")
            .replace(slug.as_str(), "SLUG")
            .replace(root.to_str().unwrap(), "/ROOT");
        // So has its folder for temporary files.
        let scratch = text.split("/ROOT/tmp/dormouse-").nth(1).unwrap();
        text.replace(scratch.get(..16).unwrap(), "SCRATCH")
    };
    assert_eq!(body(false), body(true));
}
