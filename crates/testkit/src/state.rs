//! What the threads of a scripted server share: the script, what was seen of it, and what went wrong.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dormouse_conversation::Usage;
use dormouse_model::WireFormat;
use dormouse_model::script::{ScriptedBlock, ScriptedTurn};
use serde_json::Value;

use crate::cache::{CacheOutcome, PrefixCache};
use crate::checks::{Rules, check_prefix, check_request};
use crate::framing::Framing;
use crate::gate::lock;
use crate::http::RawRequest;
use crate::openai_cache::CommonPrefixCache;
use crate::record::RecordedRequest;
use crate::reply::Reply;
use crate::waiting::HANGS;

/// A break of the prefix rule that a test announces.
#[derive(Debug, Clone)]
pub(crate) struct ExpectedBreak {
    pub(crate) why: String,
    /// Whether it is a failure if it never comes.
    pub(crate) required: bool,
}

/// A function that answers requests.
pub(crate) type Answerer = Box<dyn FnMut(&RecordedRequest) -> Reply + Send>;

/// A function that sees to requests in a long run: nothing else looks at them, and none is kept.
pub(crate) type Attendant = Box<dyn FnMut(&RecordedRequest) -> Attended + Send>;

/// What it says to one.
#[derive(Debug, Clone)]
pub struct Attended {
    /// The input side of what it costs.
    pub usage: Usage,
    /// The answer.
    pub reply: Reply,
    /// What the server has cleared for it, as the answer tells it.
    pub applied: Option<Value>,
}

/// Where replies come from.
pub(crate) enum Source {
    List(VecDeque<Reply>),
    Function(Arc<Mutex<Answerer>>),
}

/// What does not change while the server runs.
#[derive(Debug, Clone)]
pub(crate) struct Fixed {
    pub(crate) wire: WireFormat,
    pub(crate) window: u64,
    pub(crate) max_output: u64,
    pub(crate) model: String,
    pub(crate) framing: Framing,
    pub(crate) has_model_info: bool,
    /// Who owns the model, in the list of an OpenAI-compatible server: local servers are known by it.
    pub(crate) owner: &'static str,
    pub(crate) may_overflow: bool,
    pub(crate) knows_cache_edits: bool,
    /// Requests to this model are questions on the side.
    pub(crate) side_model: Option<String>,
}

/// How the message that begins a fork begins, in a request's bytes: a text that only quotes it has a `\\`
/// before the quotation mark.
const FORK: &[u8] = b":\"<forked-conversation>";

/// Which of the conversations that share prefix and cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lane {
    Main,
    Fork,
    /// A conversation of its own, with another prompt.
    Agent,
}

impl Lane {
    fn of(request: &RawRequest, state: &State) -> Self {
        if contains(&request.body, FORK) {
            return Self::Fork;
        }
        let begins = |body: &[u8]| beginning(body);
        match state.main.requests.first() {
            Some(first) if state.has_agents && begins(&first.body) != begins(&request.body) => {
                Self::Agent
            }
            _ => Self::Main,
        }
    }

    /// What a request of it is called.
    fn named(self, index: usize) -> String {
        match self {
            Self::Main => format!("request {index}"),
            Self::Fork => format!("fork request {index}"),
            Self::Agent => format!("agent request {index}"),
        }
    }
}

/// A script, and the requests that it was asked with.
pub(crate) struct Script {
    pub(crate) source: Source,
    pub(crate) requests: Vec<RecordedRequest>,
}

impl Script {
    pub(crate) fn new(source: Source) -> Self {
        Self { source, requests: Vec::new() }
    }

    /// How many replies nobody has asked for.
    pub(crate) fn left(&self) -> usize {
        match &self.source {
            Source::List(replies) => replies.len(),
            Source::Function(_) => 0,
        }
    }

    pub(crate) fn push(&mut self, reply: Reply) {
        match &mut self.source {
            Source::List(list) => list.push_back(reply),
            Source::Function(_) => panic!("replies come from a function"),
        }
    }
}

