//! Figures over time: cost, cache, layers, memory.

use dormouse_base::{format_dollars, format_percent, group_digits};
use dormouse_conversation::metrics::{MetricsSummary, RequestTotals};
use jiff::civil::Date;
use maud::{Markup, html};

use crate::charts::{self, ChartColumn, ChartFrame, ChartLine, amount, table};
use crate::message_catalog::msg;
use crate::model::figures::{Figures, FiguresQuery, RecallPeriod};
use crate::pages::words;

pub(crate) fn page(figures: &Figures, query: &FiguresQuery) -> Markup {
    html! {
        h1 { (msg!("figures-title")) }
        (form(query))
        @if figures.total.is_empty() { p class="empty" { (msg!("figures-none")) } }
        (tiles(figures))
        (cost(figures))
        (cache(figures))
        (memory(figures))
        (recall(figures))
        (by_name(&msg!("figures-by-model"), figures.total.by_model.iter()))
        (by_name(&msg!("figures-by-task"), figures.total.by_purpose.iter()))
        (layers(&figures.total))
    }
}

fn form(query: &FiguresQuery) -> Markup {
    html! {
        form class="search" method="get" action="/figures" {
            div class="filters" {
                label { span class="label" { (msg!("figures-period")) }
                    select name="days" {
                        @for days in [7_u16, 30, 90, 365] {
                            option value=(days) selected[days == query.days()] { (msg!("figures-days", count = days)) }
                        }
                    }
                }
                label { span class="label" { (msg!("figures-projects")) }
                    select name="projects" {
                        option value="" { (msg!("figures-this-project")) }
                        option value="all" selected[query.projects == "all"] { (msg!("figures-all-projects")) }
                    }
                }
                button { (msg!("figures-show")) }
            }
        }
    }
}

fn tiles(figures: &Figures) -> Markup {
    let total = &figures.total;
    let helped = figures.usage.cited + figures.usage.heeded;
    html! {
        dl class="tiles" {
            div { dt { (msg!("figures-cost")) } dd { (words::cost(&total.total)) } }
            div { dt { (msg!("figures-cache-hit")) } dd { (format_percent(total.total.cache_hit_rate())) } }
            div { dt { (msg!("figures-requests")) } dd { (group_digits(total.total.requests)) } }
            div { dt { (msg!("figures-sessions")) } dd { (group_digits(total.sessions)) } }
            div { dt { (msg!("figures-pollution")) } dd { (format_percent(total.memory.pollution_rate())) } }
            div { dt { (msg!("figures-recalled")) } dd { (group_digits(figures.usage.recalled)) } }
            div { dt { (msg!("figures-helped")) } dd { (group_digits(helped)) } }
        }
    }
}

/// A chart of one column a day, and the table behind it.
struct DailyChart<'a> {
    title: String,
    legend: Vec<(String, String)>,
    top: f64,
    top_label: String,
    column: &'a dyn Fn(&Date, &MetricsSummary) -> ChartColumn,
    head: Vec<String>,
    row: &'a dyn Fn(&MetricsSummary) -> Vec<String>,
}

impl DailyChart<'_> {
    fn draw(self, figures: &Figures) -> Markup {
        let Self { title, legend, top, top_label, column, head, row } = self;
        let columns: Vec<ChartColumn> =
            figures.days.iter().map(|(day, summary)| column(day, summary)).collect();
        let day = |found: Option<&(Date, MetricsSummary)>| {
            found.map_or_else(String::new, |(day, _)| day.to_string())
        };
        let head: Vec<String> = std::iter::once(msg!("figures-day")).chain(head).collect();
        let active = figures.days.iter().filter(|(_, summary)| !summary.is_empty());
        let rows = active.map(|(day, summary)| {
            std::iter::once(day.to_string()).chain(row(summary)).collect::<Vec<_>>()
        });
        let frame = ChartFrame {
            y_labels: [top_label, String::new(), "0".to_owned()],
            x_labels: [day(figures.days.first()), String::new(), day(figures.days.last())],
            table: table(&title, &head, rows),
            title,
            legend,
        };
        charts::bars(&frame, &columns, top, None)
    }
}

