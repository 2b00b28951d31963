//! Serving one connection: reading requests, answering questions about the model, playing replies.

use std::io;
use std::sync::Arc;

use dormouse_model::WireFormat;
use dormouse_model::script::{
    ResponseFrame, ScriptedTurn, WireEvent, anthropic_events, openai_events,
};
use serde_json::{Value, json};

use crate::gate::lock;
use crate::http::{Connection, RawRequest};
use crate::record::RecordedRequest;
use crate::reply::{Alterations, End, PlaybackStep, Reply, error_event, steps};
use crate::state::Shared;
use crate::wire::request_path;

/// Whether the connection may carry another request.
enum After {
    Keep(Connection),
    Gone,
}

/// Serves a connection until either side ends it. A client that goes away early is no error.
pub(crate) fn serve(connection: Connection, number: usize, shared: &Arc<Shared>) -> io::Result<()> {
    let mut connection = connection;
    while let Some(request) = connection.read_request()? {
        let close = request.wants_close();
        match answer(connection, request, number, shared)? {
            After::Keep(kept) if !close => connection = kept,
            After::Keep(kept) => {
                kept.close();
                return Ok(());
            }
            After::Gone => return Ok(()),
        }
    }
    Ok(())
}

fn answer(
    mut connection: Connection,
    request: RawRequest,
    number: usize,
    shared: &Arc<Shared>,
) -> io::Result<After> {
    let path = request.path.split('?').next().unwrap_or_default().to_owned();
    if request.method == "GET" {
        let (status, body) = model_info(&path, shared);
        connection.respond(status, &json_headers("req_info"), body.to_string().as_bytes())?;
        return Ok(After::Keep(connection));
    }
    if request.method != "POST" || path != request_path(shared.fixed.wire) {
        shared.fail(format!("an unexpected request: {} {}", request.method, request.path));
        connection.respond(404, &json_headers("req_unexpected"), b"{}")?;
        return Ok(After::Keep(connection));
    }
    let (recorded, reply) = shared.take(request, number);
    let Some(reply) = reply else {
        shared.fail(format!("request {}: the script has no reply to it", recorded.index));
        let refusal = Reply::server_error_500().with_header("x-should-retry", "false");
        return play(connection, &refusal, &recorded, shared);
    };
    play(connection, &reply, &recorded, shared)
}

fn play(
    mut connection: Connection,
    reply: &Reply,
    recorded: &RecordedRequest,
    shared: &Arc<Shared>,
) -> io::Result<After> {
    match reply {
        Reply::Turn(turn) => {
            stream(connection, turn, &Alterations::default(), None, recorded, shared)
        }
        Reply::Altered(turn, alterations) => {
            stream(connection, turn, alterations, None, recorded, shared)
        }
        Reply::MidStreamError { after_events, error_type, message } => {
            let turn = reply.streamed().unwrap_or_default();
            let error = (*after_events, error_type.as_str(), message.as_str());
            stream(connection, &turn, &Alterations::default(), Some(error), recorded, shared)
        }
        Reply::SlowHeaders(wait, inner) => {
            shared.sleep(Some(*wait));
            play(connection, inner, recorded, shared)
        }
        Reply::Error { status, headers, body } => {
            let id = request_id(recorded);
            let (content_type, text) = body.render(shared.fixed.wire, &id);
            let mut all = vec![("content-type".into(), content_type), ("request-id".into(), id)];
            all.extend(headers.iter().cloned());
            connection.respond(*status, &all, text.as_bytes())?;
            Ok(After::Keep(connection))
        }
    }
}

