//! Turns: what is sent, what is sent again, and what an interrupt leaves.

use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_engine::{CompactionRequest, CompactionScope, EngineEvent, TurnContext, TurnEnd};
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, Reply, ScriptedServer};
use serde_json::json;

use crate::loopback::{Session, config};

fn text(text: &str) -> ScriptedTurn {
    ScriptedTurn::new().text(text)
}

/// The server checks that every request begins with the bytes of the one before.
#[tokio::test]
async fn a_call_is_run_and_its_result_goes_back_behind_the_same_bytes() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("plan.txt");
    std::fs::write(&file, "ship on Friday\n").unwrap();
    let call = ScriptedTurn::new().call("t1", "Read", json!({"file_path": file}).to_string());
    let server =
        ScriptedServer::builder().reply(call).replies([text("Friday"), text("yes")]).start();
    let mut session = Session::begin(home.path(), config(home.path(), &server)).await;

    let report = session.turn("when do we ship?").await;
    assert_eq!((report.end, report.requests), (TurnEnd::Completed, 2));
    session.turn("sure?").await;

    let requests = server.requests();
    let result = requests[1].last_message()["content"][0].clone();
    assert_eq!(result["tool_use_id"], "t1");
    assert!(result["content"].to_string().contains("ship on Friday"), "{result}");
    assert_eq!(requests[0].raw_field("system"), requests[2].raw_field("system"));
    assert_eq!(requests[0].raw_field("tools"), requests[2].raw_field("tools"));
    server.finish();
}

#[tokio::test]
async fn an_overloaded_server_is_asked_again() {
    let home = tempfile::tempdir().unwrap();
    let server =
        ScriptedServer::builder().replies([Reply::overloaded_529(), text("well").into()]).start();
    let mut session = Session::begin(home.path(), config(home.path(), &server)).await;
    let report = session.turn("hi").await;
    assert_eq!(report.end, TurnEnd::Completed);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body, requests[1].body, "the same request, to the byte");
    let retries =
        session.events.iter().filter(|event| matches!(event, EngineEvent::Retrying { .. }));
    assert_eq!(retries.count(), 1);
    server.finish();
}

/// The next request has to be one that a server takes: an interrupted answer leaves no call without its result.
#[tokio::test]
async fn after_an_interrupt_the_conversation_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let gate = Gate::new();
    let command = json!({"command": "ls"}).to_string();
    let answer = ScriptedTurn::new().text("I will look").call("t1", "Bash", command);
    let half = Reply::from(answer).gate_after(3, &gate);
    let server = ScriptedServer::builder().replies([half, text("well").into()]).start();
    let mut session = Session::begin(home.path(), config(home.path(), &server)).await;

    let interrupt = session.interrupt.clone();
    let waiting = gate.clone();
    let interrupts = std::thread::spawn(move || {
        waiting.wait_until_reached();
        interrupt.cancel();
    });
    let report = session.turn("look around").await;
    interrupts.join().unwrap();
    gate.open();
    assert_eq!(report.end, TurnEnd::Interrupted);

    session.interrupt = tokio_util::sync::CancellationToken::new();
    let report = session.turn("never mind").await;
    assert_eq!(report.end, TurnEnd::Completed);
    server.finish();
}

#[tokio::test]
async fn a_compaction_keeps_what_the_user_said() {
    let home = tempfile::tempdir().unwrap();
    let long = "We looked at every module in turn and found nothing. ".repeat(400);
    let server = ScriptedServer::builder()
        .replies([text(&long), text(&long), text("well")])
        .fork_with(|_| text("<summary>The user wants the build fixed.</summary>").into())
        .expect_break("the compaction")
        .start();
    let mut session = Session::begin(home.path(), config(home.path(), &server)).await;
    session.turn("fix the build, and never touch vendor/").await;
    session.turn("go on").await;
    {
        let mut sink = |_| ();
        let mut turn = TurnContext::new(&session.interrupt, &mut sink);
        let request = CompactionRequest {
            trigger: CompactionTrigger::Manual,
            instructions: None,
            scope: CompactionScope::Whole,
        };
        session.engine.compact(request, &mut turn).await.unwrap();
    }
    session.turn("what did I say about vendor?").await;
    let last = server.requests().pop().unwrap().text();
    assert!(last.contains("never touch vendor/"), "the user's words are still there");
    assert!(!last.contains(&long), "the model's are not");
    server.finish();
}
