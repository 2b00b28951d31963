//! Why a memory was recalled, in words: one text for each figure of its evidence, here and in the terminal.

use crate::message_catalog::msg;

/// A figure of the evidence in words; `speaks_for` where it makes the memory more likely.
pub fn evidence_words(name: &str, speaks_for: bool) -> String {
    match (name, speaks_for) {
        ("margin", true) => msg!("evidence-margin"),
        ("margin", false) => msg!("evidence-margin-low"),
        ("strength", true) => msg!("evidence-strength"),
        ("strength", false) => msg!("evidence-strength-low"),
        ("name", _) => msg!("evidence-name"),
        ("subject", _) => msg!("evidence-subject"),
        ("body", _) => msg!("evidence-body"),
        ("matched", _) => msg!("evidence-matched"),
        ("missing_names", _) => msg!("evidence-missing-names"),
        ("rank", _) => msg!("evidence-rank"),
        ("common", _) => msg!("evidence-common"),
        ("general", _) => msg!("evidence-general"),
        ("presentation", _) => msg!("evidence-presentation"),
        ("correction", _) => msg!("evidence-correction"),
        ("wording", true) => msg!("evidence-wording"),
        ("wording", false) => msg!("evidence-wording-low"),
        ("files", _) => msg!("evidence-files"),
        ("similarity_margin", true) => msg!("evidence-similarity-margin"),
        ("similarity_margin", false) => msg!("evidence-similarity-margin-low"),
        _ => name.to_owned(),
    }
}
