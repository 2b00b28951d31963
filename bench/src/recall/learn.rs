//! Learning how sure a match is: a logistic model over [`Evidence`], from messages with known answers.
//!
//! Samples are the first five memories of each ranking, of files with `none` messages: only they say when nothing should be
//! shown. The questions of other files, asked on collections that they are not about, limit the thresholds.

use std::collections::BTreeMap;

use dormouse_memory::recall::MAX_SURE;
use dormouse_search::{Calibration, Evidence, ScriptCalibration};

use super::data::{Collection, CollectionQuestion, DataFile};
use super::directory::{Directory, SmallStore};
use super::wording::{self, HeldOutWording};

/// Strength of the pull of weights towards zero.
const RIDGE: f64 = 0.06;
const ROUNDS: usize = 3000;
const RATE: f64 = 0.5;
/// Percent of the `none` messages that may show a body, in stores of each size.
const UNRELATED: f64 = 10.0;
/// Percent of a file's questions that may show a body of a collection that they are not about.
const FOREIGN: f64 = 2.0;
/// Percent of shown bodies that have to be right where all memories of a project are in the store.
const PRECISION: f64 = 60.0;
/// Mean number of lines for a message. More of them bring little: one in eight is right.
const LINES: f64 = 2.3;

/// A ranking with known answers.
struct Sample {
    /// Evidence of each memory, and whether it answers.
    hits: Vec<(Evidence, bool)>,
    /// The files of these memories.
    files: Vec<String>,
    message: String,
    source: SampleSource,
    is_unspaced: bool,
    /// Name of the data file, place of the collection in it, number of memories in the store, and category of the message.
    data_file: String,
    collection: usize,
    memories: usize,
    category: String,
    /// Whether the store has all memories of the collection.
    is_whole: bool,
}

/// Where a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SampleSource {
    /// It has an answer among the memories.
    Own,
    /// Nothing should be shown for it.
    None,
    /// It was asked on another collection: it limits thresholds, and nothing is learned from it.
    Foreign,
}

/// What is learned from: a file, its collections as directories, and which of them count.
pub(super) struct Lesson<'a> {
    pub(super) file: &'a DataFile,
    pub(super) directories: &'a [Directory],
    /// For each collection, stores of a few of its memories: a match has to mean the same there.
    pub(super) small: &'a [Vec<SmallStore>],
    pub(super) half: &'a dyn Fn(usize) -> bool,
}

