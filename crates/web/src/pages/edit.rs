//! Editing a memory: the text, then what would change, then saving. Another change in between is shown, and the user's text
//! is kept.

use dormouse_memory::LintFinding;
use maud::{Markup, html};

use crate::message_catalog::msg;
use crate::pages::diff;
use crate::pages::layout::PageFrame;

/// What a page about an edit shows.
pub(crate) struct EditView {
    /// The name of the memory.
    pub(crate) name: String,
    /// The address of the memory's page.
    pub(crate) back: String,
    /// Where the text is sent to be looked at, and to be saved.
    pub(crate) preview: String,
    pub(crate) save: String,
    /// The text as the user has it.
    pub(crate) text: String,
    /// The text as it is now.
    pub(crate) current: String,
    /// The hash of `current`.
    pub(crate) hash: String,
    /// Problems of the user's text.
    pub(crate) findings: Vec<LintFinding>,
    /// What keeps it from being saved.
    pub(crate) obstacle: Option<EditObstacle>,
}

/// Why a text was not saved.
pub(crate) enum EditObstacle {
    /// The memory was changed since the user began.
    Changed,
    /// It looks like a secret: the rules that found it. The user may allow it.
    Secrets(String),
    /// The store refuses it.
    Refused(String),
}

/// The text in a form.
pub(crate) fn edit_page(frame: &PageFrame<'_>, view: &EditView) -> Markup {
    html! {
        (title(view))
        p class="soft" { (msg!("edit-hint")) }
        (text_form(frame, view))
    }
}

fn title(view: &EditView) -> Markup {
    html! {
        p class="crumbs" { a href=(view.back) { (view.name) } " / " (msg!("memory-edit")) }
        h1 { (msg!("edit-title", name = view.name.as_str())) }
    }
}

fn text_form(frame: &PageFrame<'_>, view: &EditView) -> Markup {
    html! {
        form method="post" action=(view.preview) class="edit" {
            (frame.token_field())
            input type="hidden" name="hash" value=(view.hash);
            label { span class="label" { (msg!("edit-label")) }
                textarea name="text" rows="22" spellcheck="false" { "\n" (view.text) }
            }
            div class="actions" {
                button class="primary" { (msg!("edit-preview")) }
                a class="button quiet" href=(view.back) { (msg!("edit-cancel")) }
            }
        }
    }
}

/// What would change, and the button that saves it.
pub(crate) fn preview_page(frame: &PageFrame<'_>, view: &EditView) -> Markup {
    html! {
        (title(view))
        @if let Some(obstacle) = &view.obstacle { (obstacle_notice(obstacle)) }
        @if !view.findings.is_empty() {
            div class="notice warn" {
                p { (msg!("edit-findings")) }
                ul { @for one in &view.findings {
                    li { @if let Some(line) = one.line { (msg!("edit-line", line = line)) " " } (one.message) }
                } }
            }
        }
        h2 { (msg!("edit-changes")) }
        (diff::unified(&view.current, &view.text))
        @if view.text != view.current { (save_form(frame, view)) }
        details open[matches!(view.obstacle, Some(EditObstacle::Refused(_)))] {
            summary { (msg!("edit-again")) }
            (text_form(frame, view))
        }
    }
}

fn obstacle_notice(obstacle: &EditObstacle) -> Markup {
    html! {
        div class="notice warn" role="alert" {
            @match obstacle {
                EditObstacle::Changed => p { strong { (msg!("edit-conflict")) } " " (msg!("edit-conflict-hint")) },
                EditObstacle::Secrets(rules) => p { (msg!("edit-secret", rules = rules.as_str())) },
                EditObstacle::Refused(why) => p { (msg!("edit-refused", reason = why.as_str())) },
            }
        }
    }
}

fn save_form(frame: &PageFrame<'_>, view: &EditView) -> Markup {
    let has_secret = matches!(view.obstacle, Some(EditObstacle::Secrets(_)));
    html! {
        form method="post" action=(view.save) class="actions" {
            (frame.token_field())
            input type="hidden" name="hash" value=(view.hash);
            // A text area keeps line ends as they are; other fields do not.
            textarea name="text" hidden { "\n" (view.text) }
            @if has_secret {
                label class="check" { input type="checkbox" name="allow_secret" value="yes"; " " (msg!("edit-allow-secret")) }
            }
            button class="primary" { (msg!("edit-save")) }
            a class="button quiet" href=(view.back) { (msg!("edit-cancel")) }
        }
    }
}
