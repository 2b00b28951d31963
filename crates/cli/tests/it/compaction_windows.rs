//! Windows of every size, servers that say how large theirs is, those that do not, and those that cut without
//! a word: the conversation always goes on, and what the user said is found again.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{RecordedRequest, Reply, ScriptedServer, TestHome, WireFormat};

use crate::compacting::{
    SUMMARY, boundaries, fill, home, home_for, last_text, long_prompt, nothing_is_lost, say, small,
    summaries,
};
use crate::program::{BOTH, ask, server};

/// Short messages and, between them, some that take a sixth of the window each.
fn message(number: usize, window: u32) -> String {
    if number.is_multiple_of(2) {
        return format!("short message {number}: keep the name `quux_{number}`");
    }
    let words = "and more words ".repeat(usize::try_from(window).unwrap() / 22);
    format!("long message {number} {words} the end of {number}\n")
}

#[test]
fn windows_of_every_size() {
    let windows = [4_000, 8_000, 32_000, 200_000, 1_000_000];
    for (window, wire) in windows.into_iter().zip(BOTH.into_iter().cycle()) {
        let server = server(wire)
            .window(u64::from(window))
            .max_output(u64::from(window / 4))
            .reply_with(|_| ScriptedTurn::new().text("noted").into())
            .fork_with(summaries())
            .start();
        let home = home_for(&server, window);
        let mut said = Vec::new();
        while said.len() < 20 && (said.is_empty() || boundaries(&home).is_empty()) {
            for number in [said.len(), said.len() + 1] {
                said.push(message(number, window));
                say(&home, &said[number], number > 0);
            }
        }
        said.push(message(said.len() / 2 * 2, window));
        say(&home, said.last().unwrap(), true);
        assert!(!boundaries(&home).is_empty(), "{window}: nothing was compacted");
        nothing_is_lost(&home, &last_text(&server), &said, window);
        assert_eq!(too_large(&server), Vec::<String>::new(), "{window}");
    }
}

/// What the server has against requests, but for prefixes that a compaction broke.
fn too_large(server: &ScriptedServer) -> Vec<String> {
    let broken = |text: &String| text.contains("the prefix changes");
    server.failures().into_iter().filter(|text| !broken(text)).collect()
}

/// A server that cuts silently never says a word: nothing larger than its window is sent, by anybody.
#[test]
fn a_server_that_cuts_silently_is_never_sent_more_than_its_window() {
    for wire in BOTH {
        let mut calls = 0;
        let server = small(wire)
            .reply_with(move |request| {
                calls += 1;
                if request.last_message().to_string().contains("look at everything")
                    || calls % 9 != 0
                {
                    return ScriptedTurn::new()
                        .call(format!("c{calls}"), "Read", r#"{"file_path":"a.txt"}"#)
                        .into();
                }
                ScriptedTurn::new().text("noted").into()
            })
            .fork_with(|_| {
                ScriptedTurn::new().call("w", "Write", r#"{"file_path":"x","content":"y"}"#).into()
            })
            .start();
        let home = home(&server);
        home.write("a.txt", "a line that is read again and again\n".repeat(60));
        for number in 0..4 {
            say(
                &home,
                &format!("look at everything, {number}: {}", long_prompt(number)),
                number > 0,
            );
        }
        assert!(boundaries(&home).len() >= 3, "{}", boundaries(&home).len());
        assert_eq!(too_large(&server), Vec::<String>::new());
    }
}

/// A refusal, by what was sent and what is allowed.
type Refusal = fn(u64, u64) -> Reply;

/// How a server answers that takes at most so many tokens.
fn limited(
    real: u64,
    refusal: Refusal,
    answer: &'static str,
) -> impl FnMut(&RecordedRequest) -> Reply {
    move |request| {
        let used = (request.body.len() as u64).div_ceil(4);
        if used > real { refusal(used, real) } else { ScriptedTurn::new().text(answer).into() }
    }
}

/// The window is smaller than anybody knows. The server says so, with numbers or without.
#[test]
fn a_window_smaller_than_thought() {
    let ways: [(&str, WireFormat, Refusal); 4] = [
        ("numbers", WireFormat::Anthropic, Reply::prompt_too_long),
        ("numbers of llama", WireFormat::OpenAi, Reply::llama_exceed_context),
        ("no numbers", WireFormat::Anthropic, |_, _| Reply::gateway_too_long()),
        ("bytes", WireFormat::Anthropic, |_, _| Reply::request_too_large_413()),
    ];
    for (name, wire, refusal) in ways {
        for real in [10_000, 16_000] {
            let server = server(wire)
                .no_model_info()
                .allow_overflow()
                .reply_with(limited(real, refusal, "noted"))
                .fork_with(limited(real, refusal, SUMMARY))
                .start();
            let home = TestHome::new().with_server(&server);
            let said: Vec<String> = (1..=14).map(long_prompt).collect();
            for (number, prompt) in said.iter().enumerate() {
                let output = say(&home, prompt, number > 0);
                assert_eq!(output.stdout, "noted\n", "{name}, {real}: {}", output.stderr);
                assert!(!output.stderr.contains("error:"), "{name}: {}", output.stderr);
            }
            let window = u32::try_from(real).unwrap();
            nothing_is_lost(&home, &last_text(&server), &said, window);
        }
    }
}

/// A result of 30 MB goes to a file, or is cut where that is switched off; the window does not notice.
#[test]
fn a_result_of_thirty_megabytes() {
    for (wire, store) in [(WireFormat::Anthropic, "1"), (WireFormat::OpenAi, "0")] {
        let server = small(wire).fork_with(summaries()).start();
        let mut home = home(&server);
        home.set_env("DORMOUSE_STORED_RESULTS", store);
        fill(&home, &server, 2);
        let big = r#"{"command":"yes 'thirty megabytes of this line' | head -c 30000000"}"#;
        server.push(ScriptedTurn::new().call("big", "Bash", big));
        server.push(ScriptedTurn::new().text("done"));
        let output = home.run(&mut ask(&home, &["-c", "--permission-mode", "bypass", "print it"]));
        assert_eq!(output.success().stdout, "done\n");
        let sent = server.requests().last().unwrap().body.len();
        assert!(sent < 64_000, "{sent}");
        let stored = home.transcripts()[0].with_extension("").join("tool-results/big.txt");
        assert_eq!(
            stored.metadata().map(|file| file.len()).unwrap_or_default() > 29_000_000,
            store == "1"
        );
        server.finish();
    }
}
