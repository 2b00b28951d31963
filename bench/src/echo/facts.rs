//! The facts of the replayed sessions, each in three wordings, and who is the first to say it.

const FACTS: &str = include_str!("facts.txt");
const SERIES: &str = include_str!("series.txt");

/// Who says a fact first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FactOrigin {
    /// It is a memory from the start.
    Memory,
    /// It stands in the project's instruction file.
    Instructions,
    /// The user types it in some session.
    Person,
    /// The assistant concludes it in some session.
    Agent,
}

impl FactOrigin {
    /// Whether it is news in its session.
    pub(super) fn is_news(self) -> bool {
        matches!(self, Self::Person | Self::Agent)
    }
}

/// A fact.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    pub(super) origin: FactOrigin,
    /// The type of a memory of it.
    pub(super) kind: String,
    /// In English, in other English words, in Chinese.
    pub(super) wordings: [String; 3],
    /// A question that brings it up.
    pub(super) question: String,
}

impl Fact {
    /// A wording, by a number.
    pub(super) fn wording(&self, number: usize) -> &str {
        self.wordings.get(number % self.wordings.len()).map_or("", String::as_str)
    }

    /// The first of its wordings that stands in a text, by its number.
    pub(super) fn seen_in(&self, text: &str) -> Option<usize> {
        self.wordings.iter().position(|wording| text.contains(wording.as_str()))
    }
}

/// All facts: those of the table, then those of the series, one of each series after the other.
pub(super) fn all() -> Vec<Fact> {
    let mut facts: Vec<Fact> = rows(FACTS).map(|row| of_row(&row)).collect();
    let series: Vec<Vec<Fact>> = rows(SERIES).map(|row| of_series(&row)).collect();
    let longest = series.iter().map(Vec::len).max().unwrap_or(0);
    for place in 0..longest {
        facts.extend(series.iter().filter_map(|facts| facts.get(place).cloned()));
    }
    facts
}

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split('|').map(str::trim).collect())
}

fn of_row(row: &[&str]) -> Fact {
    let [origin, kind, english, other, chinese, question] = row else {
        crate::fail::fail(&format!("facts.txt: {row:?} has not six columns"))
    };
    let origin = match *origin {
        "memory" => FactOrigin::Memory,
        "instructions" => FactOrigin::Instructions,
        "person" => FactOrigin::Person,
        "agent" => FactOrigin::Agent,
        other => crate::fail::fail(&format!("facts.txt: nobody is called {other}")),
    };
    let wordings = [english, other, chinese].map(|text| (*text).to_owned());
    Fact { origin, kind: (*kind).to_owned(), wordings, question: (*question).to_owned() }
}

fn of_series(row: &[&str]) -> Vec<Fact> {
    let [kind, english, other, chinese, values] = row else {
        crate::fail::fail(&format!("series.txt: {row:?} has not five columns"))
    };
    let fact = |(a, b): (&str, &str)| {
        let filled = |text: &&str| text.replace("{a}", a).replace("{b}", b);
        Fact {
            origin: FactOrigin::Person,
            kind: (*kind).to_owned(),
            wordings: [english, other, chinese].map(filled),
            question: format!("What do we know about {a} and {b}?"),
        }
    };
    values.split(", ").filter_map(|pair| pair.split_once('=')).map(fact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wording_stands_in_another_and_there_are_enough() {
        let facts = all();
        assert!(facts.iter().filter(|fact| fact.origin.is_news()).count() >= 200);
        let wordings: Vec<&String> = facts.iter().flat_map(|fact| &fact.wordings).collect();
        for (place, wording) in wordings.iter().enumerate() {
            let others = wordings.iter().enumerate().filter(|(other, _)| *other != place);
            assert!(
                others.into_iter().all(|(_, other)| !other.contains(wording.as_str())),
                "{wording}"
            );
        }
    }
}
