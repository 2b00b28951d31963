//! The memories that stand before a question, from each source that is compared.

use std::fmt;

use crate::recall::baseline::{Bm25, Tokens};
use crate::recall::data::{Collection, CollectionQuestion, DataFile, Document};
use crate::recall::directory::Directory;
use crate::recall::unasked;

/// Where the memories before a question come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AnswerMemories {
    None,
    /// The first ones by BM25 over stems.
    Bm25(usize),
    /// The first ones of the program's ranking.
    Ours(usize),
    /// What the program shows unasked: bodies and lines.
    Unasked,
    /// Those that hold the answer.
    Gold,
}

impl fmt::Display for AnswerMemories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("no memory"),
            Self::Bm25(count) => write!(f, "BM25, first {count}"),
            Self::Ours(count) => write!(f, "ours, first {count}"),
            Self::Unasked => f.write_str("ours, as shown unasked"),
            Self::Gold => f.write_str("gold"),
        }
    }
}

/// The rankings of a file's collections.
pub(super) struct Sources {
    by_collection: Vec<(Directory, Bm25)>,
}

impl Sources {
    pub(super) fn open(file: &DataFile) -> Self {
        let open =
            |collection| (Directory::new(collection), Bm25::new(collection, Tokens::Stemmed));
        Self { by_collection: file.collections.iter().map(open).collect() }
    }

    /// The text of the memories for a question; empty if there are none.
    pub(super) fn memories(
        &self,
        place: usize,
        collection: &Collection,
        question: &CollectionQuestion,
        source: AnswerMemories,
    ) -> String {
        let Some((directory, bm25)) = self.by_collection.get(place) else { return String::new() };
        let numbers = match source {
            AnswerMemories::None => Vec::new(),
            AnswerMemories::Bm25(count) => {
                bm25.ranked(&question.text).0.into_iter().take(count).collect()
            }
            AnswerMemories::Ours(count) => directory.ranked(&question.text, count).0,
            AnswerMemories::Unasked => return unasked::shown_text(question, collection, directory),
            AnswerMemories::Gold => {
                let all = collection.documents.iter().enumerate();
                let gold = all.filter(|(_, document)| question.is_answered_by(document));
                gold.map(|(number, _)| number).collect()
            }
        };
        let texts = numbers.into_iter().filter_map(|number| collection.documents.get(number));
        texts.map(shown).collect::<Vec<_>>().join("\n")
    }
}

fn shown(document: &Document) -> String {
    let time = document.time.as_ref().map(|time| format!("({time}) "));
    let name = document.name.as_ref().map(|name| format!("{name}: "));
    format!("- {}{}{}", time.unwrap_or_default(), name.unwrap_or_default(), document.text)
}