fn cost(figures: &Figures) -> Markup {
    let highest = figures.days.iter().map(|(_, day)| day.total.cost_usd).fold(0.0, f64::max);
    DailyChart {
        title: msg!("figures-cost-by-day"),
        legend: Vec::new(),
        top: highest,
        top_label: format_dollars(highest),
        column: &|day, summary| ChartColumn {
            label: format!("{day}: {}", words::cost(&summary.total)),
            parts: vec![("written", summary.total.cost_usd)],
            is_marked: false,
        },
        head: vec![msg!("figures-cost"), msg!("figures-requests"), msg!("figures-sessions")],
        row: &|summary| {
            vec![
                words::cost(&summary.total),
                group_digits(summary.total.requests),
                group_digits(summary.sessions),
            ]
        },
    }
    .draw(figures)
}

fn cache(figures: &Figures) -> Markup {
    let highest = figures.days.iter().map(|(_, day)| day.total.usage.input_total()).max();
    let highest = highest.unwrap_or(0);
    let legend = vec![
        ("read".to_owned(), msg!("profile-read")),
        ("written".to_owned(), msg!("profile-written")),
        ("uncached".to_owned(), msg!("profile-uncached")),
        ("broke".to_owned(), msg!("profile-broke")),
    ];
    DailyChart {
        title: msg!("figures-tokens-by-day"),
        legend,
        top: amount(highest),
        top_label: group_digits(highest),
        column: &|day, summary| {
            let usage = &summary.total.usage;
            let rate = format_percent(summary.total.cache_hit_rate());
            ChartColumn {
                label: msg!(
                    "figures-cache-tooltip",
                    day = day.to_string(),
                    tokens = group_digits(usage.input_total()),
                    rate = rate
                ),
                parts: vec![
                    ("read", amount(usage.cache_read_input_tokens)),
                    ("written", amount(usage.cache_creation_input_tokens)),
                    ("uncached", amount(usage.input_tokens)),
                ],
                is_marked: !summary.cache_breaks.is_empty(),
            }
        },
        head: vec![msg!("profile-input"), msg!("figures-cache-hit"), msg!("figures-breaks")],
        row: &|summary| {
            vec![
                group_digits(summary.total.usage.input_total()),
                format_percent(summary.total.cache_hit_rate()),
                group_digits(summary.cache_breaks.values().sum()),
            ]
        },
    }
    .draw(figures)
}

fn memory(figures: &Figures) -> Markup {
    let sum = |day: &MetricsSummary| {
        day.memory.recalled + day.memory.written + day.memory.undone + day.memory.corrected
    };
    let highest = figures.days.iter().map(|(_, day)| sum(day)).max().unwrap_or(0);
    let legend = vec![
        ("l2".to_owned(), msg!("figures-recalled")),
        ("l0".to_owned(), msg!("figures-written")),
        ("broke".to_owned(), msg!("figures-corrected")),
    ];
    DailyChart {
        title: msg!("figures-memory-by-day"),
        legend,
        top: amount(highest),
        top_label: group_digits(highest),
        column: &|day, summary| {
            let memory = &summary.memory;
            let corrected = memory.corrected + memory.undone;
            ChartColumn {
                label: msg!(
                    "figures-memory-tooltip",
                    day = day.to_string(),
                    recalled = memory.recalled,
                    written = memory.written,
                    corrected = corrected
                ),
                parts: vec![
                    ("fill l2", amount(memory.recalled)),
                    ("fill l0", amount(memory.written)),
                    ("fill broke", amount(corrected)),
                ],
                is_marked: false,
            }
        },
        head: vec![
            msg!("figures-recalled"),
            msg!("figures-written"),
            msg!("figures-corrected"),
            msg!("figures-pollution"),
        ],
        row: &|summary| {
            let memory = &summary.memory;
            vec![
                group_digits(memory.recalled),
                group_digits(memory.written),
                group_digits(memory.corrected + memory.undone),
                format_percent(memory.pollution_rate()),
            ]
        },
    }
    .draw(figures)
}

