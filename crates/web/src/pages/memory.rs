//! One memory: its text, what is known about it, and what has to do with it.

use dormouse_memory::{Freshness, StoreScope, Trashed};
use maud::{Markup, html};

use crate::message_catalog::msg;
use crate::model::address;
use crate::model::memory_page::MemoryPage;
use crate::model::related::{RelatedMemory, Relation};
use crate::pages::layout::PageFrame;
use crate::pages::{markdown, words};

pub(crate) fn page(frame: &PageFrame<'_>, page: &MemoryPage) -> Markup {
    let memory = &page.found.memory;
    let file = memory.file.as_str();
    let to = |action: &str| address::memory(action, page.scope, file);
    html! {
        p class="crumbs" { a href="/" { (msg!("nav-memories")) } " / " (words::scope(page.scope)) }
        h1 { (memory.name()) }
        @if let Some(description) = &page.entry.header.description { p class="lead" { (description) } }
        @if page.entry.header.quarantined {
            div class="notice warn" {
                p { (msg!("memory-quarantined")) }
                (frame.button(&to("confirm"), &msg!("memory-confirm"), "primary"))
            }
        }
        @if !page.problems.is_empty() {
            div class="notice warn" {
                p { (msg!("memory-problems")) }
                ul { @for problem in &page.problems { li { (problem) } } }
            }
        }
        div class="actions" {
            @if frame.can_change() { a class="button" href=(to("edit")) { (msg!("memory-edit")) } }
            a class="button quiet" href=(to("history")) { (msg!("memory-history")) }
            (frame.button(&to("remove"), &msg!("memory-remove"), "quiet danger"))
        }
        div class="columns" {
            section class="paper" aria-label=(msg!("memory-text")) { (markdown::markdown(page.entry.text())) }
            aside { (facts(page)) (related(&page.related)) (usage(page)) }
        }
    }
}

/// In place of a memory that was removed.
pub(crate) fn removed_page(frame: &PageFrame<'_>, scope: StoreScope, trashed: &Trashed) -> Markup {
    let to = |action: &str| address::memory(action, scope, trashed.file.as_str());
    html! {
        h1 { (trashed.name) }
        p class="notice" { (msg!("memory-was-removed", when = words::time(trashed.removed), author = trashed.author.to_string())) }
        div class="actions" {
            (frame.button(&to("restore"), &msg!("trash-restore"), "primary"))
            a class="button quiet" href=(to("history")) { (msg!("memory-history")) }
        }
    }
}

fn facts(page: &MemoryPage) -> Markup {
    let header = &page.entry.header;
    html! {
        h2 { (msg!("memory-about")) }
        dl class="facts" {
            dt { (msg!("fact-type")) } dd { (header.kind.map_or_else(|| "–".to_owned(), words::kind)) }
            dt { (msg!("fact-trust")) } dd { (words::trust(header.effective_trust())) }
            dt { (msg!("fact-changed")) } dd { (words::time(page.changed)) " (" (words::days(page.age_days)) ")" }
            @if let Some(created) = header.created { dt { (msg!("fact-created")) } dd { (words::time(created)) } }
            dt { (msg!("fact-file")) } dd { code { (page.found.path().display()) } }
            @if !header.sources.is_empty() {
                dt { (msg!("fact-sources")) }
                dd { ul { @for source in &header.sources { li { (words::source(source)) } } } }
            }
            @if !header.supersedes.is_empty() {
                dt { (msg!("fact-supersedes")) }
                dd { ul { @for one in &header.supersedes { li { code { (one) } } } } }
            }
            @if !page.anchors.is_empty() {
                dt { (msg!("fact-anchors")) }
                dd {
                    ul {
                        @for (anchor, state) in &page.anchors {
                            li {
                                code { (anchor.path) @if let Some(symbol) = &anchor.symbol { "#" (symbol) } } " "
                                span class=(if *state == Freshness::Fresh { "badge good" } else { "badge warn" }) { (words::freshness(*state)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn usage(page: &MemoryPage) -> Markup {
    let usage = &page.usage;
    html! {
        h2 { (msg!("usage-title")) }
        dl class="tiles small" {
            div { dt { (msg!("usage-recalled")) } dd { (usage.recalled) } }
            div { dt { (msg!("usage-cited")) } dd { (usage.cited) } }
            div { dt { (msg!("usage-heeded")) } dd { (usage.heeded) } }
            div { dt { (msg!("usage-violated")) } dd { (usage.violated) } }
        }
        p class="soft" {
            @match usage.last_helped {
                Some(time) => (msg!("usage-last-helped", when = words::time(time))),
                None => (msg!("usage-never-helped")),
            }
        }
    }
}

fn related(related: &[RelatedMemory]) -> Markup {
    html! {
        h2 { (msg!("related-title")) }
        @if related.is_empty() { p class="soft" { (msg!("related-none")) } }
        ul class="plain" {
            @for one in related {
                li {
                    a href=(address::memory("view", one.scope, one.found.memory.file.as_str())) { (one.found.memory.name()) }
                    " " span class={ "badge " (relation_class(one.relation)) } { (relation(one.relation)) }
                }
            }
        }
    }
}

fn relation(relation: Relation) -> String {
    match relation {
        Relation::Contradicts => msg!("related-contradicts"),
        Relation::SaysTheSame => msg!("related-same"),
        Relation::SameFiles => msg!("related-files"),
        Relation::Similar => msg!("related-similar"),
    }
}

fn relation_class(relation: Relation) -> &'static str {
    match relation {
        Relation::Contradicts | Relation::SaysTheSame => "warn",
        Relation::SameFiles | Relation::Similar => "",
    }
}
