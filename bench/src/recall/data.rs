//! The files: collections of documents, and questions with the documents that answer them (`FORMAT.md`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// Questions of this kind have a wrong premise: no document answers them.
const UNANSWERABLE: &str = "adversarial";

/// For questions of this kind nothing should be shown unasked.
const NONE: &str = "none";

/// A file, each of its collections one person's memory. All are in one language.
pub(crate) struct DataFile {
    pub(crate) name: String,
    pub(crate) language: String,
    /// What is learned from it, if it is for practice: then nothing is measured on it.
    pub(crate) practice: Option<Practice>,
    pub(crate) collections: Vec<Collection>,
}

/// What is learned from a file for practice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Practice {
    /// What the words of messages tell, the numbers of the ranking, and how sure a match is.
    All,
    /// What the words of messages tell: its documents are not what a developer's memories are, or have no text.
    Wording,
}

pub(crate) struct Collection {
    pub(crate) documents: Vec<Document>,
    questions: Vec<CollectionQuestion>,
}

#[derive(Clone)]
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    /// Its type, as in a memory.
    pub(crate) kind: Option<String>,
    /// When it was written, as the file says it.
    pub(crate) time: Option<String>,
    /// What it is evidence for: its own id, and what else it covers.
    pub(crate) covers: Vec<String>,
}

impl Document {
    /// Name, description and text.
    pub(crate) fn all_text(&self) -> String {
        let parts = [self.name.as_deref(), self.description.as_deref(), Some(&self.text)];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

#[derive(Clone)]
pub(crate) struct CollectionQuestion {
    pub(crate) text: String,
    pub(crate) category: String,
    /// The evidence that answers it.
    pub(crate) wanted: Vec<String>,
    /// Its answer, where the file says it.
    pub(crate) answer: Option<String>,
}

impl CollectionQuestion {
    /// Whether a document answers it, at least in part.
    pub(crate) fn is_answered_by(&self, document: &Document) -> bool {
        document.covers.iter().any(|evidence| self.wanted.contains(evidence))
    }
}

impl DataFile {
    /// Whether another file asks the same questions: then its documents are about the same things.
    pub(crate) fn shares_with(&self, other: &Self) -> bool {
        let texts = |file: &Self| -> BTreeSet<String> {
            let all = file.collections.iter().flat_map(Collection::questions);
            all.map(|question| question.text.clone()).collect()
        };
        !texts(self).is_disjoint(&texts(other))
    }
}

impl Collection {
    /// Documents without questions.
    pub(crate) fn of(documents: Vec<Document>) -> Self {
        Self { documents, questions: Vec::new() }
    }

    /// Stores of a few of its documents each, with the questions that those answer; each of the unrelated messages is of one store.
    pub(crate) fn split(&self, size: usize) -> Vec<Self> {
        let stores = self.documents.chunks(size.max(1));
        let count = stores.len();
        let store = |(number, documents): (usize, &[Document])| {
            let mut store = Self { documents: documents.to_vec(), questions: Vec::new() };
            let answered = self.questions().filter(|question| store.answers(question)).cloned();
            let unrelated = self.unrelated().enumerate();
            let unrelated = unrelated.filter(|(place, _)| place % count == number);
            store.questions = answered.chain(unrelated.map(|(_, it)| it.clone())).collect();
            store
        };
        stores.enumerate().map(store).collect()
    }

    /// The texts of its documents.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        self.documents.iter().map(Document::all_text)
    }

    /// The questions that have an answer.
    pub(crate) fn questions(&self) -> impl Iterator<Item = &CollectionQuestion> {
        let skipped = [UNANSWERABLE, NONE];
        self.questions.iter().filter(move |question| !skipped.contains(&question.category.as_str()))
    }

    /// The messages for which no memory should be shown unasked.
    pub(crate) fn unrelated(&self) -> impl Iterator<Item = &CollectionQuestion> {
        self.questions.iter().filter(|question| question.category == NONE)
    }

    pub(crate) fn has_questions(&self) -> bool {
        !self.questions.is_empty()
    }

    /// Whether any document answers a question.
    pub(crate) fn answers(&self, question: &CollectionQuestion) -> bool {
        let mut covered = self.documents.iter().flat_map(|document| &document.covers);
        covered.any(|evidence| question.wanted.contains(evidence))
    }
}

#[derive(Deserialize)]
struct RawFile {
    lang: Option<String>,
    practice: Option<Practice>,
    collections: Vec<RawCollection>,
}

#[derive(Clone, Deserialize)]
struct RawCollection {
    lang: Option<String>,
    docs: Vec<RawDocument>,
    queries: Vec<RawQuestion>,
}

#[derive(Clone, Deserialize)]
struct RawDocument {
    id: String,
    #[serde(default)]
    text: String,
    name: Option<String>,
    description: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    ts: Option<String>,
    #[serde(default)]
    cov: Vec<String>,
    user: Option<u64>,
}

#[derive(Clone, Deserialize)]
struct RawQuestion {
    q: String,
    /// Its language, where a collection has questions in several.
    ql: Option<String>,
    /// A text or a number.
    a: Option<serde_json::Value>,
    cat: String,
    gold: Option<Vec<String>>,
    #[serde(default)]
    ev: Vec<String>,
    user: Option<u64>,
}

impl DataFile {
    /// Reads a file, or a folder of collections, which are for practice; one with collections in several languages becomes several.
    pub(crate) fn read(path: &Path) -> Vec<Self> {
        let raw = if path.is_dir() { folder(path) } else { parsed(path) };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split('.').next().unwrap_or_default().to_owned();
        let mut by_language: BTreeMap<String, Vec<Collection>> = BTreeMap::new();
        for collection in raw.collections.into_iter().flat_map(RawCollection::by_language) {
            let language = collection.lang.clone().or_else(|| raw.lang.clone()).unwrap_or_default();
            by_language.entry(language).or_default().extend(collection.by_user());
        }
        let several = by_language.len() > 1;
        let file = |(language, collections)| {
            let name = if several { format!("{name} {language}") } else { name.clone() };
            Self { name, language, practice: raw.practice, collections }
        };
        by_language.into_iter().map(file).collect()
    }
}

/// The collections of a folder, a file each, in the order of their names.
fn folder(path: &Path) -> RawFile {
    let entries = std::fs::read_dir(path).unwrap_or_else(|error| problem(path, &error));
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let collections = files.iter().map(|file| parsed(file)).collect();
    RawFile { lang: None, practice: Some(Practice::All), collections }
}

pub(super) fn parsed<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    let bytes = bytes(path).unwrap_or_else(|error| problem(path, &error));
    serde_json::from_slice(&bytes).unwrap_or_else(|error| problem(path, &error))
}