fn stream(
    mut connection: Connection,
    turn: &ScriptedTurn,
    alterations: &Alterations,
    error: Option<(usize, &str, &str)>,
    recorded: &RecordedRequest,
    shared: &Arc<Shared>,
) -> io::Result<After> {
    let wire = shared.fixed.wire;
    let frame = ResponseFrame {
        message_id: format!("msg_{}", recorded.index),
        model: shared.fixed.model.clone(),
        usage: recorded.usage,
    };
    let mut events = match wire {
        WireFormat::Anthropic => anthropic_events(turn, &frame),
        WireFormat::OpenAi => openai_events(turn, &frame),
    };
    tell_applied(&mut events, recorded);
    if let Some((after, kind, message)) = error {
        events.truncate(after);
        events.push(error_event(wire, kind, message));
    }
    let (steps, problems) = steps(events, alterations, shared.fixed.framing, wire);
    for problem in problems {
        shared.fail(format!("request {}: its reply: {problem}", recorded.index));
    }
    let mut headers = vec![
        ("content-type".into(), "text/event-stream; charset=utf-8".into()),
        ("request-id".into(), request_id(recorded)),
    ];
    headers.extend(alterations.headers.iter().cloned());
    connection.begin_chunks(&headers)?;
    for step in steps {
        match step {
            PlaybackStep::Write(bytes) => connection.chunk(&bytes)?,
            PlaybackStep::Wait(gate) => gate.pass(|| shared.is_stopped()),
            PlaybackStep::Finish(end) => return finish(connection, end, shared),
        }
    }
    Ok(After::Keep(connection))
}

/// What the server cleared for a request is told at the end of its answer.
fn tell_applied(events: &mut [WireEvent], recorded: &RecordedRequest) {
    let Some(applied) = &recorded.applied else { return };
    for event in events.iter_mut().filter(|event| event.name == "message_delta") {
        let mut data: Value = serde_json::from_str(&event.data).expect("an event is JSON");
        data["context_management"] = applied.clone();
        event.data = data.to_string();
    }
}

fn finish(mut connection: Connection, end: End, shared: &Arc<Shared>) -> io::Result<After> {
    match end {
        End::Close => {
            connection.chunk(&[])?;
            Ok(After::Keep(connection))
        }
        End::Fin => {
            connection.close();
            Ok(After::Gone)
        }
        End::Reset => {
            connection.reset();
            Ok(After::Gone)
        }
        End::Hang => {
            shared.sleep(None);
            Ok(After::Gone)
        }
    }
}

fn request_id(recorded: &RecordedRequest) -> String {
    format!("req_{}", recorded.index)
}

fn json_headers(id: &str) -> Vec<(String, String)> {
    vec![("content-type".into(), "application/json".into()), ("request-id".into(), id.into())]
}

/// The answer to a question about models.
fn model_info(path: &str, shared: &Arc<Shared>) -> (u16, Value) {
    let fixed = &shared.fixed;
    lock(&shared.state).model_requests += 1;
    shared.changed.notify_all();
    let model = match fixed.wire {
        WireFormat::Anthropic => json!({
            "type": "model",
            "id": fixed.model,
            "display_name": fixed.model,
            "created_at": "2026-01-01T00:00:00Z",
            "max_input_tokens": fixed.window,
            "max_tokens": fixed.max_output,
        }),
        WireFormat::OpenAi => json!({
            "id": fixed.model,
            "object": "model",
            "created": 1,
            "owned_by": fixed.owner,
            "max_model_len": fixed.window,
        }),
    };
    let one = format!("/v1/models/{}", fixed.model);
    match (path, fixed.wire) {
        _ if !fixed.has_model_info => (404, not_found(fixed.wire)),
        ("/v1/models", WireFormat::Anthropic) => (
            200,
            json!({"data": [model], "has_more": false, "first_id": fixed.model, "last_id": fixed.model}),
        ),
        ("/v1/models", WireFormat::OpenAi) => (200, json!({"object": "list", "data": [model]})),
        (path, _) if path == one => (200, model),
        _ => (404, not_found(fixed.wire)),
    }
}

fn not_found(wire: WireFormat) -> Value {
    let error = json!({"type": "not_found_error", "message": "not found"});
    match wire {
        WireFormat::Anthropic => json!({"type": "error", "error": error, "request_id": "req_info"}),
        WireFormat::OpenAi => json!({ "error": error }),
    }
}
