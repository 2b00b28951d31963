//! The client against the scripted server: questions on the side, what a server tells of its models,
//! streams without end.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use dormouse_base::Secret;
use dormouse_conversation::{
    Block, EnvironmentFacts, Message, MessageFlags, Prefix, RequestOptions, ResponseFormat,
    ToolChoice,
};
use dormouse_model::script::ScriptedTurn;
use dormouse_model::{
    CacheTtl, Credential, Dialect, Endpoint, HttpModel, Model, ModelError, SseDecoder, StreamEvent,
    Timeouts, WireBody, WireFormat, decode_recorded,
};
use dormouse_testkit::{HANGS, Reply, ScriptedServer};
use proptest::prelude::*;
use serde_json::value::RawValue;

const BOTH: [WireFormat; 2] = [WireFormat::Anthropic, WireFormat::OpenAi];

fn server_wire(wire: WireFormat) -> dormouse_testkit::WireFormat {
    match wire {
        WireFormat::Anthropic => dormouse_testkit::WireFormat::Anthropic,
        WireFormat::OpenAi => dormouse_testkit::WireFormat::OpenAi,
    }
}

fn client(wire: WireFormat, server: &ScriptedServer) -> HttpModel {
    let key = Secret::new("a-key-for-tests");
    HttpModel::new(Endpoint {
        wire,
        base_url: server.url(),
        credential: match wire {
            WireFormat::Anthropic => Credential::ApiKey(key),
            WireFormat::OpenAi => Credential::Bearer(key),
        },
        version: "2023-06-01".into(),
        betas: Vec::new(),
        timeouts: Timeouts { idle: HANGS, ..Timeouts::default() },
    })
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// A question on the side: a JSON schema, no tools.
fn body(wire: WireFormat) -> Vec<u8> {
    let schema = RawValue::from_string(
        r#"{"type":"object","properties":{"files":{"type":"array","items":{"type":"string"}}},"required":["files"],"additionalProperties":false}"#.into(),
    );
    let options = RequestOptions {
        tool_choice: ToolChoice::None,
        response_format: ResponseFormat::Json { name: "pick".into(), schema: schema.unwrap() },
        ..RequestOptions::new("m", 256)
    };
    let dialect = Dialect::new(wire, CacheTtl::FiveMinutes);
    let prefix = Prefix::new(Vec::new(), Vec::new(), Vec::new(), EnvironmentFacts::default());
    let mut body = WireBody::new(dialect, &prefix, &options);
    let id = "0193b0a4-0000-7000-8000-000000000000".parse().unwrap();
    let now = "2026-11-15T08:00:00Z".parse().unwrap();
    body.append(&Message::user(id, now, vec![Block::text("which?")], MessageFlags::default()));
    body.render(&[])
}

#[test]
fn a_question_on_the_side_has_an_answer_in_json() {
    for wire in BOTH {
        let server = ScriptedServer::builder()
            .wire(server_wire(wire))
            .reply(ScriptedTurn::new().text(r#"{"files":["a.md"]}"#))
            .start();
        let model = Model::from(client(wire, &server));
        let completion = block_on(model.ask(body(wire))).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&completion.text()).unwrap();
        assert_eq!(answer["files"][0], "a.md");
        assert!(completion.usage.output_tokens > 0);
        let sent = server.single_request().json();
        let schema = match wire {
            WireFormat::Anthropic => &sent["output_config"]["format"]["schema"],
            WireFormat::OpenAi => &sent["response_format"]["json_schema"]["schema"],
        };
        assert_eq!(schema["required"][0], "files");
        server.finish();
    }
}

#[test]
fn the_server_tells_the_window() {
    for wire in BOTH {
        let builder =
            || ScriptedServer::builder().wire(server_wire(wire)).model("m").window(65_536);
        let server = builder().start();
        let info = block_on(client(wire, &server).info("m")).unwrap();
        assert_eq!(info.window, Some(65_536));
        let silent = builder().no_model_info().start();
        assert_eq!(block_on(client(wire, &silent).info("m")), None);
    }
}

#[test]
fn a_date_to_come_back_at() {
    let reply = Reply::overloaded_529()
        .with_header("date", "Sun, 15 Nov 2026 08:00:00 GMT")
        .with_header("retry-after", "Sun, 15 Nov 2026 08:00:07 GMT");
    let server = ScriptedServer::builder()
        .wire(dormouse_testkit::WireFormat::Anthropic)
        .reply(reply)
        .start();
    let error = block_on(
        Model::from(client(WireFormat::Anthropic, &server)).ask(body(WireFormat::Anthropic)),
    )
    .unwrap_err();
    assert!(
        matches!(error, ModelError::Overloaded { retry_after: Some(after), .. } if after == Duration::from_secs(7)),
        "{error:?}"
    );
    server.finish();
}

#[test]
fn a_key_in_an_error_is_taken_out() {
    let reply = Reply::bad_request_400("the key a-key-for-tests is odd");
    let server = ScriptedServer::builder()
        .wire(dormouse_testkit::WireFormat::Anthropic)
        .reply(reply)
        .start();
    let error = block_on(
        Model::from(client(WireFormat::Anthropic, &server)).ask(body(WireFormat::Anthropic)),
    )
    .unwrap_err();
    assert!(error.to_string().contains("the key [secret] is odd"), "{error}");
    server.finish();
}

/// The committed corpus of the fuzz targets, as an ordinary test.
#[test]
fn the_fuzz_corpus_decodes() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut files = 0;
    for target in ["sse_decode", "stream_decode"] {
        for entry in corpus.join(target).read_dir().unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            files += 1;
            let whole = SseDecoder::new().push(&bytes).unwrap();
            let mut decoder = SseDecoder::new();
            let single: Vec<_> =
                bytes.chunks(1).flat_map(|byte| decoder.push(byte).unwrap()).collect();
            assert_eq!(whole, single);
            for wire in BOTH {
                for step in decode_recorded(wire, &bytes).0 {
                    if let StreamEvent::Block(block) = step {
                        assert_eq!(Block::from_json(block.raw()).unwrap(), block);
                        assert!(serde_json::from_str::<serde_json::Value>(block.raw()).is_ok());
                    }
                }
            }
        }
    }
    assert!(files >= 7);
}

