//! Changes of memories with their diffs: of all, of one, and what is in the trash.

use dormouse_memory::{LogEntry, StoreScope, Trashed};
use maud::{Markup, html};

use crate::message_catalog::msg;
use crate::model::address;
use crate::model::memory_page::ChangeView;
use crate::pages::layout::PageFrame;
use crate::pages::{diff, words};

/// Files of a change whose diffs are shown: the first look at a directory may have thousands.
pub(crate) const SHOWN_FILES: usize = 20;

/// A removed memory and its scope.
pub(crate) struct TrashRow {
    pub(crate) scope: StoreScope,
    pub(crate) trashed: Trashed,
}

pub(crate) fn page(frame: &PageFrame<'_>, changes: &[ChangeView], trash: &[TrashRow]) -> Markup {
    html! {
        h1 { (msg!("changes-title")) }
        @if changes.is_empty() { p class="empty" { (msg!("changes-none")) } }
        @for view in changes { (change(frame, view, None)) }
        h2 id="trash" { (msg!("trash-title")) }
        p class="soft" { (msg!("trash-hint")) }
        @if trash.is_empty() { p class="empty" { (msg!("trash-empty")) } }
        ul class="plain" {
            @for TrashRow { scope, trashed } in trash {
                li class="row" {
                    span { strong { (trashed.name) } " " span class="badge" { (words::scope(*scope)) } " "
                        span class="soft" { (msg!("trash-removed", when = words::time(trashed.removed), author = trashed.author.to_string())) } }
                    (frame.button(&address::memory("restore", *scope, trashed.file.as_str()), &msg!("trash-restore"), "quiet"))
                }
            }
        }
    }
}

/// The history of one memory.
pub(crate) fn history_page(
    frame: &PageFrame<'_>,
    name: &str,
    back: &str,
    changes: &[ChangeView],
) -> Markup {
    html! {
        p class="crumbs" { a href=(back) { (name) } " / " (msg!("memory-history")) }
        h1 { (msg!("history-title", name = name)) }
        @if changes.is_empty() { p class="empty" { (msg!("history-none")) } }
        @for view in changes { (change(frame, view, Some(name))) }
    }
}

fn change(frame: &PageFrame<'_>, view: &ChangeView, of_memory: Option<&str>) -> Markup {
    let entry = &view.change.entry;
    let is_open = of_memory.is_some();
    html! {
        article class="card change" {
            header class="row" {
                h2 {
                    @for (index, (file, kind)) in entry.files.iter().take(4).enumerate() {
                        @if index > 0 { ", " }
                        (words::change(*kind)) " "
                        a href=(address::memory("view", view.scope, file.as_str())) { (file) }
                    }
                    @if entry.files.is_empty() { (msg!("change-index")) }
                    @if entry.files.len() > 4 { " " (msg!("change-more", count = entry.files.len() - 4)) }
                }
                div class="actions" {
                    @if view.change.can_be_undone() {
                        (frame.button(&format!("/change/{}/{}/undo", view.scope, entry.id), &undo_label(entry), "quiet"))
                    }
                    @if let Some((file, _)) = entry.files.first().filter(|_| is_open) {
                        (frame.button(&format!("{}?change={}", address::memory("restore", view.scope, file.as_str()), entry.id), &msg!("change-restore"), "quiet"))
                    }
                }
            }
            p class="meta" {
                span { (words::time(entry.time)) }
                span class="badge" { (words::scope(view.scope)) }
                span class="badge" { (entry.author) }
                span { (msg!("change-number", number = entry.id.to_string())) }
                @if entry.undone_by.is_some() { span class="badge warn" { (msg!("change-undone")) } }
            }
            @if !entry.reason.is_empty() { p { (entry.reason) } }
            @if !entry.sources.is_empty() {
                p class="soft" { (msg!("change-sources")) " " @for source in &entry.sources { (words::source(&source.to_string())) " " } }
            }
            details open[is_open] {
                summary { (msg!("change-diff")) }
                @for file in &view.files { (diff::file_diff(file)) }
                @if of_memory.is_none() && entry.files.len() > SHOWN_FILES { p class="soft" { (msg!("change-more", count = entry.files.len() - SHOWN_FILES)) } }
            }
        }
    }
}

/// The changes of a dream are undone together.
fn undo_label(entry: &LogEntry) -> String {
    if entry.part_of.is_some() { msg!("change-undo-dream") } else { msg!("change-undo") }
}
