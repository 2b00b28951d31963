//! The server's side of a run: it answers, keeps the emulated cache, counts, and checks every request.
//!
//! What is kept is the last body of the conversation and of its forks; everything else is a number. What must
//! not be is a problem, and the first one ends the run.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dormouse_conversation::{Budget, ContextWindow, Usage};
use dormouse_engine::FORK_TAG;
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{
    Attended, CacheOutcome, PrefixCache, RecordedRequest, Reply, Rules, Trail, WireFormat,
    check_request, output_tokens,
};
use serde_json::Value;

use super::agents::{AgentLanes, is_agents};
use super::announced::Announced;
use super::coder::{Coder, Fork, answer_fork, is_first_of_fork};
use super::memories::extract;
use super::small_model::is_small;
use super::transcript::Lines;
use super::words;

/// The smallest prefix that is cached.
const LEAST_CACHED: u64 = 1_024;
/// The most that a request may be to be read as a whole, in bytes: beyond the window of the long run nothing is
/// due that could break the order of its messages.
const READ_WHOLE: usize = 2_000_000;
/// The layers that put a summary in place of messages.
const COMPACTING: [&str; 2] = ["auto_compact", "notes_compaction"];

/// How the emulated cache reads requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Only where they differ from the one before: quick, for sessions of any size.
    OfWhatIsNew,
    /// From the first byte: with what the request asks the server to delete or to clear.
    Whole,
}

/// What was asked for and what it cost.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) requests: u64,
    pub(super) usage: Usage,
}

impl Sum {
    pub(super) fn add(&mut self, usage: Usage) {
        self.requests += 1;
        self.usage.input_tokens += usage.input_tokens;
        self.usage.output_tokens += usage.output_tokens;
        self.usage.cache_creation_input_tokens += usage.cache_creation_input_tokens;
        self.usage.cache_read_input_tokens += usage.cache_read_input_tokens;
    }
}

/// What was asked for besides the conversation itself.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallSums {
    /// Summaries in place of the conversation.
    pub(super) summaries: Sum,
    /// Summaries in place of spans.
    pub(super) spans: Sum,
    /// Notes.
    pub(super) notes: Sum,
    /// Extraction as a fork of the conversation.
    pub(super) extraction: Sum,
    /// Dreams.
    pub(super) dreams: Sum,
    /// Extraction by itself, by the small model; not among all requests.
    pub(super) small: Sum,
    /// Memories chosen for recall, by the small model; not among all requests.
    pub(super) recall: Sum,
}

/// What a run came to, as the server saw it.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    /// All requests.
    pub(super) all: Sum,
    /// By what they were for.
    pub(super) calls: CallSums,
    /// Requests of agents, forks left out.
    pub(super) agents: u64,
    /// Requests of forks that are agents.
    pub(super) forked: u64,
    /// Requests that did not fit into the window.
    pub(super) refused: u64,
    /// Changes of what had been sent; all of them announced.
    pub(super) breaks: u64,
    /// Forks that do not begin as anything that was sent: summaries that are asked for in a stripped form, and
    /// spans of a view that was compacted at once.
    pub(super) own_bytes: u64,
    /// Compactions after which the user's words were looked for.
    pub(super) words_checked: u64,
    /// The largest request, in tokens.
    pub(super) largest: u64,
    /// Everything that came, also what went to the small model.
    pub(super) seen: u64,
    /// How long the server itself took.
    pub(super) busy: Duration,
}

/// The server's side.
pub(super) struct Ledger {
    window: u64,
    words_room: usize,
    home: PathBuf,
    pub(super) coder: Coder,
    main: Trail,
    forks: Trail,
    pub(super) agents: AgentLanes,
    cache: PrefixCache,
    reading: Reading,
    now: Duration,
    pub(super) announced: Announced,
    /// A fork that came before the request whose beginning it has: its own messages are from there on.
    early_fork: Option<(Fork, usize)>,
    turn: usize,
    pub(super) counts: Counts,
    pub(super) problems: Vec<String>,
}

impl Ledger {
    /// For a program with this home, that is told this window.
    pub(super) fn new(home: &Path, window: u32, max_output: u32, reading: Reading) -> Self {
        let budget = Budget::for_window(ContextWindow::new(window).expect("a window"), max_output);
        Self {
            window: u64::from(window),
            words_room: usize::try_from(budget.compaction.user_words_tokens).unwrap_or(0) * 4,
            home: home.to_owned(),
            coder: Coder::default(),
            main: Trail::default(),
            forks: Trail::default(),
            agents: AgentLanes::default(),
            cache: PrefixCache::new(LEAST_CACHED),
            reading,
            now: Duration::ZERO,
            announced: Announced::in_home(home),
            early_fork: None,
            turn: 0,
            counts: Counts::default(),
            problems: Vec::new(),
        }
    }

    /// The same on a server without a cache: no prefix is long enough for it.
    pub(super) fn without_cache(mut self) -> Self {
        self.cache = PrefixCache::new(u64::MAX);
        self
    }