fn any_event() -> impl Strategy<Value = String> {
    let index = 0_u8..3;
    prop_oneof![
        Just(r#"{"type":"message_start","message":{"id":"m","model":"x"}}"#.to_owned()),
        Just(r#"{"type":"message_stop"}"#.to_owned()),
        Just(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#.to_owned()),
        Just(r#"{"choices":[{"delta":{"content":"hi"}}]}"#.to_owned()),
        Just(r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"R","arguments":"{"}}]}}]}"#.to_owned()),
        Just(r#"{"choices":[{"finish_reason":"stop"}]}"#.to_owned()),
        Just("[DONE]".to_owned()),
        index.clone().prop_map(|i| format!(
            r#"{{"type":"content_block_start","index":{i},"content_block":{{"type":"tool_use","id":"t{i}","name":"R"}}}}"#
        )),
        (index.clone(), "[ -~]{0,6}").prop_map(|(i, text)| format!(
            r#"{{"type":"content_block_delta","index":{i},"delta":{{"type":"input_json_delta","partial_json":{}}}}}"#,
            serde_json::Value::from(text)
        )),
        index.prop_map(|i| format!(r#"{{"type":"content_block_stop","index":{i}}}"#)),
        "[ -~]{0,20}",
    ]
}

proptest! {
    /// Events in any order: no panic, and every block is whole.
    #[test]
    fn any_events_decode(events in prop::collection::vec(any_event(), 0..20)) {
        let stream = format!("data: {}\n\n", events.join("\n\ndata: "));
        for wire in BOTH {
            for step in decode_recorded(wire, stream.as_bytes()).0 {
                if let StreamEvent::Block(block) = step {
                    prop_assert_eq!(Block::from_json(block.raw()).unwrap(), block);
                }
            }
        }
    }
}
