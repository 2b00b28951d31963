//! `dormouse permissions`: check what a tool call would be allowed to do; trust a project.

mod trust;

use std::path::Path;

use dormouse_base::nearest_name;
use dormouse_conversation::known_tools::{BASH, KNOWN_TOOLS, MCP_PREFIX, traits_of};
use dormouse_permissions::{
    Access, InternalAccess, PermissionGate, PermissionRequest, PermissionVerdict,
};
use dormouse_tools::ToolSet;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::{CheckArguments, PermissionsCommand};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::permission_reason::reason_text;
use crate::wiring::permissions::{mode, reading_scope, rules};
use crate::wiring::print;
use crate::wiring::sandbox::{SandboxStatus, SessionPermissions};
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

#[derive(Serialize)]
struct PermissionCheckJson<'a> {
    tool: &'a str,
    verdict: &'a str,
    read_only: bool,
    why: &'a str,
    /// Whether a command runs in the sandbox; none for other tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandboxed: Option<bool>,
}

pub(crate) fn run(command: &PermissionsCommand, world: &World) -> Result<Exit, Failure> {
    let arguments = match command {
        PermissionsCommand::Trust(arguments) => return trust::run(arguments, world),
        PermissionsCommand::Check(arguments) => arguments,
    };
    let project = current_project()?;
    let loaded = settings::load(world, None, &project, Untrusted::Tell)?.settings;
    let settings = &loaded.permissions;
    // As in an interactive session: `ask` is not turned into a denial.
    let gate = PermissionGate::new(mode(arguments.permission_mode, settings), rules(settings)?)
        .with_folders(settings.additional_directories.iter().cloned())
        .with_reading(reading_scope(&project, world, [])?);
    let added = &settings.additional_directories;
    let status = SandboxStatus::look(&loaded.sandbox, &project, &world.environment, added);
    let described = status.describe();
    let SessionPermissions { gate, sandbox } = status.apply(gate, &loaded.sandbox)?;
    let request = request(arguments, &project.folder)?;
    let decision = gate.decide(&request);
    let is_command = arguments.tool == BASH.name;
    let sandboxed = is_command.then(|| gate.is_sandboxed(&request));
    let verdict = decision.verdict.as_str();
    if arguments.json {
        let answer = PermissionCheckJson {
            tool: &arguments.tool,
            verdict,
            read_only: decision.read_only,
            why: &decision.why,
            sandboxed,
        };
        print::data_line(&serde_json::to_string(&answer).map_err(Failure::failed)?);
    } else {
        print::data_line(&format!("{verdict}: {}", reason_text(&decision.why)));
        match sandboxed {
            Some(false) if sandbox.is_some() => print::note(&msg!("sandbox-excluded")),
            Some(_) => print::note(&described),
            None => {}
        }
    }
    Ok(match decision.verdict {
        PermissionVerdict::Allow => Exit::Done,
        PermissionVerdict::Ask => Exit::NeedsConfirmation,
        PermissionVerdict::Deny => Exit::Denied,
    })
}

/// The call as the gate sees it.
fn request(arguments: &CheckArguments, folder: &Path) -> Result<PermissionRequest, Failure> {
    let (tools, name) = (ToolSet::builtin(), arguments.tool.as_str());
    if let Some(tool) = tools.get(name) {
        return Ok(tool.permission_request(&input(arguments)?, folder));
    }
    if name.starts_with(MCP_PREFIX) {
        return Ok(PermissionRequest::new(name, Access::Other, folder));
    }
    if KNOWN_TOOLS.iter().any(|known| known.name == name) {
        let access = InternalAccess { reason: OWN_POLICY, denied_in_plan_mode: None };
        return Ok(PermissionRequest::new(name, Access::Internal(access), folder));
    }
    let names: Vec<&str> = tools.names().collect();
    let failure = Failure::usage(anyhow::anyhow!(msg!("permissions-unknown-tool", name = name)));
    let similar = nearest_name(name, names.iter().map(|known| (*known).to_owned()));
    Err(match similar {
        Some(similar) => failure.hint(msg!("did-you-mean", name = similar)),
        None => failure.hint(msg!("permissions-unknown-tool-hint", names = names.join(", "))),
    })
}

/// Why tools of the session and of memory need no permission.
const OWN_POLICY: &str =
    "it changes nothing outside the session and memory, which has a write policy of its own";

/// JSON unchanged; other text becomes the command, URL or file of the call.
fn input(arguments: &CheckArguments) -> Result<Box<RawValue>, Failure> {
    let text = arguments.input.trim();
    let json = if text.starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok() {
        text.to_owned()
    } else {
        let field = traits_of(&arguments.tool).main_argument.unwrap_or("file_path");
        format!("{{\"{field}\":{}}}", serde_json::Value::from(arguments.input.as_str()))
    };
    RawValue::from_string(json).map_err(Failure::failed)
}