    /// Time passes.
    pub(super) fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    /// The user is about to speak, this long after they last did.
    pub(super) fn begin_turn(&mut self, turn: usize, pause: Duration) {
        self.turn = turn;
        self.now += pause;
        self.cache.forget_old(self.now);
    }

    /// Sees to a request.
    pub(super) fn attend(&mut self, request: &RecordedRequest) -> Attended {
        let start = Instant::now();
        self.counts.seen += 1;
        self.check_whole(request);
        let answered = match fork_message(&request.body) {
            told if is_agents(&request.body) => self.attend_agent(&request.body, told.as_deref()),
            told if is_small(&request.body) => self.attend_small(&request.body, told.as_deref()),
            None => self.attend_main(&request.body),
            Some(told) => self.attend_fork(&request.body, &told),
        };
        self.counts.busy += start.elapsed();
        answered
    }

    fn check_whole(&mut self, request: &RecordedRequest) {
        if request.body.len() > READ_WHOLE {
            return;
        }
        let rules = Rules { wire: WireFormat::Anthropic, window: None, canaries: &[] };
        for problem in check_request(request, &rules) {
            self.problem(&format!("request {}: {problem}", request.index));
        }
    }

    fn attend_main(&mut self, body: &[u8]) -> Attended {
        let step = self.main.follow(body);
        if let Some((kind, own)) = self.early_fork.take()
            && !self.main.is_copied_by(&self.forks, own)
        {
            match kind {
                // The view that it was made of was compacted before it was sent.
                Fork::Span => self.counts.own_bytes += 1,
                Fork::Summary
                | Fork::Notes
                | Fork::Extraction
                | Fork::Dream
                | Fork::Agent
                | Fork::Other => {
                    self.problem(&format!("a fork ({kind:?}) does not begin as its conversation"));
                }
            }
        }
        let announced = self.announced.since_last();
        if !step.continues {
            self.counts.breaks += 1;
            self.broke(step.shared, &announced);
        }
        let outcome = self.look_up(&self.main, body);
        if let Some(refusal) = self.refused(&outcome) {
            return refusal;
        }
        let last = last_of(&self.main);
        let turn = self.coder.answer(&last);
        self.settle(&outcome, turn, None)
    }

    fn attend_fork(&mut self, body: &[u8], told: &str) -> Attended {
        let kind = Fork::of(told);
        self.forks.follow(body);
        let own = self.forks.messages().rposition(is_own);
        self.early_fork = None;
        // One that was compacted itself has no message of its parent's left.
        if let Some(own) = own
            && !self.main.is_copied_by(&self.forks, own)
        {
            match kind {
                Fork::Summary => self.counts.own_bytes += 1,
                Fork::Agent => self.problem("a fork that is an agent does not begin as its parent"),
                // Of a long conversation it has the prefix and no messages.
                Fork::Dream => {}
                Fork::Span | Fork::Notes | Fork::Extraction | Fork::Other => {
                    self.early_fork = Some((kind, own));
                }
            }
        }
        let outcome = self.look_up(&self.forks, body);
        if let Some(refusal) = self.refused(&outcome) {
            return refusal;
        }
        let last = last_of(&self.forks);
        let number = self.counts.all.requests;
        let answer = match kind {
            Fork::Extraction if is_first_of_fork(&last) => {
                extract(&String::from_utf8_lossy(body), &mut self.coder.saved_up_to)
            }
            _ => answer_fork(kind, told, &last, number),
        };
        self.settle(&outcome, answer, Some(kind))
    }

    /// Refuses what does not fit, as the real server does.
    pub(super) fn refused(&mut self, outcome: &CacheOutcome) -> Option<Attended> {
        let tokens = outcome.usage.input_total();
        self.counts.largest = self.counts.largest.max(tokens);
        if tokens <= self.window {
            return None;
        }
        self.counts.refused += 1;
        let reply = Reply::prompt_too_long(tokens, self.window);
        Some(Attended { usage: Usage::default(), reply, applied: None })
    }

    pub(super) fn settle(
        &mut self,
        outcome: &CacheOutcome,
        turn: ScriptedTurn,
        fork: Option<Fork>,
    ) -> Attended {
        self.cache.commit(outcome, self.now);
        let usage = Usage { output_tokens: output_tokens(&turn), ..outcome.usage };
        self.counts.all.add(usage);
        match fork {
            Some(Fork::Summary) => self.counts.calls.summaries.add(usage),
            Some(Fork::Span) => self.counts.calls.spans.add(usage),
            Some(Fork::Notes) => self.counts.calls.notes.add(usage),
            Some(Fork::Extraction) => self.counts.calls.extraction.add(usage),
            Some(Fork::Dream) => self.counts.calls.dreams.add(usage),
            Some(Fork::Agent) => self.counts.forked += 1,
            Some(Fork::Other) | None => {}
        }
        Attended { usage, reply: Reply::Turn(turn), applied: outcome.applied.clone() }
    }

    pub(super) fn look_up(&self, trail: &Trail, body: &[u8]) -> CacheOutcome {
        match self.reading {
            Reading::OfWhatIsNew => trail.look_up(&self.cache, self.now),
            Reading::Whole => self.cache.look_up(body, self.now),
        }
    }

