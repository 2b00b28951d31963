//! The list of memories, with the form above it and the reasons of a ranking.

use dormouse_memory::recall::{MemoryHit, RecallAddition};
use dormouse_memory::{Freshness, MemoryType, StoreScope, Trust};
use dormouse_search::MatchKind;
use maud::{Markup, html};

use crate::evidence_words::evidence_words;
use crate::message_catalog::msg;
use crate::model::address;
use crate::model::memory_list::{ListQuery, MemoryList, MemoryRow, RankReasons};
use crate::pages::words;

/// The whole content of the page.
pub(crate) fn page(list: &MemoryList, query: &ListQuery, scopes: &[StoreScope]) -> Markup {
    html! {
        h1 { (msg!("memories-title")) }
        (form(query, scopes))
        div id="results" { (results(list, query)) }
    }
}

fn form(query: &ListQuery, scopes: &[StoreScope]) -> Markup {
    let kinds = MemoryType::ALL.iter().map(|kind| (kind.as_str(), words::kind(*kind)));
    let scopes = scopes.iter().map(|scope| (scope.as_str(), words::scope(*scope)));
    let trusts = Trust::ALL.iter().rev().map(|trust| (trust.as_str(), words::trust(*trust)));
    let ages = [
        ("day", msg!("filter-age-day")),
        ("week", msg!("filter-age-week")),
        ("month", msg!("filter-age-month")),
        ("older", msg!("filter-age-older")),
    ];
    let anchors = [
        ("fresh", msg!("filter-anchors-fresh")),
        ("changed", msg!("filter-anchors-changed")),
        ("broken", msg!("filter-anchors-broken")),
        ("none", msg!("filter-anchors-none")),
    ];
    let states = [
        ("quarantined", msg!("state-quarantined")),
        ("pinned", msg!("state-pinned")),
        ("never-helped", msg!("state-never-helped")),
    ];
    html! {
        form class="search" role="search" method="get" action="/" data-live="/memories/results" {
            label class="wide" {
                span class="label" { (msg!("search-label")) }
                input type="search" name="q" value=(query.q) placeholder=(msg!("search-placeholder")) autocomplete="off" spellcheck="false";
            }
            div class="filters" {
                (select("type", &msg!("filter-type"), kinds.collect(), &query.r#type))
                (select("scope", &msg!("filter-scope"), scopes.collect(), &query.scope))
                (select("trust", &msg!("filter-trust"), trusts.collect(), &query.trust))
                (select("age", &msg!("filter-age"), ages.to_vec(), &query.age))
                (select("anchors", &msg!("filter-anchors"), anchors.to_vec(), &query.anchors))
                (select("state", &msg!("filter-state"), states.to_vec(), &query.state))
                button class="quiet" { (msg!("search-button")) }
            }
        }
    }
}

fn select(name: &str, label: &str, options: Vec<(&str, String)>, chosen: &str) -> Markup {
    html! {
        label {
            span class="label" { (label) }
            select name=(name) {
                option value="" { (msg!("filter-all")) }
                @for (value, text) in options {
                    option value=(value) selected[value == chosen] { (text) }
                }
            }
        }
    }
}

/// What the form found; also sent alone, while the user types.
pub(crate) fn results(list: &MemoryList, query: &ListQuery) -> Markup {
    html! {
        p class="soft" role="status" {
            @if query.is_filtered() { (msg!("memories-matching", count = list.matching, all = list.all)) }
            @else { (msg!("memories-count", count = list.all)) }
        }
        @if list.rows.is_empty() {
            p class="empty" {
                @if list.all == 0 { (msg!("memories-none")) } @else { (msg!("memories-no-match")) }
            }
        }
        ol class="cards" start=(list.page * 50 + 1) {
            @for row in &list.rows { li { (card(row)) } }
        }
        @if list.pages > 1 { (pager(list, query)) }
    }
}

fn pager(list: &MemoryList, query: &ListQuery) -> Markup {
    let link = |page: usize| {
        let fields = [
            ("q", &query.q),
            ("type", &query.r#type),
            ("scope", &query.scope),
            ("trust", &query.trust),
            ("age", &query.age),
            ("anchors", &query.anchors),
            ("state", &query.state),
        ];
        let given = fields.iter().filter(|(_, value)| !value.is_empty());
        let pairs: Vec<String> =
            given.map(|(name, value)| format!("{name}={}", address::encoded(value))).collect();
        format!("/?{}&page={page}", pairs.join("&"))
    };
    html! {
        nav class="pager" aria-label=(msg!("pager-label")) {
            @if list.page > 0 { a rel="prev" href=(link(list.page - 1)) { (msg!("pager-previous")) } }
            span { (msg!("pager-position", page = list.page + 1, pages = list.pages)) }
            @if list.page + 1 < list.pages { a rel="next" href=(link(list.page + 1)) { (msg!("pager-next")) } }
        }
    }
}

fn card(row: &MemoryRow) -> Markup {
    let memory = &row.found.memory;
    let header = &memory.header;
    html! {
        article class="card" {
            h2 { a href=(address::memory("view", row.scope, memory.file.as_str())) { (memory.name()) } }
            @if let Some(description) = &header.description { p { (description) } }
            p class="meta" {
                @if let Some(kind) = header.kind { span class={ "badge kind-" (kind.as_str()) } { (words::kind(kind)) } }
                span class="badge" { (words::scope(row.scope)) }
                @if header.quarantined { span class="badge warn" { (msg!("state-quarantined")) } }
                @if header.pinned { span class="badge" { (msg!("state-pinned")) } }
                @if header.effective_trust() != Trust::Typed { span class="badge" { (words::trust(header.effective_trust())) } }
                span { (words::days(row.age.days())) }
                @if row.usage.recalled > 0 {
                    span { (msg!("usage-short", recalled = row.usage.recalled, helped = row.usage.cited + row.usage.heeded)) }
                }
                code { (memory.file) }
            }
            @if let Some(rank) = &row.rank { (reasons(rank)) }
        }
    }
}

/// Why a memory has its place, as `dormouse recall --explain` says it.
fn reasons(rank: &RankReasons) -> Markup {
    let hit = &rank.hit;
    let percent = format!("{:.0}", hit.confidence * 100.0);
    html! {
        div class="rank" {
            meter min="0" max="1" low="0.35" value=(format!("{:.3}", hit.confidence)) aria-label=(msg!("rank-confidence")) { (percent) " %" }
            span { (msg!("rank-helps", percent = percent)) }
            span class="soft" { (addition(rank.addition)) }
        }
        details class="why" {
            summary { (msg!("rank-why")) }
            p { (msg!("rank-score", score = format!("{:.2}", hit.score))) }
            @if !hit.matches.is_empty() {
                table {
                    thead { tr { th { (msg!("rank-gain")) } th { (msg!("rank-reason")) } } }
                    tbody {
                        @for one in &hit.matches {
                            tr { td { (format!("{:+.2}", one.gain)) } td { (match_words(one.kind, &one.word, &one.term)) } }
                        }
                    }
                }
            }
            (evidence(hit))
            @if let Some(ranks) = &hit.fused_rank {
                p class="soft" {
                    (msg!("rank-vectors", words = position(ranks.word_rank), vectors = position(ranks.vector_rank), similarity = format!("{:.2}", ranks.similarity)))
                }
            }
            @if let Some(stale) = hit.stale { p { (stale_words(stale)) } }
        }
    }
}

fn position(rank: Option<usize>) -> String {
    rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string())
}

fn stale_words(stale: Freshness) -> String {
    if stale.is_broken() { msg!("rank-file-missing") } else { msg!("rank-file-changed") }
}

fn addition(addition: RecallAddition) -> String {
    match addition {
        RecallAddition::Whole => msg!("rank-whole"),
        RecallAddition::Line => msg!("rank-line"),
        RecallAddition::IfSelected => msg!("rank-if-selected"),
        RecallAddition::Never => msg!("rank-never"),
        RecallAddition::NotSearched => msg!("rank-not-searched"),
    }
}

pub(crate) fn match_words(kind: MatchKind, word: &str, term: &str) -> String {
    match kind {
        MatchKind::Same => msg!("match-same", word = word, term = term),
        MatchKind::Family => msg!("match-family", word = word, term = term),
        MatchKind::Related => msg!("match-related", word = word, term = term),
        MatchKind::Typo => msg!("match-typo", word = word, term = term),
        MatchKind::Work => msg!("match-work", word = word),
        MatchKind::File => msg!("match-file", file = word),
        MatchKind::Company => msg!("match-company", term = term),
    }
}

/// What speaks for the memory and against it, the weightiest first.
fn evidence(hit: &MemoryHit) -> Markup {
    let parts = hit.calibration.contributions(&hit.evidence);
    let named = |wanted: fn(f64) -> bool| {
        let parts = parts.iter().filter(|(_, part)| wanted(*part));
        parts.map(|(name, part)| evidence_words(name, *part > 0.0)).collect::<Vec<_>>().join(", ")
    };
    let (for_it, against) = (named(|part| part > 0.0), named(|part| part < 0.0));
    html! {
        @if !for_it.is_empty() { p { (msg!("rank-for", parts = for_it)) } }
        @if !against.is_empty() { p { (msg!("rank-against", parts = against)) } }
    }
}
