//! A problem that `doctor` or `lint` found, as all formats show it.

use dormouse_memory::{LintFinding, StoreScope};
use serde::Serialize;

/// A finding in JSON output.
#[derive(Serialize)]
pub(super) struct CheckRow {
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<StoreScope>,
    pub(super) file: String,
    pub(super) path: String,
    pub(super) line: Option<usize>,
    pub(super) message: String,
    pub(super) mendable: bool,
}

impl CheckRow {
    pub(super) fn new(finding: LintFinding, scope: Option<StoreScope>, path: String) -> Self {
        Self {
            kind: finding.kind.as_str(),
            scope,
            file: finding.file,
            path,
            line: finding.line,
            message: finding.message,
            mendable: finding.kind.is_fixable(),
        }
    }
}
