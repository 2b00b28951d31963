//! Proposals that wait for the user.

use dormouse_memory::{Proposal, ProposalId, StoreScope};
use jiff::Timestamp;
use maud::{Markup, html};

use crate::message_catalog::msg;
use crate::pages::layout::PageFrame;
use crate::pages::{diff, words};

/// A proposal of a store.
pub(crate) struct ProposalView {
    pub(crate) scope: StoreScope,
    pub(crate) id: ProposalId,
    pub(crate) time: Timestamp,
    pub(crate) proposal: Proposal,
}

pub(crate) fn page(frame: &PageFrame<'_>, proposals: &[ProposalView]) -> Markup {
    html! {
        h1 { (msg!("inbox-title")) }
        p class="soft" { (msg!("inbox-hint")) }
        @if proposals.is_empty() { p class="empty" { (msg!("inbox-empty")) } }
        @for view in proposals { (proposal(frame, view)) }
    }
}

fn proposal(frame: &PageFrame<'_>, view: &ProposalView) -> Markup {
    let by = &view.proposal.by;
    let to = |decision: &str| format!("/inbox/{}/{}/{decision}", view.scope, view.id);
    html! {
        article class="card" {
            h2 { (effect(view)) }
            p { (by.reason) }
            p class="meta" {
                span { (words::time(view.time)) }
                span class="badge" { (words::scope(view.scope)) }
                span class="badge" { (by.author) }
                @for source in &by.sources { (words::source(&source.to_string())) }
            }
            @for file in &view.proposal.files {
                figure class="diff-file" {
                    figcaption { code { (file.file) } }
                    (diff::unified(file.before.as_deref().unwrap_or_default(), file.after.as_deref().unwrap_or_default()))
                }
            }
            div class="actions" {
                (frame.button(&to("accept"), &msg!("inbox-accept"), "primary"))
                (frame.button(&to("refuse"), &msg!("inbox-refuse"), "quiet danger"))
            }
            @if frame.can_change() {
                details {
                    summary { (msg!("inbox-edit")) }
                    form method="post" action=(to("accept")) class="edit" {
                        (frame.token_field())
                        @for (index, file) in view.proposal.files.iter().enumerate() {
                            @if let Some(after) = &file.after {
                                label { span class="label" { (file.file) }
                                    textarea name=(format!("text{index}")) rows="12" spellcheck="false" { "\n" (after) }
                                }
                            }
                        }
                        button { (msg!("inbox-accept-edited")) }
                    }
                }
            }
        }
    }
}

/// What accepting a proposal does, in numbers of files.
fn effect(view: &ProposalView) -> String {
    let count = |before: bool, after: bool| {
        let files = view.proposal.files.iter();
        files
            .filter(|file| file.before.is_some() == before && file.after.is_some() == after)
            .count()
    };
    msg!(
        "inbox-effect",
        id = view.id.to_string(),
        added = count(false, true),
        changed = count(true, true),
        removed = count(true, false)
    )
}
