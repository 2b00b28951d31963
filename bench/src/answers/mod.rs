//! What memory does to a model's answers: the same questions asked without memories, with those that rankings find,
//! and with those that hold the answer; in one run, on any model server.
//!
//! Questions with a known answer are scored by the words that both answers share. For messages of developers, a file of
//! checks says which words an answer that respects the memory contains.

mod checks;
mod memories;
mod model;
mod score;
mod table;

use std::path::PathBuf;

use crate::recall::data::{Collection, CollectionQuestion, DataFile};
use checks::{AnswerCheck, Checks};
use memories::{AnswerMemories, Sources};
use model::ModelServer;
use table::AnswerTable;

/// What is asked, and whom.
pub(crate) struct AnswersBench {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) checks: Option<PathBuf>,
    pub(crate) server: String,
    /// Questions of each file.
    pub(crate) questions: usize,
}

const ANSWER_BRIEFLY: &str = "Answer the question in a few words, from the memories if there are any. \
    Give only the answer, no sentence.";
const ANSWER_DEVELOPER: &str = "You are the coding assistant of this project. Answer in at most four sentences or ten \
    lines of code. Follow what the memories say about the project and its people.";
/// Tokens of an answer to a question, and to a message of a developer.
const BRIEF: u32 = 32;
const FULL: u32 = 160;

impl AnswersBench {
    /// Asks everything; returns the tables.
    pub(crate) fn run(&self) -> String {
        if self.files.is_empty() {
            crate::fail::fail(
                "answers needs files to ask from; bench/FORMAT.md says how they look",
            );
        }
        let server = ModelServer::at(&self.server);
        let checks = self.checks.as_deref().map(Checks::read);
        let mut text = String::new();
        for file in self.files.iter().flat_map(|path| DataFile::read(path)) {
            text.push_str(&self.questions_of(&file, &server));
            if let Some(checks) = &checks {
                text.push_str(&self.messages_of(&file, checks, &server));
            }
        }
        text
    }

    /// Questions with a known answer, scored by shared words.
    fn questions_of(&self, file: &DataFile, server: &ModelServer) -> String {
        let asked = spread(file, self.questions, |question| question.answer.as_ref());
        let sources = [
            AnswerMemories::None,
            AnswerMemories::Bm25(5),
            AnswerMemories::Bm25(10),
            AnswerMemories::Ours(5),
            AnswerMemories::Ours(10),
            AnswerMemories::Gold,
        ];
        let mut table = AnswerTable::new(&file.name, "F1 of the answer's words", &sources);
        let opened = Sources::open(file);
        for Asked { place, collection, question, known } in asked {
            for source in sources {
                let memories = opened.memories(place, collection, question, source);
                let reply = server.ask(ANSWER_BRIEFLY, &memories, &question.text, BRIEF);
                table.add(source, &question.category, score::word_f1(known, &reply.text), &reply);
            }
        }
        table.render()
    }

    /// Messages of developers, scored by their checks.
    fn messages_of(&self, file: &DataFile, checks: &Checks, server: &ModelServer) -> String {
        let asked = spread(file, self.questions, |question| checks.of(&question.text));
        let sources = [
            AnswerMemories::None,
            AnswerMemories::Unasked,
            AnswerMemories::Ours(5),
            AnswerMemories::Gold,
        ];
        let mut table =
            AnswerTable::new(&file.name, "answers that respect the memory, %", &sources);
        let opened = Sources::open(file);
        for Asked { place, collection, question, known } in asked {
            for source in sources {
                let memories = opened.memories(place, collection, question, source);
                let reply = server.ask(ANSWER_DEVELOPER, &memories, &question.text, FULL);
                let respected = AnswerCheck::is_respected_by(known, &reply.text);
                table.add(source, &question.category, f64::from(u8::from(respected)), &reply);
            }
        }
        table.render()
    }
}

/// A question, where it stands, and what is known about its answer.
struct Asked<'a, T> {
    /// Place of the collection in its file.
    place: usize,
    collection: &'a Collection,
    question: &'a CollectionQuestion,
    known: &'a T,
}

/// At most so many questions of a file, evenly spread, of those whose answer can be judged.
fn spread<'a, T>(
    file: &'a DataFile,
    most: usize,
    known: impl Fn(&'a CollectionQuestion) -> Option<&'a T>,
) -> Vec<Asked<'a, T>> {
    let mut all = Vec::new();
    for (place, collection) in file.collections.iter().enumerate() {
        let answered = collection.questions().filter(|question| collection.answers(question));
        all.extend(answered.filter_map(|question| {
            Some(Asked { place, collection, question, known: known(question)? })
        }));
    }
    let step = all.len().div_ceil(most.max(1)).max(1);
    all.into_iter().step_by(step).collect()
}
