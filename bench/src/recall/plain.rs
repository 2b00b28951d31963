//! Plain pairs: a memory that a newcomer saves, and a prompt that plainly needs it, where the memory is alone in the store and where it is
//! among unrelated ones. Nothing is learned from them.

use std::fmt::Write as _;
use std::path::Path;

use dormouse_memory::recall::MemoryHit;
use serde::Deserialize;

use super::data::{Collection, Document};
use super::directory::Directory;
use super::quality::ratio;

/// Numbers of memories in a store.
const SIZES: [usize; 3] = [1, 5, 50];
/// From one pair to the next, the unrelated memories beside it begin this much later in their list.
const STEP: usize = 7;
const LANGUAGES: [&str; 2] = ["en", "zh"];

/// A file of plain pairs, as `FORMAT.md` describes it.
#[derive(Deserialize)]
pub(crate) struct PlainPairs {
    pairs: Vec<PlainPair>,
    unrelated: Vec<UnrelatedMemory>,
    off_topic: Vec<OffTopicPrompt>,
    standing: Vec<StandingPair>,
}

/// A rule for a kind of task.
#[derive(Deserialize)]
struct StandingPair {
    lang: String,
    memory: PlainMemory,
    prompts: Vec<String>,
    other_prompts: Vec<String>,
}

#[derive(Deserialize)]
struct PlainPair {
    lang: String,
    prompt: String,
    memory: PlainMemory,
}

#[derive(Deserialize)]
struct PlainMemory {
    name: String,
    description: String,
    #[serde(rename = "type")]
    kind: String,
    text: String,
}

/// A memory in both languages.
#[derive(Deserialize)]
struct UnrelatedMemory {
    en: PlainMemory,
    zh: PlainMemory,
}

#[derive(Deserialize)]
struct OffTopicPrompt {
    lang: String,
    prompt: String,
}

/// What a prompt brings.
#[derive(Debug, Clone, Copy, Default)]
struct Brought {
    prompts: usize,
    /// The memory of the pair as a body; as a body or a line.
    body: usize,
    shown: usize,
    /// Any memory as a body; any as a body or a line.
    any_body: usize,
    anything: usize,
}

impl Brought {
    fn add(&mut self, directory: &Directory, prompt: &str) {
        let choice = directory.choice(prompt);
        // The memory of the pair is the first document.
        let has = |hits: &[MemoryHit]| {
            hits.iter().any(|hit| directory.number(hit.memory.file.as_str()) == Some(0))
        };
        let count = |is_so: bool| usize::from(is_so);
        self.prompts += 1;
        self.body += count(has(&choice.sure));
        self.shown += count(has(&choice.sure) || has(&choice.likely));
        self.any_body += count(!choice.sure.is_empty());
        self.anything += count(!choice.sure.is_empty() || !choice.likely.is_empty());
    }

    fn percent(self, part: usize) -> f64 {
        100.0 * ratio(part, self.prompts)
    }
}

impl PlainMemory {
    fn document(&self) -> Document {
        Document {
            text: self.text.clone(),
            name: Some(self.name.clone()),
            description: Some(self.description.clone()),
            kind: Some(self.kind.clone()),
            time: None,
            covers: Vec::new(),
        }
    }
}

impl PlainPairs {
    pub(crate) fn read(path: &Path) -> Self {
        super::data::parsed(path)
    }

    /// Asks all prompts, and describes what they bring.
    pub(crate) fn measure(&self) -> String {
        let mut text = String::from(
            "\nPlain pairs, in percent. *Pair*: the memory that its prompt needs, in a store of so many memories, the others unrelated. \
             *Off topic*: prompts that no memory helps with, on the same stores. *Unrelated*: the prompts of the pairs on \
             unrelated memories alone.\n\n\
             | Language | Memories | pair: body | pair: body or line | off topic: any body | off topic: anything | unrelated: any body | \
             unrelated: anything |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
        );
        for language in LANGUAGES {
            for size in SIZES {
                let [own, off_topic, unrelated] = self.ask(language, size);
                let cells = [
                    own.percent(own.body),
                    own.percent(own.shown),
                    off_topic.percent(off_topic.any_body),
                    off_topic.percent(off_topic.anything),
                    unrelated.percent(unrelated.any_body),
                    unrelated.percent(unrelated.anything),
                ];
                let cells = cells.map(|cell| format!("{cell:.1}")).join(" | ");
                let _ = writeln!(text, "| {language} | {size} | {cells} |");
            }
        }
        text.push_str(
            "\nRules that hold for a kind of task, alone in the store: prompts that bring them as a body, in percent.\n\n\
             | Language | prompts that they apply to | other prompts |\n| --- | --- | --- |\n",
        );
        for language in LANGUAGES {
            let (mut applies, mut other) = (Brought::default(), Brought::default());
            for rule in self.standing.iter().filter(|rule| rule.lang == language) {
                let directory = Directory::new(&Collection::of(vec![rule.memory.document()]));
                rule.prompts.iter().for_each(|prompt| applies.add(&directory, prompt));
                rule.other_prompts.iter().for_each(|prompt| other.add(&directory, prompt));
            }
            let (yes, no) = (applies.percent(applies.body), other.percent(other.body));
            let _ = writeln!(text, "| {language} | {yes:.1} | {no:.1} |");
        }
        text
    }

    /// What prompts bring in stores of a size: those of pairs with their memory, off-topic ones, those of pairs without their memory.
    fn ask(&self, language: &str, size: usize) -> [Brought; 3] {
        let pairs = self.pairs.iter().filter(|pair| pair.lang == language);
        let off_topic = self.off_topic.iter().filter(|prompt| prompt.lang == language);
        let mut brought = [Brought::default(); 3];
        let [own, foreign, unrelated] = &mut brought;
        for (number, (pair, other)) in pairs.zip(off_topic).enumerate() {
            let beside = |count: usize| {
                let from = self.unrelated.iter().cycle().skip(number * STEP);
                let memory = |it: &UnrelatedMemory| match language {
                    "zh" => it.zh.document(),
                    _ => it.en.document(),
                };
                from.take(count).map(memory).collect::<Vec<_>>()
            };
            let mut documents = vec![pair.memory.document()];
            documents.extend(beside(size - 1));
            let directory = Directory::new(&Collection::of(documents));
            own.add(&directory, &pair.prompt);
            foreign.add(&directory, &other.prompt);
            unrelated.add(&Directory::new(&Collection::of(beside(size))), &pair.prompt);
        }
        brought
    }
}
