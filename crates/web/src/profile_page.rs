//! The profile of a session: what each request carried, what each layer saved, where the cache broke. A page of the viewer,
//! and, as one file without scripts, the page of `dormouse context --html`.

use std::path::PathBuf;

use dormouse_base::{format_dollars, format_percent, group_digits};
use dormouse_context::compact::Fidelity;
use dormouse_context::profile::{CacheUse, LayerProfile, LayerStatus, Profile, RequestProfile};
use dormouse_conversation::metrics::RequestTotals;
use dormouse_messages::Locale;
use jiff::tz::TimeZone;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::assets::STYLE;
use crate::charts::{self, ChartColumn, ChartFrame, ChartLine, amount, table};
use crate::message_catalog::msg;
use crate::pages::words;

/// With more requests, several share a column.
const MAX_COLUMNS: usize = 400;
/// Classes of lines that the style has.
const LINE_CLASSES: usize = 6;

/// A session's profile, and what else its page says.
pub struct SessionProfile {
    /// The transcript.
    pub path: PathBuf,
    /// Its profile.
    pub profile: Profile,
    /// Tokens of the context window.
    pub window: u32,
    /// Tokens at which it is compacted.
    pub auto_compact: u32,
    /// The date of the list prices.
    pub prices_dated: &'static str,
    /// Warnings.
    pub problems: Vec<String>,
    /// Requests of the session's own log, by what they were made for.
    pub by_purpose: Vec<(String, RequestTotals)>,
}

/// The profile as one file that needs nothing else.
pub fn offline_profile_page(session: &SessionProfile) -> String {
    let name = session.path.file_name().unwrap_or_default().to_string_lossy();
    let title = msg!("profile-title", name = &*name);
    // The style is the program's own text.
    let style = PreEscaped(STYLE);
    let page = html! {
        (DOCTYPE)
        html lang=(Locale::current().code()) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (style) }
            }
            body {
                main {
                    h1 { (title) }
                    p class="soft" { (printable(&session.path.display().to_string())) }
                    (profile(session))
                }
            }
        }
    };
    page.into_string()
}

/// The parts of the profile, as both pages have them.
pub(crate) fn profile(session: &SessionProfile) -> Markup {
    let profile = &session.profile;
    html! {
        p class="soft" { (span(session)) }
        (tiles(profile))
        p class="soft" { (losses(profile)) " " (msg!("profile-prices", date = session.prices_dated)) }
        (contexts(profile, session.auto_compact))
        (savings(profile))
        h2 { (msg!("profile-layers")) }
        p class="soft" { (msg!("profile-layers-how")) }
        (layers(profile))
        (breaks(profile))
        (compactions(profile))
        (purposes(session))
        details { summary { (msg!("profile-all-requests")) } (requests(profile)) }
        @if !session.problems.is_empty() {
            h2 { (msg!("profile-warnings")) }
            ul { @for problem in &session.problems { li { (printable(problem)) } } }
        }
    }
}

/// A text without control characters, which a page would show as nothing.
fn printable(text: &str) -> String {
    dormouse_base::printable(text).into_owned()
}

fn span(session: &SessionProfile) -> String {
    let [first, last] = session.profile.period(&TimeZone::system());
    msg!(
        "profile-span",
        requests = group_digits(session.profile.total.requests),
        first = first,
        last = last,
        models = printable(&session.profile.models()),
        window = group_digits(u64::from(session.window))
    )
}

fn tiles(profile: &Profile) -> Markup {
    let total = &profile.total;
    let usage = &total.usage;
    let read = amount(usage.cache_read_input_tokens) / amount(usage.input_total().max(1));
    let cost = if total.unpriced == total.requests {
        msg!("profile-unknown")
    } else {
        format_dollars(total.cost_usd)
    };
    html! {
        dl class="tiles" {
            div { dt { (msg!("profile-cost")) } dd { (cost) } }
            div { dt { (msg!("profile-input")) } dd { (group_digits(usage.input_total())) } }
            div { dt { (msg!("profile-cached")) } dd { (format_percent(Some(read))) } }
            div { dt { (msg!("profile-output")) } dd { (group_digits(usage.output_tokens)) } }
            @if total.estimated > 0 { div { dt { (msg!("profile-estimated")) } dd { (group_digits(total.estimated)) } } }
        }
    }
}

