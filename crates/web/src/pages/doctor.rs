//! What doctor finds in the memory directories.

use dormouse_memory::{LintFinding, StoreScope};
use maud::{Markup, html};

use crate::message_catalog::msg;
use crate::model::address;
use crate::pages::layout::PageFrame;
use crate::pages::words;

/// Problems of a store that are shown.
const SHOWN: usize = 500;

/// The problems of a store.
pub(crate) struct StoreFindings {
    pub(crate) scope: StoreScope,
    pub(crate) folder: String,
    pub(crate) findings: Vec<LintFinding>,
}

pub(crate) fn page(frame: &PageFrame<'_>, stores: &[StoreFindings]) -> Markup {
    html! {
        h1 { (msg!("doctor-title")) }
        p class="soft" { (msg!("doctor-hint")) }
        @for store in stores {
            section {
                h2 { (words::scope(store.scope)) }
                p class="soft" { code { (store.folder) } }
                @if store.findings.is_empty() { p class="good" { (msg!("doctor-ok")) } }
                @else { (table(store)) }
                @if store.findings.iter().any(|one| one.kind.is_fixable()) {
                    (frame.button(&format!("/doctor/{}/fix", store.scope), &msg!("doctor-fix"), "primary"))
                }
            }
        }
    }
}

fn table(store: &StoreFindings) -> Markup {
    html! {
        div class="wide" tabindex="0" role="group" aria-label=(msg!("doctor-title")) {
            table class="text" {
                thead { tr { th { (msg!("doctor-problem")) } th { (msg!("doctor-file")) } th { (msg!("doctor-message")) } } }
                tbody {
                    @for one in store.findings.iter().take(SHOWN) {
                        tr {
                            td { (one.kind.as_str()) }
                            td { a href=(address::memory("view", store.scope, &one.file)) { (one.file) } @if let Some(line) = one.line { ":" (line) } }
                            td { (one.message) }
                        }
                    }
                }
            }
        }
        @if store.findings.len() > SHOWN {
            p class="soft" { (msg!("doctor-more", count = store.findings.len() - SHOWN)) }
        }
    }
}
