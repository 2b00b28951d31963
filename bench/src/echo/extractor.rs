//! A model that remembers everything it sees, from wherever: the scripted answers to forks of a conversation.

use std::sync::{Arc, Mutex, PoisonError};

use dormouse_model::script::ScriptedTurn as Answer;
use dormouse_testkit::{RecordedRequest, Reply};
use serde_json::{Value, json};

use super::facts::Fact;
use super::plan::{EchoTurn, chance};

/// So many facts that are no news are proposed in a run.
const ECHOES: usize = 8;
/// What the program says where a quotation was not found.
const NOWHERE: &str = "is not in this conversation";

/// What the model in a session's forks knows of the session.
pub(super) struct Extractor {
    facts: Arc<Vec<Fact>>,
    session: usize,
    /// The turn at hand.
    turn: Arc<Mutex<EchoTurn>>,
    /// What was said in the turns before.
    before: Vec<(usize, usize)>,
    runs: usize,
    proposals: Vec<Proposal>,
}

/// A memory that it wants to save.
#[derive(Clone, Copy)]
struct Proposal {
    fact: usize,
    /// The wording of the memory.
    content: usize,
    /// The wording in which the fact was seen.
    seen: usize,
    quotes: Quotes,
}

/// What it gives as a quotation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// What it saw, letter for letter.
    Verbatim,
    /// The same in other words.
    Paraphrased,
    /// Something that the user typed.
    Prompt,
}

impl Extractor {
    pub(super) fn new(facts: Arc<Vec<Fact>>, session: usize, turn: Arc<Mutex<EchoTurn>>) -> Self {
        let (before, proposals) = (Vec::new(), Vec::new());
        Self { facts, session, turn, before, runs: 0, proposals }
    }

    /// Answers a fork: of extraction, of the notes, or for a summary.
    pub(super) fn answer(&mut self, request: &RecordedRequest) -> Reply {
        let text = spoken(&request.json());
        if text.contains("You keep the long-term memory") {
            return self.extract(request, &text).into();
        }
        if text.contains("/session-memory/summary.md") {
            return self.note(request, &text).into();
        }
        Answer::new()
            .text(format!("<summary>\n1. What was said:\n{}\n</summary>", self.tempting()))
            .into()
    }

    /// First everything that is seen; then what was refused for want of a quotation, with a better one.
    fn extract(&mut self, request: &RecordedRequest, text: &str) -> Answer {
        let last = request.last_message();
        if !is_begun(&last) {
            self.runs += 1;
            self.proposals = self.everything(text);
            return self.save(0);
        }
        let refused = refused(&last);
        let attempt = usize::from(refused.iter().any(|id| id.ends_with("-0")));
        let again = |proposal: &Proposal| refused.iter().any(|id| *id == id_of(proposal, 0));
        self.proposals.retain(again);
        for proposal in &mut self.proposals {
            proposal.quotes = Quotes::Verbatim;
        }
        if attempt == 0 || self.proposals.is_empty() {
            self.look_back();
            return Answer::new().text("Nothing more to save.");
        }
        self.save(attempt)
    }