fn losses(profile: &Profile) -> String {
    match profile.total.cache {
        CacheUse::None => return msg!("profile-no-cache"),
        CacheUse::Unknown => return msg!("profile-cache-unknown"),
        CacheUse::Used => {}
    }
    match profile.requests.iter().filter(|request| request.broke.is_some()).count() {
        0 => msg!("profile-never-lost"),
        breaks => {
            msg!("profile-lost", tokens = group_digits(profile.total.lost_tokens), count = breaks)
        }
    }
}

/// Groups requests into columns; a column shows its largest request.
fn columns(requests: &[RequestProfile]) -> Vec<&[RequestProfile]> {
    requests.chunks(requests.len().div_ceil(MAX_COLUMNS).max(1)).collect()
}

/// The size of each request (cache reads, cache writes, uncached), with cache breaks.
fn contexts(profile: &Profile, auto_compact: u32) -> Markup {
    let largest = profile.requests.iter().map(|request| request.context_tokens).max().unwrap_or(0);
    let threshold = u64::from(auto_compact);
    // A threshold far above all requests would flatten the plot.
    let with_line = largest.saturating_mul(2) > threshold;
    let top = if with_line { largest.max(threshold) } else { largest }.max(1);
    let label = |tokens: u64| format!("{}k", group_digits(tokens / 1_000));
    let mut legend = vec![
        ("read".to_owned(), msg!("profile-read")),
        ("written".to_owned(), msg!("profile-written")),
        ("uncached".to_owned(), msg!("profile-uncached")),
        ("broke".to_owned(), msg!("profile-broke")),
    ];
    if with_line {
        legend.push(("limit".to_owned(), msg!("profile-limit")));
    }
    let frame = ChartFrame {
        title: msg!("profile-sizes"),
        y_labels: [label(top), label(top / 2), "0".to_owned()],
        x_labels: ["1".to_owned(), msg!("profile-request"), profile.requests.len().to_string()],
        legend,
        table: requests(profile),
    };
    let columns: Vec<ChartColumn> =
        columns(&profile.requests).into_iter().filter_map(column).collect();
    charts::bars(&frame, &columns, amount(top), with_line.then(|| amount(threshold)))
}

fn column(requests: &[RequestProfile]) -> Option<ChartColumn> {
    let request = requests.iter().max_by_key(|request| request.context_tokens)?;
    let usage = &request.usage;
    Some(ChartColumn {
        label: tooltip(request),
        parts: vec![
            ("read", amount(usage.cache_read_input_tokens)),
            ("written", amount(usage.cache_creation_input_tokens)),
            ("uncached", amount(usage.input_tokens)),
        ],
        is_marked: requests.iter().any(|request| request.broke.is_some()),
    })
}

fn tooltip(request: &RequestProfile) -> String {
    let usage = &request.usage;
    let mut words = msg!(
        "profile-tooltip",
        number = request.number,
        tokens = group_digits(request.context_tokens),
        read = group_digits(usage.cache_read_input_tokens),
        written = group_digits(usage.cache_creation_input_tokens),
        uncached = group_digits(usage.input_tokens)
    );
    if let Some(broke) = request.broke {
        let tokens = group_digits(broke.lost_tokens);
        words.push_str(&msg!(
            "profile-tooltip-lost",
            tokens = tokens,
            reason = broke.reason.words()
        ));
    }
    words
}

/// Whether a layer changed anything, or would have.
fn acted(layer: &LayerProfile) -> bool {
    layer.runs > 0 || layer.calls > 0
}

