//! What is wrong with memories, or with any markdown files: `doctor` and `lint`.

use std::path::Path;

use dormouse_base::Dir;
use dormouse_memory::{By, Finding, lint as lint_folder, lint_text};
use serde::Serialize;

use super::desk::{Desk, Shelf, written};
use super::table::Table;
use crate::args::{LintArguments, MemoryDoctorArguments};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input::{read_file, unreadable};
use crate::wiring::memory_places::Whose;
use crate::wiring::print;
use crate::wiring::world::World;

/// A finding, for programs.
#[derive(Serialize)]
struct Row {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Whose>,
    file: String,
    path: String,
    line: Option<usize>,
    message: String,
    mendable: bool,
}

impl Row {
    fn of(finding: Finding, scope: Option<Whose>, path: String) -> Self {
        Self {
            kind: finding.kind.as_str(),
            scope,
            file: finding.file,
            path,
            line: finding.line,
            message: finding.message,
            mendable: finding.kind.is_mendable(),
        }
    }
}

#[derive(Serialize)]
struct Answer {
    ok: bool,
    findings: Vec<Row>,
}

pub(super) async fn doctor(
    arguments: &MemoryDoctorArguments,
    world: &World,
) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let checkout = Dir::open(&desk.project.checkout)?;
    let mut lines = Vec::new();
    for shelf in &desk.shelves {
        if arguments.fix {
            let mended = written(shelf.store.mend(&By::person("index mended"))?)?;
            if let Some(receipt) = mended {
                let (whose, id) = (shelf.whose, receipt.id);
                print::note(&format!("mended the index ({whose}), change {id}"));
            }
        }
        lines.extend(of_shelf(shelf, &checkout)?);
    }
    if lines.iter().any(|line| line.mendable) {
        print::note("`dormouse memory doctor --mend` makes the indexes true");
    }
    report(lines, arguments.common.json, world)
}

fn report(lines: Vec<Row>, json: bool, world: &World) -> Result<Exit, Failure> {
    let ok = lines.is_empty();
    if json {
        print::json(&Answer { ok, findings: lines })?;
    } else {
        let mut table = Table::new(&["what", "where", "message"]);
        for line in &lines {
            let scope = line.scope.map(|whose| format!(" ({whose})")).unwrap_or_default();
            let place = line.line.map_or(line.file.clone(), |at| format!("{}:{at}", line.file));
            let place = place + &scope;
            table.row([line.kind.to_owned(), place, line.message.clone()]);
        }
        table.print(&world.environment);
        if ok {
            print::note("nothing is wrong");
        }
    }
    Ok(if ok { Exit::Done } else { Exit::Failed })
}

pub(super) async fn lint(arguments: &LintArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let checkout = Dir::open(&desk.project.checkout)?;
    let mut lines = Vec::new();
    for path in &arguments.paths {
        lines.extend(of_path(path, &checkout)?);
    }
    if arguments.paths.is_empty() {
        for shelf in &desk.shelves {
            lines.extend(of_shelf(shelf, &checkout)?);
        }
    }
    report(lines, arguments.common.json, world)
}

/// What is wrong with a store's memories.
fn of_shelf(shelf: &Shelf, checkout: &Dir) -> Result<Vec<Row>, Failure> {
    // What the person keeps in every project says nothing about this one's files.
    let project = Some(checkout).filter(|_| shelf.whose != Whose::User);
    let findings = shelf.store.doctor(project)?.into_iter();
    let row = |finding: Finding| {
        let path = shelf.path_of(&finding.file);
        Row::of(finding, Some(shelf.whose), path)
    };
    Ok(findings.map(row).collect())
}

/// What is wrong with a file or a folder; its findings are named as it was.
fn of_path(path: &Path, checkout: &Dir) -> Result<Vec<Row>, Failure> {
    let metadata = path.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_dir() {
        let bytes = read_file(path)?;
        let name = path.display().to_string();
        let findings = lint_text(&name, &bytes, dormouse_secrets::scan).into_iter();
        return Ok(findings.map(|finding| Row::of(finding, None, name.clone())).collect());
    }
    let findings = lint_folder(&Dir::open(path)?, Some(checkout), dormouse_secrets::scan)?;
    let row = |mut finding: Finding| {
        finding.file = path.join(&finding.file).display().to_string();
        let name = finding.file.clone();
        Row::of(finding, None, name)
    };
    Ok(findings.into_iter().map(row).collect())
}