/// A figure of recall.
type RecallCount = fn(&RecallPeriod) -> u64;

/// Whether the memories that recall puts in are of use: the counts of each memory, by day or week.
fn recall(figures: &Figures) -> Markup {
    let periods = figures.recall();
    let title = msg!("figures-recall");
    if periods.iter().all(RecallPeriod::is_empty) {
        return html! { h2 { (title) } p class="empty" { (msg!("figures-recall-none")) } };
    }
    let lines: [(&str, String, RecallCount); 3] = [
        ("l2", msg!("figures-put-in"), |period| period.put_in),
        ("l1", msg!("figures-cited"), |period| period.cited),
        ("l0", msg!("figures-helpful"), |period| period.helpful),
    ];
    let highest = lines.iter().flat_map(|(_, _, value)| periods.iter().map(value)).max();
    let highest = highest.unwrap_or(0);
    let name = |period: &RecallPeriod| {
        let RecallPeriod { first, last, .. } = period;
        if first == last { first.to_string() } else { format!("{first} – {last}") }
    };
    let day = |date: Option<Date>| date.map_or_else(String::new, |date| date.to_string());
    let head: Vec<String> = std::iter::once(msg!("figures-day"))
        .chain(lines.iter().map(|(_, name, _)| name.clone()))
        .collect();
    let rows = periods.iter().filter(|period| !period.is_empty()).map(|period| {
        let values = lines.iter().map(|(_, _, value)| group_digits(value(period)));
        std::iter::once(name(period)).chain(values).collect::<Vec<_>>()
    });
    let frame = ChartFrame {
        y_labels: [group_digits(highest), String::new(), "0".to_owned()],
        x_labels: [
            day(periods.first().map(|period| period.first)),
            String::new(),
            day(periods.last().map(|period| period.last)),
        ],
        table: table(&title, &head, rows),
        legend: lines.iter().map(|(class, name, _)| ((*class).to_owned(), name.clone())).collect(),
        title,
    };
    let drawn = lines.map(|(class, _, value)| ChartLine {
        class: class.to_owned(),
        values: periods.iter().map(|period| amount(value(period))).collect(),
    });
    html! {
        (charts::lines(&frame, &drawn, 0.0, amount(highest)))
        p class="soft" { (msg!("figures-recall-how")) }
    }
}

fn by_name<'a>(
    title: &str,
    totals: impl Iterator<Item = (&'a String, &'a RequestTotals)>,
) -> Markup {
    let head = [
        msg!("figures-name"),
        msg!("figures-cost"),
        msg!("figures-requests"),
        msg!("profile-input"),
        msg!("figures-cache-hit"),
        msg!("profile-output"),
    ];
    let rows = totals.map(|(name, totals)| {
        vec![
            name.clone(),
            words::cost(totals),
            group_digits(totals.requests),
            group_digits(totals.usage.input_total()),
            format_percent(totals.cache_hit_rate()),
            group_digits(totals.usage.output_tokens),
        ]
    });
    html! { h2 { (title) } (table(title, &head, rows)) }
}

fn layers(total: &MetricsSummary) -> Markup {
    let head = [
        msg!("profile-layer"),
        msg!("profile-runs"),
        msg!("profile-freed"),
        msg!("figures-summaries"),
        msg!("figures-kept-names"),
        msg!("figures-kept-messages"),
    ];
    let percent = |value: Option<u8>| value.map_or("-".to_owned(), |value| format!("{value} %"));
    let rows = total.layers.iter().map(|(name, layer)| {
        let kept = layer.kept.mean();
        vec![
            words::layer(name),
            group_digits(layer.fired),
            group_digits(layer.freed_tokens),
            group_digits(layer.summaries),
            percent(kept.map(|kept| kept.names_percent)),
            percent(kept.map(|kept| kept.user_messages_percent)),
        ]
    });
    html! { h2 { (msg!("figures-layers")) } (table(&msg!("figures-layers"), &head, rows)) }
}
