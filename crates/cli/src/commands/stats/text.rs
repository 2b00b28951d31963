//! A metrics summary as text. Empty sections are left out.

use std::collections::BTreeMap;

use dormouse_base::group_digits;
use dormouse_conversation::metrics::{MetricsSummary, RequestTotals};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::terminal::table::{NumberTable, dollars, percent, size, time, tokens};

pub(crate) fn text(summary: &MetricsSummary) -> String {
    let sections = [
        overview(summary),
        requests("requests for", &summary.by_purpose),
        if summary.by_model.len() > 1 {
            requests("model", &summary.by_model)
        } else {
            String::new()
        },
        cache_breaks(summary),
        layers(summary),
        tools(summary),
        jobs(summary),
        memories(summary),
        breakers(summary),
        unread(summary),
    ];
    let sections: Vec<String> = sections.into_iter().filter(|part| !part.is_empty()).collect();
    sections.join("\n")
}

/// Requests and tokens in one line, the cost in a second.
pub(crate) fn spent(spent: &RequestTotals) -> String {
    let usage = spent.usage;
    let cached = match spent.cache_hit_rate() {
        Some(rate) => format!(" ({} from the cache)", percent(Some(rate))),
        None => String::new(),
    };
    format!(
        "{}, {} tokens in{cached}, {} out\n{}",
        counted(spent.requests, "request"),
        tokens(usage.input_total()),
        tokens(usage.output_tokens),
        cost(spent)
    )
}

fn overview(summary: &MetricsSummary) -> String {
    let Some(period) = summary.period else { return String::new() };
    let (first, last) = (day(period.first), day(period.last));
    let when = if first == last { first } else { format!("{first} to {last}") };
    format!("{when}, {}\n{}\n", counted(summary.sessions, "session"), spent(&summary.total))
}

fn requests(title: &str, groups: &BTreeMap<String, RequestTotals>) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let mut table =
        NumberTable::new(&[title, "sent", "failed", "tokens in", "cached", "out", "cost", "time"]);
    for (name, spent) in groups {
        table.row(
            name,
            [
                group_digits(spent.requests),
                group_digits(spent.failed + spent.interrupted),
                tokens(spent.usage.input_total()),
                percent(spent.cache_hit_rate()),
                tokens(spent.usage.output_tokens),
                short_cost(spent),
                time(spent.duration_ms),
            ],
        );
    }
    table.render()
}

fn cache_breaks(summary: &MetricsSummary) -> String {
    if summary.cache_breaks.is_empty() {
        return String::new();
    }
    let causes = summary.cache_breaks.iter().map(|(cause, count)| {
        let words = match cause.as_str() {
            "model" => "the model changed",
            "system" => "the system prompt changed",
            "tools" => "the tools changed",
            "options" => "the options of the request changed",
            // In logs of earlier versions.
            "head" => "the system prompt or the tools changed",
            "message" => "an earlier message changed",
            "time_to_live" => "the cache had expired",
            "unknown" => "unknown: the request had not changed",
            other => other,
        };
        format!("  {count} × {words}\n")
    });
    format!("unannounced cache breaks\n{}", causes.collect::<String>())
}

fn layers(summary: &MetricsSummary) -> String {
    if summary.layers.is_empty() {
        return String::new();
    }
    let mut table = NumberTable::new(&[
        "layer",
        "fired",
        "tokens freed",
        "changed",
        "summaries",
        "prefix changed",
    ]);
    for (name, layer) in &summary.layers {
        table.row(
            name,
            [layer.fired, layer.freed_tokens, layer.changed, layer.summaries, layer.prefix_changes]
                .map(group_digits),
        );
    }
    let mut text = table.render();
    if summary.summaries() > 0 {
        let (made, sessions) = (summary.summaries(), summary.sessions.max(1));
        text.push_str(&format!(
            "summaries per session: {}.{}\n",
            made / sessions,
            made * 10 / sessions % 10
        ));
    }
    for (name, layer) in &summary.layers {
        let Some(kept) = layer.kept.mean() else { continue };
        text.push_str(&format!(
            "kept by the summaries of {name}: {} % of names, {} % of your messages\n",
            kept.names_percent, kept.user_messages_percent
        ));
    }
    text
}

