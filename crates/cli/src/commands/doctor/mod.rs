//! `dormouse doctor`: looks at everything the program needs and says how to mend what is not well.
//!
//! Invariants: nothing is changed, and no key is shown. Each check is a module that gives findings; what
//! stands in the way of one (settings that can not be read) does not keep the others from being made.

mod embeddings;
mod finding;
mod folders;
mod git;
mod guards;
mod keys;
mod locks;
mod scene;
mod server;
mod servers;
mod settings;
mod shell;
mod terminal;
mod transcripts;

use serde::Serialize;

use crate::args::DoctorArguments;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::environment_for_children;
use crate::wiring::world::{World, current_project};
use finding::{Finding, Line};
use scene::Scene;

#[derive(Serialize)]
struct Answer<'a> {
    ok: bool,
    findings: Vec<Line<'a>>,
}

pub(crate) async fn run(arguments: &DoctorArguments, world: &World) -> Result<Exit, Failure> {
    let home = world.home()?;
    let project = current_project()?;
    let (mut findings, settings) = settings::check(world, &home, &project);
    let environment = environment_for_children(world, &settings);
    let scene = Scene { world, home, project, settings, environment };
    let (of_keys, provider) = keys::check(&scene).await;
    findings.extend(of_keys);
    if let Some(provider) = provider.filter(|_| !arguments.offline) {
        findings.extend(server::check(&scene, &provider).await);
    }
    if !arguments.offline {
        findings.extend(servers::check(&scene).await);
    }
    findings.extend(embeddings::check(&scene));
    findings.extend(guards::check(&scene));
    findings.extend(folders::check(&scene.home));
    findings.extend(locks::check(&scene.home));
    findings.extend(transcripts::check(&scene));
    findings.extend(git::check(&scene).await);
    findings.extend(shell::check(&scene).await);
    findings.extend(terminal::check(&scene.world.environment));
    print(arguments, &findings)
}

fn print(arguments: &DoctorArguments, findings: &[Finding]) -> Result<Exit, Failure> {
    let ok = !findings.iter().any(Finding::is_problem);
    if arguments.json {
        let answer = Answer { ok, findings: findings.iter().map(Finding::line).collect() };
        print::data_line(&serde_json::to_string_pretty(&answer).map_err(Failure::failed)?);
    } else {
        for finding in findings {
            print::data_line(&finding.text());
        }
        print::data_line(&format!("\n{}", tally(findings)));
    }
    Ok(if ok { Exit::Done } else { Exit::Failed })
}

fn tally(findings: &[Finding]) -> String {
    let count = |word| findings.iter().filter(|finding| finding.health.word() == word).count();
    format!("{} ok, {} to look at, {} to mend", count("ok"), count("warning"), count("problem"))
}
