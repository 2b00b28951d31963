//! `dormouse mcp list`, `add` and `remove`: the servers that this agent uses, seen and changed.

use std::collections::BTreeMap;
use std::time::Duration;

use dormouse_tools::{McpHub, ServerOrigin, ServerStatus, ServerView, Variables, read_servers};
use serde::Serialize;
use serde_json::{Value, json};

use super::{KEY, configured, start};
use crate::args::{Arguments, McpAddArguments, McpCommand, Scope};
use crate::config;
use crate::exit::{Exit, Failure};
use crate::settings::{self, Untrusted};
use crate::show;
use crate::start::environment_for_children;
use crate::world::{World, current_project};

/// More than a server is given to answer: whoever lists wants to know.
const PATIENCE: Duration = Duration::from_secs(70);

pub(crate) async fn run(
    command: &McpCommand,
    arguments: &Arguments,
    world: &World,
) -> Result<Exit, Failure> {
    match command {
        McpCommand::List { json } => list(*json, arguments, world).await,
        McpCommand::Add(add) => set_up(add, world),
        McpCommand::Remove { name, scope } => remove(name, *scope, world),
    }
}

/// A server as a program reads it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
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

async fn list(json: bool, arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    let project = current_project()?;
    let in_force = settings::load(world, None, &project, Untrusted::Tell)?;
    let read = configured(arguments, &in_force, world)?;
    let environment = environment_for_children(world, &in_force.settings);
    let hub = start(read.servers, &in_force.settings, &project, &environment);
    hub.settled(PATIENCE).await;
    let views = hub.views();
    hub.close().await;
    if json {
        let lines: Vec<Line> = views.iter().map(line).collect();
        show::data_line(&serde_json::to_string_pretty(&lines).map_err(Failure::failed)?);
    } else if views.is_empty() {
        show::data_line("no MCP servers; `dormouse mcp add` sets one up");
    } else {
        for view in &views {
            show::data_line(&text(view));
        }
    }
    for name in read.off {
        show::note(&format!("{name} is turned off"));
    }
    Ok(Exit::Done)
}

fn line(view: &ServerView) -> Line<'_> {
    let (status, reason) = match &view.status {
        ServerStatus::Connecting => ("connecting", None),
        ServerStatus::Connected => ("connected", None),
        ServerStatus::Down(reason) => ("down", Some(reason.clone())),
    };
    Line {
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

/// A server in a few lines, for people: here, and for `/mcp`.
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
    lines.extend(view.left_out.iter().map(|why| format!("  left out: {why}")));
    if let (ServerStatus::Connected, Some(error)) = (&view.status, &view.last_error) {
        lines.push(format!("  what last went wrong: {error}"));
    }
    lines.join("\n")
}

fn set_up(add: &McpAddArguments, world: &World) -> Result<Exit, Failure> {
    let entry = entry(add)?;
    let servers = json!({ add.name.as_str(): entry });
    let origin = ServerOrigin::new("new", "the new server");
    let read = read_servers(&servers, &origin, &Variables::as_written(), &|_| None);
    if let Some(problem) = read.problems.first() {
        let error = anyhow::anyhow!("MCP server `{}`: {}", add.name, problem.reason);
        return Err(Failure::usage(error).hint("nothing was changed"));
    }
    config::set(world, &format!("{KEY}.{}", add.name), &entry.to_string(), add.scope)
}

fn entry(add: &McpAddArguments) -> Result<Value, Failure> {
    let pairs = |given: &[String], parted_by: char, what: &str| {
        let pair = |text: &String| match text.split_once(parted_by) {
            Some((name, value)) => Ok((name.trim().to_owned(), Value::from(value.trim()))),
            None => Err(Failure::usage(anyhow::anyhow!(
                "`{text}` is no {what}; one reads `Name{parted_by}value`"
            ))),
        };
        given.iter().map(pair).collect::<Result<BTreeMap<String, Value>, Failure>>()
    };
    let mut entry = match (&add.url, add.command.split_first()) {
        (Some(url), None) => {
            json!({"type": "http", "url": url, "headers": pairs(&add.header, ':', "header")?})
        }
        (None, Some((program, args))) => {
            json!({"command": program, "args": args, "env": pairs(&add.env, '=', "variable")?})
        }
        (Some(_), Some(_)) | (None, None) => {
            return Err(Failure::usage(anyhow::anyhow!(
                "a server has either `--url URL` or a command behind `--`"
            )));
        }
    };
    // What is empty need not be written.
    if let Some(fields) = entry.as_object_mut() {
        fields.retain(|_, value| *value != json!({}) && *value != json!([]));
    }
    Ok(entry)
}

fn remove(name: &str, scope: Scope, world: &World) -> Result<Exit, Failure> {
    config::unset(world, &format!("{KEY}.{name}"), scope)
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
