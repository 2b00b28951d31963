//! Every framing carries the same events.

use dormouse_conversation::Usage;
use dormouse_model::script::{ResponseFrame, ScriptedTurn, anthropic_events, openai_events};
use dormouse_testkit::{Framing, ScriptedServer, WireFormat};

use crate::client::{Answer, Client, ask};

fn turn() -> ScriptedTurn {
    ScriptedTurn::new()
        .thinking("grübeln, \"tief\"", "sig==")
        .text("Höhle: 🐭 schläft — €5, \\ und \"mehr\"\r\nZeile")
        .call("t1", "Read", r#"{"path":"a, b: {c}"}"#)
}

fn played(wire: WireFormat, framing: Framing) -> (Answer, Usage) {
    let server = ScriptedServer::builder().wire(wire).framing(framing).reply(turn()).start();
    let answer = Client::new(&server).post(&ask());
    let usage = server.single_request().usage;
    server.finish();
    (answer, usage)
}

fn expected(wire: WireFormat, usage: Usage) -> Vec<(String, String)> {
    let frame = ResponseFrame { message_id: "msg_0".into(), model: "scripted-1".into(), usage };
    let events = match wire {
        WireFormat::Anthropic => anthropic_events(&turn(), &frame),
        WireFormat::OpenAi => openai_events(&turn(), &frame),
    };
    events.into_iter().map(|event| (event.name.to_owned(), event.data)).collect()
}

/// JSON without what its spelling adds; `[DONE]` as it is.
fn meaning(data: &str) -> String {
    serde_json::from_str::<serde_json::Value>(data)
        .map_or_else(|_| data.to_owned(), |value| value.to_string())
}

#[test]
fn every_framing_carries_the_same_events() {
    for wire in [WireFormat::Anthropic, WireFormat::OpenAi] {
        for framing in Framing::ALL {
            let (answer, usage) = played(wire, framing);
            assert_eq!(answer.status, 200);
            assert!(answer.end.is_ok(), "{framing:?}: {:?}", answer.end);
            let events: Vec<(String, String)> = answer
                .events()
                .into_iter()
                .filter(|(name, _)| name != "ping" && name != "hologram")
                .map(|(name, data)| (name, meaning(&data)))
                .collect();
            let wanted: Vec<(String, String)> = expected(wire, usage)
                .into_iter()
                .map(|(name, data)| (name, meaning(&data)))
                .collect();
            assert_eq!(events, wanted, "{wire:?} {framing:?}");
        }
    }
}

#[test]
fn each_framing_is_what_it_says() {
    let chunks = |framing| played(WireFormat::Anthropic, framing).0.chunks;
    let text = |framing| played(WireFormat::Anthropic, framing).0.text();
    let n_events = played(WireFormat::Anthropic, Framing::EventAtATime).0.events().len();
    assert_eq!(chunks(Framing::Whole).len(), 1);
    assert_eq!(chunks(Framing::EventAtATime).len(), n_events);
    assert!(chunks(Framing::OneByte).iter().all(|chunk| chunk.len() == 1));
    let split = chunks(Framing::SplitInsideCharacters);
    assert!(split.iter().filter(|chunk| std::str::from_utf8(chunk).is_err()).count() > 5);
    let crlf = text(Framing::Crlf);
    assert_eq!(crlf.matches('\n').count(), crlf.matches("\r\n").count());
    assert!(chunks(Framing::Crlf).iter().any(|chunk| chunk.ends_with(b"\r")));
    assert!(!text(Framing::BareCr).contains('\n'));
    assert!(text(Framing::Bom).starts_with('\u{feff}'));
    assert_eq!(text(Framing::Bom).matches('\u{feff}').count(), 1);
    assert_eq!(text(Framing::CommentPings).matches(": ping\n\nevent: ping\n").count(), n_events);
    assert_eq!(text(Framing::UnknownEvents).matches("event: hologram\n").count(), n_events);
    let two = text(Framing::TwoDataLines);
    assert_eq!(two.matches("\ndata: ").count(), 2 * n_events);
    assert!(!played(WireFormat::OpenAi, Framing::CommentPings).0.text().contains("event: ping"));
}
