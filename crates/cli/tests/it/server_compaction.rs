//! Summaries that the server writes (C-28): asked for with the conversation as it is, first in every later request, with the user's
//! words behind them; and what happens where the server gives none.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Reply, ScriptedServer, TestHome, WireFormat};

use crate::compacting::{
    SMALL, SUMMARY, boundaries, fill, home, last_text, long_prompt, nothing_is_lost, small,
};
use crate::program::ask;

const BLOCK: &str =
    r#"{"type":"compaction","content":"The parser was mended.","encrypted_content":"c2lnbmVk"}"#;

fn switched_on(server: &ScriptedServer) -> TestHome {
    let mut home = home(server);
    home.set_env("DORMOUSE_SERVER_COMPACTION", "1");
    home
}

#[test]
fn the_servers_summary_is_first_and_the_users_words_stay() {
    let server = small(WireFormat::Anthropic).start();
    let mut home = switched_on(&server);
    let mut said = fill(&home, &server, 3);
    said.push(long_prompt(4));
    server.push(ScriptedTurn::new().raw(BLOCK).stop("compaction"));
    server.push(ScriptedTurn::new().text("done"));
    server.expect_break("compaction");
    let output = home.run_with_input(&mut ask(&home, &["-c"]), &said[3]);
    assert_eq!(output.success().stdout, "done\n", "{}", output.stderr);
    let requests = server.requests();
    let [.., before, asked, after] = requests.as_slice() else { panic!("too few requests") };
    // The request for it is the conversation as it was sent, and a field behind it.
    assert_eq!(asked.json()["compaction"]["type"], "summarize");
    assert!(asked.json()["context_management"].is_null());
    assert_eq!(asked.raw_field("system"), before.raw_field("system"));
    assert_eq!(asked.header("anthropic-beta"), Some("compact-2026-09-04"));
    let messages = after.messages();
    assert_eq!(messages[0]["role"], "assistant");
    assert!(after.raw_messages()[0].contains(BLOCK), "as it came: {}", after.raw_messages()[0]);
    assert_eq!(messages[1]["role"], "user");
    assert_eq!(boundaries(&home)[0]["compactMetadata"]["way"], "server");
    nothing_is_lost(&home, &last_text(&server), &said, SMALL);
    // A resume sends the same bytes; the header goes with every request.
    server.push(ScriptedTurn::new().text("again"));
    home.run(&mut ask(&home, &["-c", "go on"])).success();
    assert_eq!(
        server.requests().last().unwrap().header("anthropic-beta"),
        Some("compact-2026-09-04")
    );
    // With the switch off the block is plain text, for a server that does not know it.
    home.unset_env("DORMOUSE_SERVER_COMPACTION");
    server.push(ScriptedTurn::new().text("plain"));
    server.expect_break("the block is text now");
    home.run(&mut ask(&home, &["-c", "and on"])).success();
    let last = server.requests().last().unwrap().text();
    assert!(
        last.contains("The parser was mended.") && !last.contains("encrypted_content"),
        "{last}"
    );
    server.finish();
}

/// A server that refuses, or answers without a summary: the model is asked as usual.
#[test]
fn without_a_summary_of_the_server_the_model_is_asked() {
    let replies: [fn() -> Reply; 2] = [
        || Reply::bad_request_400("compaction: unknown field"),
        || ScriptedTurn::new().text("I would rather go on.").into(),
    ];
    for reply in replies {
        let server = small(WireFormat::Anthropic).start();
        let home = switched_on(&server);
        let mut said = fill(&home, &server, 3);
        said.push(long_prompt(4));
        server.push(reply());
        server.push_fork(ScriptedTurn::new().text(SUMMARY));
        server.push(ScriptedTurn::new().text("done"));
        server.expect_break("compaction");
        let output = home.run_with_input(&mut ask(&home, &["-c"]), &said[3]);
        assert_eq!(output.success().stdout, "done\n", "{}", output.stderr);
        assert_eq!(boundaries(&home)[0]["compactMetadata"]["way"], "model");
        nothing_is_lost(&home, &last_text(&server), &said, SMALL);
        server.finish();
    }
}
