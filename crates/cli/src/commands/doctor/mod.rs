//! `dormouse doctor`: checks everything the program needs and says how to fix problems.
//!
//! Invariants: nothing is changed, and no API key is printed. Each check is a module that returns findings; a
//! problem in one (such as unreadable settings) does not prevent the others.

mod api_key;
mod context;
mod embeddings;
mod finding;
mod folders;
mod git;
mod guards;
mod locks;
mod mcp_servers;
mod model_server;
mod sandbox;
mod settings;
mod shell;
mod terminal;
mod transcripts;

use serde::Serialize;

use crate::args::DoctorArguments;
use crate::message_catalog::msg;
use crate::terminal::tty;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::{World, current_project, environment_for_children};
use context::DoctorContext;
use finding::{DoctorFinding, DoctorFindingJson};

/// The column where the text of a finding begins.
const INDENT: usize = 21;
/// On a terminal with fewer columns, texts have no column of their own.
const NARROW: usize = 60;

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    findings: Vec<DoctorFindingJson<'a>>,
}

pub(crate) async fn run(arguments: &DoctorArguments, world: &World) -> Result<Exit, Failure> {
    print_report(arguments, &findings(arguments, world).await?)
}

/// What is found, a row each: its area, and what it is with its fix.
pub(crate) async fn rows(
    arguments: &DoctorArguments,
    world: &World,
) -> Result<Vec<(String, String)>, Failure> {
    let found = findings(arguments, world).await?;
    let rows = found.iter().map(DoctorFinding::row);
    Ok(rows.chain(std::iter::once((String::new(), summary(&found)))).collect())
}

async fn findings(
    arguments: &DoctorArguments,
    world: &World,
) -> Result<Vec<DoctorFinding>, Failure> {
    let home = world.home()?;
    let project = current_project()?;
    let (mut findings, settings) = settings::check(world, &home, &project);
    let environment = environment_for_children(&world.environment, &settings);
    let context = DoctorContext { world, home, project, settings, environment };
    let (key_findings, provider) = api_key::check(&context).await;
    findings.extend(key_findings);
    if let Some(provider) = provider.filter(|_| !arguments.offline) {
        findings.extend(model_server::check(&context, &provider).await);
    }
    if !arguments.offline {
        findings.extend(mcp_servers::check(&context).await);
    }
    findings.extend(embeddings::check(&context));
    findings.extend(guards::check(&context));
    findings.extend(folders::check(&context.home));
    findings.extend(locks::check(&context.home));
    findings.extend(transcripts::check(&context));
    findings.extend(git::check(&context).await);
    findings.extend(shell::check(&context).await);
    findings.extend(sandbox::check(&context));
    findings.extend(terminal::check(&context.world.environment));
    Ok(findings)
}

fn print_report(arguments: &DoctorArguments, findings: &[DoctorFinding]) -> Result<Exit, Failure> {
    let ok = !findings.iter().any(DoctorFinding::is_problem);
    if arguments.json {
        let findings = findings.iter().map(DoctorFinding::to_json).collect();
        print::json(&Report { ok, findings })?;
    } else {
        let indent = if print::is_terminal() { indent(tty::columns()) } else { INDENT };
        for finding in findings {
            print::wrapped_data_line(&finding.line(), indent);
            if let Some(fix) = finding.fix_text() {
                let fix = format!("{}{fix}", " ".repeat(indent));
                print::wrapped_data_line(&fix, indent);
            }
        }
        print::data_line("");
        print::wrapped_data_line(&summary(findings), 0);
    }
    Ok(if ok { Exit::Done } else { Exit::Failed })
}

/// The column of the texts; on a narrow terminal their further rows begin further to the left.
fn indent(columns: usize) -> usize {
    if columns < NARROW { 2 } else { INDENT }
}

fn summary(findings: &[DoctorFinding]) -> String {
    let count =
        |status| findings.iter().filter(|finding| finding.status.as_str() == status).count();
    msg!(
        "doctor-summary",
        ok = count("ok"),
        warnings = count("warning"),
        problems = count("problem")
    )
}
