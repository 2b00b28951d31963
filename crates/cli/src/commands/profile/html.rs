//! A profile as an HTML page: one file, without scripts and external resources.
//!
//! Invariant: all text of a transcript or a path goes through [`escape`], and the page's content security policy
//! allows only its own style.

use std::fmt::Write as _;

use dormouse_base::group_digits;
use dormouse_context::profile::{LayerProfile, Profile, RequestProfile};
use dormouse_model::PRICES_DATED;

use super::plots::{self, acted};
use super::session::ProfiledSession;
use super::text::{compares, cost, local, losses, saved, span, status};
use crate::terminal::table::{dollars, percent};

pub(super) fn page(session: &ProfiledSession) -> String {
    let profile = &session.profile;
    let name = escape(&session.name());
    let mut body = format!(
        "<h1>Context of {name}</h1>\n<p class=\"path\">{}</p>\n<p>{}</p>\n",
        escape(&session.path.display().to_string()),
        escape(&span(session)),
    );
    body.push_str(&tiles(profile));
    body.push_str(&section(
        "Size of each request",
        &key(&CONTEXT_KEY),
        &plots::contexts(profile, &session.budget),
    ));
    body.push_str(&section(
        "Savings of each layer, cumulative",
        &legend(profile),
        &plots::savings(profile),
    ));
    body.push_str(&section("Layers", HOW, &layers(profile)));
    body.push_str(&section("Cache breaks", "", &breaks(profile)));
    body.push_str(&section("Compactions", "", &compactions(profile)));
    body.push_str(&details("All requests", &requests(profile)));
    body.push_str(&problems(session));
    format!(
        "{HEAD}<title>Context of {name}</title>\n<style>{STYLE}</style></head>\n<body>\n{body}</body></html>\n"
    )
}

const HEAD: &str = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n";
const STYLE: &str = include_str!("page.css");
const HOW: &str = "<p>Fired: acted in this session. Idle: was on, and nothing was due. Simulated: was off, or not known; what it would have done. Not offered: not by this model's server. Tokens freed: when it acted, each time once. Tokens kept out: of all requests together. Of the costs with and without it, one is the actual cost, with the layer's own calls as far as the log has them; the other is an estimate, for this layer alone with all else unchanged.</p>";

/// Escapes text for HTML content and attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in dormouse_base::printable(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

fn section(title: &str, above: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!("<section><h2>{title}</h2>\n{above}\n{content}\n</section>\n")
}

fn details(title: &str, content: &str) -> String {
    format!("<details><summary>{title}</summary>\n{content}\n</details>\n")
}

const ESTIMATED: &str = "estimated requests";

fn tiles(profile: &Profile) -> String {
    let total = &profile.total;
    let usage = &total.usage;
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    let read = usage.cache_read_input_tokens as f64 / usage.input_total().max(1) as f64;
    let tiles = [
        ("cost", cost(profile)),
        ("input tokens", group_digits(usage.input_total())),
        ("read from the cache", percent(Some(read))),
        ("output tokens", group_digits(usage.output_tokens)),
        (ESTIMATED, group_digits(total.estimated)),
    ];
    let mut html = String::from("<div class=\"tiles\">");
    for (name, value) in tiles.iter().filter(|(name, value)| *name != ESTIMATED || value != "0") {
        let _infallible = write!(html, "<div><b>{value}</b><span>{name}</span></div>");
    }
    format!(
        "{html}</div>\n<p>Cache: {}. Prices: list prices of {PRICES_DATED}, and the setting `prices`.</p>\n",
        losses(profile)
    )
}

/// The legend of the first plot: class and meaning.
const CONTEXT_KEY: [(&str, &str); 5] = [
    ("read", "read from the cache"),
    ("written", "written to it"),
    ("uncached", "not cached"),
    ("broke", "cache lost"),
    ("limit", "compaction is due"),
];

/// A legend of classes and names.
fn key(entries: &[(&str, &str)]) -> String {
    let mut html = String::from("<p class=\"legend\">");
    for (class, name) in entries {
        let _infallible = write!(html, "<span><i class=\"{class}\"></i>{name}</span> ");
    }
    html + "</p>"
}