/// The samples as lines of JSON, to look for better figures with other tools.
pub(super) fn samples_json(lessons: &[Lesson<'_>]) -> String {
    let mut text = String::new();
    let wording = held_out(lessons);
    for lesson in lessons {
        for sample in samples(lesson, &wording) {
            let hits: Vec<_> = sample
                .hits
                .iter()
                .map(|(evidence, answers)| (evidence.values(), answers))
                .collect();
            let line = serde_json::json!({
                "file": lesson.file.name,
                "collection": sample.collection,
                "memories": sample.memories,
                "category": sample.category,
                "message": sample.message,
                "files": sample.files,
                "hits": hits,
            });
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}

/// Learns from all lessons, for each kind of script from the messages of all scripts; its thresholds are
/// chosen with its own messages.
pub(super) fn learn(lessons: &[Lesson<'_>]) -> ScriptCalibration {
    let wording = held_out(lessons);
    let samples: Vec<Sample> =
        lessons.iter().flat_map(|lesson| samples(lesson, &wording)).collect();
    let of_script = |is_unspaced: bool| {
        let own: Vec<&Sample> =
            samples.iter().filter(|sample| sample.is_unspaced == is_unspaced).collect();
        if learned(own.iter().copied()).next().is_none() {
            return Calibration::NONE;
        }
        let model = fit(&samples, is_unspaced);
        Thresholds::choose(&own, &model).applied_to(model)
    };
    ScriptCalibration { spaced: of_script(false), unspaced: of_script(true) }
}

/// The constants as they stand in the program.
pub(super) fn source(name: &str, learned: &ScriptCalibration) -> String {
    let of_script = |script: &str, learned: &Calibration| {
        let weights: Vec<String> =
            learned.weights.iter().map(|weight| format!("{weight:.3}")).collect();
        format!(
            "    {script}: Calibration {{\n        bias: {:.3},\n        weights: [{}],\n        sure: {:.3},\n        likely: {:.3},\n    }},\n",
            learned.bias,
            weights.join(", "),
            learned.sure,
            learned.likely
        )
    };
    let spaced = of_script("spaced", &learned.spaced);
    let unspaced = of_script("unspaced", &learned.unspaced);
    format!("pub const {name}: Self = Self {{\n{spaced}{unspaced}}};\n")
}

/// What the words of messages tell, for the files for practice: the list of the program was learned from the same messages.
fn held_out<'a>(lessons: &[Lesson<'a>]) -> HeldOutWording<'a> {
    let mut examples = Vec::new();
    for Lesson { file, half, .. } in lessons {
        examples.extend(wording::examples(std::iter::once(*file), half));
    }
    HeldOutWording::learn(&examples)
}

fn samples(lesson: &Lesson<'_>, wording: &HeldOutWording<'_>) -> Vec<Sample> {
    let Lesson { file, directories, small, half } = lesson;
    let collections = &file.collections;
    let mut samples = Vec::new();
    let all = collections.iter().zip(*directories).enumerate();
    for (place, (collection, directory)) in all.filter(|(place, _)| half(*place)) {
        let asked = SampledStore { file, place, collection, directory, is_whole: true, wording };
        asked.sample(&mut samples);
        for SmallStore { collection, directory } in small.get(place).into_iter().flatten() {
            let part = SampledStore { collection, directory, is_whole: false, ..asked };
            part.sample(&mut samples);
        }
        // One project's memory about deploying does fit another's message about deploying: of such files, `none` messages
        // alone say what should not be shown.
        let has_unrelated = collections.iter().any(|one| one.unrelated().next().is_some());
        let next = collections.get((place + 1) % collections.len());
        let foreign = next.filter(|_| collections.len() > 1 && !has_unrelated);
        for question in foreign.into_iter().flat_map(Collection::questions) {
            samples.push(asked.ask(question, SampleSource::Foreign));
        }
    }
    if samples.iter().all(|sample| sample.source != SampleSource::None) {
        samples.retain(|sample| sample.source == SampleSource::Foreign);
    }
    samples
}

/// A store, and where it comes from.
#[derive(Clone, Copy)]
struct SampledStore<'a> {
    file: &'a DataFile,
    /// Place of its collection in the file.
    place: usize,
    collection: &'a Collection,
    directory: &'a Directory,
    is_whole: bool,
    wording: &'a HeldOutWording<'a>,
}

impl SampledStore<'_> {
    fn sample(&self, samples: &mut Vec<Sample>) {
        let answered = self.collection.questions();
        for question in answered.filter(|question| self.collection.answers(question)) {
            samples.push(self.ask(question, SampleSource::Own));
        }
        for question in self.collection.unrelated() {
            samples.push(self.ask(question, SampleSource::None));
        }
    }

    fn ask(&self, question: &CollectionQuestion, source: SampleSource) -> Sample {
        let Self { file, place, collection, directory, is_whole, wording } = self;
        let found = directory.ask(&question.text, MAX_SURE).hits;
        let files = found.iter().map(|hit| hit.memory.file.to_string()).collect();
        let held_out = wording.figure(&file.name, *place, &question.text);
        let hits = found.into_iter().map(|mut hit| {
            if let Some(figure) = held_out {
                hit.evidence.message.wording = figure;
            }
            let number = directory.number(hit.memory.file.as_str());
            let document = number.and_then(|number| collection.documents.get(number));
            let answers = source == SampleSource::Own
                && document.is_some_and(|document| question.is_answered_by(document));
            (hit.evidence, answers)
        });
        Sample {
            hits: hits.collect(),
            files,
            message: question.text.clone(),
            source,
            is_unspaced: file.language == "zh",
            data_file: file.name.clone(),
            collection: *place,
            memories: collection.documents.len(),
            is_whole: *is_whole,
            category: match source {
                SampleSource::Foreign => "foreign".to_owned(),
                SampleSource::Own | SampleSource::None => question.category.clone(),
            },
        }
    }
}