fn problem(path: &Path, error: &dyn std::fmt::Display) -> ! {
    crate::fail::fail(&format!("{}: {error}; bench/FORMAT.md says how it looks", path.display()))
}

/// The content of a text file, unpacked.
pub(super) fn text(path: &Path) -> String {
    let bytes = bytes(path).unwrap_or_else(|error| problem(path, &error));
    String::from_utf8(bytes).unwrap_or_else(|error| problem(path, &error))
}

fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    if path.extension().is_some_and(|end| end == "gz") {
        let output = Command::new("gzip").arg("-dc").arg(path).output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(std::io::Error::other(said));
        }
        return Ok(output.stdout);
    }
    std::fs::read(path)
}

impl RawCollection {
    /// One with questions in several languages becomes several, with the same documents.
    fn by_language(self) -> Vec<Self> {
        let languages: BTreeSet<Option<String>> =
            self.queries.iter().map(|query| query.ql.clone()).collect();
        let of_language = |language: Option<String>| {
            let queries = self.queries.iter().filter(|query| query.ql == language);
            Self {
                lang: language.clone().or_else(|| self.lang.clone()),
                docs: self.docs.clone(),
                queries: queries.cloned().collect(),
            }
        };
        languages.into_iter().map(of_language).collect()
    }

    /// Documents that belong to users are as many memories; a question is asked on that of its user.
    fn by_user(self) -> Vec<Collection> {
        let mut of_user: BTreeMap<Option<u64>, Collection> = BTreeMap::new();
        let new = || Collection { documents: Vec::new(), questions: Vec::new() };
        for raw in self.docs {
            let mut covers = raw.cov;
            covers.push(own(&raw.id));
            let document = Document {
                text: raw.text,
                name: raw.name,
                description: raw.description,
                kind: raw.kind,
                time: raw.ts,
                covers,
            };
            of_user.entry(raw.user).or_insert_with(new).documents.push(document);
        }
        for raw in self.queries {
            let wanted = match raw.gold {
                Some(gold) => gold.iter().map(|id| own(id)).collect(),
                None => raw.ev,
            };
            let answer = raw.a.map(|answer| match answer {
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            });
            let question = CollectionQuestion { text: raw.q, category: raw.cat, wanted, answer };
            of_user.entry(raw.user).or_insert_with(new).questions.push(question);
        }
        of_user.into_values().collect()
    }
}

/// A document's id, kept apart from what it covers.
fn own(id: &str) -> String {
    format!("document {id}")
}

/// All collections in one.
pub(crate) fn poured(collections: &[Collection]) -> Collection {
    let mut all = Collection { documents: Vec::new(), questions: Vec::new() };
    for (number, collection) in collections.iter().enumerate() {
        let marked = |evidence: &String| format!("{number} {evidence}");
        all.documents.extend(collection.documents.iter().map(|document| Document {
            covers: document.covers.iter().map(marked).collect(),
            ..document.clone()
        }));
        all.questions.extend(collection.questions.iter().map(|question| CollectionQuestion {
            wanted: question.wanted.iter().map(marked).collect(),
            ..question.clone()
        }));
    }
    all
}