/// What does.
pub(crate) struct State {
    pub(crate) main: Script,
    /// Copies of the main conversation, each with a message of its own behind it.
    pub(crate) forks: Script,
    /// Conversations of agents, each with a prompt of its own.
    pub(crate) agents: Script,
    pub(crate) has_agents: bool,
    pub(crate) side: VecDeque<Reply>,
    pub(crate) side_requests: Vec<RecordedRequest>,
    pub(crate) failures: Vec<String>,
    pub(crate) breaks: VecDeque<ExpectedBreak>,
    pub(crate) canaries: Vec<String>,
    pub(crate) model_requests: usize,
    pub(crate) now: Duration,
    pub(crate) cache: PrefixCache,
    pub(crate) common: CommonPrefixCache,
    pub(crate) stopped: bool,
}

impl State {
    fn script(&mut self, lane: Lane) -> &mut Script {
        match lane {
            Lane::Main => &mut self.main,
            Lane::Fork => &mut self.forks,
            Lane::Agent => &mut self.agents,
        }
    }

    /// Whether a request continues what it should: the main conversation its last request; a fork any of the
    /// main conversation, which may have gone on meanwhile, or one of its own; a task that is alone, nothing.
    fn continues(&self, lane: Lane, body: &[u8]) -> Result<(), String> {
        if lane == Lane::Agent {
            return self.agent_continues(body);
        }
        if lane == Lane::Fork && is_alone(body) {
            return Ok(());
        }
        let Some(last) = self.main.requests.last() else { return Ok(()) };
        let outcome = check_prefix(&last.body, body).map_err(|changed| changed.to_string());
        if lane == Lane::Main || outcome.is_ok() {
            return outcome;
        }
        let mut earlier = self.main.requests.iter().chain(&self.forks.requests).rev();
        let any = earlier.any(|earlier| check_prefix(&earlier.body, body).is_ok());
        if any { Ok(()) } else { outcome }
    }
}

impl State {
    /// An agent begins with one message, or goes on with what it has sent.
    fn agent_continues(&self, body: &[u8]) -> Result<(), String> {
        let parsed: Value = serde_json::from_slice(body).unwrap_or_default();
        let answered = parsed["messages"]
            .as_array()
            .is_some_and(|messages| messages.iter().any(|message| message["role"] == "assistant"));
        let mut earlier = self.agents.requests.iter().rev();
        if !answered || earlier.any(|earlier| check_prefix(&earlier.body, body).is_ok()) {
            return Ok(());
        }
        Err("an agent's request that continues none of those before".to_owned())
    }
}

/// Whether a request has one message only: a task that shares nothing with the conversation.
fn is_alone(body: &[u8]) -> bool {
    let parsed: Value = serde_json::from_slice(body).unwrap_or_default();
    let messages = parsed["messages"].as_array().cloned().unwrap_or_default();
    messages.iter().filter(|message| message["role"] != "system").count() == 1
}

/// How the system prompt of a request begins: that is not the same in two kinds of conversation.
fn beginning(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = body["system"][0]["text"]
        .as_str()
        .or_else(|| body["system"].as_str())
        .or_else(|| body["messages"][0]["content"].as_str())
        .or_else(|| body["messages"][0]["content"][0]["text"].as_str());
    text.unwrap_or_default().chars().take(80).collect()
}

/// Both, shared.
pub(crate) struct Shared {
    pub(crate) fixed: Fixed,
    pub(crate) state: Mutex<State>,
    pub(crate) changed: Condvar,
    /// Who sees to all requests instead of the script.
    pub(crate) attendant: Option<Mutex<(usize, Attendant)>>,
}

impl Shared {
    pub(crate) fn is_stopped(&self) -> bool {
        lock(&self.state).stopped
    }

