//! How quickly memories are found: on an open index and as a process of its own, among 10,000 and 100,000.
//!
//! The memories are made up: words of a vocabulary in which few are common and most are rare, as in any
//! language. The index is in the page cache, as it is on a machine that somebody works on.

use dormouse_memory::recall::{MemoryQuery, MemorySearch};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_base::SystemClock;
use dormouse_memory::{
    ChangeAuthor, ChangeOrigin, MemoryType, NewMemory, Scope, Store, StoreOptions,
};
use dormouse_testkit::TestHome;
use jiff::Timestamp;

use crate::measure::Samples;
use crate::memory::{megabytes, peak_until_end};
use crate::report::{BenchFigure, BenchSection, FigureUnit};
use crate::world::{BenchWorld, spawn};

const QUERIES: usize = 1_000;
const PROCESSES: usize = 60;
const VOCABULARY: u64 = 40_000;
const WORDS_OF_A_BODY: u64 = 80;

/// The sizes, and the aims in milliseconds: on an open index, as a process.
const SIZES: [(u64, f64, f64); 2] = [(10_000, 5.0, 30.0), (100_000, 25.0, 80.0)];

/// Measures all sizes.
pub(crate) fn run(binary: &Path) -> Vec<BenchSection> {
    SIZES.iter().map(|(size, open, process)| measure(binary, *size, *open, *process)).collect()
}

fn measure(binary: &Path, size: u64, open_aim: f64, process_aim: f64) -> BenchSection {
    let home = TestHome::new();
    let memory = home.dormouse_home().join("memory");
    fill(&memory, size);
    let name = if size < 100_000 { "10,000 memories" } else { "100,000 memories" };
    let mut section = BenchSection::new(
        name,
        format!(
            "Memories of about {WORDS_OF_A_BODY} words in the user's directory; questions of 8 words, each asked once: \
             {QUERIES} on an open index, {PROCESSES} as `dormouse recall QUESTION --json` from spawn to exit, when others' \
             changes were looked for within the last minute."
        ),
    );
    let mut questions = Language::new(99);
    let mut build = Samples::default();
    build.time(|| BenchWorld::run(asked(&home, binary, &questions.question())));
    section.add([BenchFigure::median("first question without an index, as a process", &build)]);

    let mut processes = Samples::default();
    let mut peak = 0;
    for _ in 0..PROCESSES {
        processes.add(BenchWorld::run(asked(&home, binary, &questions.question())));
    }
    for _ in 0..5 {
        let mut child = spawn(&mut asked(&home, binary, &questions.question()));
        peak = peak.max(peak_until_end(&mut child));
    }
    section.add([
        BenchFigure::median("as a process, p50", &processes),
        BenchFigure::new(
            "as a process, p99",
            processes.of_100_the_99th(),
            FigureUnit::Milliseconds,
        )
        .aim_below(process_aim),
        BenchFigure::new("peak memory of such a process", megabytes(peak), FigureUnit::Megabytes),
        BenchFigure::new("index on disk", megabytes(index_size(&home)), FigureUnit::Megabytes),
    ]);
    in_process(&mut section, &home, &memory, open_aim);
    section
}

