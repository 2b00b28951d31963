//! The tables of a run, as markdown.

use std::time::Duration;

use dormouse_model::{CacheTtl, cost_usd, list_price};

use super::haul::HaulOutcome;
use super::ledger::{Counts, Sum};
use super::length::Length;
use super::rows::{HaulRow, Pace, RowWindow};
use super::small_model::SMALL_MODEL;
use crate::memory::megabytes;
use crate::results::DETAILS;

/// The layers whose work is counted, by their names in the figures.
const LAYERS: [&str; 8] = [
    "stored_results",
    "snip",
    "time_clearing",
    "cache_edits",
    "server_clearing",
    "collapse",
    "notes_compaction",
    "auto_compact",
];

/// One line for whoever waits.
pub(super) fn line(name: &str, outcome: &HaulOutcome, model: &str) -> String {
    let growth = Growth::of(outcome);
    format!(
        "{name}: {} turns in {:.0} s, {} requests, {:.2} dollars, {growth}",
        outcome.turns,
        outcome.wall.as_secs_f64(),
        outcome.counts.all.requests,
        whole_cost(&outcome.counts, model),
    )
}

/// What each compaction kept, as the program measured it.
fn kept(outcomes: &[(&HaulRow, HaulOutcome)]) -> String {
    let head = [
        "Kept by compactions",
        "Compactions measured",
        "Names, % (least, mean)",
        "User messages, % (least, mean)",
        "User's words checked and found",
        "Names kept by each, %",
    ];
    table(
        &head,
        outcomes.iter().filter(|(_, outcome)| !outcome.figures.kept.is_empty()).map(
            |(row, outcome)| {
                let kept = &outcome.figures.kept;
                let names: Vec<u8> = kept.iter().map(|kept| kept.names_percent).collect();
                let messages: Vec<u8> =
                    kept.iter().map(|kept| kept.user_messages_percent).collect();
                let each: Vec<String> = names.iter().map(u8::to_string).collect();
                vec![
                    row.name.to_owned(),
                    kept.len().to_string(),
                    least_and_mean(&names),
                    least_and_mean(&messages),
                    outcome.counts.words_checked.to_string(),
                    each.join(" "),
                ]
            },
        ),
    )
}

fn least_and_mean(shares: &[u8]) -> String {
    let least = shares.iter().min().copied().unwrap_or(0);
    let sum: f64 = shares.iter().copied().map(f64::from).sum();
    let many = u32::try_from(shares.len()).unwrap_or(u32::MAX).max(1);
    format!("{least}, {:.1}", sum / f64::from(many))
}

/// All tables.
pub(super) fn render(outcomes: &[(&HaulRow, HaulOutcome)], length: &Length) -> String {
    let mut text = format!(
        "\nOne process in a terminal, a window of {} tokens; the same prompts, calls and answers in every row. \
         Tokens as the emulated server counts them (a quarter of the bytes), {}, prices of {}; the small model is {SMALL_MODEL}. \
         The model hands work to subagents, memories are recalled and extracted, and there is a dream every {} turns. In every row: every \
         change of what had been sent announced by a layer's figure, the user's words looked for in the first request after \
         every compaction, and every prompt in the transcript at the end.\n",
        length.window,
        if length.has_cache { "a cache of five minutes" } else { "no cache" },
        length.model,
        length.dream_every,
    );
    let model = &length.model;
    text.push_str(&costs(outcomes, model));
    text.push_str(&savings(outcomes, model));
    text.push_str(&cheapest(outcomes, model));
    text.push_str(DETAILS);
    text.push_str(&work(outcomes, model));
    text.push_str(&services(outcomes, model));
    text.push_str(&kept(outcomes));
    text.push_str(&growths(outcomes));
    text
}

fn costs(outcomes: &[(&HaulRow, HaulOutcome)], model: &str) -> String {
    let head = [
        "Row",
        "Turns",
        "Requests",
        "Tokens sent",
        "Read from the cache",
        "Answered",
        "Largest request",
        "Refused",
        "Cost",
        "Of it background",
    ];
    table(
        &head,
        outcomes.iter().map(|(row, outcome)| {
            let counts = &outcome.counts;
            let usage = counts.all.usage;
            vec![
                row.name.to_owned(),
                outcome.turns.to_string(),
                counts.all.requests.to_string(),
                millions(usage.input_total()),
                percent(usage.cache_read_input_tokens, usage.input_total()),
                millions(usage.output_tokens),
                counts.largest.to_string(),
                counts.refused.to_string(),
                format!("${:.2}", whole_cost(counts, model)),
                format!(
                    "{:.1} %",
                    background_cost(counts, model) * 100.0 / whole_cost(counts, model)
                ),
            ]
        }),
    )
}

