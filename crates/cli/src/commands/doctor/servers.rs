//! The MCP servers that are set up: whether each answers, and entries that can not be used.

use dormouse_mcp_client::{ServerProblem, ServerStatus, ServerView};

use super::finding::Finding;
use super::scene::Scene;
use crate::wiring::mcp_servers;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;

const AREA: &str = "mcp";

pub(super) async fn check(scene: &Scene<'_>) -> Vec<Finding> {
    // What is wrong with the settings themselves is told elsewhere.
    let Ok(in_force) = settings::load(scene.world, None, &scene.project, Untrusted::Pass) else {
        return Vec::new();
    };
    let read = mcp_servers::read(&[], &in_force, scene.world).unwrap_or_default();
    let mut findings: Vec<Finding> = read.problems.iter().map(wrong).collect();
    let hub = mcp_servers::start(read.servers, &scene.settings, &scene.project, &scene.environment);
    hub.settled(super::scene::PATIENCE).await;
    findings.extend(hub.views().iter().map(server));
    hub.close().await;
    findings
}

fn wrong(problem: &ServerProblem) -> Finding {
    Finding::problem(
        AREA,
        problem.to_string(),
        "correct the entry, or take it out; see docs/mcp.md",
    )
}

fn server(view: &ServerView) -> Finding {
    let name = &view.spec.name;
    let mend =
        format!("correct its entry in {}, or `dormouse mcp remove {name}`", view.spec.origin);
    match &view.status {
        ServerStatus::Connected => {
            let what = format!(
                "`{name}` answers (protocol {}), tools: {}",
                view.revision,
                view.tools.len()
            );
            Finding::well(AREA, what)
        }
        ServerStatus::Connecting => {
            let seconds = super::scene::PATIENCE.as_secs();
            Finding::warning(AREA, format!("`{name}` has not answered within {seconds} s"), mend)
        }
        ServerStatus::Down(reason) => Finding::problem(AREA, format!("`{name}`: {reason}"), mend),
    }
}
