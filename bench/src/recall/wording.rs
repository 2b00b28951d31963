//! Learning what the words of a message tell about whether any memory helps with it: a logistic model over the words of the
//! files for practice.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_search::{MessageWording, Tokenizer};

use super::data::DataFile;
use super::quality::ratio;

/// A word in fewer collections than these may be that of one project.
const LEAST_COLLECTIONS: usize = 3;
/// Strength of the pull of weights towards zero.
const RIDGE: f64 = 0.003;
const ROUNDS: usize = 1500;
const RATE: f64 = 0.3;
/// Smaller weights are left out of the list.
const LEAST_WEIGHT: f64 = 0.05;
/// The messages of one part of the collections are judged by what was learned from the other parts.
const PARTS: usize = 8;

/// Name of a file and place of a collection in it.
type CollectionKey<'a> = (&'a str, usize);

/// A message for which it is known whether any memory helps.
pub(super) struct Example<'a> {
    collection: CollectionKey<'a>,
    text: &'a str,
    words: BTreeSet<String>,
    is_unspaced: bool,
    is_helped: bool,
}

/// The messages of the files for practice, of the collections at these places.
pub(super) fn examples<'a>(
    files: impl Iterator<Item = &'a DataFile>,
    has: impl Fn(usize) -> bool,
) -> Vec<Example<'a>> {
    let tokenizer = Tokenizer::new();
    let mut examples = Vec::new();
    for file in files.filter(|file| file.practice.is_some()) {
        let collections = file.collections.iter().enumerate();
        for (place, collection) in collections.filter(|(place, _)| has(*place)) {
            let mut add = |text: &'a str, is_helped| {
                examples.push(Example {
                    collection: (&file.name, place),
                    text,
                    words: MessageWording::words(&tokenizer, text),
                    is_unspaced: file.language == "zh",
                    is_helped,
                });
            };
            collection.questions().for_each(|question| add(&question.text, true));
            collection.unrelated().for_each(|question| add(&question.text, false));
        }
    }
    examples
}

/// For each collection the list that was learned without it.
pub(super) struct HeldOutWording<'a> {
    part_of: BTreeMap<CollectionKey<'a>, usize>,
    /// What was learned without each part.
    without: Vec<MessageWording>,
    tokenizer: Tokenizer,
}

impl<'a> HeldOutWording<'a> {
    pub(super) fn learn(examples: &[Example<'a>]) -> Self {
        let keys: BTreeSet<CollectionKey<'a>> = examples.iter().map(|it| it.collection).collect();
        let part_of: BTreeMap<_, _> =
            keys.into_iter().enumerate().map(|(number, key)| (key, number % PARTS)).collect();
        let is_in = |example: &Example<'a>, part| part_of.get(&example.collection) == Some(&part);
        let without = (0..PARTS.min(part_of.len())).map(|part| {
            let others: Vec<&Example<'_>> =
                examples.iter().filter(|example| !is_in(example, part)).collect();
            MessageWording::new(learn(&others))
        });
        Self { without: without.collect(), part_of, tokenizer: Tokenizer::new() }
    }

    /// What the wording of a message of a file for practice tells by the words of other collections.
    pub(super) fn figure(&self, file: &'a str, place: usize, message: &str) -> Option<f64> {
        let wording = self.without.get(*self.part_of.get(&(file, place))?)?;
        Some(wording.figure(&self.tokenizer, message))
    }
}

/// The list as it stands in the program.
pub(super) fn source(examples: &[Example<'_>]) -> String {
    let all: Vec<&Example<'_>> = examples.iter().collect();
    let mut text = format!(
        "# What each word of a message tells, learned from {} messages: above 0 if no memory helps with such messages.\n",
        all.len()
    );
    let held_out = HeldOutWording::learn(examples);
    for (is_unspaced, script) in [(false, "with"), (true, "without")] {
        let own: Vec<(f64, bool)> = examples
            .iter()
            .filter(|example| example.is_unspaced == is_unspaced)
            .filter_map(|example| {
                let (file, place) = example.collection;
                Some((held_out.figure(file, place, example.text)?, example.is_helped))
            })
            .collect();
        text.push_str(&format!(
            "# In scripts {script} spaces the words of other projects tell {:.1} % of the pairs apart.\n",
            told_apart(&own)
        ));
    }
    for (word, weight) in learn(&all) {
        text.push_str(&format!("{word} {weight:.2}\n"));
    }
    text
}

/// Of all pairs of a message that a memory helps with and another one, the share in which the other has the higher figure.
fn told_apart(figures: &[(f64, bool)]) -> f64 {
    let (helped, others): (Vec<_>, Vec<_>) = figures.iter().partition(|(_, is_helped)| *is_helped);
    let right = helped.iter().map(|(low, _)| others.iter().filter(|(it, _)| it > low).count());
    100.0 * ratio(right.sum(), helped.len() * others.len())
}

/// The weight of each word: gradient descent. Scripts have constants of their own.
fn learn<'a>(examples: &[&'a Example<'_>]) -> BTreeMap<String, f64> {
    let mut collections: BTreeMap<&'a str, BTreeSet<CollectionKey<'_>>> = BTreeMap::new();
    for example in examples {
        for word in &example.words {
            collections.entry(word).or_default().insert(example.collection);
        }
    }
    collections.retain(|_, of| of.len() >= LEAST_COLLECTIONS);
    let numbers: BTreeMap<&str, usize> =
        collections.into_keys().enumerate().map(|(number, word)| (word, number)).collect();
    let rows: Vec<Row> = examples.iter().map(|example| Row::new(example, &numbers)).collect();
    let weights = descend(&rows, numbers.len());
    let named = numbers.into_iter().zip(weights);
    let large = named.filter(|(_, weight)| weight.abs() >= LEAST_WEIGHT);
    large.map(|((word, _), weight)| (word.to_owned(), weight)).collect()
}

struct Row {
    /// Numbers of its words.
    words: Vec<usize>,
    unspaced: f64,
    unhelped: f64,
}

impl Row {
    fn new(example: &Example<'_>, numbers: &BTreeMap<&str, usize>) -> Self {
        let figure = |is_so: bool| f64::from(u8::from(is_so));
        let known = example.words.iter().filter_map(|word| numbers.get(word.as_str()).copied());
        Self {
            words: known.collect(),
            unspaced: figure(example.is_unspaced),
            unhelped: figure(!example.is_helped),
        }
    }
}

fn descend(rows: &[Row], words: usize) -> Vec<f64> {
    let share = ratio(1, rows.len());
    let (mut bias, mut of_unspaced) = (0.0, 0.0);
    let mut weights = vec![0.0_f64; words];
    for _ in 0..ROUNDS {
        let (mut bias_step, mut unspaced_step) = (0.0, 0.0);
        let mut steps: Vec<f64> = weights.iter().map(|weight| RIDGE * weight).collect();
        for Row { words, unspaced, unhelped } in rows {
            let sum: f64 = words.iter().filter_map(|word| weights.get(*word)).sum();
            let odds = bias + of_unspaced * unspaced + sum;
            let error = (1.0 / (1.0 + (-odds).exp()) - unhelped) * share;
            bias_step += error;
            unspaced_step += error * unspaced;
            for word in words {
                if let Some(step) = steps.get_mut(*word) {
                    *step += error;
                }
            }
        }
        bias -= RATE * bias_step;
        of_unspaced -= RATE * unspaced_step;
        weights.iter_mut().zip(steps).for_each(|(weight, step)| *weight -= RATE * step);
    }
    weights
}
