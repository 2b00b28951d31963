//! The configured MCP servers: whether each responds, and invalid entries.

use dormouse_mcp_client::{ServerProblem, ServerStatus, ServerView};

use super::context::DoctorContext;
use super::finding::DoctorFinding;
use crate::message_catalog::msg;
use crate::wiring::mcp_servers;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;

const AREA: &str = "mcp";

pub(super) async fn check(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    // Problems of the settings themselves are another check.
    let Ok(in_force) = settings::load(context.world, None, &context.project, Untrusted::Pass)
    else {
        return Vec::new();
    };
    let read = mcp_servers::read(&[], &in_force, context.world).unwrap_or_default();
    let mut findings: Vec<DoctorFinding> = read.problems.iter().map(invalid_entry).collect();
    // Without a home folder other checks say so.
    let Ok(home) = context.world.home() else { return findings };
    let tokens = mcp_servers::tokens(&home, &context.world.clock);
    let DoctorContext { settings, project, environment, .. } = context;
    let set = (settings, context.world.deadlines);
    let hub = mcp_servers::start(read.servers, &[], set, project, environment, tokens);
    hub.settled(super::context::CHECK_TIMEOUT).await;
    findings.extend(hub.views().iter().map(server_finding));
    hub.close().await;
    findings
}

fn invalid_entry(problem: &ServerProblem) -> DoctorFinding {
    DoctorFinding::problem(AREA, problem.to_string(), msg!("doctor-mcp-fix-entry"))
}

fn server_finding(view: &ServerView) -> DoctorFinding {
    let name = &view.spec.name;
    let origin = &view.spec.origin;
    let file = origin.file.display().to_string();
    let fix = match origin.whose.as_str() {
        scope @ ("user" | "project" | "local") => {
            msg!("doctor-mcp-fix-server", file = file, name = name, scope = scope)
        }
        _ => msg!("doctor-mcp-fix-file", file = file, name = name),
    };
    match &view.status {
        ServerStatus::Connected => {
            let protocol = view.revision.as_str();
            let tools = view.tools.len();
            DoctorFinding::ok(
                AREA,
                msg!("doctor-mcp-ok", name = name, protocol = protocol, tools = tools),
            )
        }
        ServerStatus::Connecting => {
            let seconds = super::context::CHECK_TIMEOUT.as_secs();
            DoctorFinding::warning(
                AREA,
                msg!("doctor-mcp-timeout", name = name, seconds = seconds),
                fix,
            )
        }
        ServerStatus::Down(reason) => {
            DoctorFinding::problem(AREA, format!("`{name}`: {reason}"), fix)
        }
    }
}
