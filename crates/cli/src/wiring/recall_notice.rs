//! A recall in one line, in the user's language.

use dormouse_conversation::RecallForm;
use dormouse_engine::RecallReceipt;

use crate::message_catalog::msg;

/// The line of a receipt.
pub(crate) fn recall_notice(receipt: &RecallReceipt) -> String {
    let (bodies, lines) = (receipt.files(RecallForm::Body), receipt.files(RecallForm::Line));
    let tokens = receipt.tokens();
    let mut parts = Vec::new();
    if let Some(listed) = receipt.listed.filter(|listed| *listed > 0) {
        parts.push(msg!("recall-listed", count = listed));
    }
    if !bodies.is_empty() {
        let files = bodies.join(", ");
        parts.push(msg!("recall-bodies", count = bodies.len(), tokens = tokens, files = files));
    }
    if !lines.is_empty() {
        let (count, files) = (lines.len(), lines.join(", "));
        parts.push(if bodies.is_empty() {
            msg!("recall-lines-only", count = count, tokens = tokens, files = files)
        } else {
            msg!("recall-lines", count = count, files = files)
        });
    }
    if receipt.is_late {
        parts.push(msg!("recall-late"));
    } else if let Some(note) = &receipt.note {
        parts.push(note.clone());
    } else if receipt.recalled.is_empty() {
        parts.push(msg!("recall-nothing"));
    }
    parts.join("; ")
}
