//! A collection as a memory directory, asked through the door that the program uses.

use dormouse_memory::recall::{MAX_SURE, MemoryQuery, MemoryRanking, MemorySearch, RecallChoice};
use dormouse_search::{Embedder, RankTuning};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use dormouse_base::SystemClock;
use dormouse_memory::{Scope, Store, StoreOptions};
use jiff::Timestamp;
use tempfile::TempDir;

use super::data::{Collection, DataFile, Document, Practice};
use super::embeddings::VectorModel;
use super::quality::Ranked;

/// How deep a ranking is looked at.
pub(super) const DEPTH: usize = 50;

/// Numbers of memories in small stores.
const SMALL_STORES: [usize; 2] = [1, 5];

/// A few memories of a collection, and the messages for which something is known.
pub(super) struct SmallStore {
    pub(super) collection: Collection,
    pub(super) directory: Directory,
}

pub(crate) struct Directory {
    recall: MemorySearch,
    /// Which document a file is.
    numbers: BTreeMap<String, usize>,
    _folder: TempDir,
}

impl Directory {
    /// The collections of a file, ranked by vectors as well if there is a model. None of a file whose messages alone are
    /// learned from.
    pub(super) fn all(file: &DataFile, vectors: Option<&VectorModel>) -> Vec<Self> {
        if file.practice == Some(Practice::Wording) {
            return Vec::new();
        }
        let open = |collection| match vectors {
            Some(vectors) => Self::with_vectors(collection, &vectors.model),
            None => Self::new(collection),
        };
        file.collections.iter().map(open).collect()
    }

    /// For each collection of a file that says when nothing should be shown, stores of a few of its memories. Their rankings are by words.
    pub(super) fn small(file: &DataFile) -> Vec<Vec<SmallStore>> {
        let has_unrelated = |it: &Collection| it.unrelated().next().is_some();
        if file.practice == Some(Practice::Wording) || !file.collections.iter().any(has_unrelated) {
            return Vec::new();
        }
        let open =
            |collection: Collection| SmallStore { directory: Self::new(&collection), collection };
        let stores = |collection: &Collection| {
            let split = SMALL_STORES.iter().flat_map(|size| collection.split(*size));
            split.filter(Collection::has_questions).map(open).collect()
        };
        file.collections.iter().map(stores).collect()
    }

    /// The same, ranked by vectors as well.
    pub(crate) fn with_vectors(collection: &Collection, model: &Arc<dyn Embedder>) -> Self {
        let directory = Self::new(collection);
        let recall = directory.recall.with_embedder(Arc::clone(model));
        recall.fill(Timestamp::now(), usize::MAX).expect("vectors");
        Self { recall, ..directory }
    }

    pub(crate) fn new(collection: &Collection) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let memory = folder.path().join("memory");
        fs::create_dir_all(&memory).expect("a memory directory");
        let mut numbers = BTreeMap::new();
        for (number, document) in collection.documents.iter().enumerate() {
            let name = file_name(number);
            write(&memory.join(&name), &file_text(document));
            numbers.insert(name, number);
        }
        let options = StoreOptions::new(
            Scope::User,
            dormouse_secrets::scan,
            Arc::new(SystemClock::default()),
        );
        let store = Store::existing(&memory, &folder.path().join("state"), options);
        let store = store.expect("a store").expect("its directory");
        let recall = MemorySearch::open(vec![Arc::new(store)], Some(&folder.path().join("cache")));
        Self { recall, numbers, _folder: folder }
    }

    /// Ranks by these numbers from now on.
    pub(crate) fn tune(&mut self, tuning: &RankTuning) {
        self.recall.tune(*tuning);
    }

    pub(crate) fn ask(&self, question: &str, limit: usize) -> MemoryRanking {
        let query = MemoryQuery::new(question, limit, Timestamp::now());
        self.recall.query(&query).expect("an answer")
    }

    /// What a message brings without being asked, as the program chooses it.
    pub(crate) fn choice(&self, message: &str) -> RecallChoice {
        let query = MemoryQuery::new(message, MAX_SURE, Timestamp::now());
        let rules = self.recall.standing_rules(&query).expect("an answer");
        RecallChoice::of(self.ask(message, MAX_SURE)).with_rules(rules)
    }

    pub(crate) fn ranked(&self, question: &str, limit: usize) -> Ranked {
        let hits = self.ask(question, limit).hits;
        Ranked(hits.iter().filter_map(|hit| self.number(hit.memory.file.as_str())).collect())
    }

    pub(crate) fn number(&self, file: &str) -> Option<usize> {
        self.numbers.get(file).copied()
    }
}

/// Writes a memory. All have the same time: else the second in which a file was written would break ties.
fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("a memory is written");
    let file = fs::File::options().write(true).open(path).expect("it is there");
    file.set_modified(std::time::UNIX_EPOCH).expect("its time is set");
}

/// A name that says nothing: letters that are no word, so that only the text is found.
fn file_name(number: usize) -> String {
    let mut letters = String::new();
    let mut rest = number;
    for _ in 0..4 {
        letters.push(char::from(b'a' + u8::try_from(rest % 26).unwrap_or(0)));
        rest /= 26;
    }
    format!("zq{letters}.md")
}

fn file_text(document: &Document) -> String {
    let time = document.time.as_deref().and_then(date_and_time);
    let quoted = |text: &Option<String>| text.as_ref().map(|text| format!("{text:?}"));
    let fields = [
        ("name", quoted(&document.name)),
        ("description", quoted(&document.description)),
        ("type", document.kind.clone()),
        ("created", time),
    ];
    let mut head = String::new();
    for (key, value) in fields {
        head.extend(value.map(|value| format!("{key}: {value}\n")));
    }
    match head.as_str() {
        "" => format!("{}\n", document.text),
        head => format!("---\n{head}---\n\n{}\n", document.text),
    }
}

/// The first numbers of a time, whatever stands between them: year, month, day, hour, minute.
fn date_and_time(text: &str) -> Option<String> {
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse::<u32>().ok());
    let mut next = || numbers.next().flatten();
    let (year, month, day) = (next()?, next()?, next()?);
    let (hour, minute) = (next().unwrap_or(0), next().unwrap_or(0));
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z"))
}