fn in_process(section: &mut BenchSection, home: &TestHome, memory: &Path, aim: f64) {
    let mut questions = Language::new(7);
    let mut first = Samples::default();
    let recall = first.time(|| {
        let recall = open(home, memory);
        ask(&recall, &questions.question());
        recall
    });
    let mut open_index = Samples::default();
    for _ in 0..QUERIES {
        let question = questions.question();
        open_index.time(|| ask(&recall, &question));
    }
    let mut walk = Samples::default();
    for _ in 0..5 {
        walk.time(|| recall.rescan(Timestamp::now()).expect("a look"));
    }
    let mut update = Samples::default();
    for round in 0..5 {
        fs::write(memory.join(file_name(round)), questions.memory()).expect("a change");
        update.time(|| recall.rescan(Timestamp::now()).expect("a look"));
    }
    let mut own = Samples::default();
    let store = recall.store(0).expect("its store");
    for round in 0..5 {
        let memory = NewMemory::new(&format!("Own {round}"), "a note", &questions.memory())
            .with_kind(MemoryType::Project);
        let saved = store.change(&ChangeOrigin::new(ChangeAuthor::User, "bench"), |plan| {
            plan.save(&memory).map(drop)
        });
        saved.expect("a save");
        let question = questions.question();
        own.time(|| ask(&recall, &question));
    }
    section.add([
        BenchFigure::median("a question after one write of our own", &own),
        BenchFigure::new(
            "the slowest of them: the first, which takes up what others wrote",
            own.of_100_the_99th(),
            FigureUnit::Milliseconds,
        ),
        BenchFigure::median("opening the index and the first answer", &first),
        BenchFigure::median("open index, p50", &open_index),
        BenchFigure::new("open index, p99", open_index.of_100_the_99th(), FigureUnit::Milliseconds)
            .aim_below(aim),
        BenchFigure::median("looking for others' changes, none there", &walk),
        BenchFigure::median("looking for others' changes, one file changed", &update),
    ]);
}

fn asked(home: &TestHome, binary: &Path, question: &str) -> std::process::Command {
    let mut command = home.command(binary);
    command.args(["recall", question, "--json"]).stderr(std::process::Stdio::null());
    command
}

fn open(home: &TestHome, memory: &Path) -> MemorySearch {
    let options =
        StoreOptions::new(Scope::User, dormouse_secrets::scan, Arc::new(SystemClock::default()));
    let store = Store::existing(memory, &home.dormouse_home().join("state"), options);
    let store = store.expect("a store").expect("its directory");
    MemorySearch::open(vec![Arc::new(store)], Some(&home.dormouse_home().join("cache")))
}

fn ask(recall: &MemorySearch, text: &str) -> usize {
    let query = MemoryQuery::new(text, 10, Timestamp::now());
    recall.query(&query).expect("an answer").hits.len()
}

fn index_size(home: &TestHome) -> u64 {
    fn of(folder: PathBuf) -> u64 {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| match entry.metadata() {
                Ok(about) if about.is_dir() => of(entry.path()),
                Ok(about) => about.len(),
                Err(_) => 0,
            })
            .sum()
    }
    of(home.dormouse_home().join("cache"))
}

pub(crate) fn fill(memory: &Path, size: u64) {
    fs::create_dir_all(memory).expect("a memory directory");
    let mut language = Language::new(1);
    for number in 0..size {
        fs::write(memory.join(file_name(number)), language.memory()).expect("a memory");
    }
}

fn file_name(number: u64) -> String {
    format!("memory-{number}.md")
}

/// Makes up words: always the same ones for the same seed.
pub(crate) struct Language {
    state: u64,
}

impl Language {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    /// A word; the lower its number the commoner it is, as one over the number.
    fn word(&mut self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let vocabulary = f64::from(u32::try_from(VOCABULARY).unwrap_or(u32::MAX));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 40,000")]
        let number = vocabulary.powf(share) as u64;
        spelled(number)
    }

    fn words(&mut self, count: u64) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    pub(crate) fn memory(&mut self) -> String {
        let (name, description) = (self.words(3), self.words(8));
        let body = self.words(WORDS_OF_A_BODY);
        format!("---\nname: {name}\ndescription: {description}\ntype: project\n---\n\n{body}.\n")
    }

    pub(crate) fn question(&mut self) -> String {
        format!("what do I know about {}?", self.words(8))
    }
}

/// A number as syllables.
fn spelled(number: u64) -> String {
    const FIRST: &[u8] = b"bdfghklmnprstvwz";
    const SECOND: &[u8] = b"aeiou";
    let mut word = String::new();
    let mut rest = number + 80;
    while rest > 0 {
        let letter = |list: &[u8], place: u64| {
            let place = usize::try_from(place).unwrap_or(0) % list.len();
            char::from(list.get(place).copied().unwrap_or(b'a'))
        };
        word.push(letter(FIRST, rest % 16));
        word.push(letter(SECOND, rest / 16 % 5));
        rest /= 80;
    }
    word
}