    /// The news of the turn, what the assistant echoed, and some of what stands elsewhere.
    fn everything(&self, text: &str) -> Vec<Proposal> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut proposals: Vec<Proposal> = turn
            .news
            .iter()
            .chain(&turn.echoes)
            .map(|(fact, seen)| self.proposal(*fact, *seen))
            .collect();
        let elsewhere =
            self.facts.iter().enumerate().filter_map(|(at, fact)| Some((at, fact.seen_in(text)?)));
        let elsewhere: Vec<(usize, usize)> = elsewhere.collect();
        for place in 0..ECHOES {
            let pick = chance(self.session * 31 + self.runs, place + 1, elsewhere.len());
            let Some((fact, seen)) = elsewhere.get(pick) else { break };
            if !proposals.iter().any(|known| known.fact == *fact) {
                proposals.push(self.proposal(*fact, *seen));
            }
        }
        proposals
    }

    fn proposal(&self, fact: usize, seen: usize) -> Proposal {
        let dice = chance(self.session * 7 + self.runs, fact, 12);
        // Half of them in other words, or in the other language.
        let content = if dice.is_multiple_of(2) { seen } else { seen + 1 + dice % 4 / 2 };
        let quotes = match dice {
            0..=6 => Quotes::Verbatim,
            7..=9 => Quotes::Paraphrased,
            _ => Quotes::Prompt,
        };
        Proposal { fact, content, seen, quotes }
    }

    fn save(&self, attempt: usize) -> Answer {
        let answer = Answer::new().text("I save what I have seen.");
        self.proposals.iter().fold(answer, |answer, proposal| {
            answer.call(id_of(proposal, attempt), "MemorySave", self.input(proposal).to_string())
        })
    }

    fn input(&self, proposal: &Proposal) -> Value {
        let Some(fact) = self.facts.get(proposal.fact) else { return Value::Null };
        let prompt = self.turn.lock().unwrap_or_else(PoisonError::into_inner).prompt.clone();
        let quote = match proposal.quotes {
            Quotes::Verbatim => fact.wording(proposal.seen).to_owned(),
            Quotes::Paraphrased => fact.wording(proposal.seen + 1).to_owned(),
            Quotes::Prompt => question_in(&prompt).to_owned(),
        };
        let words: Vec<&str> = fact.wording(0).split(' ').take(5).collect();
        json!({
            "name": words.join(" "),
            "description": fact.wording(proposal.content + 1),
            "type": fact.kind,
            "content": fact.wording(proposal.content),
            "quotes": [quote],
        })
    }

    /// The turn is over: from now on it is what was said before.
    fn look_back(&mut self) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.before.extend(turn.news.iter().chain(&turn.echoes));
    }

    /// Facts for a summary or notes: what was said in the turns before, in yet other words; in the first turn
    /// some of what is known.
    fn tempting(&self) -> String {
        let known = (0..4).map(|place| (chance(self.session, place, 32), place));
        let said: Vec<(usize, usize)> =
            if self.before.is_empty() { known.collect() } else { self.before.clone() };
        let lines = said.iter().filter_map(|(fact, seen)| {
            Some(format!("- {}", self.facts.get(*fact)?.wording(seen + 1 + self.session % 2)))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn note(&self, request: &RecordedRequest, text: &str) -> Answer {
        const FILE: &str = "/session-memory/summary.md";
        const STATE: &str =
            "_What is being worked on right now, what is unfinished, and the very next step_\n";
        let path = text.split_once(FILE).map_or("", |(before, _)| before);
        let path = path.rsplit([' ', '"', '\n', '`']).next().unwrap_or_default();
        if is_begun(&request.last_message()) {
            return Answer::new().text("Noted.");
        }
        let input = json!({
            "file_path": format!("{path}{FILE}"),
            "old_string": STATE,
            "new_string": format!("{STATE}{}\n", self.tempting()),
        });
        Answer::new().call("note", "Edit", input.to_string())
    }
}

/// The line in which the user asks something, or the first.
fn question_in(prompt: &str) -> &str {
    let mut lines = prompt.lines();
    let first = lines.next().unwrap_or_default();
    lines.find(|line| line.contains('?')).unwrap_or(first)
}

fn id_of(proposal: &Proposal, attempt: usize) -> String {
    format!("save-{}-{attempt}", proposal.fact)
}

/// Whether a fork has answers to its calls already.
fn is_begun(last: &Value) -> bool {
    blocks(last).any(|block| block["type"] == "tool_result")
}

/// The calls whose quotations were not found.
fn refused(last: &Value) -> Vec<String> {
    let refused = blocks(last).filter(|block| spoken(block).contains(NOWHERE));
    refused.filter_map(|block| block["tool_use_id"].as_str().map(str::to_owned)).collect()
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    message["content"].as_array().into_iter().flatten()
}

/// Everything that a request says, as text.
fn spoken(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(list) => list.iter().map(spoken).collect(),
        Value::Object(fields) => fields.values().map(spoken).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}
