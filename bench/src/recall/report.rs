//! The figures as tables and as JSON, beside their aims.

use serde_json::{Value, json};

use super::quality::{Means, Quality};
use super::threshold::Threshold;
use super::unasked::{self, ALL, ByCategory};
use crate::results::DETAILS;

pub(crate) const STEMMED: &str = "BM25, stems and pairs";
pub(crate) const OURS: &str = "dormouse recall";
pub(crate) const WITH_VECTORS: &str = "dormouse recall, with vectors";
/// Points of R@5 that all collections in one directory may cost.
const POURED_LOSS: f64 = 3.0;
/// Percent of foreign questions that may put anything in; percent of own that have to put in an answer.
const FOREIGN: f64 = 2.0;
const OWN: f64 = 60.0;

const QUALITY: &str = "\nR@5 / R@10 / MRR in percent: the mean share of what answers a question that is among the first 5 and 10 \
     memories, and the mean of one over the place of the first answer. Every document is a file of a memory \
     directory, and `dormouse recall` is the shipped ranking on it. *poured*: all collections of the file in \
     one directory; *with vectors*: those of `--vectors` or `--embeddings` beside the words. Questions with a wrong premise \
     are left out.\n\n";
const UNASKED: &str = "\nWhat messages bring without being asked, as the program is: *bodies* of what it is sure of, *lines* for what is \
     likely, as where the index is left out; 95 % intervals. For `none` messages nothing should come.\n\n";

pub(crate) struct RecallReport {
    pub(crate) files: Vec<FileReport>,
}

pub(crate) struct FileReport {
    pub(crate) name: String,
    pub(crate) rows: Vec<RecallRow>,
    pub(crate) thresholds: Vec<(&'static str, Threshold)>,
    /// Percent of questions that show an answer behind none, one and three unrelated sentences.
    pub(crate) behind: [f64; 3],
    /// By what the ranking used, and by category.
    pub(super) unasked: Vec<(&'static str, ByCategory)>,
    /// Other files, and the percent of this one's questions that put in anything of theirs.
    pub(crate) elsewhere: Vec<(String, f64)>,
}

/// One system on one file.
pub(crate) struct RecallRow {
    pub(crate) system: &'static str,
    /// Whether all collections were in one directory.
    pub(crate) poured: bool,
    pub(crate) quality: Quality,
}

impl RecallRow {
    pub(crate) fn poured(self) -> Self {
        Self { poured: true, ..self }
    }
}

impl RecallReport {
    pub(crate) fn json(&self) -> String {
        let files: Vec<Value> = self.files.iter().map(FileReport::json).collect();
        serde_json::to_string_pretty(&json!({ "files": files })).unwrap_or_default()
    }

    pub(crate) fn markdown(&self) -> String {
        self.figures() + DETAILS + &self.details()
    }

    /// What the ranking finds in each file, and what comes unasked, without categories.
    fn figures(&self) -> String {
        let mut text = String::from(QUALITY);
        text.push_str("| File | System | All |\n| --- | --- | --- |\n");
        for file in &self.files {
            for row in file.rows.iter().filter(|row| !row.poured) {
                let all = shown(row.quality.all);
                text.push_str(&format!("| {} | {} | {all} |\n", file.name, row.system));
            }
        }
        text + &self.unasked(|category| [ALL, "none"].contains(&category))
    }

    fn details(&self) -> String {
        let mut text = String::from(QUALITY);
        text.push_str("| File | System | All | By category |\n| --- | --- | --- | --- |\n");
        self.files.iter().for_each(|file| text.push_str(&file.quality_rows()));
        text.push_str(
            "\nAims, of R@5: not below stems and pairs; poured, at most 3 points lost.\n\n| File | Above stems and pairs | | \
             Lost when poured | |\n| --- | --- | --- | --- | --- |\n",
        );
        self.files.iter().for_each(|file| text.push_str(&file.aims_row()));
        text.push_str(
            "\nWhat would be put into a conversation without asking, at the shipped threshold. *Own*: questions that some \
             memory answers, on their own memories; *foreign*: the same questions on another collection's. Aims: at most \
             2 % of the foreign put in anything, at least 60 % of the own put in an answer.\n\n| File | Own | put in \
             anything | put in an answer | | answers among what was put in | Foreign | put in anything | |\n| --- | --- | --- \
             | --- | --- | --- | --- | --- | --- |\n",
        );
        self.files.iter().for_each(|file| text.push_str(&file.threshold_rows()));
        text.push_str(
            "\nOwn questions that put in an answer, alone and behind one and three unrelated sentences. Aim: at least 80 % of what the \
             bare question brings.\n\n| File | alone | one sentence | three sentences | |\n| --- | --- | --- | --- | --- |\n",
        );
        self.files.iter().for_each(|file| text.push_str(&file.behind_row()));
        text.push_str(&self.unasked(|_| true));
        let elsewhere: Vec<String> =
            self.files.iter().flat_map(FileReport::elsewhere_lines).collect();
        if !elsewhere.is_empty() {
            text.push_str(
                "\nThe same questions on the memories of another file, which is about other things altogether. *Foreign* above asks more \
                 than that where the people of a file wrote down the same kinds of things: there one's memories hold an answer to \
                 the other's question, and nothing in the words tells that it is not meant.\n\n",
            );
            text.push_str(&elsewhere.concat());
        }
        text
    }

    /// What comes without being asked, in these categories of the files that say for which messages nothing should.
    fn unasked(&self, of: impl Fn(&str) -> bool) -> String {
        let judged = self.files.iter().filter(|file| file.is_judged());
        let rows: String = judged.map(|file| file.unasked_rows(&of)).collect();
        if rows.is_empty() { rows } else { format!("{UNASKED}{}{rows}", unasked::HEADING) }
    }
}

fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "**MISSED**" }
}

