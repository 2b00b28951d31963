//! A metrics summary as text. Empty sections are left out.

use std::collections::BTreeMap;

use dormouse_base::group_digits;
use dormouse_conversation::metrics::{MetricsSummary, RequestTotals};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::message_catalog::msg;
use crate::terminal::table::{NumberTable, dollars, percent, size, time, tokens};

pub(crate) fn text(summary: &MetricsSummary) -> String {
    let sections = [
        overview(summary),
        requests(msg!("stats-head-purpose"), &summary.by_purpose),
        if summary.by_model.len() > 1 {
            requests(msg!("stats-head-model"), &summary.by_model)
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
        Some(rate) => msg!("stats-cached", percent = percent(Some(rate))),
        None => String::new(),
    };
    let line = msg!(
        "stats-spent",
        requests = requests_text(spent.requests),
        input = tokens(usage.input_total()),
        cached = cached,
        output = tokens(usage.output_tokens)
    );
    format!("{line}\n{}", cost(spent))
}

fn overview(summary: &MetricsSummary) -> String {
    let Some(period) = summary.period else { return String::new() };
    let (first, last) = (day(period.first), day(period.last));
    let when = if first == last { first } else { msg!("stats-period", first = first, last = last) };
    let sessions = sessions_text(summary.sessions);
    let line = msg!("stats-overview", when = when, sessions = sessions);
    format!("{line}\n{}\n", spent(&summary.total))
}

fn requests(title: String, groups: &BTreeMap<String, RequestTotals>) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let mut table = NumberTable::new([
        title,
        msg!("stats-head-sent"),
        msg!("stats-head-failed"),
        msg!("stats-head-input"),
        msg!("stats-head-cached"),
        msg!("stats-head-output"),
        msg!("stats-head-cost"),
        msg!("stats-head-time"),
    ]);
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
            "model" => msg!("stats-break-model"),
            "system" => msg!("stats-break-system"),
            "tools" => msg!("stats-break-tools"),
            "options" => msg!("stats-break-options"),
            // In logs of earlier versions.
            "head" => msg!("stats-break-head"),
            "message" => msg!("stats-break-message"),
            "time_to_live" => msg!("stats-break-expired"),
            "unknown" => msg!("stats-break-unknown"),
            other => other.to_owned(),
        };
        format!("  {count} × {words}\n")
    });
    format!("{}\n{}", msg!("stats-cache-breaks"), causes.collect::<String>())
}

fn layers(summary: &MetricsSummary) -> String {
    if summary.layers.is_empty() {
        return String::new();
    }
    let mut table = NumberTable::new([
        msg!("stats-head-layer"),
        msg!("stats-head-fired"),
        msg!("stats-head-freed"),
        msg!("stats-head-changed"),
        msg!("stats-head-summaries"),
        msg!("stats-head-prefix"),
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
        let number = format!("{}.{}", made / sessions, made * 10 / sessions % 10);
        text.push_str(&msg!("stats-summaries", number = number));
        text.push('\n');
    }
    for (name, layer) in &summary.layers {
        let Some(kept) = layer.kept.mean() else { continue };
        text.push_str(&msg!(
            "stats-kept",
            layer = name.as_str(),
            names = kept.names_percent,
            messages = kept.user_messages_percent
        ));
        text.push('\n');
    }
    text
}

fn tools(summary: &MetricsSummary) -> String {
    if summary.tools.is_empty() {
        return String::new();
    }
    let mut table = NumberTable::new([
        msg!("stats-head-tool"),
        msg!("stats-head-calls"),
        msg!("stats-head-denied"),
        msg!("stats-head-failed"),
        msg!("stats-head-stored"),
        msg!("stats-head-time"),
    ]);
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
    let mut table = NumberTable::new([
        msg!("stats-head-task"),
        msg!("stats-head-runs"),
        msg!("stats-head-skipped"),
        msg!("stats-head-failed"),
        msg!("stats-head-killed"),
        msg!("stats-head-requests"),
        msg!("stats-head-changed"),
        msg!("stats-head-denied"),
    ]);
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
    let counts = [
        memory.written,
        memory.corrected,
        memory.undone,
        memory.dropped,
        memory.recalled,
        memory.cited,
        memory.helpful,
    ];
    if counts == [0; 7] {
        return String::new();
    }
    let [written, corrected, undone, dropped, recalled, cited, helpful] = counts.map(group_digits);
    let kept = msg!(
        "stats-memories-kept",
        written = written,
        corrected = corrected,
        undone = undone,
        dropped = dropped
    );
    let used = msg!("stats-memories-used", recalled = recalled, cited = cited, helpful = helpful);
    let rate = memory.pollution_rate();
    let rate = rate.map(|rate| msg!("stats-pollution", percent = percent(Some(rate))));
    let lines = [Some(kept), rate, Some(used)].into_iter().flatten();
    lines.map(|line| line + "\n").collect()
}

fn breakers(summary: &MetricsSummary) -> String {
    let lines = summary.breakers.iter().map(|(name, breaker)| {
        let open = sessions_text(breaker.open);
        msg!("stats-breaker", name = name.as_str(), times = breaker.opened, open = open) + "\n"
    });
    lines.collect()
}

fn unread(summary: &MetricsSummary) -> String {
    let mut text = String::new();
    for (kind, count) in &summary.unknown_kinds {
        text.push_str(&msg!("stats-unknown-kind", count = *count, kind = kind.as_str()));
        text.push('\n');
    }
    if summary.unreadable_lines > 0 {
        text.push_str(&msg!("stats-unreadable", count = summary.unreadable_lines));
        text.push('\n');
    }
    text
}

/// The cost, and the number of requests without a known price.
fn cost(spent: &RequestTotals) -> String {
    let known = dollars(spent.cost_usd);
    match spent.unpriced {
        0 => msg!("stats-cost", cost = known),
        all if spent.cost_usd == 0.0 => {
            msg!("stats-cost-unknown", requests = requests_text(all))
        }
        some => msg!("stats-cost-partly", cost = known, requests = requests_text(some)),
    }
}

fn short_cost(spent: &RequestTotals) -> String {
    match spent.unpriced {
        0 => dollars(spent.cost_usd),
        _ if spent.cost_usd == 0.0 => "?".to_owned(),
        _ => format!("> {}", dollars(spent.cost_usd)),
    }
}

fn requests_text(count: u64) -> String {
    msg!("stats-requests", count = count, number = group_digits(count))
}

fn sessions_text(count: u64) -> String {
    msg!("stats-sessions", count = count, number = group_digits(count))
}

fn day(moment: Timestamp) -> String {
    moment.to_zoned(TimeZone::system()).date().to_string()
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
