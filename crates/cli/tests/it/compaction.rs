//! Compaction in the real program: what is sent after it, what the transcript keeps, and that a full window
//! is never the end of a conversation.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Reply, TestHome, WireFormat};

use crate::compacting::{
    SMALL, SUMMARY, boundaries, fill, home, home_for, last_text, long_prompt, nothing_is_lost,
    small, summaries, text_of,
};
use crate::program::{BOTH, ask, server};

#[test]
fn a_window_that_fills_up_is_compacted_with_a_summary_that_reads_the_cache() {
    for wire in BOTH {
        let server = small(wire).start();
        let home = home(&server);
        let said = fill(&home, &server, 3);
        server.push_fork(ScriptedTurn::new().text(SUMMARY));
        server.push(ScriptedTurn::new().text("done"));
        server.expect_break("compaction");
        let output = home.run(&mut ask(&home, &["-c", &long_prompt(4)]));
        assert_eq!(output.success().stdout, "done\n");
        assert!(
            output.stderr.contains("compacted with a summary by the model"),
            "{}",
            output.stderr
        );
        let requests = server.requests();
        let forks = server.fork_requests();
        assert_eq!((requests.len(), forks.len()), (4, 1));
        // The summary was asked for with the very bytes that the request before had sent.
        if wire == WireFormat::Anthropic {
            let written = requests[2].usage.cache_creation_input_tokens
                + requests[2].usage.cache_read_input_tokens;
            assert_eq!(forks[0].usage.cache_read_input_tokens, written);
        }
        let after = text_of(&requests[3]);
        assert!(after.contains("The user wants the parser mended"), "{after}");
        assert!(!after.contains("thinking aloud"), "{after}");
        assert!(after.contains(&long_prompt(4)), "{after}");
        // Their newest words stand there as they were said.
        assert!(after.contains("the end of 3"), "{after}");
        nothing_is_lost(&home, &after, &said, SMALL);
        assert!(after.contains("parser_"), "the index names what was dropped: {after}");
        assert!(
            !text_of(&forks[0]).contains("compacted"),
            "the fork has the conversation as it was"
        );
        let boundaries = boundaries(&home);
        assert_eq!(boundaries.len(), 1);
        assert_eq!(boundaries[0]["compactMetadata"]["trigger"], "auto");
        // A resume sends the same bytes: the server compares them.
        server.push(ScriptedTurn::new().text("again"));
        home.run(&mut ask(&home, &["-c", "go on"])).success();
        server.finish();
    }
}

type Answer = Box<dyn Fn() -> Vec<Reply>>;