/// Cumulative savings of each layer.
fn savings(profile: &Profile) -> Markup {
    let acting: Vec<&LayerProfile> = profile.layers.iter().filter(|layer| acted(layer)).collect();
    if acting.is_empty() {
        return html! { p class="soft" { (msg!("profile-no-layer")) } };
    }
    let class = |place: usize| format!("l{}", place % LINE_CLASSES);
    let lines: Vec<ChartLine> = acting
        .iter()
        .enumerate()
        .map(|(place, layer)| ChartLine {
            class: class(place),
            values: cumulative(layer, &profile.requests),
        })
        .collect();
    let all = || lines.iter().flat_map(|line| line.values.iter().copied());
    let (low, high) = (all().fold(0.0, f64::min), all().fold(0.0, f64::max));
    let names = acting.iter().enumerate();
    let frame = ChartFrame {
        title: msg!("profile-savings"),
        y_labels: [signed(high), String::new(), signed(low)],
        x_labels: ["1".to_owned(), msg!("profile-request"), profile.requests.len().to_string()],
        legend: names.map(|(place, layer)| (class(place), words::layer(layer.layer))).collect(),
        table: layers(profile),
    };
    charts::lines(&frame, &lines, low, high)
}

/// The cumulative savings after each column.
fn cumulative(layer: &LayerProfile, requests: &[RequestProfile]) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = columns(requests).into_iter().map(|column| {
        sum += column.iter().map(|request| layer.saved_at(request)).sum::<f64>();
        sum
    });
    std::iter::once(0.0).chain(sums).collect()
}

fn signed(amount: f64) -> String {
    if amount < 0.0 { format!("-{}", format_dollars(-amount)) } else { format_dollars(amount) }
}

fn layers(profile: &Profile) -> Markup {
    let head = [
        msg!("profile-layer"),
        msg!("profile-saves"),
        msg!("profile-cost-with"),
        msg!("profile-cost-without"),
        msg!("profile-freed"),
        msg!("profile-kept-out"),
        msg!("profile-runs"),
        msg!("profile-calls"),
        msg!("profile-here"),
    ];
    let is_priced = profile.total.unpriced < profile.total.requests;
    let row = |layer: &LayerProfile| {
        let compares =
            is_priced && matches!(layer.status, LayerStatus::Fired | LayerStatus::Simulated);
        let price = |usd: String| if compares { usd } else { "-".to_owned() };
        vec![
            words::layer(layer.layer),
            price(signed(layer.saved_usd())),
            price(format_dollars(layer.cost_with_usd)),
            price(format_dollars(layer.cost_without_usd)),
            group_digits(layer.freed_tokens),
            group_digits(layer.kept_out_tokens),
            group_digits(layer.runs),
            group_digits(layer.calls),
            status(layer),
        ]
    };
    let overflowing = profile.layers.iter().filter_map(|layer| Some((layer, layer.overflows_at?)));
    html! {
        (table(&msg!("profile-layers"), &head, profile.layers.iter().map(row)))
        @for (layer, number) in overflowing {
            p { (msg!("profile-overflow", layer = words::layer(layer.layer), number = number)) }
        }
    }
}

fn status(layer: &LayerProfile) -> String {
    match layer.status {
        LayerStatus::Fired => msg!("profile-status-fired"),
        LayerStatus::Idle => msg!("profile-status-idle"),
        LayerStatus::Simulated => msg!("profile-status-simulated"),
        LayerStatus::NotOffered => msg!("profile-status-not-offered"),
    }
}

