//! Modes and rules from the command line and the settings; `dormouse permissions check`.

use dormouse_base::{DefaultMode, PermissionSettings, nearest};
use dormouse_engine::MEMORY_TOOLS;
use dormouse_tools::{Gate, Mode, Rule, Rules, ToolSet};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::{Arguments, CheckArguments, PermissionMode, PermissionsCommand};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::settings::{self, Untrusted};
use crate::wiring::trust;
use crate::wiring::world::{World, current_project};

/// The gate of a run.
pub(crate) fn gate(arguments: &Arguments, settings: &PermissionSettings) -> Result<Gate, Failure> {
    let mode = mode(arguments.permission_mode, settings);
    let mut rules = rules(settings)?;
    rules.allow.extend(parse(&arguments.allowed_tools)?);
    rules.deny.extend(parse(&arguments.disallowed_tools)?);
    tell_unknown(&rules);
    let folders = arguments.add_dir.iter().chain(&settings.additional_directories).cloned();
    Ok(Gate::new(mode, rules).with_folders(folders))
}

fn mode(asked: Option<PermissionMode>, settings: &PermissionSettings) -> Mode {
    match (asked, settings.default_mode) {
        (Some(PermissionMode::Default), _) | (None, None | Some(DefaultMode::Default)) => {
            Mode::Default
        }
        (Some(PermissionMode::AcceptEdits), _) | (None, Some(DefaultMode::AcceptEdits)) => {
            Mode::AcceptEdits
        }
        (Some(PermissionMode::Plan), _) | (None, Some(DefaultMode::Plan)) => Mode::Plan,
        (Some(PermissionMode::Bypass), _) | (None, Some(DefaultMode::BypassPermissions)) => {
            Mode::Bypass
        }
    }
}

pub(crate) fn rules(settings: &PermissionSettings) -> Result<Rules, Failure> {
    Ok(Rules {
        allow: parse(&settings.allow)?,
        ask: parse(&settings.ask)?,
        deny: parse(&settings.deny)?,
    })
}

/// A rule for a tool that is not there does nothing, which nobody means.
fn tell_unknown(rules: &Rules) {
    let tools = ToolSet::builtin();
    let known = |name: &str| {
        tools.get(name).is_some()
            || name.starts_with("mcp__")
            || MEMORY_TOOLS.contains(&name)
            || LATER_TOOLS.contains(&name)
    };
    for rule in rules.allow.iter().chain(&rules.ask).chain(&rules.deny) {
        if known(rule.tool()) {
            continue;
        }
        let meant = nearest(rule.tool(), tools.names().map(str::to_owned));
        let meant = meant.map_or(String::new(), |name| format!(" (did you mean `{name}`?)"));
        print::note(&format!("warning: the rule `{rule}` is for no tool there is{meant}"));
    }
}

/// Tools that only some sessions have, besides those for memory, or that other programs of the kind have.
const LATER_TOOLS: &[&str] =
    &["WebSearch", "Agent", "Task", "Skill", "SendMessage", "ExitPlan", "NotebookEdit"];

fn parse(texts: &[String]) -> Result<Vec<Rule>, Failure> {
    texts.iter().map(|text| text.parse().map_err(Failure::usage)).collect()
}

#[derive(Serialize)]
struct Answer<'a> {
    tool: &'a str,
    verdict: &'a str,
    read_only: bool,
    why: &'a str,
}

pub(crate) fn run(command: &PermissionsCommand, world: &World) -> Result<Exit, Failure> {
    let arguments = match command {
        PermissionsCommand::Trust(arguments) => return trust::run(arguments, world),
        PermissionsCommand::Check(arguments) => arguments,
    };
    let project = current_project()?;
    let settings = settings::load(world, None, &project, Untrusted::Tell)?.settings.permissions;
    // As a person at a terminal would meet it: what would ask, asks.
    let gate = Gate::new(mode(arguments.permission_mode, &settings), rules(&settings)?);
    let tools = ToolSet::builtin();
    let Some(tool) = tools.get(&arguments.tool) else {
        let names: Vec<&str> = tools.names().collect();
        return Err(Failure::usage(anyhow::anyhow!("there is no tool `{}`", arguments.tool))
            .hint(format!("the tools are {}", names.join(", "))));
    };
    let decision = gate.decide(&**tool, &input(arguments)?, &project.folder);
    let verdict = decision.verdict.as_str();
    if arguments.json {
        let answer = Answer {
            tool: &arguments.tool,
            verdict,
            read_only: decision.read_only,
            why: &decision.why,
        };
        print::data_line(&serde_json::to_string(&answer).map_err(Failure::failed)?);
    } else {
        let reads = if decision.read_only { "read-only" } else { "not read-only" };
        print::data_line(&format!("{verdict} ({reads}): {}", decision.why));
    }
    Ok(Exit::Done)
}

/// JSON as it is; anything else is the command, the address, or the file.
fn input(arguments: &CheckArguments) -> Result<Box<RawValue>, Failure> {
    let text = arguments.input.trim();
    let json = if text.starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok() {
        text.to_owned()
    } else {
        let field = match arguments.tool.as_str() {
            "Bash" => "command",
            "WebFetch" => "url",
            _ => "file_path",
        };
        format!("{{\"{field}\":{}}}", serde_json::Value::from(arguments.input.as_str()))
    };
    RawValue::from_string(json).map_err(Failure::failed)
}
