//! `dormouse acp`: the agent for editors, over the Agent Client Protocol on standard input and output (U-15).
//!
//! Invariant: the editor has no rights of its own. Calls go through the same gate, hooks, checkpoints and provenance as in the
//! terminal; its dialogs answer permission requests, and its modes allow no more than the command line did.

mod editor_session;
mod history;
mod permission;
mod prompt_blocks;
mod tool_updates;
mod updates;

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, Implementation, InitializeRequest, InitializeResponse,
    ListSessionsRequest, LoadSessionRequest, NewSessionRequest, PromptCapabilities, PromptRequest,
    SessionCapabilities, SessionListCapabilities, SetSessionModeRequest,
};
use agent_client_protocol::{
    Agent, Stdio, on_receive_notification, on_receive_request, schema::ProtocolVersion,
};

use crate::args::AcpArguments;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::world::World;

use editor_session::EditorSessions;

/// Serves an editor until it closes standard input.
pub(crate) async fn run(arguments: &AcpArguments, world: &World) -> Result<Exit, Failure> {
    let sessions = Arc::new(EditorSessions::new(world.clone(), arguments.for_sessions()?));
    let [new, load, list] = [(); 3].map(|()| Arc::clone(&sessions));
    let [prompt, mode, cancel] = [(); 3].map(|()| Arc::clone(&sessions));
    let served = Agent
        .v1()
        .name("dormouse")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _| {
                responder.respond(initialized(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, editor| {
                let sessions = Arc::clone(&new);
                let opened = editor.clone();
                editor.spawn(async move {
                    responder.respond_with_result(sessions.open_new(request, opened).await)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, editor| {
                let sessions = Arc::clone(&load);
                let opened = editor.clone();
                editor.spawn(async move {
                    responder.respond_with_result(sessions.load(request, opened).await)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, responder, _| {
                responder.respond_with_result(list.list(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, editor| {
                let sessions = Arc::clone(&prompt);
                let shown = editor.clone();
                editor.spawn(async move {
                    responder.respond_with_result(sessions.prompt(request, shown).await)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, _| {
                responder.respond_with_result(mode.set_mode(&request))
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |notification: CancelNotification, _| {
                cancel.cancel(&notification.session_id);
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(Stdio::new())
        .await;
    sessions.close().await;
    served.map_err(Failure::failed)?;
    Ok(Exit::Done)
}

/// What this agent can do.
fn initialized(request: &InitializeRequest) -> InitializeResponse {
    let prompts = PromptCapabilities::new().image(true).embedded_context(true);
    let sessions = SessionCapabilities::new().list(SessionListCapabilities::new());
    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(prompts)
        .session_capabilities(sessions);
    InitializeResponse::new(request.protocol_version.min(ProtocolVersion::V1))
        .agent_capabilities(capabilities)
        .agent_info(Implementation::new("dormouse", env!("CARGO_PKG_VERSION")))
}
