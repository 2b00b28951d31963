//! A profile as text, for a terminal of 80 columns.

use std::collections::BTreeMap;

use dormouse_base::group_digits;
use dormouse_context::profile::{BreakReason, CacheUse, LayerProfile, LayerStatus, Profile};
use dormouse_model::PRICES_DATED;
use jiff::tz::TimeZone;

use crate::message_catalog::msg;
use crate::terminal::table::{NumberTable, dollars, percent, tokens};
use crate::wiring::session_profile::ProfiledSession;

pub(super) fn text(session: &ProfiledSession) -> String {
    let profile = &session.profile;
    let mut parts = vec![head(session), totals(profile), requests(profile), layers(profile)];
    parts.extend(beside(session));
    parts.join("\n")
}

/// All requests of the session by purpose, where there are others than those of the conversation.
fn beside(session: &ProfiledSession) -> Option<String> {
    let log = &session.log.as_ref()?.0;
    if log.by_purpose.len() < 2 {
        return None;
    }
    let head = msg!("profile-purposes");
    let names = ["requests", "input", "read", "output", "cost"];
    let mut table = NumberTable::new([&["purpose"], &names[..]].concat());
    let total = ("all", &log.total);
    let purposes = log.by_purpose.iter().map(|(name, made)| (name.as_str(), made));
    for (name, made) in purposes.chain([total]) {
        table.row(
            name,
            [
                group_digits(made.requests),
                tokens(made.usage.input_total()),
                tokens(made.usage.cache_read_input_tokens),
                tokens(made.usage.output_tokens),
                dollars(made.cost_usd),
            ],
        );
    }
    Some(format!("{head}\n{}", table.render()))
}

fn head(session: &ProfiledSession) -> String {
    format!("Context of {}\nfrom {}\n{}\n", session.name(), session.path.display(), span(session))
}

/// Period, models and context window.
fn span(session: &ProfiledSession) -> String {
    let [first, last] = session.profile.period(&TimeZone::system());
    format!(
        "{} requests, {first} to {last}, {}; window {}",
        group_digits(session.profile.total.requests),
        session.profile.models(),
        group_digits(u64::from(session.budget.window)),
    )
}

fn totals(profile: &Profile) -> String {
    let total = &profile.total;
    let usage = &total.usage;
    let input = usage.input_total();
    let mut text = format!(
        "input   {} tokens\n  read from the cache  {} ({})\n  written to it        {}\n  not cached           {}\noutput  {} tokens\ncost    {}\n",
        tokens(input),
        tokens(usage.cache_read_input_tokens),
        percent(share(usage.cache_read_input_tokens, input)),
        tokens(usage.cache_creation_input_tokens),
        tokens(usage.input_tokens),
        tokens(usage.output_tokens),
        cost_line(profile),
    );
    text.push_str(&format!("cache   {}\n", losses(profile)));
    for (reason, times) in reasons(profile) {
        text.push_str(&format!("  {times} {}\n", reason.words()));
    }
    if total.estimated > 0 {
        text.push_str(&format!(
            "note    figures of {} requests are estimates: the server reported none\n",
            group_digits(total.estimated)
        ));
    }
    text
}

/// How often the cached prefix was lost.
fn losses(profile: &Profile) -> String {
    match profile.total.cache {
        CacheUse::None => return msg!("profile-no-cache"),
        CacheUse::Unknown => return msg!("profile-cache-unknown"),
        CacheUse::Used => {}
    }
    match profile.requests.iter().filter(|request| request.broke.is_some()).count() {
        0 => "never lost".to_owned(),
        1 => format!("{} tokens lost in one break", tokens(profile.total.lost_tokens)),
        breaks => format!("{} tokens lost in {breaks} breaks", tokens(profile.total.lost_tokens)),
    }
}

/// The reasons of cache breaks with their counts.
fn reasons(profile: &Profile) -> BTreeMap<BreakReason, u64> {
    let mut reasons: BTreeMap<BreakReason, u64> = BTreeMap::new();
    for broke in profile.requests.iter().filter_map(|request| request.broke) {
        *reasons.entry(broke.reason).or_default() += 1;
    }
    reasons
}

/// The cost, if prices are known.
fn cost(profile: &Profile) -> String {
    let total = &profile.total;
    if total.unpriced == total.requests { "unknown".to_owned() } else { dollars(total.cost_usd) }
}

/// The cost with the prices it was computed at.
fn cost_line(profile: &Profile) -> String {
    let cost = cost(profile);
    if profile.total.unpriced == profile.total.requests {
        return format!("{cost}: no price for this model (set `prices`)");
    }
    format!("{cost}, at list prices of {PRICES_DATED} and your own prices")
}

fn requests(profile: &Profile) -> String {
    let mut table =
        NumberTable::new(["request", "context", "read", "written", "uncached", "output", "cost"]);
    for request in &profile.requests {
        let usage = &request.usage;
        table.row(
            &format!("{:>4} {}", request.number, request.time(&TimeZone::system(), "%H:%M")),
            [
                tokens(request.context_tokens),
                tokens(usage.cache_read_input_tokens),
                tokens(usage.cache_creation_input_tokens),
                tokens(usage.input_tokens),
                tokens(usage.output_tokens),
                request.cost_usd.map_or("-".to_owned(), dollars),
            ],
        );
    }
    let rendered = table.render();
    let mut lines = rendered.lines();
    let mut text = String::new();
    text.push_str(lines.next().unwrap_or_default());
    for (request, line) in profile.requests.iter().zip(lines) {
        text.push('\n');
        text.push_str(line);
        if let Some(broke) = request.broke {
            text.push_str(&format!(
                "\n     ^ {}: {} tokens of the cache lost",
                broke.reason.words(),
                tokens(broke.lost_tokens)
            ));
        }
    }
    text + "\n"
}

fn layers(profile: &Profile) -> String {
    let mut table =
        NumberTable::new(["layer", "here", "runs", "kept out", "with", "without", "saves"]);
    for layer in &profile.layers {
        let price = |usd: String| if compares(profile, layer) { usd } else { "-".to_owned() };
        table.row(
            layer.layer,
            [
                status(layer),
                group_digits(layer.runs),
                tokens(layer.kept_out_tokens),
                price(dollars(layer.cost_with_usd)),
                price(dollars(layer.cost_without_usd)),
                price(saved(layer)),
            ],
        );
    }
    let mut text = table.render();
    text.push_str(&format!("\n{}\n", msg!("profile-layers-note")));
    for layer in &profile.layers {
        if let Some(number) = layer.overflows_at {
            text.push_str(&format!(
                "Without {}, the context window would be full from request {number} on.\n",
                layer.layer
            ));
        }
    }
    text
}

/// What the layer had to do with the session.
fn status(layer: &LayerProfile) -> String {
    match layer.status {
        LayerStatus::Fired => msg!("profile-status-fired"),
        LayerStatus::Idle => msg!("profile-status-idle"),
        LayerStatus::Simulated => msg!("profile-status-simulated"),
        LayerStatus::NotOffered => msg!("profile-status-not-offered"),
    }
}

/// Whether there are two costs to compare: a layer that changed nothing, and tokens without a price, have none.
fn compares(profile: &Profile, layer: &LayerProfile) -> bool {
    let is_priced = profile.total.unpriced < profile.total.requests;
    is_priced && matches!(layer.status, LayerStatus::Fired | LayerStatus::Simulated)
}

/// The signed savings of the layer.
fn saved(layer: &LayerProfile) -> String {
    let amount = layer.saved_usd();
    if amount < 0.0 { format!("-{}", dollars(-amount)) } else { dollars(amount) }
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