    /// Sleeps, but not beyond the life of the server; without a time, for all of it.
    pub(crate) fn sleep(&self, time: Option<Duration>) {
        let deadline = time.map(|time| Instant::now() + time);
        let mut state = lock(&self.state);
        while !state.stopped {
            let left = deadline.map_or(HANGS, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return;
            }
            let woken = self.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until something holds; the text of a panic otherwise.
    pub(crate) fn wait_for(&self, what: &str, holds: impl Fn(&State) -> bool) {
        let deadline = Instant::now() + HANGS;
        let mut state = lock(&self.state);
        while !holds(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let seen = summary(&state);
                drop(state);
                panic!("waited {HANGS:?} for {what}; seen:\n{seen}");
            }
            let woken = self.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(crate) fn fail(&self, problem: String) {
        lock(&self.state).failures.push(problem);
        self.changed.notify_all();
    }

    /// Checks and records a request, and finds the reply to it. Without one the request was not in the
    /// script.
    pub(crate) fn take(
        &self,
        request: RawRequest,
        connection: usize,
    ) -> (RecordedRequest, Option<Reply>) {
        if let Some(attendant) = &self.attendant {
            return self.attend(&mut lock(attendant), request, connection);
        }
        if self.is_side(&request) {
            return self.take_side(request, connection);
        }
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let lane = Lane::of(&request, state);
        let outcome = match self.fixed.wire {
            WireFormat::Anthropic => state.cache.look_up(&request.body, state.now),
            WireFormat::OpenAi => state.common.look_up(&request.body),
        };
        let started = state.now;
        let recorded = RecordedRequest {
            index: state.script(lane).requests.len(),
            connection,
            method: request.method,
            path: request.path,
            headers: request.headers,
            body: request.body,
            usage: outcome.usage,
            written: outcome.written,
            left_out: outcome.left_out,
            applied: outcome.applied.clone(),
        };
        self.check(state, lane, &recorded, &outcome);
        let script = state.script(lane);
        script.requests.push(recorded.clone());
        let mut reply = None;
        let mut function = None;
        match &mut script.source {
            Source::List(replies) => reply = replies.pop_front(),
            Source::Function(answer) => function = Some(Arc::clone(answer)),
        }
        drop(guard);
        if let Some(answer) = function {
            // Called without the state's lock, so that it may look at the server.
            let answered = catch_unwind(AssertUnwindSafe(|| (lock(&answer))(&recorded)));
            match answered {
                Ok(answered) => reply = Some(answered),
                Err(_) => self.fail(format!(
                    "{}: the answering function panicked",
                    lane.named(recorded.index)
                )),
            }
        }
        let recorded = self.settle(lane, recorded, reply.as_ref(), &outcome, started);
        (recorded, reply)
    }

    fn attend(
        &self,
        (index, attendant): &mut (usize, Attendant),
        request: RawRequest,
        connection: usize,
    ) -> (RecordedRequest, Option<Reply>) {
        let mut recorded = RecordedRequest {
            index: *index,
            connection,
            method: request.method,
            path: request.path,
            headers: request.headers,
            body: request.body,
            usage: Usage::default(),
            written: 0,
            left_out: 0,
            applied: None,
        };
        *index += 1;
        match catch_unwind(AssertUnwindSafe(|| attendant(&recorded))) {
            Ok(Attended { usage, reply, applied }) => {
                let output = reply.streamed().map_or(0, |turn| output_tokens(&turn));
                recorded.usage = Usage { output_tokens: output, ..usage };
                recorded.applied = applied;
                (recorded, Some(reply))
            }
            Err(_) => {
                self.fail(format!("request {}: the attendant panicked", recorded.index));
                (recorded, None)
            }
        }
    }

    fn is_side(&self, request: &RawRequest) -> bool {
        let body: Option<Value> = serde_json::from_slice(&request.body).ok();
        let model = body.as_ref().and_then(|body| body.get("model")?.as_str());
        self.fixed.side_model.is_some() && self.fixed.side_model.as_deref() == model
    }

    /// A question on the side has its own list, and neither prefix nor cache.
    fn take_side(
        &self,
        request: RawRequest,
        connection: usize,
    ) -> (RecordedRequest, Option<Reply>) {
        let mut state = lock(&self.state);
        let recorded = RecordedRequest {
            index: state.side_requests.len(),
            connection,
            method: request.method,
            path: request.path,
            headers: request.headers,
            body: request.body,
            usage: Usage { input_tokens: 100, ..Default::default() },
            written: 0,
            left_out: 0,
            applied: None,
        };
        let rules = Rules { wire: self.fixed.wire, window: None, canaries: &state.canaries };
        let problems = check_request(&recorded, &rules);
        let named =
            problems.into_iter().map(|text| format!("side request {}: {text}", recorded.index));
        let named: Vec<String> = named.collect();
        state.failures.extend(named);
        state.side_requests.push(recorded.clone());
        let reply = state.side.pop_front();
        drop(state);
        self.changed.notify_all();
        (recorded, reply)
    }

    fn check(
        &self,
        state: &mut State,
        lane: Lane,
        recorded: &RecordedRequest,
        outcome: &CacheOutcome,
    ) {
        let rules = Rules {
            wire: self.fixed.wire,
            window: (!self.fixed.may_overflow).then_some(self.fixed.window),
            canaries: &state.canaries,
        };
        let mut problems = check_request(recorded, &rules);
        problems.extend(outcome.problems.iter().cloned());
        if !self.fixed.knows_cache_edits && contains(&recorded.body, br#"{"type":"cache_edits""#) {
            problems.push("a block `cache_edits`, which this server does not know".to_owned());
        }
        if let Err(problem) = state.continues(lane, &recorded.body)
            && state.breaks.pop_front().is_none()
        {
            problems.push(problem);
        }
        let name = lane.named(recorded.index);
        state.failures.extend(problems.into_iter().map(|text| format!("{name}: {text}")));
    }

    /// Writes down what the request cost. A refused one costs nothing and leaves nothing in the cache.
    fn settle(
        &self,
        lane: Lane,
        mut recorded: RecordedRequest,
        reply: Option<&Reply>,
        outcome: &CacheOutcome,
        started: Duration,
    ) -> RecordedRequest {
        let mut state = lock(&self.state);
        if let Some(turn) = reply.and_then(Reply::streamed) {
            recorded.usage.output_tokens = output_tokens(&turn);
            match self.fixed.wire {
                WireFormat::Anthropic => state.cache.commit(outcome, started),
                WireFormat::OpenAi => state.common.commit(&recorded.body),
            }
        } else {
            recorded.usage = Usage::default();
            recorded.written = 0;
        }
        state.script(lane).requests[recorded.index] = recorded.clone();
        drop(state);
        self.changed.notify_all();
        recorded
    }
}

fn contains(body: &[u8], word: &[u8]) -> bool {
    body.windows(word.len()).any(|part| part == word)
}

/// What a turn costs: a token for every four bytes.
pub fn output_tokens(turn: &ScriptedTurn) -> u64 {
    let bytes = |piece: &ScriptedBlock| match piece {
        ScriptedBlock::Text(text)
        | ScriptedBlock::Thinking { text, .. }
        | ScriptedBlock::Raw(text) => text.len(),
        ScriptedBlock::ToolCall { name, arguments, .. } => name.len() + arguments.len(),
    };
    (turn.pieces.iter().map(bytes).sum::<usize>() as u64).div_ceil(4).max(1)
}

/// What was seen so far, for a person.
pub(crate) fn summary(state: &State) -> String {
    let mut text = String::new();
    let (forks, agents) = (&state.forks.requests, &state.agents.requests);
    for request in state.main.requests.iter().chain(forks).chain(agents) {
        let tail = request.body.len().saturating_sub(200);
        let tail = String::from_utf8_lossy(&request.body[tail..]);
        text.push_str(&format!(
            "  request {}: {} {} ({} bytes) ...{tail}\n",
            request.index,
            request.method,
            request.path,
            request.body.len()
        ));
    }
    for failure in &state.failures {
        text.push_str(&format!("  failure: {failure}\n"));
    }
    if text.is_empty() { "  nothing\n".into() } else { text }
}
