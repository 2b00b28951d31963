//! Charts as SVG: bars in parts and lines, with axes, a legend, tooltips, columns that take the keyboard's focus, and a table
//! behind each. The drawing stretches to the width of the page; labels are HTML beside it, so that they stay readable.

use maud::{Markup, PreEscaped, html};

use crate::message_catalog::msg;

/// The size of the drawing before scaling.
const WIDTH: f64 = 1_000.0;
const HEIGHT: f64 = 300.0;
/// The share of a column's room that its bar takes, where there are few.
const BAR: f64 = 0.8;
/// With more columns, bars touch.
const CLOSE: usize = 60;

/// A column: its parts from the bottom up, by class, and what a tooltip says.
pub(crate) struct ChartColumn {
    pub(crate) label: String,
    pub(crate) parts: Vec<(&'static str, f64)>,
    /// Marked at the top: something happened.
    pub(crate) is_marked: bool,
}

/// A line: its class and its values, one for each column.
pub(crate) struct ChartLine {
    pub(crate) class: String,
    pub(crate) values: Vec<f64>,
}

/// What stands around a drawing.
pub(crate) struct ChartFrame {
    pub(crate) title: String,
    /// Top, middle and bottom.
    pub(crate) y_labels: [String; 3],
    /// Left, middle and right.
    pub(crate) x_labels: [String; 3],
    /// Class and meaning.
    pub(crate) legend: Vec<(String, String)>,
    pub(crate) table: Markup,
}

/// Bars, with a dashed line at a limit.
pub(crate) fn bars(
    frame: &ChartFrame,
    columns: &[ChartColumn],
    top: f64,
    limit: Option<f64>,
) -> Markup {
    let step = WIDTH / count(columns.len()).max(1.0);
    let width = if columns.len() > CLOSE { step } else { step * BAR };
    let height = |value: f64| if top > 0.0 { value / top * HEIGHT } else { 0.0 };
    let shapes = html! {
        @for (place, column) in columns.iter().enumerate() {
            @let left = count(place) * step;
            g data-label=(column.label) role="img" aria-label=(column.label) {
                title { (column.label) }
                rect class="hit" x=(fixed(left)) y="0" width=(fixed(step)) height=(fixed(HEIGHT)) {}
                (stack(column, left + (step - width) / 2.0, width, &height))
                @if column.is_marked {
                    line class="broke" x1=(fixed(left + step / 2.0)) x2=(fixed(left + step / 2.0)) y1="0" y2="24" {}
                }
            }
        }
        @if let Some(limit) = limit {
            @let y = fixed(HEIGHT - height(limit));
            line class="limit" x1="0" x2=(fixed(WIDTH)) y1=(y) y2=(y) {}
        }
    };
    framed(frame, &shapes)
}

fn stack(column: &ChartColumn, left: f64, width: f64, height: &impl Fn(f64) -> f64) -> Markup {
    let mut y = HEIGHT;
    let parts: Vec<(&str, f64, f64)> = column
        .parts
        .iter()
        .map(|(class, value)| {
            let high = height(*value);
            y -= high;
            (*class, y, high)
        })
        .collect();
    html! {
        @for (class, y, high) in parts.into_iter().filter(|(_, _, high)| *high > 0.0) {
            rect class=(class) x=(fixed(left)) y=(fixed(y)) width=(fixed(width)) height=(fixed(high)) {}
        }
    }
}

/// Lines over the same columns, from the lowest value to the highest.
pub(crate) fn lines(frame: &ChartFrame, lines: &[ChartLine], low: f64, high: f64) -> Markup {
    let span = (high - low).max(f64::MIN_POSITIVE);
    let y = |value: f64| HEIGHT - (value - low) / span * HEIGHT;
    let points = |line: &ChartLine| {
        let step = WIDTH / count(line.values.len().saturating_sub(1)).max(1.0);
        let point =
            |(at, value): (usize, &f64)| format!("{:.1},{:.1}", count(at) * step, y(*value));
        line.values.iter().enumerate().map(point).collect::<Vec<_>>().join(" ")
    };
    let shapes = html! {
        line class="zero" x1="0" x2=(fixed(WIDTH)) y1=(fixed(y(0.0))) y2=(fixed(y(0.0))) {}
        @for line in lines { polyline class={ "layer " (line.class) } points=(points(line)) {} }
    };
    framed(frame, &shapes)
}

fn framed(frame: &ChartFrame, shapes: &Markup) -> Markup {
    let [top, middle, bottom] = &frame.y_labels;
    let [left, between, right] = &frame.x_labels;
    html! {
        figure class="chart" {
            figcaption { (frame.title) }
            (legend(&frame.legend))
            div class="frame" {
                div class="y" aria-hidden="true" { span { (top) } span { (middle) } span { (bottom) } }
                svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="group" aria-label=(frame.title) { (shapes) }
                div class="x" aria-hidden="true" { span { (left) } span { (between) } span { (right) } }
            }
            output class="soft" aria-live="polite" { (PreEscaped("&nbsp;")) }
            details class="figures" { summary { (msg!("chart-table")) } (frame.table) }
        }
    }
}

fn legend(entries: &[(String, String)]) -> Markup {
    html! {
        @if !entries.is_empty() {
            p class="legend" { @for (class, name) in entries { span { i class=(class) {} (name) } " " } }
        }
    }
}

/// A table: names on the left, numbers on the right.
pub(crate) fn table(
    label: &str,
    head: &[String],
    rows: impl Iterator<Item = Vec<String>>,
) -> Markup {
    html! {
        div class="wide" tabindex="0" role="group" aria-label=(label) {
            table {
                thead { tr { @for name in head { th scope="col" { (name) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}

fn fixed(value: f64) -> String {
    format!("{value:.2}")
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(crate) fn count(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
pub(crate) fn amount(count: u64) -> f64 {
    count as f64
}
