//! `dormouse memory doctor` and `lint`: problems in memories or any markdown files.

use std::path::Path;

use dormouse_base::Dir;
use dormouse_memory::{ChangeOrigin, LintFinding, lint as lint_folder, lint_text};
use serde::Serialize;

use super::annotations;
use super::check_row::CheckRow;
use super::stores::{SelectedStores, into_receipt};
use super::table::TextTable;
use crate::args::{LintArguments, MemoryDoctorArguments};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input::{read_file, unreadable};
use crate::wiring::memory_stores::ScopedStore;
use crate::wiring::print;
use crate::wiring::world::World;

#[derive(Serialize)]
struct CheckReport {
    ok: bool,
    findings: Vec<CheckRow>,
}

pub(super) async fn doctor(
    arguments: &MemoryDoctorArguments,
    world: &World,
) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let checkout = Dir::open(&stores.project.checkout)?;
    let mut lines = Vec::new();
    for scoped in &stores.list {
        if arguments.fix {
            let fixed = into_receipt(scoped.store.fix_index(&ChangeOrigin::user("index fixed"))?)?;
            if let Some(receipt) = fixed {
                let scope = scoped.scope.to_string();
                let id = receipt.id.to_string();
                print::note(&msg!("memory-index-fixed", scope = scope, change = id));
            }
        }
        lines.extend(check_store(scoped, &checkout)?);
    }
    if lines.iter().any(|line| line.mendable) {
        print::note(&msg!("memory-doctor-fix-hint"));
    }
    report(lines, arguments.common.json, world)
}

fn report(lines: Vec<CheckRow>, json: bool, world: &World) -> Result<Exit, Failure> {
    let ok = lines.is_empty();
    if json {
        print::json(&CheckReport { ok, findings: lines })?;
    } else {
        let mut table = TextTable::new(&["problem", "file", "message"]);
        for line in &lines {
            let scope = line.scope.map(|scope| format!(" ({scope})")).unwrap_or_default();
            let file = line.line.map_or(line.file.clone(), |at| format!("{}:{at}", line.file));
            table.row([line.kind.to_owned(), file + &scope, line.message.clone()]);
        }
        table.print(&world.environment);
        if ok {
            print::note(&msg!("memory-check-ok"));
        }
    }
    Ok(if ok { Exit::Done } else { Exit::Failed })
}

pub(super) async fn lint(arguments: &LintArguments, world: &World) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let checkout = Dir::open(&stores.project.checkout)?;
    let mut lines = Vec::new();
    for path in &arguments.paths {
        lines.extend(check_path(path, &checkout)?);
    }
    if arguments.paths.is_empty() {
        for scoped in &stores.list {
            lines.extend(check_store(scoped, &checkout)?);
        }
    }
    match arguments.annotations {
        Some(format) => {
            let ok = lines.is_empty();
            annotations::print(&lines, format, &stores.project.checkout)?;
            Ok(if ok { Exit::Done } else { Exit::Failed })
        }
        None => report(lines, arguments.common.json, world),
    }
}

/// The problems of a store.
fn check_store(scoped: &ScopedStore, checkout: &Dir) -> Result<Vec<CheckRow>, Failure> {
    let findings = scoped.store.doctor(Some(checkout))?.into_iter();
    let row = |finding: LintFinding| {
        let path = scoped.path_of(&finding.file);
        CheckRow::new(finding, Some(scoped.scope), path)
    };
    Ok(findings.map(row).collect())
}

/// The problems of a file or folder; paths in the findings start with it.
fn check_path(path: &Path, checkout: &Dir) -> Result<Vec<CheckRow>, Failure> {
    let metadata = path.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_dir() {
        let bytes = read_file(path)?;
        let name = path.display().to_string();
        let findings = lint_text(&name, &bytes, dormouse_secrets::scan).into_iter();
        return Ok(findings.map(|finding| CheckRow::new(finding, None, name.clone())).collect());
    }
    let findings = lint_folder(&Dir::open(path)?, Some(checkout), dormouse_secrets::scan)?;
    let row = |mut finding: LintFinding| {
        finding.file = path.join(&finding.file).display().to_string();
        let name = finding.file.clone();
        CheckRow::new(finding, None, name)
    };
    Ok(findings.into_iter().map(row).collect())
}