    /// What was sent has changed: was it announced, and are the user's words still there?
    fn broke(&mut self, at: usize, announced: &[String]) {
        if announced.is_empty() {
            let from = at.saturating_sub(60);
            let around = self.main.body().get(from..).unwrap_or_default();
            let around = String::from_utf8_lossy(around.get(..160).unwrap_or(around));
            self.problem(&format!("the prefix changes at byte {at}, unannounced: …{around}…"));
            return;
        }
        if !announced.iter().any(|layer| COMPACTING.contains(&layer.as_str())) {
            return;
        }
        let messages: Vec<Value> = self.main.messages().map(read).collect();
        if !words::are_compacted(&messages) {
            return;
        }
        self.counts.words_checked += 1;
        let lines = Lines::of(&self.home);
        let found = words::check(&messages, self.turn, self.words_room, |place| lines.at(place));
        if let Err(lost) = found {
            self.problem(&format!("after a compaction {lost}"));
        }
    }

    pub(super) fn problem(&mut self, text: &str) {
        self.problems.push(format!("turn {}: {text}", self.turn));
    }
}

fn is_own(message: &[u8]) -> bool {
    let tag = format!(":\"{FORK_TAG}");
    memchr::memmem::find(message, tag.as_bytes()).is_some()
}

/// What a fork is told; nothing for a request of the conversation itself. In a fork that was compacted the summary says it.
fn fork_message(body: &[u8]) -> Option<String> {
    let at = memchr::memmem::rfind(body, FORK_TAG.as_bytes())?;
    let text = [b"\"", body.get(at..)?].concat();
    let mut read = serde_json::Deserializer::from_slice(&text).into_iter::<String>();
    read.next()?.ok()
}

pub(super) fn last_of(trail: &Trail) -> Value {
    trail.messages().next_back().map(read).unwrap_or_default()
}

fn read(message: &[u8]) -> Value {
    serde_json::from_slice(message).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_conversation::metrics::MetricsLog;

    fn request(texts: &[&str]) -> RecordedRequest {
        let headers = [
            ("content-type", "application/json"),
            ("anthropic-version", "2023-06-01"),
            ("x-api-key", "k"),
        ];
        let message = |(place, text): (usize, &&str)| {
            let role = if place % 2 == 0 { "user" } else { "assistant" };
            format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}"#)
        };
        let messages: Vec<String> = texts.iter().enumerate().map(message).collect();
        let body = format!(r#"{{"model":"m","stream":true,"messages":[{}]}}"#, messages.join(","));
        RecordedRequest {
            index: 0,
            connection: 0,
            method: "POST".to_owned(),
            path: "/v1/messages".to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            body: body.into_bytes(),
            usage: Usage::default(),
            written: 0,
            left_out: 0,
            applied: None,
        }
    }

    #[test]
    fn a_change_is_a_problem_unless_a_layer_has_announced_it() {
        let home = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::new(home.path(), 20_000, 4_000, Reading::OfWhatIsNew);
        ledger.attend(&request(&["#0 a", "b", "c"]));
        ledger.attend(&request(&["#0 a", "b", "c", "d", "e"]));
        assert_eq!((ledger.problems.as_slice(), ledger.counts.breaks), ([].as_slice(), 0));
        let folder = MetricsLog::folder_in(home.path());
        std::fs::create_dir_all(&folder).unwrap();
        let figure = r#"{"kind":"layer","name":"snip","prefix_changed":true}"#;
        std::fs::write(folder.join("2026-11.jsonl"), format!("{figure}\n")).unwrap();
        ledger.attend(&request(&["#0 a", "b", "changed", "d", "e"]));
        assert_eq!((ledger.problems.as_slice(), ledger.counts.breaks), ([].as_slice(), 1));
        ledger.attend(&request(&["#0 a", "b", "again", "d", "e"]));
        assert!(ledger.problems.first().is_some_and(|problem| problem.contains("unannounced")));
    }

    #[test]
    fn a_fork_is_no_part_of_the_conversation_also_after_its_compaction() {
        let home = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::new(home.path(), 20_000, 4_000, Reading::OfWhatIsNew);
        ledger.attend(&request(&["#0 a", "b", "c"]));
        let task = format!("{FORK_TAG}\\nThis is a dream");
        ledger.attend(&request(&["#0 a", "b", &task]));
        ledger.attend(&request(&[&format!("The window was full. What was said:\\n{task}")]));
        ledger.attend(&request(&["#0 a", "b", "c", "d", "e"]));
        assert_eq!((ledger.problems.as_slice(), ledger.counts.breaks), ([].as_slice(), 0));
        assert_eq!(ledger.counts.calls.dreams.requests, 2);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_what_the_api_refuses_is_a_problem() {
        let home = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::new(home.path(), 20_000, 4_000, Reading::OfWhatIsNew);
        let Attended { reply, .. } = ledger.attend(&request(&[&"long ".repeat(20_000)]));
        assert!(matches!(reply, Reply::Error { status: 400, .. }));
        assert_eq!(ledger.counts.refused, 1);
        ledger.attend(&request(&["a", "the last word is the model's"]));
        assert!(!ledger.problems.is_empty());
    }
}