/// Mean and deviation of each figure.
struct Scale {
    means: [f64; Evidence::COUNT],
    deviations: [f64; Evidence::COUNT],
}

impl Scale {
    fn of(hits: &[LearnedHit<'_>]) -> Self {
        let count = super::quality::ratio(hits.len(), 1);
        let mut sums = [0.0; Evidence::COUNT];
        let mut squares = [0.0; Evidence::COUNT];
        for hit in hits {
            let values = hit.evidence.values();
            for ((sum, square), value) in sums.iter_mut().zip(&mut squares).zip(values) {
                *sum += value;
                *square += value * value;
            }
        }
        let means = sums.map(|sum| sum / count);
        let mut deviations = [1.0; Evidence::COUNT];
        for ((deviation, square), mean) in deviations.iter_mut().zip(squares).zip(means) {
            let variance = square / count - mean * mean;
            *deviation = if variance > 1e-9 { variance.sqrt() } else { 1.0 };
        }
        Self { means, deviations }
    }

    fn scaled(&self, evidence: &Evidence) -> [f64; Evidence::COUNT] {
        let mut values = evidence.values();
        for ((value, mean), deviation) in values.iter_mut().zip(self.means).zip(self.deviations) {
            *value = (*value - mean) / deviation;
        }
        values
    }
}

/// A hit that is learned from.
struct LearnedHit<'a> {
    evidence: &'a Evidence,
    answers: bool,
    is_unspaced: bool,
}

fn learned<'a>(samples: impl Iterator<Item = &'a Sample>) -> impl Iterator<Item = LearnedHit<'a>> {
    samples.filter(|sample| sample.source != SampleSource::Foreign).flat_map(|sample| {
        sample.hits.iter().map(|(evidence, answers)| LearnedHit {
            evidence,
            answers: *answers,
            is_unspaced: sample.is_unspaced,
        })
    })
}

/// A hit, its figures scaled.
struct Row {
    values: [f64; Evidence::COUNT],
    answers: f64,
    unspaced: f64,
}

/// The model for messages of one kind of script, without thresholds: gradient descent on scaled figures. Kinds of script have
/// the same weights within one model, and different constants.
fn fit(samples: &[Sample], is_unspaced: bool) -> Calibration {
    let hits: Vec<LearnedHit<'_>> = learned(samples.iter()).collect();
    let scale = Scale::of(&hits);
    let figure = |is_so: bool| f64::from(u8::from(is_so));
    let row = |hit: &LearnedHit<'_>| Row {
        values: scale.scaled(hit.evidence),
        answers: figure(hit.answers),
        unspaced: figure(hit.is_unspaced),
    };
    let rows: Vec<Row> = hits.iter().map(row).collect();
    let share = super::quality::ratio(1, rows.len());
    let (mut bias, mut of_unspaced) = (0.0, 0.0);
    let mut weights = [0.0; Evidence::COUNT];
    for _ in 0..ROUNDS {
        let (mut bias_step, mut unspaced_step) = (0.0, 0.0);
        let mut steps = weights.map(|weight| RIDGE * weight);
        for Row { values, answers, unspaced } in &rows {
            let weighted = values.iter().zip(weights).map(|(value, weight)| value * weight);
            let odds = bias + of_unspaced * unspaced + weighted.sum::<f64>();
            let error = (1.0 / (1.0 + (-odds).exp()) - answers) * share;
            bias_step += error;
            unspaced_step += error * unspaced;
            steps.iter_mut().zip(values).for_each(|(step, value)| *step += error * value);
        }
        bias -= RATE * bias_step;
        of_unspaced -= RATE * unspaced_step;
        weights.iter_mut().zip(steps).for_each(|(weight, step)| *weight -= RATE * step);
    }
    for ((weight, mean), deviation) in weights.iter_mut().zip(scale.means).zip(scale.deviations) {
        *weight /= deviation;
        bias -= *weight * mean;
    }
    bias += of_unspaced * figure(is_unspaced);
    Calibration { bias, weights, ..Calibration::NONE }
}