fn breaks(profile: &Profile) -> Markup {
    let zone = TimeZone::system();
    let broken = profile.requests.iter().filter_map(|request| Some((request, request.broke?)));
    let rows: Vec<Vec<String>> = broken
        .map(|(request, broke)| {
            vec![
                request.number.to_string(),
                request.time(&zone, "%Y-%m-%d %H:%M:%S"),
                broke.reason.words().to_owned(),
                group_digits(broke.lost_tokens),
            ]
        })
        .collect();
    let head = [
        msg!("profile-request"),
        msg!("profile-at"),
        msg!("profile-why"),
        msg!("profile-tokens-lost"),
    ];
    html! {
        @if !rows.is_empty() {
            h2 { (msg!("profile-breaks")) }
            (table(&msg!("profile-breaks"), &head, rows.into_iter()))
        }
    }
}

/// The shares that a summary kept, in percent; as it stands where it is of another version.
fn kept(json: &str) -> String {
    let Ok(kept) = serde_json::from_str::<Fidelity>(json) else { return printable(json) };
    let percent = |share: f64| format_percent(Some(share));
    msg!(
        "profile-kept",
        messages = percent(kept.user_messages),
        request = percent(kept.last_request),
        paths = percent(kept.paths),
        identifiers = percent(kept.identifiers),
        numbers = percent(kept.numbers),
        errors = percent(kept.errors),
        tasks = percent(kept.open_tasks)
    )
}

fn compactions(profile: &Profile) -> Markup {
    let rows = profile.compactions.iter().map(|one| {
        vec![
            one.request.to_string(),
            printable(&one.trigger),
            printable(&one.method),
            group_digits(one.tokens_before),
            group_digits(one.tokens_after),
            one.fidelity.as_ref().map_or_else(String::new, |raw| kept(raw.get())),
        ]
    });
    let head = [
        msg!("profile-first-after"),
        msg!("profile-trigger"),
        msg!("profile-method"),
        msg!("profile-before"),
        msg!("profile-after"),
        msg!("profile-fidelity"),
    ];
    html! {
        @if !profile.compactions.is_empty() {
            h2 { (msg!("profile-compactions")) }
            (table(&msg!("profile-compactions"), &head, rows))
        }
    }
}

/// All requests of the session by purpose, where there are others than those of the conversation.
fn purposes(session: &SessionProfile) -> Markup {
    let rows = session.by_purpose.iter().map(|(name, made)| {
        vec![
            printable(name),
            group_digits(made.requests),
            group_digits(made.usage.input_total()),
            group_digits(made.usage.cache_read_input_tokens),
            group_digits(made.usage.output_tokens),
            format_dollars(made.cost_usd),
        ]
    });
    let head = [
        msg!("profile-purpose"),
        msg!("profile-requests"),
        msg!("profile-input"),
        msg!("profile-read"),
        msg!("profile-output"),
        msg!("profile-cost"),
    ];
    html! {
        @if session.by_purpose.len() > 1 {
            h2 { (msg!("profile-purposes")) }
            (table(&msg!("profile-purposes"), &head, rows))
        }
    }
}

fn requests(profile: &Profile) -> Markup {
    let head = [
        msg!("profile-request"),
        msg!("profile-at"),
        msg!("profile-model"),
        msg!("profile-context"),
        msg!("profile-read"),
        msg!("profile-written"),
        msg!("profile-uncached"),
        msg!("profile-output"),
        msg!("profile-cost"),
        msg!("profile-kept-out-by"),
    ];
    table(&msg!("profile-all-requests"), &head, profile.requests.iter().map(row))
}

fn row(request: &RequestProfile) -> Vec<String> {
    let usage = &request.usage;
    let freed: Vec<String> = request
        .freed
        .iter()
        .map(|(layer, tokens)| format!("{layer} {}", group_digits(*tokens)))
        .collect();
    vec![
        request.number.to_string(),
        request.time(&TimeZone::system(), "%H:%M:%S"),
        printable(&request.model),
        group_digits(request.context_tokens),
        group_digits(usage.cache_read_input_tokens),
        group_digits(usage.cache_creation_input_tokens),
        group_digits(usage.input_tokens),
        group_digits(usage.output_tokens),
        request.cost_usd.map_or("-".to_owned(), format_dollars),
        freed.join(", "),
    ]
}
