//! `dormouse mcp list`: the MCP servers that Dormouse uses, and those that it does not use, with the reason.

mod change;
mod login;

use std::collections::BTreeSet;
use std::time::Duration;

use dormouse_base::TrustState;
use dormouse_mcp_client::{McpHub, ServerProblem, ServerStatus, ServerView};
use serde::Serialize;
use serde_json::Value;

use crate::args::{Arguments, McpCommand};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::mcp_project_file::{FILE, KEY};
use crate::wiring::mcp_servers::{read, start, tokens, wait};
use crate::wiring::print;
use crate::wiring::settings::{self, EffectiveSettings};
use crate::wiring::trust::Untrusted;
use crate::wiring::world::environment_for_children;
use crate::wiring::world::{World, current_project};

/// Time limit for the servers' responses.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) async fn run(
    command: &McpCommand,
    arguments: &Arguments,
    world: &World,
) -> Result<Exit, Failure> {
    match command {
        McpCommand::List { json } => list(*json, arguments, world).await,
        McpCommand::Add(add) => change::add(add, world).await,
        McpCommand::Remove { name, scope } => change::remove(name, *scope, world).await,
        McpCommand::Login { name } => login::login(name, arguments, world).await,
        McpCommand::Logout { name } => login::logout(name, arguments, world).await,
    }
}

/// A server in JSON output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerJson<'a> {
    name: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    transport: &'static str,
    target: String,
    origin: String,
    protocol: &'a str,
    software: &'a str,
    tools: &'a [String],
    left_out: &'a [String],
}

/// A server that is not started, with the reason.
#[derive(Serialize)]
struct UnusedServer {
    name: String,
    status: &'static str,
    reason: String,
    origin: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ServerListItem<'a> {
    Used(ServerJson<'a>),
    NotUsed(&'a UnusedServer),
}

async fn list(json: bool, arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    let project = current_project()?;
    let in_force = settings::load(world, None, &project, Untrusted::Tell)?;
    let read = read(&arguments.mcp_config, &in_force, world)?;
    let mut not_used: Vec<UnusedServer> = read.problems.iter().map(invalid_entry).collect();
    not_used.extend(untrusted(&in_force));
    let environment = environment_for_children(&world.environment, &in_force.settings);
    let hub = start(
        read.servers,
        &[],
        (&in_force.settings, world.deadlines),
        &project,
        &environment,
        tokens(&world.home()?, &world.clock),
    );
    wait(&hub, LIST_TIMEOUT).await;
    let views = hub.views();
    hub.close().await;
    if json {
        let used = views.iter().map(|view| ServerListItem::Used(to_json(view)));
        let lines: Vec<ServerListItem> =
            used.chain(not_used.iter().map(ServerListItem::NotUsed)).collect();
        print::data_line(&serde_json::to_string_pretty(&lines).map_err(Failure::failed)?);
    } else {
        print_list(&views, &not_used);
    }
    for name in read.off {
        print::note(&msg!("mcp-switched-off", name = name));
    }
    Ok(Exit::Done)
}

fn print_list(views: &[ServerView], not_used: &[UnusedServer]) {
    if views.is_empty() && not_used.is_empty() {
        print::data_line(&msg!("mcp-none"));
    }
    for view in views {
        print::data_line(&text(view));
        if view.status == ServerStatus::Connecting {
            print::data_line(&format!(
                "  {}",
                msg!("mcp-timeout", seconds = LIST_TIMEOUT.as_secs())
            ));
        }
    }
    for UnusedServer { name, reason, origin, .. } in not_used {
        print::data_line(&format!("{name}: {reason}\n  from {origin}"));
    }
}

fn invalid_entry(problem: &ServerProblem) -> UnusedServer {
    let line = problem.line.map(|line| format!(", line {line}")).unwrap_or_default();
    let name = if problem.server.is_empty() { KEY } else { &problem.server };
    UnusedServer {
        name: name.to_owned(),
        status: "mistaken",
        reason: msg!("mcp-invalid", reason = problem.reason.clone()),
        origin: format!("{}{line}", problem.file.display()),
    }
}

/// Servers of the project that need trust.
fn untrusted(in_force: &EffectiveSettings) -> Vec<UnusedServer> {
    if !matches!(in_force.trust, TrustState::Undecided | TrustState::Changed) {
        return Vec::new();
    }
    let mut waiting = Vec::new();
    for part in in_force.stack.trust_requests() {
        let servers = part.request.get(KEY).or_else(|| part.request.get(FILE));
        let names: BTreeSet<&String> = servers
            .and_then(Value::as_object)
            .map(|servers| servers.keys().collect())
            .unwrap_or_default();
        waiting.extend(names.into_iter().map(|name| UnusedServer {
            name: name.clone(),
            status: "untrusted",
            reason: msg!("mcp-untrusted"),
            origin: part.origin.clone(),
        }));
    }
    waiting
}

fn to_json(view: &ServerView) -> ServerJson<'_> {
    let (status, reason) = match &view.status {
        ServerStatus::Connecting => ("connecting", None),
        ServerStatus::Connected => ("connected", None),
        ServerStatus::Down(reason) => ("down", Some(reason.clone())),
    };
    ServerJson {
        name: &view.spec.name,
        status,
        reason,
        transport: view.spec.transport.kind(),
        target: view.spec.transport.shown(),
        origin: view.spec.origin.to_string(),
        protocol: &view.revision,
        software: &view.software,
        tools: &view.tools,
        left_out: &view.left_out,
    }
}

/// A server as text, for `mcp list` and `/mcp`.
pub(crate) fn text(view: &ServerView) -> String {
    let status = match &view.status {
        ServerStatus::Connecting => "starting".to_owned(),
        ServerStatus::Connected => {
            let count = view.tools.len();
            let tools = if count == 1 { "tool" } else { "tools" };
            format!("connected ({}, protocol {}), {count} {tools}", view.software, view.revision)
        }
        ServerStatus::Down(reason) => format!("not available: {reason}"),
    };
    let mut lines = vec![format!("{}: {status}", view.spec.name)];
    let transport = &view.spec.transport;
    lines.push(format!("  {} {}, from {}", transport.kind(), transport.shown(), view.spec.origin));
    lines.extend(view.tools.iter().map(|tool| format!("  {tool}")));
    lines.extend(view.left_out.iter().map(|why| format!("  skipped: {why}")));
    if let (ServerStatus::Connected, Some(error)) = (&view.status, &view.last_error) {
        lines.push(format!("  last error: {error}"));
    }
    lines.join("\n")
}

/// `/mcp`: how each server stands; or one that is started again.
pub(crate) async fn in_talk(hub: &McpHub, rest: &str) -> String {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words.as_slice() {
        [] if hub.is_empty() => "no MCP servers; docs/mcp.md says how to set one up".to_owned(),
        [] => hub.views().iter().map(text).collect::<Vec<_>>().join("\n"),
        ["reconnect", name] => match hub.reconnect(name).await {
            None => format!("there is no MCP server `{name}`; /mcp lists them"),
            Some(_) => {
                let views = hub.views();
                views.iter().filter(|view| view.spec.name == *name).map(text).collect()
            }
        },
        _ => "/mcp lists the MCP servers; /mcp reconnect NAME starts one again".to_owned(),
    }
}
