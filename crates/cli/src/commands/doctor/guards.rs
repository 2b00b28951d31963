//! Installed guards: whether the memory and the lines in the settings file still exist.

use dormouse_memory::{GuardRegistry, MemoryGuard};

use super::context::DoctorContext;
use super::finding::DoctorFinding;
use crate::message_catalog::msg;
use crate::wiring::settings_file::guard_is_installed;

const AREA: &str = "guards";

pub(super) fn check(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let book = match GuardRegistry::read(&context.home.join("state")) {
        Ok(book) => book,
        Err(error) => {
            let fix = msg!("doctor-guards-fix-file");
            return vec![DoctorFinding::problem(AREA, error.to_string(), fix)];
        }
    };
    book.guards.iter().flat_map(check_guard).collect()
}

fn check_guard(guard: &MemoryGuard) -> Vec<DoctorFinding> {
    let MemoryGuard { memory, name, settings, .. } = guard;
    let settings = settings.display().to_string();
    let remove = format!("dormouse memory guard {} --remove", memory.display());
    let mut findings = Vec::new();
    if !guard.memory.exists() {
        let text = msg!("doctor-guard-memory-missing", name = name, settings = settings.as_str());
        let fix = msg!("doctor-guard-fix-memory-missing", command = remove.as_str());
        findings.push(DoctorFinding::warning(AREA, text, fix));
    }
    if !guard_is_installed(guard) {
        let text = msg!("doctor-guard-lines-missing", name = name, settings = settings.as_str());
        let fix = msg!("doctor-guard-fix-lines-missing", command = remove.as_str());
        findings.push(DoctorFinding::warning(AREA, text, fix));
    }
    if findings.is_empty() {
        findings.push(DoctorFinding::ok(
            AREA,
            msg!("doctor-guard-ok", name = name, settings = settings),
        ));
    }
    findings
}