/// Whatever the model does instead of a summary, the conversation goes on, folded by the program.
#[test]
fn a_summary_that_fails_in_every_way_is_no_dead_end() {
    let larger = format!("<summary>{}</summary>", "more and more words ".repeat(20_000));
    let ways: Vec<(&str, Answer)> = vec![
        ("too long", Box::new(|| (0..5).map(|_| Reply::prompt_too_long(20_000, 16_000)).collect())),
        (
            "empty",
            Box::new(|| {
                vec![ScriptedTurn::new().text(" ").into(), ScriptedTurn::new().text("").into()]
            }),
        ),
        (
            "only thinking",
            Box::new(|| {
                (0..2).map(|_| ScriptedTurn::new().thinking("let me see", "sig").into()).collect()
            }),
        ),
        (
            "a tool call",
            Box::new(|| {
                let call =
                    |n| ScriptedTurn::new().call(format!("c{n}"), "Read", r#"{"file_path":"a"}"#);
                (0..4).map(|n| call(n).into()).collect()
            }),
        ),
        (
            "larger than its source",
            Box::new(move || vec![ScriptedTurn::new().text(larger.clone()).into()]),
        ),
        ("network gone", Box::new(|| (0..3).map(|_| Reply::server_error_500()).collect())),
    ];
    for (name, answers) in ways {
        let server = small(WireFormat::Anthropic).start();
        let home = home(&server);
        fill(&home, &server, 3);
        for reply in answers() {
            server.push_fork(reply);
        }
        server.push(ScriptedTurn::new().text("done"));
        server.expect_break("compaction");
        let output = home.run(&mut ask(&home, &["-c", &long_prompt(4)]));
        assert_eq!(output.stdout, "done\n", "{name}: {}", output.stderr);
        assert!(output.stderr.contains("compacted without a model"), "{name}: {}", output.stderr);
        let after = last_text(&server);
        for wanted in ["the end of 4", "the end of 3", "parser_"] {
            assert!(after.contains(wanted), "{name}: no `{wanted}` in {after}");
        }
        let forks = server.fork_requests().len();
        assert!(forks <= 5, "{name}: {forks}");
        if name != "too long" && name != "empty" {
            server.finish();
        }
    }
}

/// Every word for "too long" that a server has: held back, mended, sent again.
#[test]
fn a_request_that_the_server_refuses_as_too_long_is_mended() {
    let shapes: Vec<(&str, WireFormat, Reply)> = vec![
        ("prompt", WireFormat::Anthropic, Reply::prompt_too_long(20_500, 20_000)),
        ("max tokens", WireFormat::Anthropic, Reply::max_tokens_too_long(17_000, 4_000, 20_000)),
        ("413", WireFormat::Anthropic, Reply::request_too_large_413()),
        ("gateway", WireFormat::Anthropic, Reply::gateway_too_long()),
        (
            "stop reason",
            WireFormat::Anthropic,
            ScriptedTurn::new().text("I was").stop("model_context_window_exceeded").into(),
        ),
        (
            "stop reason, empty",
            WireFormat::Anthropic,
            ScriptedTurn::new().stop("model_context_window_exceeded").into(),
        ),
        ("openai", WireFormat::OpenAi, Reply::openai_context_length_exceeded()),
        ("llama", WireFormat::OpenAi, Reply::llama_exceed_context(20_500, 20_000)),
        ("vllm", WireFormat::OpenAi, Reply::vllm_too_long()),
    ];
    for (name, wire, refusal) in shapes {
        let server = server(wire).no_model_info().start();
        let home = TestHome::new().with_server(&server);
        fill(&home, &server, 3);
        server.push(refusal);
        server.push_fork(ScriptedTurn::new().text(SUMMARY));
        server.push(ScriptedTurn::new().text("done"));
        server.expect_break("compaction");
        let output = home.run(&mut ask(&home, &["-c", &long_prompt(4)]));
        assert_eq!(output.stdout, "done\n", "{name}: {}", output.stderr);
        assert!(!output.stderr.contains("error:"), "{name}: {}", output.stderr);
        let after = last_text(&server);
        assert!(
            after.contains(&long_prompt(4)) && after.contains("the end of 3"),
            "{name}: {after}"
        );
        server.push(ScriptedTurn::new().text("again"));
        home.run(&mut ask(&home, &["-c", "go on"])).success();
    }
}

/// Windows of every size, and a prompt that is larger than any of them.
#[test]
fn a_message_larger_than_the_window_is_kept_by_its_ends() {
    for window in [4_000_u64, 8_000, 32_000, 200_000] {
        let server = server(WireFormat::Anthropic)
            .window(window)
            .max_output(window / 4)
            .fork_with(|_| ScriptedTurn::new().text(SUMMARY).into())
            .start();
        let home = home_for(&server, u32::try_from(window).unwrap());
        server.push(ScriptedTurn::new().text("one"));
        home.run(&mut ask(&home, &["a first word"])).success();
        let words = usize::try_from(window).unwrap();
        let huge = format!("HEAD {} TAIL of the huge one", "word ".repeat(words));
        server.push(ScriptedTurn::new().text("done"));
        server.expect_break("compaction");
        let output = home.run_with_input(&mut ask(&home, &["-c"]), &huge);
        assert_eq!(output.stdout, "done\n", "{window}: {}", output.stderr);
        assert!(server.failures().is_empty(), "{:?}", server.failures());
        let after = last_text(&server);
        assert!(after.contains("HEAD word") && after.contains("TAIL of the huge one"), "{window}");
        // All of it is where the message says.
        let (before, rest) = after.split_once("/said/").expect("a place");
        let folder = before.rsplit_once('[').map_or(before, |(_, folder)| folder);
        let (name, _) = rest.split_once(".txt").unwrap();
        let folder = folder.get(folder.find('/').unwrap()..).unwrap();
        let file = format!("{folder}/said/{name}.txt");
        assert_eq!(std::fs::read_to_string(file).unwrap(), huge, "{window}");
        server.push(ScriptedTurn::new().text("again"));
        home.run(&mut ask(&home, &["-c", "go on"])).success();
    }
}

/// What fills the window can not be compacted away: it stops, and says what it is.
#[test]
fn a_window_that_stays_full_is_not_compacted_for_ever() {
    let server = small(WireFormat::Anthropic).fork_with(summaries()).start();
    let home = home(&server);
    let rules = "a rule of the house\n".repeat(1_800);
    home.write("a.txt", "short\n");
    for number in 0..8 {
        server.push(ScriptedTurn::new().call(
            format!("c{number}"),
            "Read",
            r#"{"file_path":"a.txt"}"#,
        ));
    }
    server.push(ScriptedTurn::new().text("done"));
    let output = home.run(&mut ask(&home, &["--append-system-prompt", &rules, "look at the file"]));
    assert_eq!(output.success().stdout, "done\n");
    // A summary that is no smaller than what it replaces is thrown away, and after two of them it is over.
    assert_eq!(
        (server.fork_requests().len(), boundaries(&home).len()),
        (2, 0),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("It was filled by system prompt"), "{}", output.stderr);
    server.finish();
}