fn shown(means: Means) -> String {
    means.percent().map(|value| format!("{value:.1}")).join(" / ")
}

impl FileReport {
    fn json(&self) -> Value {
        let means = |means: Means| {
            let [recall_5, recall_10, mrr] = means.percent();
            json!({ "questions": means.questions, "recall@5": recall_5, "recall@10": recall_10, "mrr": mrr })
        };
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                let by: serde_json::Map<String, Value> =
                    row.quality.by_category.iter().map(|(name, m)| (name.clone(), means(*m))).collect();
                json!({ "system": row.system, "poured": row.poured, "all": means(row.quality.all), "by_category": by })
            })
            .collect();
        let thresholds: Vec<Value> = self
            .thresholds
            .iter()
            .map(|(system, threshold)| {
                let (own, foreign) = threshold.counts();
                json!({
                    "system": system,
                    "own": own,
                    "own_with_anything": threshold.injected_share(),
                    "own_with_an_answer": threshold.gold_share(),
                    "precision": threshold.precision(),
                    "foreign": foreign,
                    "foreign_with_anything": threshold.foreign_share(),
                })
            })
            .collect();
        json!({
            "name": self.name,
            "rows": rows,
            "thresholds": thresholds,
            "elsewhere": self.elsewhere,
        })
    }

    fn quality_rows(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let categories: Vec<String> = row
                .quality
                .by_category
                .iter()
                .map(|(name, means)| format!("{name} ({}) {}", means.questions, shown(*means)))
                .collect();
            let poured = if row.poured { ", poured" } else { "" };
            text.push_str(&format!(
                "| {} | {}{poured} | {} | {} |\n",
                self.name,
                row.system,
                shown(row.quality.all),
                categories.join("; ")
            ));
        }
        text
    }

    fn recall_5(&self, system: &str, poured: bool) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.system == system && row.poured == poured)?;
        let [recall_5, ..] = row.quality.all.percent();
        Some(recall_5)
    }

    fn aims_row(&self) -> String {
        let of = |system, poured| self.recall_5(system, poured).unwrap_or(0.0);
        let above = of(OURS, false) - of(STEMMED, false);
        let poured = match self.recall_5(OURS, true) {
            Some(poured) => {
                let lost = of(OURS, false) - poured;
                format!("{lost:+.1} | {}", met(lost <= POURED_LOSS))
            }
            None => "one collection only | –".to_owned(),
        };
        format!("| {} | {above:+.1} | {} | {poured} |\n", self.name, met(above >= 0.0))
    }

    fn elsewhere_lines(&self) -> Vec<String> {
        let line = |(other, share): &(String, f64)| {
            format!("- {} on {other}: {share:.1} % put in anything\n", self.name)
        };
        self.elsewhere.iter().map(line).collect()
    }

    fn behind_row(&self) -> String {
        let [alone, one, three] = self.behind;
        let is_met = one.min(three) >= 0.8 * alone;
        format!("| {} | {alone:.1} % | {one:.1} % | {three:.1} % | {} |\n", self.name, met(is_met))
    }

    /// Whether the file says for which messages nothing should come.
    fn is_judged(&self) -> bool {
        self.unasked.iter().any(|(_, figures)| figures.contains_key("none"))
    }

    fn unasked_rows(&self, of: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        for (system, figures) in &self.unasked {
            let set = format!("{}{system}", self.name);
            for (category, it) in figures.iter().filter(|(category, _)| of(category)) {
                text.push_str(&it.row(&set, category));
            }
        }
        text
    }

    fn threshold_rows(&self) -> String {
        let row = |(system, threshold): &(&'static str, Threshold)| {
            let more = if *system == OURS { "" } else { ", with vectors" };
            threshold_row(&format!("{}{more}", self.name), *threshold)
        };
        self.thresholds.iter().map(row).collect()
    }
}

fn threshold_row(name: &str, threshold: Threshold) -> String {
    let (own, foreign) = threshold.counts();
    let share = threshold.gold_share();
    let foreign_share = match threshold.foreign_share() {
        Some(share) => format!("{share:.1} % | {}", met(share <= FOREIGN)),
        None => "– | –".to_owned(),
    };
    format!(
        "| {name} | {own} | {:.1} % | {share:.1} % | {} | {:.1} % | {foreign} | {foreign_share} |\n",
        threshold.injected_share(),
        met(share >= OWN),
        threshold.precision(),
    )
}