fn work(outcomes: &[(&HaulRow, HaulOutcome)], model: &str) -> String {
    let mut head = vec!["Times each layer fired"];
    head.extend(LAYERS);
    head.extend([
        "Summary calls",
        "Span calls",
        "Notes calls",
        "Forks with bytes of their own",
        "Breaks, announced",
        "Words checked",
        "Requests of agents",
        "Of agents that are forks",
    ]);
    table(
        &head,
        outcomes.iter().map(|(row, outcome)| {
            let counts = &outcome.counts;
            let fired =
                |name: &&str| outcome.figures.layers.get(*name).copied().unwrap_or(0).to_string();
            let mut cells = vec![row.name.to_owned()];
            cells.extend(LAYERS.iter().map(fired));
            let sums = [counts.calls.summaries, counts.calls.spans, counts.calls.notes];
            cells.extend(sums.iter().map(|sum| calls(sum, model)));
            cells.extend([
                counts.own_bytes.to_string(),
                counts.breaks.to_string(),
                counts.words_checked.to_string(),
                counts.agents.to_string(),
                counts.forked.to_string(),
            ]);
            cells
        }),
    )
}

/// What is done for its own sake: how much of it, and what its requests cost.
fn services(outcomes: &[(&HaulRow, HaulOutcome)], model: &str) -> String {
    let head = [
        "Services",
        "Extraction as a fork",
        "By the small model",
        "Memories saved",
        "Choices for recall",
        "Memories recalled (tokens)",
        "Dreams",
        "Their requests",
        "Files they changed",
    ];
    table(
        &head,
        outcomes.iter().map(|(row, outcome)| {
            let (sums, figures) = (&outcome.counts.calls, &outcome.figures);
            vec![
                row.name.to_owned(),
                calls(&sums.extraction, model),
                calls(&sums.small, SMALL_MODEL),
                figures.saved.to_string(),
                calls(&sums.recall, SMALL_MODEL),
                format!("{} ({})", figures.recalled.0, figures.recalled.1),
                figures.dreams.to_string(),
                calls(&sums.dreams, model),
                figures.dreamt.to_string(),
            ]
        }),
    )
}

fn growths(outcomes: &[(&HaulRow, HaulOutcome)]) -> String {
    let head = [
        "Growth",
        "Turn, first fifth",
        "Turn, last fifth",
        "Ratio",
        "Processor time a turn, first fifth",
        "Last fifth",
        "Ratio",
        "Memory, first fifth",
        "Memory, last fifth",
        "Ratio",
    ];
    table(
        &head,
        outcomes.iter().map(|(row, outcome)| {
            let growth = Growth::of(outcome);
            let [time_first, time_last] = growth.times.map(|time| format!("{time:.1} ms"));
            let [first, last] = growth.memory.map(|memory| format!("{memory:.1} MB"));
            vec![
                row.name.to_owned(),
                time_first,
                time_last,
                format!("{:.2}", growth.of_time()),
                format!("{:.1} ms", growth.work.0),
                format!("{:.1} ms", growth.work.1),
                format!("{:.2}", growth.work.1 / growth.work.0),
                first,
                last,
                format!("{:.2}", growth.of_memory()),
            ]
        }),
    )
}

/// What each layer saves, and what each service costs: the cost without it, to that with it.
fn savings(outcomes: &[(&HaulRow, HaulOutcome)], model: &str) -> String {
    let compared = |is_service: bool, title: &str| {
        let head = [title, "Cost without", "Cost with", "Without, to with", "With, above without"];
        let of_kind = |(row, _): &&(&HaulRow, HaulOutcome)| {
            !row.switches.is_empty() && row.is_service == is_service
        };
        let others = outcomes.iter().filter(of_kind);
        table(&head, others.filter_map(|(row, outcome)| saving(row, outcome, outcomes, model)))
    };
    compared(false, "What a layer saves") + &compared(true, "What a service costs")
}

/// Rows that send the same (checkpoints, progress summaries) differ by up to this part: when something in the background is
/// done decides which request it comes with.
const NOISE: f64 = 0.005;

/// Which of the rows that differ in a layer, not in a service, are cheaper than as shipped by more than noise.
fn cheapest(outcomes: &[(&HaulRow, HaulOutcome)], model: &str) -> String {
    let Some((_, shipped)) = outcomes.iter().find(|(row, _)| row.is_as_shipped()) else {
        return String::new();
    };
    let whole = |outcome: &HaulOutcome| whole_cost(&outcome.counts, model);
    let cheaper = outcomes.iter().filter(|(row, outcome)| {
        let is_compared = !row.is_service && row.pace == Pace::Steady;
        let limit = whole(shipped) * (1.0 - NOISE);
        is_compared && outcome.turns == shipped.turns && whole(outcome) < limit
    });
    let named: Vec<String> =
        cheaper.map(|(row, outcome)| format!("{} (${:.2})", row.name, whole(outcome))).collect();
    let shipped = whole(shipped);
    match named.as_slice() {
        [] => format!(
            "\nOf the rows above that switch a layer, none is cheaper than as shipped (${shipped:.2}) by more than {:.1} %.\n",
            NOISE * 100.0
        ),
        named => format!(
            "\nCheaper than as shipped (${shipped:.2}) by more than {:.1} %: {}.\n",
            NOISE * 100.0,
            named.join(", ")
        ),
    }
}

