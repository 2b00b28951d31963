//! How well "says the same already" is judged, on pairs written by hand, and how quickly.

use dormouse_memory::{Claims, find_repeated};

use super::facts::Fact;
use super::score::number;
use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection, FigureUnit};

const TUNED: &str = include_str!("../../../crates/memory/src/repetition/pairs.txt");
const UNSEEN: &str = include_str!("../../../crates/memory/src/repetition/unseen.txt");
/// How many texts one is compared with.
const KNOWN: usize = 1_000;

/// Pairs and how they are judged.
#[derive(Debug, Default)]
struct Judged {
    same: usize,
    new: usize,
    /// The same, and taken for it.
    found: usize,
    /// New, and taken for the same.
    wrong: usize,
}

impl Judged {
    fn of(table: &str) -> Self {
        let mut judged = Self::default();
        for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let Some((verdict, (known, proposed))) = line
                .split_once(' ')
                .and_then(|(verdict, texts)| Some((verdict, texts.split_once(" => ")?)))
            else {
                crate::fail::fail(&format!("a pair that can not be read: {line}"))
            };
            let is_said = find_repeated(&Claims::of(proposed), [&Claims::of(known)]).is_some();
            judged.add(verdict == "same", is_said);
        }
        judged
    }

    /// Every wording of every fact beside every wording of every other, and of itself.
    fn of_facts(facts: &[Fact]) -> Self {
        let claims = |fact: &Fact| fact.wordings.clone().map(|wording| Claims::of(&wording));
        let claims: Vec<[Claims; 3]> = facts.iter().map(claims).collect();
        let mut judged = Self::default();
        for (place, proposed) in claims.iter().enumerate() {
            for (other, known) in claims.iter().enumerate() {
                for (proposed, known) in
                    proposed.iter().flat_map(|p| known.iter().map(move |k| (p, k)))
                {
                    judged.add(place == other, find_repeated(proposed, [known]).is_some());
                }
            }
        }
        judged
    }

    fn add(&mut self, is_same: bool, is_said: bool) {
        let (all, said) = if is_same {
            (&mut self.same, &mut self.found)
        } else {
            (&mut self.new, &mut self.wrong)
        };
        *all += 1;
        *said += usize::from(is_said);
    }

    fn figures(&self, name: &str) -> [BenchFigure; 3] {
        let share = |part: usize, whole: usize| 100.0 * number(part) / number(whole.max(1));
        let figure = |what: &str, part, whole| {
            let figure =
                BenchFigure::new(format!("{name}: {what}"), share(part, whole), FigureUnit::Share);
            figure.beside(format!("{part} of {whole}"))
        };
        [
            figure("precision", self.found, self.found + self.wrong),
            figure("recall", self.found, self.same),
            figure("new ones taken for known", self.wrong, self.new),
        ]
    }
}

/// The figures.
pub(super) fn run(facts: &[Fact]) -> BenchSection {
    let how = format!(
        "Pairs of a known and a proposed text, in English, in Chinese and across, half of the new ones being updates \
         or near misses. *made with*: the rules and the table of words were chosen on them. *unseen*: written \
         afterwards and used for nothing else. *facts of `echo`*: every wording of every fact of the sessions beside \
         every other; the table of words was extended for them. Speed: one fact beside {KNOWN} memories, all of them made ready \
         before; and making one ready. The build of this benchmark counts: `--release` or not."
    );
    let mut section = BenchSection::new("says the same already", how);
    section.add(Judged::of(TUNED).figures("made with"));
    section.add(Judged::of(UNSEEN).figures("unseen"));
    section.add(Judged::of_facts(facts).figures("facts of `echo`"));
    section.add(speed(facts));
    section
}

fn speed(facts: &[Fact]) -> [BenchFigure; 2] {
    let texts: Vec<&str> =
        facts.iter().flat_map(|fact| fact.wordings.iter().map(String::as_str)).collect();
    let (mut ready, mut compare) = (Samples::default(), Samples::default());
    let known: Vec<Claims> =
        texts.iter().cycle().take(KNOWN).map(|text| ready.time(|| Claims::of(text))).collect();
    let others =
        TUNED.lines().filter_map(|line| line.split_once(" => ")).map(|(_, proposed)| proposed);
    for proposed in others.take(100).map(Claims::of) {
        compare.time(|| find_repeated(&proposed, &known));
    }
    [
        BenchFigure::median("one beside 1000", &compare).aim_below(1.0),
        BenchFigure::median("one made ready", &ready),
    ]
}