/// The lowest confidence of each tier.
struct Thresholds {
    sure: f64,
    likely: f64,
}

impl Thresholds {
    /// The lowest thresholds that keep to the limits on these samples.
    fn choose(samples: &[&Sample], model: &Calibration) -> Self {
        let confidence =
            |(evidence, answers): &(Evidence, bool)| (model.confidence(evidence), *answers);
        let judged: Vec<Judged<'_>> = samples
            .iter()
            .map(|sample| (*sample, sample.hits.iter().map(confidence).collect()))
            .collect();
        let steps = || (2..190).map(|step| f64::from(step) / 200.0);
        let sure = steps().find(|sure| keeps_limits(&judged, *sure)).unwrap_or(0.95);
        let likely = steps().find(|likely| lines(&judged, sure, *likely) <= LINES);
        Self { sure, likely: likely.unwrap_or(0.02).min(sure) }
    }

    fn applied_to(self, model: Calibration) -> Calibration {
        Calibration { sure: self.sure, likely: self.likely, ..model }
    }
}

type Judged<'a> = (&'a Sample, Vec<(f64, bool)>);

fn keeps_limits(samples: &[Judged<'_>], sure: f64) -> bool {
    let shown = |hits: &[(f64, bool)]| hits.iter().any(|(confidence, _)| *confidence >= sure);
    // Messages without an answer are judged for each size of store, the others for each file.
    let worst_share = |source: SampleSource| {
        let mut groups: BTreeMap<(&str, usize), (usize, usize)> = BTreeMap::new();
        for (sample, hits) in samples.iter().filter(|(sample, _)| sample.source == source) {
            let memories = if sample.is_whole { 0 } else { sample.memories };
            let group = match source {
                SampleSource::None => ("", memories),
                SampleSource::Own | SampleSource::Foreign => (sample.data_file.as_str(), 0),
            };
            let (with_any, all) = groups.entry(group).or_default();
            *with_any += usize::from(shown(hits));
            *all += 1;
        }
        let shares = groups.into_values().map(|(some, all)| super::quality::ratio(some, all));
        100.0 * shares.fold(0.0, f64::max)
    };
    // In a small store hardly anything but the answer can be shown.
    let own = samples.iter().filter(|(it, _)| it.is_whole && it.source == SampleSource::Own);
    let bodies: Vec<bool> = own
        .flat_map(|(_, hits)| hits.iter().filter(|hit| hit.0 >= sure).map(|hit| hit.1))
        .collect();
    let right = bodies.iter().filter(|answers| **answers).count();
    let precision = 100.0 * super::quality::ratio(right, bodies.len());
    // In Chinese the people of a file write down the same kinds of things, so that only `none` messages can be judged.
    let is_unspaced = samples.iter().any(|(sample, _)| sample.is_unspaced);
    let foreign = is_unspaced || worst_share(SampleSource::Foreign) <= FOREIGN;
    worst_share(SampleSource::None) <= UNRELATED && foreign && precision >= PRECISION
}

fn lines(samples: &[Judged<'_>], sure: f64, likely: f64) -> f64 {
    let is_judged = |sample: &Sample| sample.is_whole && sample.source != SampleSource::Foreign;
    let judged: Vec<_> = samples.iter().filter(|(sample, _)| is_judged(sample)).collect();
    let count = |hits: &[(f64, bool)]| {
        let named = hits.iter().filter(|hit| hit.0 >= likely && hit.0 < sure).count();
        named.min(dormouse_memory::recall::MAX_LIKELY)
    };
    let all: usize = judged.iter().map(|(_, hits)| count(hits)).sum();
    super::quality::ratio(all, judged.len())
}
