//! Findings of `dormouse memory lint` as code hosts read them, to show them beside the lines of a pull request (T-14).

use std::path::Path;

use dormouse_memory::ContentHash;
use serde::Serialize;

use super::check_row::CheckRow;
use crate::args::AnnotationFormat;
use crate::wiring::exit::Failure;
use crate::wiring::print;

/// Prints findings. Paths are those of the repository, where they are in it.
pub(super) fn print(
    rows: &[CheckRow],
    format: AnnotationFormat,
    checkout: &Path,
) -> Result<(), Failure> {
    match format {
        AnnotationFormat::Github => {
            for row in rows {
                print::data_line(&workflow_command(row, checkout));
            }
            Ok(())
        }
        AnnotationFormat::Gitlab => {
            let issues: Vec<_> = rows.iter().map(|row| code_quality(row, checkout)).collect();
            print::json(&issues)
        }
    }
}

/// The path below the repository; hosts know no other. A path from outside stays as it is.
fn in_repository(path: &str, checkout: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let below = absolute.strip_prefix(checkout).unwrap_or(Path::new(path));
    below.display().to_string()
}

/// `::error file=…,line=…,title=…::message`.
fn workflow_command(row: &CheckRow, checkout: &Path) -> String {
    let file = property(&in_repository(&row.path, checkout));
    let line = row.line.unwrap_or(1);
    format!("::error file={file},line={line},title={}::{}", row.kind, data(&row.message))
}

/// A message may not end the line, and `%` begins an escape.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property may not contain its separators either.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[derive(Serialize)]
struct CodeQualityIssue {
    description: String,
    check_name: &'static str,
    /// The same for the same finding, so that a host knows it again.
    fingerprint: String,
    severity: &'static str,
    location: IssueLocation,
}

#[derive(Serialize)]
struct IssueLocation {
    path: String,
    lines: IssueLines,
}

#[derive(Serialize)]
struct IssueLines {
    begin: usize,
}

fn code_quality(row: &CheckRow, checkout: &Path) -> CodeQualityIssue {
    let path = in_repository(&row.path, checkout);
    let identity = format!("{} {path} {}", row.kind, row.message);
    CodeQualityIssue {
        description: row.message.clone(),
        check_name: row.kind,
        fingerprint: ContentHash::of(identity.as_bytes()).to_string(),
        severity: if row.kind == "secret" { "blocker" } else { "major" },
        location: IssueLocation { path, lines: IssueLines { begin: row.line.unwrap_or(1) } },
    }
}
