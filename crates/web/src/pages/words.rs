//! Words of the pages: types, scopes, trust, times, numbers.

use dormouse_base::{LayerSwitch, format_dollars};
use dormouse_conversation::metrics::RequestTotals;
use dormouse_memory::{ChangeKind, Freshness, MemoryType, StoreScope, Trust};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};

use crate::message_catalog::msg;
use crate::model::address;

pub(crate) fn kind(kind: MemoryType) -> String {
    match kind {
        MemoryType::User => msg!("type-user"),
        MemoryType::Feedback => msg!("type-feedback"),
        MemoryType::Project => msg!("type-project"),
        MemoryType::Reference => msg!("type-reference"),
    }
}

pub(crate) fn scope(scope: StoreScope) -> String {
    match scope {
        StoreScope::User => msg!("scope-user"),
        StoreScope::Project => msg!("scope-project"),
        StoreScope::Team => msg!("scope-team"),
        StoreScope::Repo => msg!("scope-repo"),
    }
}

/// What a context layer does, with the name that the settings have for it.
pub(crate) fn layer(name: &str) -> String {
    let does = match name.parse() {
        Ok(LayerSwitch::StoredResults) => msg!("layer-stored-results"),
        Ok(LayerSwitch::TimeClearing) => msg!("layer-time-clearing"),
        Ok(LayerSwitch::CacheEdits) => msg!("layer-cache-edits"),
        Ok(LayerSwitch::ServerClearing) => msg!("layer-server-clearing"),
        Ok(LayerSwitch::ServerCompaction) => msg!("layer-server-compaction"),
        Ok(LayerSwitch::Collapse) => msg!("layer-collapse"),
        Ok(LayerSwitch::Snip) => msg!("layer-snip"),
        Ok(LayerSwitch::NotesCompaction) => msg!("layer-notes-compaction"),
        Ok(LayerSwitch::AutoCompact) => msg!("layer-auto-compact"),
        _ => return name.to_owned(),
    };
    msg!("layer-named", does = does, name = name)
}

pub(crate) fn trust(trust: Trust) -> String {
    match trust {
        Trust::Typed => msg!("trust-typed"),
        Trust::Concluded => msg!("trust-concluded"),
        Trust::Tool => msg!("trust-tool"),
        Trust::Outside => msg!("trust-outside"),
    }
}

pub(crate) fn freshness(state: Freshness) -> String {
    match state {
        Freshness::Fresh => msg!("anchor-fresh"),
        Freshness::Touched => msg!("anchor-changed"),
        Freshness::SymbolGone => msg!("anchor-symbol-gone"),
        Freshness::FileGone => msg!("anchor-file-gone"),
    }
}

pub(crate) fn change(kind: ChangeKind) -> String {
    match kind {
        ChangeKind::Added => msg!("change-added"),
        ChangeKind::Changed => msg!("change-changed"),
        ChangeKind::Removed => msg!("change-removed"),
    }
}

/// A source of a memory, with a link to the message it names.
pub(crate) fn source(text: &str) -> Markup {
    html! {
        @match address::source(text) {
            Some((message, address)) => a href=(address) title=(text) {
                @match message.time() {
                    Some(when) => (msg!("source-message", when = time(when))),
                    None => code { (text) },
                }
            },
            None => code { (text) },
        }
    }
}

/// An age in days.
pub(crate) fn days(days: u64) -> String {
    match days {
        0 => msg!("age-today"),
        days => msg!("age-days", count = days),
    }
}

/// A time in the zone of this machine.
pub(crate) fn time(time: Timestamp) -> String {
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// What requests cost; unknown, or a lower bound, where the price of a model is not known.
pub(crate) fn cost(total: &RequestTotals) -> String {
    match total.unpriced {
        0 => format_dollars(total.cost_usd),
        _ if total.cost_usd == 0.0 => msg!("session-cost-unknown"),
        _ => format!("> {}", format_dollars(total.cost_usd)),
    }
}
