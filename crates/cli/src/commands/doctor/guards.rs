//! Guards that memories were made into: whether the memory is still there, and the lines in the settings.

use dormouse_memory::{Guard, GuardBook};

use super::finding::Finding;
use super::scene::Scene;
use crate::wiring::settings_file::guard_is_installed;

const AREA: &str = "guards";

pub(super) fn check(scene: &Scene<'_>) -> Vec<Finding> {
    let book = match GuardBook::read(&scene.home.join("state")) {
        Ok(book) => book,
        Err(error) => {
            let mend = "mend the file, or move it away";
            return vec![Finding::problem(AREA, error.to_string(), mend)];
        }
    };
    book.guards.iter().flat_map(of_guard).collect()
}

fn of_guard(guard: &Guard) -> Vec<Finding> {
    let Guard { memory, name, settings, .. } = guard;
    let (memory, settings) = (memory.display(), settings.display());
    let remove = format!("dormouse memory guard {memory} --remove");
    let mut findings = Vec::new();
    if !guard.memory.exists() {
        let what =
            format!("the guard `{name}` in {settings} stays in force, but its memory is gone");
        findings.push(Finding::warning(AREA, what, format!("`{remove}` takes it out")));
    }
    if !guard_is_installed(guard) {
        let what = format!("the guard `{name}` is not, or not all, in {settings} any more");
        let mend = format!("`{remove}` forgets it; `--install` puts it in anew");
        findings.push(Finding::warning(AREA, what, mend));
    }
    if findings.is_empty() {
        findings.push(Finding::well(AREA, format!("`{name}`, in {settings}")));
    }
    findings
}
