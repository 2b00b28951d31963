//! The notice to the user after a compaction.

use dormouse_base::group_digits;
use dormouse_engine::{CompactionMethod, CompactionReport};

use crate::message_catalog::msg;

/// Says how the conversation was compacted, and how much of it was kept.
pub(crate) fn compaction_notice(report: &CompactionReport) -> String {
    let method = match report.way {
        CompactionMethod::Notes => msg!("compacted-from-notes"),
        CompactionMethod::Model => msg!("compacted-by-model"),
        CompactionMethod::Server => msg!("compacted-by-server"),
        CompactionMethod::Fold => msg!("compacted-without-model"),
    };
    let percent = (report.fidelity.identifiers.clamp(0.0, 1.0) * 100.0).round();
    let notice = msg!(
        "compacted",
        method = method,
        before = group_digits(report.before),
        after = group_digits(report.after),
        percent = percent.to_string()
    );
    match &report.trouble {
        Some(reason) => {
            msg!("compacted-model-failed", notice = notice, reason = reason.clone())
        }
        None => notice,
    }
}
