//! Dreams: what each did to the memories and why, before and after side by side.

use dormouse_background::{DreamAction, DreamReport, DreamStatus};
use dormouse_memory::FileDiff;
use maud::{Markup, html};

use crate::message_catalog::msg;
use crate::model::address;
use crate::model::memory_page::ChangeView;
use crate::pages::layout::PageFrame;
use crate::pages::{diff, words};

/// A file that a dream changed.
pub(crate) struct DreamFile {
    pub(crate) view: ChangeView,
    pub(crate) diff: FileDiff,
    /// Where a form brings back what it was before; none if nothing can.
    pub(crate) take_back: Option<String>,
}

pub(crate) fn list(reports: &[DreamReport]) -> Markup {
    html! {
        h1 { (msg!("dreams-title")) }
        p class="soft" { (msg!("dreams-hint")) }
        @if reports.is_empty() { p class="empty" { (msg!("dreams-none")) } }
        ul class="cards" {
            @for report in reports {
                li { article class="card" {
                    h2 { a href=(format!("/dream/{}", address::encoded(&report.id))) { (headline(report)) } }
                    p class="meta" {
                        span { (words::time(report.began)) }
                        span { (msg!("dreams-sessions", count = report.sessions)) }
                        span { (msg!("dreams-requests", count = report.turns)) }
                    }
                    ul { @for action in report.deeds().take(6) { li { (action_line(action)) } } }
                } }
            }
        }
    }
}

fn headline(report: &DreamReport) -> String {
    let count = report.improved();
    match report.status {
        DreamStatus::Completed => msg!("dream-completed", count = count),
        DreamStatus::Previewed => msg!("dream-previewed", count = count),
        DreamStatus::Killed => msg!("dream-stopped"),
        DreamStatus::Failed => {
            msg!("dream-failed", reason = report.why.as_deref().unwrap_or("–"))
        }
    }
}

fn action_line(action: &DreamAction) -> Markup {
    html! {
        span class="badge" { (action_word(&action.what)) } " " code { (action.file) }
        @if !action.from.is_empty() { " ← " @for file in &action.from { code { (file) } " " } }
        @if let Some(reason) = &action.reason { " " (reason) }
        @if action.fate != "made" { " " span class="badge warn" { (fate(action)) } }
    }
}

fn action_word(what: &str) -> String {
    match what {
        "merged" => msg!("dream-merged"),
        "corrected" => msg!("dream-corrected"),
        "added" => msg!("dream-added"),
        "removed" => msg!("dream-removed"),
        other => other.to_owned(),
    }
}

fn fate(action: &DreamAction) -> String {
    match action.fate.as_str() {
        "waits" => msg!("dream-waits"),
        "overtaken" => msg!("dream-overtaken"),
        "refused" => msg!("dream-refused", reason = action.note.as_deref().unwrap_or("–")),
        _ => msg!("dream-unchanged"),
    }
}

/// One dream with its changes.
pub(crate) fn page(frame: &PageFrame<'_>, report: &DreamReport, files: &[DreamFile]) -> Markup {
    let undoable = files.iter().map(|file| &file.view).find(|view| view.change.can_be_undone());
    html! {
        p class="crumbs" { a href="/dreams" { (msg!("nav-dreams")) } " / " (words::time(report.began)) }
        h1 { (headline(report)) }
        p class="meta" {
            span { (words::time(report.began)) " – " (words::time(report.ended)) }
            span { (msg!("dreams-sessions", count = report.sessions)) }
            span { (msg!("dreams-requests", count = report.turns)) }
        }
        @if let Some(view) = undoable {
            p { (msg!("dream-undo-hint")) }
            (frame.button(&format!("/change/{}/{}/undo", view.scope, view.change.entry.id), &msg!("change-undo-dream"), "danger"))
        }
        @if !report.said.trim().is_empty() { blockquote { (report.said) } }
        h2 { (msg!("dream-actions")) }
        @if report.deeds().next().is_none() { p class="empty" { (msg!("dream-no-actions")) } }
        ul class="plain" { @for action in report.deeds() { li { (action_line(action)) } } }
        @for (title, lines) in [(msg!("dream-refusals"), &report.refused), (msg!("dream-left-out"), &report.left_out)] {
            @if !lines.is_empty() { h2 { (title) } ul { @for line in lines { li { (line) } } } }
        }
        @if !files.is_empty() { h2 { (msg!("dream-before-after")) } }
        @for file in files { (changed_file(frame, file, report)) }
    }
}

/// A file before and after, with the reason, and a button that brings back what it was.
fn changed_file(frame: &PageFrame<'_>, file: &DreamFile, report: &DreamReport) -> Markup {
    let text = |bytes: &Option<Vec<u8>>| {
        bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let name = file.diff.file.as_str();
    let concerns =
        |action: &&DreamAction| action.file == name || action.from.iter().any(|from| from == name);
    let is_undone = file.view.change.entry.undone_by.is_some();
    html! {
        article class="card" {
            header class="row" {
                h3 { a href=(address::memory("view", file.view.scope, name)) { (name) } " "
                    span class="badge" { (words::scope(file.view.scope)) } " "
                    @if is_undone { span class="badge warn" { (msg!("change-undone")) } }
                }
                @if let Some(address) = file.take_back.as_ref().filter(|_| !is_undone) {
                    (frame.button(address, &take_back_label(&file.diff), "quiet"))
                }
            }
            @if let Some(action) = report.deeds().find(concerns) { p { (action_line(action)) } }
            (diff::side_by_side(text(&file.diff.before).as_deref(), text(&file.diff.after).as_deref()))
        }
    }
}

/// A memory that was merged from others does not come apart by its removal: the words say what the button does.
fn take_back_label(diff: &FileDiff) -> String {
    match (&diff.before, &diff.after) {
        (None, _) => msg!("dream-remove-new"),
        (Some(_), None) => msg!("dream-restore-old"),
        (Some(_), Some(_)) => msg!("dream-take-back"),
    }
}
