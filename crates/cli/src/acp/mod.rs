//! `dormouse acp`: the agent for editors, over the Agent Client Protocol on standard input and output (U-15).
//!
//! Invariant: the editor has no rights of its own. Calls go through the same gate, hooks, checkpoints and provenance as in the
//! terminal; its dialogs answer permission requests, and its modes allow no more than the command line did.

mod client_files;
mod client_terminals;
mod commands;
mod connection;
mod editor_link;
mod editor_session;
mod history;
mod offered_servers;
mod open_session;
mod permission;
mod prompt_blocks;
mod protocol;
mod tool_updates;
mod updates;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::args::AcpArguments;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::world::World;

use connection::{Editor, IncomingRpc, RpcRefusal, messages, respond};
use editor_session::EditorSessions;
use protocol::Initialize;

/// Serves an editor until it closes standard input.
pub(crate) async fn run(arguments: &AcpArguments, world: &World) -> Result<Exit, Failure> {
    let editor = Arc::new(Editor::default());
    let sessions = Arc::new(EditorSessions::new(
        world.clone(),
        arguments.for_sessions()?,
        Arc::clone(&editor),
    ));
    let mut incoming = messages();
    let mut running = JoinSet::new();
    while let Some(message) = incoming.recv().await {
        // The results of earlier requests are sent by their tasks.
        while running.try_join_next().is_some() {}
        let IncomingRpc { id, method: Some(method), params, .. } = message else {
            editor.answered(message);
            continue;
        };
        let sessions = Arc::clone(&sessions);
        match id {
            // In the order in which they arrive: a cancel must find its turn.
            None => sessions.notified(&method, params),
            Some(id) => {
                // A cancel may be the next message, before the turn has begun.
                if method == "session/prompt" {
                    sessions.turn_requested(&params);
                }
                running.spawn(async move {
                    let answer = answer(&sessions, &method, params).await;
                    respond(&id, answer);
                    sessions.show_commands();
                });
            }
        }
    }
    editor.closed();
    sessions.cancel_all();
    while running.join_next().await.is_some() {}
    sessions.close().await;
    Ok(Exit::Done)
}

async fn answer(
    sessions: &EditorSessions,
    method: &str,
    params: Value,
) -> Result<Value, RpcRefusal> {
    match method {
        "initialize" => {
            let Initialize { client_capabilities } = parsed(params)?;
            sessions.editor_offers(client_capabilities.unwrap_or_default());
            Ok(initialized())
        }
        // No method is offered: keys come from the environment or the settings.
        "authenticate" => Ok(json!({})),
        "session/new" => sessions.open_new(parsed(params)?).await,
        "session/load" => sessions.load(parsed(params)?).await,
        "session/list" => sessions.list(&parsed(params)?),
        "session/prompt" => sessions.prompt(parsed(params)?).await,
        "session/set_mode" => sessions.set_mode(&parsed(params)?),
        other => Err(RpcRefusal::unknown_method(other)),
    }
}

fn parsed<T: DeserializeOwned>(params: Value) -> Result<T, RpcRefusal> {
    serde_json::from_value(params).map_err(|error| RpcRefusal::because(&error))
}

/// What this agent can do.
fn initialized() -> Value {
    json!({
        "protocolVersion": protocol::VERSION,
        "agentCapabilities": {
            "loadSession": true,
            "mcpCapabilities": {"http": true, "sse": false},
            "promptCapabilities": {"image": true, "audio": false, "embeddedContext": true},
            "sessionCapabilities": {"list": {}},
        },
        "agentInfo": {"name": "dormouse", "version": env!("CARGO_PKG_VERSION")},
        "authMethods": [],
    })
}
