//! Differences of two texts, as tables: one below the other, or side by side.

use dormouse_memory::FileDiff;
use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

use crate::message_catalog::msg;

/// Longer texts are not compared line by line.
const MAX_COMPARED: usize = 512 * 1024;
/// Unchanged lines around a change.
const AROUND: usize = 3;

/// What a change did to a file.
pub(crate) fn file_diff(diff: &FileDiff) -> Markup {
    let text = |bytes: &Option<Vec<u8>>| {
        bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let (before, after) = (text(&diff.before), text(&diff.after));
    html! {
        figure class="diff-file" {
            figcaption { code { (diff.file) } }
            (unified(before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default()))
        }
    }
}

/// Changed lines with some around them, removed ones above added ones.
pub(crate) fn unified(before: &str, after: &str) -> Markup {
    if before.len().max(after.len()) > MAX_COMPARED {
        return html! { p class="soft" { (msg!("diff-too-long")) } };
    }
    let diff = TextDiff::from_lines(before, after);
    let groups = diff.grouped_ops(AROUND);
    if groups.is_empty() {
        return html! { p class="soft" { (msg!("diff-none")) } };
    }
    html! {
        div class="diff" tabindex="0" role="group" aria-label=(msg!("diff-label")) {
            @for (index, group) in groups.iter().enumerate() {
                @if index > 0 { div class="gap" aria-hidden="true" { "⋯" } }
                @for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                    (line(change.tag(), change.value()))
                }
            }
        }
    }
}

fn line(tag: ChangeTag, text: &str) -> Markup {
    let (class, sign) = match tag {
        ChangeTag::Equal => ("same", " "),
        ChangeTag::Delete => ("gone", "−"),
        ChangeTag::Insert => ("new", "+"),
    };
    let text = text.trim_end_matches(['\n', '\r']);
    html! {
        @match tag {
            ChangeTag::Equal => div class=(class) { span class="sign" { (sign) } span { (text) } },
            ChangeTag::Delete => del class=(class) { span class="sign" { (sign) } span { (text) } },
            ChangeTag::Insert => ins class=(class) { span class="sign" { (sign) } span { (text) } },
        }
    }
}

/// The text before and after, side by side; on a narrow page one below the other.
pub(crate) fn side_by_side(before: Option<&str>, after: Option<&str>) -> Markup {
    let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
    if old.len().max(new.len()) > MAX_COMPARED {
        return html! { p class="soft" { (msg!("diff-too-long")) } };
    }
    let diff = TextDiff::from_lines(old, new);
    let side = |tag: ChangeTag| {
        let lines = diff.iter_all_changes();
        html! {
            @for change in lines.filter(|change| change.tag() == ChangeTag::Equal || change.tag() == tag) {
                (line(change.tag(), change.value()))
            }
        }
    };
    html! {
        div class="sides" {
            section aria-label=(msg!("diff-before")) {
                h4 { (msg!("diff-before")) }
                @if before.is_some() { div class="diff" tabindex="0" role="group" aria-label=(msg!("diff-before")) { (side(ChangeTag::Delete)) } }
                @else { p class="soft" { (msg!("diff-absent")) } }
            }
            section aria-label=(msg!("diff-after")) {
                h4 { (msg!("diff-after")) }
                @if after.is_some() { div class="diff" tabindex="0" role="group" aria-label=(msg!("diff-after")) { (side(ChangeTag::Insert)) } }
                @else { p class="soft" { (msg!("diff-absent")) } }
            }
        }
    }
}
