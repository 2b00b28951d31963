//! The plots of a profile, as SVG that stretches to the width of the page.
//!
//! Labels are HTML next to the shapes, so that they stay readable on a narrow page. The plots contain only numbers
//! and fixed words, no text of a transcript.

use dormouse_base::group_digits;
use dormouse_context::profile::{LayerProfile, Profile, RequestProfile};
use dormouse_conversation::Budget;

use crate::terminal::table::dollars;

/// The size of the drawing before scaling.
const WIDTH: f64 = 1_000.0;
const HEIGHT: f64 = 300.0;
/// With more requests, several share a column.
const MAX_COLUMNS: usize = 400;

/// The size of each request (cache reads, cache writes, uncached), with cache breaks.
pub(super) fn contexts(profile: &Profile, budget: &Budget) -> String {
    let largest = profile.requests.iter().map(|request| request.context_tokens).max().unwrap_or(0);
    let threshold = u64::from(budget.auto_compact);
    // A threshold far above all requests would flatten the plot.
    let with_line = largest.saturating_mul(2) > threshold;
    let top = if with_line { largest.max(threshold) } else { largest }.max(1);
    let columns = columns(&profile.requests);
    let width = WIDTH / number(columns.len() as u64).max(1.0);
    let mut shapes = String::new();
    for (place, requests) in columns.iter().enumerate() {
        let left = number(place as u64) * width;
        shapes.push_str(&column(requests, left, width, number(top)));
    }
    if with_line {
        let y = HEIGHT - number(threshold) / number(top) * HEIGHT;
        shapes.push_str(&format!(
            r#"<line class="limit" x1="0" x2="{WIDTH}" y1="{y:.1}" y2="{y:.1}"/>"#
        ));
    }
    let label = |tokens: u64| format!("{}k", group_digits(tokens / 1_000));
    let y = [label(top), label(top / 2), "0".to_owned()];
    framed(&shapes, &y, profile.requests.len(), "context tokens of each request")
}

/// Groups requests into columns; a column shows its largest request.
fn columns(requests: &[RequestProfile]) -> Vec<&[RequestProfile]> {
    requests.chunks(requests.len().div_ceil(MAX_COLUMNS).max(1)).collect()
}

fn column(requests: &[RequestProfile], left: f64, width: f64, top: f64) -> String {
    let Some(request) = requests.iter().max_by_key(|request| request.context_tokens) else {
        return String::new();
    };
    let usage = &request.usage;
    let parts = [
        ("read", usage.cache_read_input_tokens),
        ("written", usage.cache_creation_input_tokens),
        ("uncached", usage.input_tokens),
    ];
    let mut shapes = format!("<g><title>{}</title>", tooltip(request));
    let mut y = HEIGHT;
    for (class, tokens) in parts {
        let height = number(tokens) / top * HEIGHT;
        y -= height;
        if tokens > 0 {
            shapes.push_str(&format!(
                r#"<rect class="{class}" x="{left:.2}" y="{y:.2}" width="{width:.2}" height="{height:.2}"/>"#
            ));
        }
    }
    if requests.iter().any(|request| request.broke.is_some()) {
        let middle = left + width / 2.0;
        shapes.push_str(&format!(
            r#"<line class="broke" x1="{middle:.2}" x2="{middle:.2}" y1="0" y2="24"/>"#
        ));
    }
    shapes + "</g>"
}

fn tooltip(request: &RequestProfile) -> String {
    let usage = &request.usage;
    let mut words = format!(
        "request {}: {} tokens, {} read from the cache, {} written to it, {} uncached",
        request.number,
        group_digits(request.context_tokens),
        group_digits(usage.cache_read_input_tokens),
        group_digits(usage.cache_creation_input_tokens),
        group_digits(usage.input_tokens)
    );
    if let Some(broke) = request.broke {
        words.push_str(&format!(
            "; {} lost: {}",
            group_digits(broke.lost_tokens),
            broke.reason.words()
        ));
    }
    words
}

/// Whether a layer changed anything, or would have.
pub(super) fn acted(layer: &LayerProfile) -> bool {
    layer.runs > 0 || layer.calls > 0
}

/// Cumulative savings of each layer. The class of a line is the index of the layer.
pub(super) fn savings(profile: &Profile) -> String {
    let lines: Vec<(usize, Vec<f64>)> = profile
        .layers
        .iter()
        .enumerate()
        .filter(|(_, layer)| acted(layer))
        .map(|(place, layer)| (place, cumulative(layer, &profile.requests)))
        .collect();
    let all = || lines.iter().flat_map(|(_, line)| line.iter().copied());
    let (low, high) = (all().fold(0.0, f64::min), all().fold(0.0, f64::max));
    let height = (high - low).max(f64::MIN_POSITIVE);
    let y = |value: f64| HEIGHT - (value - low) / height * HEIGHT;
    let mut shapes =
        format!(r#"<line class="zero" x1="0" x2="{WIDTH}" y1="{0:.1}" y2="{0:.1}"/>"#, y(0.0));
    for (place, line) in &lines {
        let step = WIDTH / number(line.len().saturating_sub(1) as u64).max(1.0);
        let points: Vec<String> = line
            .iter()
            .enumerate()
            .map(|(at, value)| format!("{:.1},{:.1}", number(at as u64) * step, y(*value)))
            .collect();
        shapes.push_str(&format!(
            r#"<polyline class="layer l{place}" points="{}"/>"#,
            points.join(" ")
        ));
    }
    let label =
        |value: f64| if value < 0.0 { format!("-{}", dollars(-value)) } else { dollars(value) };
    let labels = [label(high), String::new(), label(low)];
    framed(&shapes, &labels, profile.requests.len(), "dollars saved by each layer, cumulative")
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

/// Adds axis labels to a drawing.
fn framed(shapes: &str, y: &[String; 3], requests: usize, name: &str) -> String {
    let [top, middle, bottom] = y;
    format!(
        r#"<div class="frame"><div class="y"><span>{top}</span><span>{middle}</span><span>{bottom}</span></div>
<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{name}">{shapes}</svg>
<div class="x"><span>1</span><span>request</span><span>{requests}</span></div></div>"#
    )
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn number(count: u64) -> f64 {
    count as f64
}
