//! The files: collections of documents, and questions with the documents that answer them (`FORMAT.md`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// Questions of this kind have a wrong premise: no document answers them.
const UNANSWERABLE: &str = "adversarial";

/// A file, each of its collections one person's memory.
pub(crate) struct DataFile {
    pub(crate) name: String,
    pub(crate) collections: Vec<Collection>,
}

pub(crate) struct Collection {
    pub(crate) documents: Vec<Document>,
    questions: Vec<CollectionQuestion>,
}

#[derive(Clone)]
pub(crate) struct Document {
    pub(crate) text: String,
    /// When it was written, as the file says it.
    pub(crate) time: Option<String>,
    /// What it is evidence for: its own id, and what else it covers.
    pub(crate) covers: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct CollectionQuestion {
    pub(crate) text: String,
    pub(crate) category: String,
    /// The evidence that answers it.
    pub(crate) wanted: Vec<String>,
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
    /// The questions that have an answer.
    pub(crate) fn questions(&self) -> impl Iterator<Item = &CollectionQuestion> {
        self.questions.iter().filter(|question| question.category != UNANSWERABLE)
    }

    /// Whether any document answers a question.
    pub(crate) fn answers(&self, question: &CollectionQuestion) -> bool {
        let mut covered = self.documents.iter().flat_map(|document| &document.covers);
        covered.any(|evidence| question.wanted.contains(evidence))
    }
}

#[derive(Deserialize)]
struct RawFile {
    collections: Vec<RawCollection>,
}

#[derive(Deserialize)]
struct RawCollection {
    docs: Vec<RawDocument>,
    queries: Vec<RawQuestion>,
}

#[derive(Deserialize)]
struct RawDocument {
    id: String,
    text: String,
    ts: Option<String>,
    #[serde(default)]
    cov: Vec<String>,
    user: Option<u64>,
}

#[derive(Deserialize)]
struct RawQuestion {
    q: String,
    cat: String,
    gold: Option<Vec<String>>,
    #[serde(default)]
    ev: Vec<String>,
    user: Option<u64>,
}

impl DataFile {
    pub(crate) fn read(path: &Path) -> Self {
        let problem = |error: &dyn std::fmt::Display| -> ! {
            crate::fail::fail(&format!(
                "{}: {error}; bench/FORMAT.md says how it looks",
                path.display()
            ))
        };
        let bytes = match bytes(path) {
            Ok(bytes) => bytes,
            Err(error) => problem(&error),
        };
        let raw: RawFile = match serde_json::from_slice(&bytes) {
            Ok(raw) => raw,
            Err(error) => problem(&error),
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split('.').next().unwrap_or_default().to_owned();
        let collections = raw.collections.into_iter().flat_map(RawCollection::by_user).collect();
        Self { name, collections }
    }
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
    /// Documents that belong to users are as many memories; a question is asked on that of its user.
    fn by_user(self) -> Vec<Collection> {
        let mut of_user: BTreeMap<Option<u64>, Collection> = BTreeMap::new();
        let new = || Collection { documents: Vec::new(), questions: Vec::new() };
        for raw in self.docs {
            let mut covers = raw.cov;
            covers.push(own(&raw.id));
            let document = Document { text: raw.text, time: raw.ts, covers };
            of_user.entry(raw.user).or_insert_with(new).documents.push(document);
        }
        for raw in self.queries {
            let wanted = match raw.gold {
                Some(gold) => gold.iter().map(|id| own(id)).collect(),
                None => raw.ev,
            };
            let question = CollectionQuestion { text: raw.q, category: raw.cat, wanted };
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