fn tools(summary: &MetricsSummary) -> String {
    if summary.tools.is_empty() {
        return String::new();
    }
    let mut table = NumberTable::new(&["tool", "calls", "denied", "failed", "stored", "time"]);
    for (name, tool) in &summary.tools {
        table.row(
            name,
            [
                group_digits(tool.calls),
                group_digits(tool.denied),
                group_digits(tool.failed),
                size(tool.stored_bytes),
                time(tool.duration_ms),
            ],
        );
    }
    table.render()
}

fn jobs(summary: &MetricsSummary) -> String {
    if summary.jobs.is_empty() {
        return String::new();
    }
    let head =
        ["background task", "runs", "skipped", "failed", "killed", "requests", "changed", "denied"];
    let mut table = NumberTable::new(&head);
    for (name, job) in &summary.jobs {
        table.row(
            name,
            [job.runs, job.skipped, job.failed, job.killed, job.turns, job.changed, job.denied]
                .map(group_digits),
        );
    }
    table.render()
}

fn memories(summary: &MetricsSummary) -> String {
    let memory = summary.memory;
    let kept = [
        (memory.written, "written"),
        (memory.corrected, "corrected"),
        (memory.undone, "undone"),
        (memory.dropped, "proposed and dropped"),
    ];
    let used =
        [(memory.recalled, "recalled"), (memory.cited, "cited"), (memory.helpful, "helpful")];
    if kept.iter().chain(&used).all(|(count, _)| *count == 0) {
        return String::new();
    }
    let line = |counts: &[(u64, &str)]| {
        let counts = counts.iter().map(|(count, what)| format!("{} {what}", group_digits(*count)));
        format!("memories: {}\n", counts.collect::<Vec<_>>().join(", "))
    };
    let rate = match memory.pollution_rate() {
        Some(rate) => format!("corrected or undone of those written: {}\n", percent(Some(rate))),
        None => String::new(),
    };
    format!("{}{rate}{}", line(&kept), line(&used))
}

fn breakers(summary: &MetricsSummary) -> String {
    let lines = summary.breakers.iter().map(|(name, breaker)| {
        let times = counted(breaker.opened, "time");
        let open = counted(breaker.open, "session");
        format!("circuit breaker {name}: opened {times}; still open in {open}\n")
    });
    lines.collect()
}

fn unread(summary: &MetricsSummary) -> String {
    let mut text = String::new();
    for (kind, count) in &summary.unknown_kinds {
        text.push_str(&format!("{} of unknown kind {kind}\n", counted(*count, "metric")));
    }
    if summary.unreadable_lines > 0 {
        let lines = counted(summary.unreadable_lines, "line");
        text.push_str(&format!("{lines} of the log unreadable\n"));
    }
    text
}

/// The cost, and the number of requests without a known price.
fn cost(spent: &RequestTotals) -> String {
    let known = dollars(spent.cost_usd);
    match spent.unpriced {
        0 => format!("cost {known}"),
        all if spent.cost_usd == 0.0 => {
            format!("cost unknown: no price for the model of {}", counted(all, "request"))
        }
        some => format!("cost {known}, and {} without a known price", counted(some, "request")),
    }
}

fn short_cost(spent: &RequestTotals) -> String {
    match spent.unpriced {
        0 => dollars(spent.cost_usd),
        _ if spent.cost_usd == 0.0 => "?".to_owned(),
        _ => format!("> {}", dollars(spent.cost_usd)),
    }
}

fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", group_digits(count))
}

fn day(moment: Timestamp) -> String {
    moment.to_zoned(TimeZone::system()).date().to_string()
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