fn legend(profile: &Profile) -> String {
    let layers = profile.layers.iter().enumerate().filter(|(_, layer)| acted(layer));
    let classes: Vec<(String, &str)> =
        layers.map(|(place, layer)| (format!("l{place}"), layer.layer)).collect();
    if classes.is_empty() {
        return "<p>No layer changed anything.</p>".to_owned();
    }
    let entries: Vec<(&str, &str)> =
        classes.iter().map(|(class, name)| (class.as_str(), *name)).collect();
    key(&entries)
}

/// A table: names on the left, numbers on the right.
fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut html = String::from("<div class=\"wide\"><table><thead><tr>");
    for name in head {
        let _infallible = write!(html, "<th>{name}</th>");
    }
    html.push_str("</tr></thead><tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for cell in row {
            let _infallible = write!(html, "<td>{}</td>", escape(&cell));
        }
        html.push_str("</tr>\n");
    }
    html + "</tbody></table></div>"
}

fn layers(profile: &Profile) -> String {
    let head = [
        "layer",
        "saves",
        "cost with",
        "cost without",
        "tokens freed",
        "tokens kept out",
        "runs",
        "model calls",
        "in this session",
    ];
    let row = |layer: &LayerProfile| {
        let price = |usd: String| if compares(profile, layer) { usd } else { "-".to_owned() };
        vec![
            layer.layer.to_owned(),
            price(saved(layer)),
            price(dollars(layer.cost_with_usd)),
            price(dollars(layer.cost_without_usd)),
            group_digits(layer.freed_tokens),
            group_digits(layer.kept_out_tokens),
            group_digits(layer.runs),
            group_digits(layer.calls),
            status(layer),
        ]
    };
    let mut html = table(&head, profile.layers.iter().map(row));
    for layer in &profile.layers {
        if let Some(number) = layer.overflows_at {
            let _infallible = write!(
                html,
                "<p>Without {}, the context window would be full from request {number} on.</p>",
                layer.layer
            );
        }
    }
    html
}

fn breaks(profile: &Profile) -> String {
    let broken = profile.requests.iter().filter_map(|request| Some((request, request.broke?)));
    let rows: Vec<Vec<String>> = broken
        .map(|(request, broke)| {
            vec![
                request.number.to_string(),
                local(request, "%Y-%m-%d %H:%M:%S"),
                broke.reason.words().to_owned(),
                group_digits(broke.lost_tokens),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    table(&["request", "at", "why", "tokens lost"], rows.into_iter())
}

fn compactions(profile: &Profile) -> String {
    if profile.compactions.is_empty() {
        return String::new();
    }
    let rows = profile.compactions.iter().map(|one| {
        vec![
            one.request.to_string(),
            one.trigger.clone(),
            one.method.clone(),
            group_digits(one.tokens_before),
            group_digits(one.tokens_after),
            one.fidelity.as_ref().map_or_else(String::new, |raw| raw.get().to_owned()),
        ]
    });
    let head = [
        "first request after",
        "trigger",
        "summary by",
        "tokens before",
        "tokens after",
        "fidelity",
    ];
    table(&head, rows)
}

fn requests(profile: &Profile) -> String {
    let head = [
        "request",
        "at",
        "model",
        "context",
        "read",
        "written",
        "uncached",
        "output",
        "cost",
        "kept out by",
    ];
    table(&head, profile.requests.iter().map(row))
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
        local(request, "%H:%M:%S"),
        request.model.clone(),
        group_digits(request.context_tokens),
        group_digits(usage.cache_read_input_tokens),
        group_digits(usage.cache_creation_input_tokens),
        group_digits(usage.input_tokens),
        group_digits(usage.output_tokens),
        request.cost_usd.map_or("-".to_owned(), dollars),
        freed.join(", "),
    ]
}

fn problems(session: &ProfiledSession) -> String {
    let problems = session.problems();
    if problems.is_empty() {
        return String::new();
    }
    let mut items = String::new();
    for problem in &problems {
        let _infallible = write!(items, "<li>{}</li>", escape(problem));
    }
    format!("<section><h2>Warnings</h2><ul>{items}</ul></section>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes() {
        assert_eq!(escape("<b a='x' c=\"y\">&"), "&lt;b a=&#39;x&#39; c=&quot;y&quot;&gt;&amp;");
        assert_eq!(escape("a\u{1b}[2Jb\u{202e}"), "a\u{fffd}[2Jb\u{fffd}");
    }
}
