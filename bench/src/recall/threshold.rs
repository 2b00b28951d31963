//! What would be put into a conversation without asking: on a question's own memories, and on another
//! collection's, where nothing should be.

use super::data::{Collection, CollectionQuestion};
use super::directory::Directory;
use super::quality::ratio;
use dormouse_memory::recall::{MAX_SURE, MemoryHit, RecallChoice};

/// Counts at the shipped threshold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Threshold {
    /// Questions that some memory answers, asked on their own memories.
    answerable: usize,
    /// Of those: something was put in; an answer was.
    injected: usize,
    with_gold: usize,
    /// Memories that were put in, and how many of them answer.
    memories: usize,
    gold: usize,
    /// Questions asked on another collection's memories, and those that put anything in.
    foreign: usize,
    foreign_injected: usize,
}

impl Threshold {
    pub(crate) fn foreign_share(self) -> Option<f64> {
        (self.foreign > 0).then(|| 100.0 * ratio(self.foreign_injected, self.foreign))
    }

    pub(crate) fn gold_share(self) -> f64 {
        100.0 * ratio(self.with_gold, self.answerable)
    }

    pub(crate) fn injected_share(self) -> f64 {
        100.0 * ratio(self.injected, self.answerable)
    }

    pub(crate) fn precision(self) -> f64 {
        100.0 * ratio(self.gold, self.memories)
    }

    pub(crate) fn counts(self) -> (usize, usize) {
        (self.answerable, self.foreign)
    }
}

/// The memories that are shown whole.
fn sure(directory: &Directory, text: &str) -> Vec<MemoryHit> {
    RecallChoice::of(directory.ask(text, MAX_SURE)).sure
}

pub(crate) fn measure(collections: &[Collection], directories: &[Directory]) -> Threshold {
    of_some(collections, directories, |_| true)
}

/// On the memories of some collections, by their places.
pub(crate) fn of_some(
    collections: &[Collection],
    directories: &[Directory],
    wanted: impl Fn(usize) -> bool,
) -> Threshold {
    let mut threshold = Threshold::default();
    let all = collections.iter().zip(directories).enumerate();
    for (place, (collection, directory)) in all.filter(|(place, _)| wanted(*place)) {
        for question in collection.questions().filter(|question| collection.answers(question)) {
            threshold.own(question, collection, directory);
        }
        // Everybody's questions are asked once on the memories of the next.
        let next = collections.get((place + 1) % collections.len());
        for question in
            next.filter(|_| collections.len() > 1).into_iter().flat_map(Collection::questions)
        {
            threshold.foreign += 1;
            let shown = sure(directory, &question.text);
            threshold.foreign_injected += usize::from(!shown.is_empty());
        }
    }
    threshold
}

/// The questions of one file on the memories of another: nothing there can be about them.
pub(crate) fn elsewhere(questions: &[Collection], directories: &[Directory]) -> Option<f64> {
    let (mut asked, mut injected) = (0, 0);
    let everybody = questions.iter().flat_map(Collection::questions);
    for (question, directory) in everybody.zip(directories.iter().cycle()) {
        asked += 1;
        let shown = sure(directory, &question.text);
        injected += usize::from(!shown.is_empty());
    }
    (asked > 0).then(|| 100.0 * ratio(injected, asked))
}

/// Sentences that have nothing to do with any question, in both languages.
const UNRELATED: [(&str, &str); 3] = [
    ("I am back from lunch now.", "我刚吃完午饭回来。"),
    ("The train was late again this morning.", "今天早上地铁又晚点了。"),
    ("Give me a second to open the window.", "等我一下，我去开个窗。"),
];

/// Percent of questions that show an answer, with this many unrelated sentences in front.
pub(crate) fn behind(
    collections: &[Collection],
    directories: &[Directory],
    sentences: usize,
    language: &str,
) -> f64 {
    let in_front: Vec<&str> = UNRELATED
        .iter()
        .take(sentences)
        .map(|(english, chinese)| if language == "zh" { *chinese } else { *english })
        .collect();
    let mut threshold = Threshold::default();
    for (collection, directory) in collections.iter().zip(directories) {
        for question in collection.questions().filter(|question| collection.answers(question)) {
            let mut question = question.clone();
            question.text = format!("{} {}", in_front.join(" "), question.text);
            threshold.own(&question, collection, directory);
        }
    }
    threshold.gold_share()
}

impl Threshold {
    fn own(
        &mut self,
        question: &CollectionQuestion,
        collection: &Collection,
        directory: &Directory,
    ) {
        let shown = sure(directory, &question.text);
        let answers = shown
            .iter()
            .filter_map(|hit| directory.number(hit.memory.file.as_str()))
            .filter_map(|number| collection.documents.get(number))
            .filter(|document| question.is_answered_by(document))
            .count();
        self.answerable += 1;
        self.injected += usize::from(!shown.is_empty());
        self.with_gold += usize::from(answers > 0);
        self.memories += shown.len();
        self.gold += answers;
    }
}