fn saving(
    row: &HaulRow,
    outcome: &HaulOutcome,
    outcomes: &[(&HaulRow, HaulOutcome)],
    model: &str,
) -> Option<Vec<String>> {
    let as_shipped = |(other, of): &&(&HaulRow, HaulOutcome)| {
        other.switches.is_empty() && other.pace == row.pace && of.turns == outcome.turns
    };
    let shipped = whole_cost(&outcomes.iter().find(as_shipped)?.1.counts, model);
    let own = whole_cost(&outcome.counts, model);
    let (without, with) = if row.turns_on() { (shipped, own) } else { (own, shipped) };
    let name = match row.window {
        RowWindow::AsGiven if row.switches.len() > 1 => row.name.to_owned(),
        RowWindow::Endless => "all of them, to a window without an end".to_owned(),
        RowWindow::AsGiven => {
            let layer = row.name.rsplit_once(' ').map_or(row.name, |(_, layer)| layer);
            let pace = if row.pace == Pace::WithPauses { ", with pauses" } else { "" };
            format!("{layer}{pace}")
        }
    };
    Some(vec![
        name,
        format!("${without:.2}"),
        format!("${with:.2}"),
        format!("{:.3}", without / with),
        format!("{:+.2} %", (with - without) * 100.0 / without),
    ])
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("\n| {} |\n|{}\n", head.join(" | "), " --- |".repeat(head.len()));
    for row in rows {
        text.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    text
}

/// So many requests, and what they cost.
fn calls(sum: &Sum, model: &str) -> String {
    match sum.requests {
        0 => "0".to_owned(),
        requests => format!("{requests} (${:.2})", cost(sum, model)),
    }
}

fn cost(sum: &Sum, model: &str) -> f64 {
    let price = list_price(model).expect("a price");
    cost_usd(&sum.usage, price, CacheTtl::FiveMinutes)
}

/// Everything, with what the small model did.
fn whole_cost(counts: &Counts, model: &str) -> f64 {
    let small = [counts.calls.small, counts.calls.recall];
    cost(&counts.all, model) + small.iter().map(|sum| cost(sum, SMALL_MODEL)).sum::<f64>()
}

fn background_cost(counts: &Counts, model: &str) -> f64 {
    let forks = [counts.calls.notes, counts.calls.extraction, counts.calls.dreams];
    let forks: f64 = forks.iter().map(|sum| cost(sum, model)).sum();
    forks + cost(&counts.calls.small, SMALL_MODEL)
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn millions(tokens: u64) -> String {
    format!("{:.2} M", tokens as f64 / 1_000_000.0)
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn percent(part: u64, of: u64) -> String {
    format!("{:.1} %", part as f64 * 100.0 / of.max(1) as f64)
}

/// Medians of the first and of the last fifth.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Growth {
    /// In milliseconds.
    times: [f64; 2],
    /// In milliseconds, the mean: a single turn takes few ticks.
    work: (f64, f64),
    /// In megabytes.
    memory: [f64; 2],
}

impl Growth {
    fn of(outcome: &HaulOutcome) -> Self {
        let times = fifths(&outcome.times).map(|time| time.as_secs_f64() * 1_000.0);
        Self {
            times,
            work: mean_fifths(&outcome.work),
            memory: fifths(&outcome.memory).map(megabytes),
        }
    }

    fn of_time(self) -> f64 {
        let [first, last] = self.times;
        last / first
    }

    fn of_memory(self) -> f64 {
        let [first, last] = self.memory;
        last / first
    }
}

impl std::fmt::Display for Growth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let work = self.work.1 / self.work.0;
        write!(
            f,
            "time per turn x{:.2}, work x{work:.2}, memory x{:.2}",
            self.of_time(),
            self.of_memory()
        )
    }
}

/// The means of the first and of the last fifth, in milliseconds.
fn mean_fifths(values: &[Duration]) -> (f64, f64) {
    let fifth = values.len().div_ceil(5);
    let from = values.len().saturating_sub(fifth);
    let mean = |part: Option<&[Duration]>| {
        let part = part.unwrap_or_default();
        let parts = u32::try_from(part.len()).unwrap_or(u32::MAX).max(1);
        part.iter().sum::<Duration>().as_secs_f64() * 1_000.0 / f64::from(parts)
    };
    (mean(values.get(..fifth)), mean(values.get(from..)))
}

fn fifths<T: Ord + Copy + Default>(values: &[T]) -> [T; 2] {
    let fifth = values.len().div_ceil(5);
    let from = values.len().saturating_sub(fifth);
    [values.get(..fifth), values.get(from..)].map(|part| {
        let mut part = part.unwrap_or_default().to_vec();
        part.sort();
        part.get(part.len() / 2).copied().unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifths_are_medians_of_the_ends() {
        let values: Vec<u64> = (0..10).collect();
        assert_eq!(fifths(&values), [1, 9]);
        let times: Vec<Duration> = (0..10).map(Duration::from_millis).collect();
        let (first, last) = mean_fifths(&times);
        assert!((first - 0.5).abs() < 1e-9 && (last - 8.5).abs() < 1e-9);
        assert_eq!(fifths::<Duration>(&[]), [Duration::ZERO; 2]);
    }
}
