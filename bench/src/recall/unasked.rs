//! What messages bring without being asked: bodies of what is sure, lines for what is likely.

use std::collections::BTreeMap;

use dormouse_conversation::estimate_text;
use dormouse_memory::recall::{MAX_SURE, MemoryHit, RecallChoice};
use dormouse_memory::{RecalledMemoryLine, RecalledMemoryText, RecalledTexts};

use super::data::{Collection, CollectionQuestion, DataFile, Document};
use super::directory::Directory;
use super::quality::ratio;

/// The folder in shown paths: about as long as a real one.
const FOLDER: &str = "/home/person/.dormouse/projects/shop-1f0c2d/memory";
/// Name of the row for all categories with an answer.
pub(super) const ALL: &str = "all";

/// Counts over the messages of one category.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Unasked {
    messages: usize,
    /// Sum of the shares of gold among the first five.
    recall_5: f64,
    with_body: usize,
    gold_in_bodies: usize,
    gold_in_both: usize,
    bodies: usize,
    gold_bodies: usize,
    tokens: u64,
}

impl Unasked {
    fn percent(part: usize, whole: usize) -> f64 {
        100.0 * ratio(part, whole)
    }

    pub(super) fn precision(self) -> f64 {
        Self::percent(self.gold_bodies, self.bodies)
    }

    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    pub(super) fn tokens(self) -> f64 {
        self.tokens as f64 / self.messages.max(1) as f64
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            recall_5: self.recall_5 + other.recall_5,
            with_body: self.with_body + other.with_body,
            gold_in_bodies: self.gold_in_bodies + other.gold_in_bodies,
            gold_in_both: self.gold_in_both + other.gold_in_both,
            bodies: self.bodies + other.bodies,
            gold_bodies: self.gold_bodies + other.gold_bodies,
            tokens: self.tokens + other.tokens,
        }
    }

    /// A row of the table; shares with their 95 % intervals.
    pub(super) fn row(self, set: &str, category: &str) -> String {
        let cells = if category == "none" {
            "– | – | – | –".to_owned()
        } else {
            format!(
                "{:.1} | {} | {} | {:.1}",
                100.0 * self.recall_5 / ratio(self.messages.max(1), 1),
                interval(self.gold_in_bodies, self.messages),
                interval(self.gold_in_both, self.messages),
                self.precision(),
            )
        };
        format!(
            "| {set} | {category} | {} | {cells} | {} | {:.0} |\n",
            self.messages,
            interval(self.with_body, self.messages),
            self.tokens()
        )
    }
}

pub(super) const HEADING: &str = "| Set | Category | Messages | R@5 | gold in bodies | gold in bodies or lines | precision of bodies | \
     any body | tokens a message |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

/// A share in percent with its Wilson interval.
fn interval(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let (share, count) = (ratio(part, whole), ratio(whole, 1));
    let z = 1.96_f64;
    let middle = (share + z * z / (2.0 * count)) / (1.0 + z * z / count);
    let spread = z / (1.0 + z * z / count)
        * (share * (1.0 - share) / count + z * z / (4.0 * count * count)).sqrt();
    let percent = |value: f64| 100.0 * value.clamp(0.0, 1.0);
    format!(
        "{:.1} ({:.0}–{:.0})",
        100.0 * share,
        percent(middle - spread),
        percent(middle + spread)
    )
}

/// By category; [`ALL`] pools those with an answer.
pub(super) type ByCategory = BTreeMap<String, Unasked>;

/// The messages of some collections of a file, by their places.
pub(super) fn measure(
    file: &DataFile,
    directories: &[Directory],
    wanted: impl Fn(usize) -> bool,
) -> ByCategory {
    let mut figures = ByCategory::new();
    let all = file.collections.iter().zip(directories).enumerate();
    for (_, (collection, directory)) in all.filter(|(place, _)| wanted(*place)) {
        for question in collection.questions().chain(collection.unrelated()) {
            let found = ask(question, collection, directory);
            let mut add = |category: &str| {
                let known = figures.entry(category.to_owned()).or_default();
                *known = known.plus(found);
            };
            add(&question.category);
            if !question.wanted.is_empty() {
                add(ALL);
            }
        }
    }
    figures
}

fn ask(question: &CollectionQuestion, collection: &Collection, directory: &Directory) -> Unasked {
    let ranking = directory.ask(&question.text, MAX_SURE);
    let is_gold = |hit: &MemoryHit| {
        let document = document_of(hit, collection, directory);
        document.is_some_and(|document| question.is_answered_by(document))
    };
    let recall_5 =
        ratio(ranking.hits.iter().filter(|hit| is_gold(hit)).count(), question.wanted.len());
    let RecallChoice { sure, likely, .. } = RecallChoice::of(ranking);
    let gold_bodies = sure.iter().filter(|hit| is_gold(hit)).count();
    let gold_lines = likely.iter().filter(|hit| is_gold(hit)).count();
    let text = rendered(&sure, &likely, collection, directory);
    Unasked {
        messages: 1,
        recall_5,
        with_body: usize::from(!sure.is_empty()),
        gold_in_bodies: usize::from(gold_bodies > 0),
        gold_in_both: usize::from(gold_bodies + gold_lines > 0),
        bodies: sure.len(),
        gold_bodies,
        tokens: u64::from(estimate_text(&text)),
    }
}

/// What a session would be shown for a message, without being asked.
pub(crate) fn shown_text(
    question: &CollectionQuestion,
    collection: &Collection,
    directory: &Directory,
) -> String {
    let choice = RecallChoice::of(directory.ask(&question.text, MAX_SURE));
    rendered(&choice.sure, &choice.likely, collection, directory)
}

fn rendered(
    sure: &[MemoryHit],
    likely: &[MemoryHit],
    collection: &Collection,
    directory: &Directory,
) -> String {
    let documents = |hits: &[MemoryHit]| -> Vec<&Document> {
        hits.iter().filter_map(|hit| document_of(hit, collection, directory)).collect()
    };
    RecalledTexts {
        memories: documents(sure).into_iter().map(body).collect(),
        lines: documents(likely).into_iter().map(line).collect(),
    }
    .render()
}

fn document_of<'a>(
    hit: &MemoryHit,
    collection: &'a Collection,
    directory: &Directory,
) -> Option<&'a Document> {
    collection.documents.get(directory.number(hit.memory.file.as_str())?)
}

/// A memory as a session shows it.
fn body(document: &Document) -> RecalledMemoryText {
    let name = document.name.as_deref().unwrap_or("memory");
    RecalledMemoryText {
        path: format!("{FOLDER}/{name}.md"),
        age: "12 days ago".to_owned(),
        about: format!("{name}: {}", document.description.as_deref().unwrap_or_default()),
        caveat: String::new(),
        text: document.text.clone(),
    }
}

fn line(document: &Document) -> RecalledMemoryLine {
    let beginning = || document.text.chars().take(80).collect();
    RecalledMemoryLine {
        folder: FOLDER.to_owned(),
        file: format!("{}.md", document.name.as_deref().unwrap_or("memory")),
        about: document.description.clone().unwrap_or_else(beginning),
    }
}
