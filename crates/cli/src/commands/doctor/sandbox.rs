//! The sandbox of commands: whether there is one, and what it allows.

use super::context::DoctorContext;
use super::finding::DoctorFinding;
use crate::wiring::sandbox::SandboxStatus;

const AREA: &str = "sandbox";

pub(super) fn check(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let settings = &context.settings.sandbox;
    let status = SandboxStatus::look(settings, &context.project, &context.world.environment, &[]);
    vec![DoctorFinding::ok(AREA, status.describe())]
}
