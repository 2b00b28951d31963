//! How well "says the same already" is judged, on pairs written by hand, and how quickly.

use dormouse_memory::{Claims, already_said};

use super::facts::Fact;
use super::score::number;
use crate::measure::Samples;
use crate::report::{Figure, Section, Unit};

const TUNED: &str = include_str!("../../../crates/memory/src/same/pairs.txt");
const UNSEEN: &str = include_str!("../../../crates/memory/src/same/unseen.txt");
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
                crate::fail(&format!("a pair that can not be read: {line}"))
            };
            let is_said = already_said(&Claims::of(proposed), [&Claims::of(known)]).is_some();
            let (all, said) = match verdict {
                "same" => (&mut judged.same, &mut judged.found),
                _ => (&mut judged.new, &mut judged.wrong),
            };
            *all += 1;
            *said += usize::from(is_said);
        }
        judged
    }

    fn figures(&self, name: &str) -> [Figure; 3] {
        let share = |part: usize, whole: usize| 100.0 * number(part) / number(whole.max(1));
        let figure = |what: &str, part, whole| {
            let figure = Figure::new(format!("{name}: {what}"), share(part, whole), Unit::Share);
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
pub(super) fn run(facts: &[Fact]) -> Section {
    let how = format!(
        "Pairs of a known and a proposed text, in English, in Chinese and across, half of the new ones being updates \
         or near misses. *made with*: the rules and the table of words were chosen on them. *unseen*: written \
         afterwards and used for nothing else. Speed: one fact beside {KNOWN} memories, all of them made ready \
         before; and making one ready. The build of this benchmark counts: `--release` or not."
    );
    let mut section = Section::new("says the same already", how);
    section.add(Judged::of(TUNED).figures("made with"));
    section.add(Judged::of(UNSEEN).figures("unseen"));
    section.add(speed(facts));
    section
}

fn speed(facts: &[Fact]) -> [Figure; 2] {
    let texts: Vec<&str> =
        facts.iter().flat_map(|fact| fact.wordings.iter().map(String::as_str)).collect();
    let (mut ready, mut compare) = (Samples::default(), Samples::default());
    let known: Vec<Claims> =
        texts.iter().cycle().take(KNOWN).map(|text| ready.time(|| Claims::of(text))).collect();
    let others =
        TUNED.lines().filter_map(|line| line.split_once(" => ")).map(|(_, proposed)| proposed);
    for proposed in others.take(100).map(Claims::of) {
        compare.time(|| already_said(&proposed, &known));
    }
    [
        Figure::median("one beside 1000", &compare).aim_below(1.0),
        Figure::median("one made ready", &ready),
    ]
}
