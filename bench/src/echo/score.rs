//! What the sessions have left, counted in the files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dormouse_memory::{INDEX, MemoryEntry};

use super::facts::{Fact, FactOrigin};
use super::play::EchoStage;
use crate::report::{BenchFigure, BenchSection, FigureUnit};

/// Counts.
#[derive(Debug, Default)]
pub(super) struct Score {
    /// Memories that extraction wrote and that can be recalled.
    pub(super) stored: usize,
    /// Facts that were known from the start, written again.
    pub(super) junk: Vec<String>,
    /// News that is stored more than once.
    pub(super) doubled: Vec<String>,
    /// News that is not stored.
    pub(super) missed: Vec<String>,
    news: usize,
    quarantined_news: usize,
    quarantined_other: usize,
    waiting: usize,
    unknown: Vec<String>,
}

impl Score {
    /// Looks at a stage after its sessions.
    pub(super) fn of(stage: &EchoStage, facts: &[Fact]) -> Self {
        let mut score = Self { news: news(facts).count(), ..Self::default() };
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, fact) in facts.iter().enumerate() {
            places.extend(fact.wordings.iter().map(|wording| (wording.as_str(), place)));
        }
        let (mut copies, mut quarantined) = (vec![Vec::new(); facts.len()], vec![0; facts.len()]);
        for path in memories(&stage.home.dormouse_home()) {
            let bytes = std::fs::read(&path).expect("a memory");
            let entry = MemoryEntry::read(&bytes, bytes.len() as u64);
            let text = entry.text().trim().to_owned();
            match places.get(text.as_str()) {
                None => score.unknown.push(text),
                Some(place) if entry.header.quarantined => add(&mut quarantined, *place),
                Some(place) => copies.get_mut(*place).expect("a fact").push(text),
            }
        }
        for (place, fact) in facts.iter().enumerate() {
            let copies = copies.get(place).map(Vec::as_slice).unwrap_or_default();
            score.count(fact, copies, quarantined.get(place).copied().unwrap_or(0));
        }
        score.waiting = waiting(stage);
        score
    }

    fn count(&mut self, fact: &Fact, copies: &[String], quarantined: usize) {
        // What was there from the start was not written by extraction.
        let from_start = usize::from(fact.origin == FactOrigin::Memory);
        self.stored += copies.len().saturating_sub(from_start);
        if !fact.origin.is_news() {
            self.quarantined_other += quarantined;
            self.junk.extend(copies.iter().skip(from_start).cloned());
            return;
        }
        self.doubled
            .extend(copies.iter().skip(1).map(|copy| format!("{copy} ({})", fact.wording(0))));
        match (copies.is_empty(), quarantined) {
            (false, more) => self.quarantined_other += more,
            (true, 0) => self.missed.push(fact.wording(0).to_owned()),
            (true, more) => {
                self.quarantined_news += 1;
                self.quarantined_other += more - 1;
            }
        }
    }

    /// The figures, with their aims where the guard is on.
    pub(super) fn section(&self, name: &'static str, how: String, has_aims: bool) -> BenchSection {
        let mut section = BenchSection::new(name, how);
        let share = |part: usize, whole: usize| 100.0 * number(part) / number(whole.max(1));
        let aim = |figure: BenchFigure, below: f64| {
            if has_aims { figure.aim_below(below) } else { figure }
        };
        let bad = self.junk.len() + self.doubled.len() + self.unknown.len();
        let beside = format!(
            "{} known before and {} twice, of {}",
            self.junk.len(),
            self.doubled.len(),
            self.stored
        );
        let junk = BenchFigure::new(
            "junk and duplicates among what is stored",
            share(bad, self.stored),
            FigureUnit::Share,
        );
        let dropped = BenchFigure::new(
            "news that is not stored",
            share(self.missed.len(), self.news),
            FigureUnit::Share,
        );
        let beside_dropped = format!("{} of {}", self.missed.len(), self.news);
        section.add([
            aim(junk.beside(beside), 2.0),
            aim(dropped.beside(beside_dropped), 5.0),
            BenchFigure::new(
                "news that waits in quarantine",
                number(self.quarantined_news),
                FigureUnit::Count,
            ),
            BenchFigure::new(
                "other memories in quarantine",
                number(self.quarantined_other),
                FigureUnit::Count,
            ),
            BenchFigure::new(
                "changes that wait in the inbox",
                number(self.waiting),
                FigureUnit::Count,
            ),
        ]);
        section
    }
}

fn news(facts: &[Fact]) -> impl Iterator<Item = &Fact> {
    facts.iter().filter(|fact| fact.origin.is_news())
}

fn add(counts: &mut [usize], place: usize) {
    if let Some(count) = counts.get_mut(place) {
        *count += 1;
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of memories are small")]
pub(super) fn number(count: usize) -> f64 {
    count as f64
}

fn waiting(stage: &EchoStage) -> usize {
    let output = stage.home.run(stage.program().args(["memory", "inbox", "--json"]));
    let listed: serde_json::Value = serde_json::from_str(&output.stdout).unwrap_or_default();
    listed.as_array().map_or(0, Vec::len)
}

/// The files of all memory directories.
fn memories(home: &Path) -> Vec<PathBuf> {
    let mut folders = vec![home.join("memory")];
    let projects = std::fs::read_dir(home.join("projects")).into_iter().flatten().flatten();
    folders.extend(projects.map(|project| project.path().join("memory")));
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md")
                && path.file_name().is_some_and(|name| name != INDEX)
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
