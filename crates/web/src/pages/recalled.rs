//! The memories that came with a message: which, how sure the ranking was of each then, and why.

use std::path::Path;

use dormouse_conversation::{RecallForm, RecallMatch, RecallRanking, RecallReason, RecallStep};
use dormouse_memory::RecalledTexts;
use dormouse_search::MatchKind;
use maud::{Markup, html};

use crate::message_catalog::msg;
use crate::pages::memories::match_words;

/// Finds the page of a memory by its path.
pub(crate) type MemoryLink<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// The memories that a text has for the model.
pub(crate) fn list(recalled: &str, reasons: &[RecallReason], link: MemoryLink<'_>) -> Markup {
    let (shown, named) = (RecalledTexts::shown_in(recalled), RecalledTexts::named_in(recalled));
    html! {
        p { strong { (msg!("transcript-recalled", count = shown.len() + named.len())) } }
        ul { @for path in shown.iter().copied().chain(named.iter().map(String::as_str)) {
            li {
                @let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
                @match link(Path::new(path)) {
                    Some(address) => a href=(address) { (name) },
                    None => code { (name) },
                }
                @if let Some(reason) = reasons.iter().find(|reason| reason.path == path) { (why(reason)) }
            }
        } }
        @if reasons.is_empty() { p class="soft" { (msg!("recalled-unrecorded")) } }
    }
}

/// Why a memory was recalled, as it was written down then.
fn why(reason: &RecallReason) -> Markup {
    let form = match reason.form {
        RecallForm::Body => msg!("recalled-body"),
        RecallForm::Line => msg!("recalled-line"),
    };
    html! {
        " " span class="soft" { (form) }
        @match &reason.ranking {
            Some(ranking) => (judged(reason.step, ranking)),
            None => { " " span class="soft" { (msg!("recalled-selected")) } },
        }
    }
}

fn judged(step: RecallStep, ranking: &RecallRanking) -> Markup {
    let percent = format!("{:.0}", ranking.confidence * 100.0);
    html! {
        details class="why" {
            summary { (msg!("recalled-why", percent = percent)) }
            p { (msg!("recalled-score", score = format!("{:.2}", ranking.score))) }
            @if !ranking.matches.is_empty() {
                table {
                    thead { tr { th { (msg!("rank-gain")) } th { (msg!("rank-reason")) } } }
                    tbody { @for one in &ranking.matches {
                        tr { td { (format!("{:+.2}", one.gain)) } td { (matching(one)) } }
                    } }
                }
            }
            @if let Some(similarity) = ranking.similarity {
                p class="soft" { (msg!("recalled-similarity", similarity = format!("{similarity:.2}"))) }
            }
            @if step == RecallStep::Vectors { p class="soft" { (msg!("recalled-later")) } }
        }
    }
}

fn matching(one: &RecallMatch) -> String {
    match MatchKind::named(&one.fit) {
        Some(kind) => match_words(kind, &one.word, &one.term),
        // A later version may know more kinds.
        None => format!("{} – {}", one.word, one.term),
    }
}
