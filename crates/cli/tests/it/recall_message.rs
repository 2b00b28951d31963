//! What a message brings, as people write it: behind other sentences, in Chinese, named instead of shown, in small windows.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{RecordedRequest, TestHome, WireFormat};

use crate::program::{ask, server};
use crate::recall_turn::{recalled, remember};

/// A home with some memories in both languages.
fn with_memories(home: &TestHome) {
    for (name, description, body) in [
        (
            "Walrus deploys",
            "deploys go through bin/walrus",
            "Run `bin/walrus ship`, never `cap deploy`.",
        ),
        ("Refund amounts", "amounts are whole cents", "Refunds are integers in cents; no floats."),
        (
            "Otter fixtures",
            "database tests load otter fixtures",
            "Use `load_otters`, no mocks of the database.",
        ),
        ("结算表锁账", "结算表每月 1 到 5 日锁定", "锁账期间不许重跑结算表，找财务孟晓。"),
        ("电池阈值", "低电阈值不要直接调", "用 batt_comp 补偿表，低电阈值不动。"),
    ] {
        remember(home, name, description, body);
    }
}

/// The request of a run with this prompt, these arguments and this window.
fn sent(prompt: &str, more: &[&str], window: &str) -> RecordedRequest {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("fine")).start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_CONTEXT_WINDOW", window);
    with_memories(&home);
    let mut arguments = more.to_vec();
    arguments.push(prompt);
    home.run(&mut ask(&home, &arguments)).success();
    let request = server.requests().remove(0);
    server.finish();
    request
}

/// What a prompt brings.
fn brought(prompt: &str, more: &[&str]) -> String {
    recalled(&sent(prompt, more, "200000")).into_iter().map(|(_, text)| text).collect()
}

const NO_INDEX: [&str; 2] = ["--settings", r#"{"layers":{"index":false}}"#];

#[test]
fn sentences_in_front_of_a_question_do_not_silence_it() {
    let question = "How are walrus deploys done?";
    for front in
        ["", "I am back from lunch. ", "Good morning. The train was late. It rained all week. "]
    {
        let text = brought(&format!("{front}{question}"), &[]);
        assert!(text.contains("bin/walrus ship"), "{front}: {text}");
    }
}

#[test]
fn a_message_in_chinese_brings_its_memory() {
    let text = brought("早上好，昨天休假了。帮我看一下，四月二号能不能重跑结算表？", &[]);
    assert!(text.contains("锁账期间不许重跑结算表"), "{text}");
    assert!(!text.contains("batt_comp"), "{text}");
}

#[test]
fn an_open_file_brings_the_memory_about_it() {
    let read = ScriptedTurn::new().call("r1", "Read", r#"{"file_path":"src/lexer.rs"}"#);
    let server = server(WireFormat::Anthropic)
        .reply(read)
        .reply(ScriptedTurn::new().text("read"))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.write("src/lexer.rs", "pub fn tokens() {}\n");
    home.git_init();
    with_memories(&home);
    let body = "`tokens` in src/lexer.rs must not allocate: it runs for every key.";
    let hot_path = ["add", "Hot path", "--description", "no allocations in the hot path"];
    let more = ["--type", "project", "--scope", "project", "--body", body];
    crate::memory::memory(&home, &[&hot_path[..], &more[..]].concat()).success();
    let look = ["--settings", NO_INDEX[1], "have a look around please"];
    home.run(&mut ask(&home, &look)).success();
    let improve = ["--continue", "--settings", NO_INDEX[1], "can you improve it somehow"];
    home.run(&mut ask(&home, &improve)).success();
    let requests = server.requests();
    let texts = |request: &RecordedRequest| -> String {
        recalled(request).into_iter().map(|(_, text)| text).collect()
    };
    let text = texts(requests.last().unwrap());
    assert!(text.contains("hot-path.md: no allocations in the hot path"), "{text}");
    server.finish();
}

#[test]
fn a_question_about_nothing_that_is_remembered_brings_nothing() {
    for prompt in ["what does the word idempotent mean", "把这句话翻译成英文：今天天气不错"]
    {
        assert_eq!(brought(prompt, &[]), "", "{prompt}");
    }
}

#[test]
fn what_is_likely_is_named_where_the_index_does_not_name_it() {
    let prompt = "write specs for the invoice endpoint";
    let named = "- otter-fixtures.md: database tests load otter fixtures";
    let text = brought(prompt, &NO_INDEX);
    assert!(text.contains("These may bear on it too") && text.contains(named), "{text}");
    assert!(!text.contains("no mocks of the database"), "named, not shown: {text}");
    let text = brought(prompt, &[]);
    assert!(!text.contains(named), "the index names it already: {text}");
}

#[test]
fn a_small_window_has_an_index_and_memories_before_the_question() {
    let question = "How are walrus deploys done?";
    let request = sent(question, &[], "16000");
    let text = request.text();
    assert!(text.contains("[Refund amounts](refund-amounts.md)"), "{text}");
    let memory = text.find("bin/walrus ship").expect("the memory");
    let asked = text.find(question).expect("the question");
    assert!(memory < asked, "{text}");
}
