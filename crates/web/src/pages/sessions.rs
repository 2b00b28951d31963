//! Lists of sessions, and the frame of the pages about one.

use dormouse_base::{format_bytes, group_digits};
use dormouse_conversation::Role;
use dormouse_conversation::metrics::MetricsSummary;
use jiff::Timestamp;
use maud::{Markup, html};

use crate::message_catalog::msg;
use crate::model::address;
use crate::model::checkpoints::{CheckpointFile, CheckpointTurn, FileText};
use crate::model::session_list::{SessionList, SessionQuery, SessionResults};
use crate::pages::{diff, words};

/// A page about a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionTab {
    Transcript,
    Requests,
    Checkpoints,
}

/// In place of the requests of a session that cannot be profiled.
pub(crate) fn no_requests(reason: &str) -> Markup {
    html! { p class="empty" { (msg!("session-no-requests")) } p class="soft" { (reason) } }
}

pub(crate) fn page(list: &SessionList, query: &SessionQuery) -> Markup {
    html! {
        h1 { (msg!("sessions-title")) }
        form class="search" role="search" method="get" action="/sessions" {
            label class="wide" { span class="label" { (msg!("sessions-search")) }
                input type="search" name="q" value=(query.q) autocomplete="off"; }
            div class="filters" {
                label { span class="label" { (msg!("sessions-source")) }
                    select name="source" {
                        @for source in &list.sources {
                            option value=(source) selected[*source == list.source] { (source_name(source)) }
                        }
                    }
                }
                button { (msg!("search-button")) }
            }
        }
        @match &list.results {
            SessionResults::Heads { heads, all, page, pages } => {
                p class="soft" { (msg!("sessions-count", count = *all)) }
                @if heads.is_empty() { p class="empty" { (msg!("sessions-none")) } }
                ul class="cards" {
                    @for head in heads {
                        li { article class="card" {
                            h2 { a href=(address::session(list.source, &head.session.to_string(), "transcript")) {
                                @match &head.title { Some(title) => (title), None => (msg!("sessions-untitled")) }
                            } }
                            p class="meta" {
                                @if let Ok(time) = Timestamp::try_from(head.modified) { span { (words::time(time)) } }
                                @match list.known.get(&head.session) {
                                    Some(known) => @for text in known_of(known) { span { (text) } },
                                    None => span { (format_bytes(head.bytes)) },
                                }
                            }
                        } }
                    }
                }
                @if *pages > 1 {
                    nav class="pager" aria-label=(msg!("pager-label")) {
                        @if *page > 0 { a rel="prev" href=(format!("/sessions?source={}&page={}", list.source, page - 1)) { (msg!("pager-previous")) } }
                        span { (msg!("pager-position", page = page + 1, pages = *pages)) }
                        @if page + 1 < *pages { a rel="next" href=(format!("/sessions?source={}&page={}", list.source, page + 1)) { (msg!("pager-next")) } }
                    }
                }
            },
            SessionResults::Passages(passages) => {
                @if passages.is_empty() { p class="empty" { (msg!("sessions-no-match")) } }
                ul class="cards" {
                    @for passage in passages {
                        li { article class="card" {
                            p { (passage.text) }
                            p class="meta" {
                                a href=(address::session(list.source, &passage.session.to_string(), "transcript")) { (msg!("sessions-open")) }
                                span class="badge" { (role_name(passage.role, passage.is_result)) }
                                @if let Some(time) = passage.time { span { (words::time(time)) } }
                            }
                        } }
                    }
                }
            },
        }
    }
}

fn source_name(source: &str) -> String {
    match source {
        "claude" => "Claude Code".to_owned(),
        _ => "Dormouse".to_owned(),
    }
}

pub(crate) fn role_name(role: Role, is_result: bool) -> String {
    match role {
        _ if is_result => msg!("role-tool"),
        Role::User => msg!("role-user"),
        Role::Assistant => msg!("role-model"),
    }
}

/// A page about a session: its title, the tabs, the content.
pub(crate) fn session_frame(
    (source, id): (&str, &str),
    title: &str,
    tab: SessionTab,
    content: &Markup,
) -> Markup {
    let tabs = [
        (SessionTab::Transcript, "transcript", msg!("tab-transcript")),
        (SessionTab::Requests, "requests", msg!("tab-requests")),
        (SessionTab::Checkpoints, "checkpoints", msg!("tab-checkpoints")),
    ];
    html! {
        p class="crumbs" { a href=(format!("/sessions?source={source}")) { (msg!("nav-sessions")) } " / " code { (id) } }
        h1 { (title) }
        nav class="tabs" aria-label=(msg!("tabs-label")) {
            @for (each, path, name) in &tabs {
                a href=(address::session(source, id, path)) aria-current=[(*each == tab).then_some("page")] { (name) }
            }
        }
        (content)
    }
}

/// What each turn changed in the project's files.
pub(crate) fn checkpoints(turns: &[CheckpointTurn]) -> Markup {
    html! {
        @if turns.is_empty() { p class="empty" { (msg!("checkpoints-none")) } }
        @for CheckpointTurn { turn, files } in turns {
            article class="card" {
                h2 {
                    @if turn.rewound_to.is_some() { (msg!("checkpoints-rewind", line = turn.line)) }
                    @else { (msg!("checkpoints-turn", line = turn.line)) }
                }
                @if let Some(head) = &turn.head { p class="meta" { code { (head) } } }
                @if turn.is_cut_off { p class="notice warn" { (msg!("checkpoints-cut-off")) } }
                @for file in files { (checkpoint_file(file)) }
            }
        }
    }
}

fn checkpoint_file(file: &CheckpointFile) -> Markup {
    let text = |state: &FileText| match state {
        FileText::Absent => Some(String::new()),
        FileText::Text(text) => Some(text.clone()),
        FileText::Unknown => None,
    };
    html! {
        details {
            summary { code { (file.path) } }
            @match (text(&file.before), text(&file.after)) {
                (Some(before), Some(after)) => (diff::unified(&before, &after)),
                _ => p class="soft" { (msg!("checkpoints-not-kept")) },
            }
        }
    }
}

/// What the figures know of a session: requests, tokens, cost, and marks for what happened in it.
fn known_of(known: &MetricsSummary) -> Vec<String> {
    let total = &known.total;
    let tokens = group_digits(total.usage.input_total() + total.usage.output_tokens);
    let mut texts = vec![
        msg!("dreams-requests", count = total.requests),
        msg!("session-tokens", tokens = tokens),
        words::cost(total),
    ];
    if known.memory.recalled > 0 {
        texts.push(msg!("session-recalled", count = known.memory.recalled));
    }
    if known.memory.written > 0 {
        texts.push(msg!("session-saved", count = known.memory.written));
    }
    if known.summaries() > 0 {
        texts.push(msg!("session-compacted", count = known.summaries()));
    }
    texts
}
