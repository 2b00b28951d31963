//! The scripted model server: real HTTP on the loopback interface, played from a list of replies.
//!
//! It is strict: a request that the script does not know, a reply that nobody asked for and a request
//! that breaks a rule all make [`ScriptedServer::finish`] panic. Dropping it without `finish` stops it
//! and says nothing, so that a failing test shows its own message.

use std::collections::{HashMap, VecDeque};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use dormouse_model::WireFormat;

use crate::cache::PrefixCache;
use crate::framing::Framing;
use crate::gate::lock;
use crate::http::Connection;
use crate::openai_cache::CommonPrefixCache;
use crate::play::serve;
use crate::record::RecordedRequest;
use crate::reply::Reply;
use crate::state::{
    Answerer, Attendant, Attended, ExpectedBreak, Fixed, Script, Shared, Source, State,
};

/// The sockets of connections that are open, by number, so that stopping can end them.
type Sockets = Arc<Mutex<HashMap<usize, TcpStream>>>;

/// What a server is made of.
pub struct ServerBuilder {
    fixed: Fixed,
    source: Source,
    canaries: Vec<String>,
    breaks: VecDeque<ExpectedBreak>,
    minimum: u64,
    side: VecDeque<Reply>,
    forks: Source,
    agents: Option<Answerer>,
    attendant: Option<Attendant>,
}

impl ServerBuilder {
    /// The wire format; Anthropic's unless said otherwise.
    #[must_use]
    pub fn wire(mut self, wire: WireFormat) -> Self {
        self.fixed.wire = wire;
        self
    }

    /// The context window in tokens; 200,000 unless said otherwise.
    #[must_use]
    pub fn window(mut self, tokens: u64) -> Self {
        self.fixed.window = tokens;
        self
    }

    /// The most tokens of an answer that the model information names; 32,000 unless said otherwise.
    #[must_use]
    pub fn max_output(mut self, tokens: u64) -> Self {
        self.fixed.max_output = tokens;
        self
    }

    /// The name of the model; `scripted-1` unless said otherwise.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.fixed.model = model.into();
        self
    }

    /// How streams are framed.
    #[must_use]
    pub fn framing(mut self, framing: Framing) -> Self {
        self.fixed.framing = framing;
        self
    }

    /// A text that no request may contain, but in the header that carries the key.
    #[must_use]
    pub fn canary(mut self, text: impl Into<String>) -> Self {
        self.canaries.push(text.into());
        self
    }

    /// Questions about models are answered with 404.
    #[must_use]
    pub fn no_model_info(mut self) -> Self {
        self.fixed.has_model_info = false;
        self
    }

    /// Who owns the model, in the list of an OpenAI-compatible server; `testkit` unless said otherwise.
    #[must_use]
    pub fn owner(mut self, owner: &'static str) -> Self {
        self.fixed.owner = owner;
        self
    }

    /// Requests larger than the window are no failure.
    #[must_use]
    pub fn allow_overflow(mut self) -> Self {
        self.fixed.may_overflow = true;
        self
    }

    /// The server can delete results from its cache: blocks `cache_edits`.
    #[must_use]
    pub fn knows_cache_edits(mut self) -> Self {
        self.fixed.knows_cache_edits = true;
        self
    }

    /// The smallest prefix that the cache keeps, in tokens; 1,024 unless said otherwise.
    #[must_use]
    pub fn minimum_cacheable(mut self, tokens: u64) -> Self {
        self.minimum = tokens;
        self
    }

    /// One request may break the prefix rule; see [`ScriptedServer::expect_break`].
    #[must_use]
    pub fn expect_break(mut self, why: impl Into<String>) -> Self {
        self.breaks.push_back(ExpectedBreak { why: why.into(), required: true });
        self
    }

    /// Requests to this model are questions on the side: they have a list of replies of their own, and
    /// neither prefix nor cache.
    #[must_use]
    pub fn side_model(mut self, model: impl Into<String>) -> Self {
        self.fixed.side_model = Some(model.into());
        self
    }

    /// Adds a reply to a question on the side.
    #[must_use]
    pub fn side_reply(mut self, reply: impl Into<Reply>) -> Self {
        self.side.push_back(reply.into());
        self
    }

    /// Answers forks of the conversation: requests with a message that begins as a fork's does. They share
    /// prefix and cache with the conversation, and have replies of their own, from this function instead of
    /// [`ScriptedServer::push_fork`].
    #[must_use]
    pub fn fork_with(
        mut self,
        answer: impl FnMut(&RecordedRequest) -> Reply + Send + 'static,
    ) -> Self {
        let answer: Answerer = Box::new(answer);
        self.forks = Source::Function(Arc::new(Mutex::new(answer)));
        self
    }

    /// Answers agents that have a prompt of their own: requests whose system prompt begins otherwise than the
    /// conversation's first. Each has its own messages; nothing but the server is shared.
    #[must_use]
    pub fn agent_with(
        mut self,
        answer: impl FnMut(&RecordedRequest) -> Reply + Send + 'static,
    ) -> Self {
        self.agents = Some(Box::new(answer));
        self
    }

    /// Adds a reply to the script.
    #[must_use]
    pub fn reply(self, reply: impl Into<Reply>) -> Self {
        self.replies([reply.into()])
    }

    /// Adds replies to the script.
    #[must_use]
    pub fn replies<R: Into<Reply>>(mut self, replies: impl IntoIterator<Item = R>) -> Self {
        match &mut self.source {
            Source::List(list) => list.extend(replies.into_iter().map(Into::into)),
            Source::Function(_) => panic!("replies come from a function already"),
        }
        self
    }

    /// Replies come from a function instead of a list.
    #[must_use]
    pub fn reply_with(
        mut self,
        answer: impl FnMut(&RecordedRequest) -> Reply + Send + 'static,
    ) -> Self {
        let answer: Answerer = Box::new(answer);
        self.source = Source::Function(Arc::new(Mutex::new(answer)));
        self
    }

    /// For a run of thousands of requests: one function sees to all of them, of the conversation and of its
    /// forks, and says what each costs. The server checks nothing, keeps nothing and has no cache.
    #[must_use]
    pub fn set_asker(
        mut self,
        attendant: impl FnMut(&RecordedRequest) -> Attended + Send + 'static,
    ) -> Self {
        self.attendant = Some(Box::new(attendant));
        self
    }

    /// Starts the server.
    pub fn start(self) -> ScriptedServer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
        let address = listener.local_addr().expect("the port's address");
        let state = State {
            main: Script::new(self.source),
            forks: Script::new(self.forks),
            has_agents: self.agents.is_some(),
            agents: Script::new(match self.agents {
                Some(answer) => Source::Function(Arc::new(Mutex::new(answer))),
                None => Source::List(VecDeque::new()),
            }),
            side: self.side,
            side_requests: Vec::new(),
            failures: Vec::new(),
            breaks: self.breaks,
            canaries: self.canaries,
            model_requests: 0,
            now: Duration::ZERO,
            cache: PrefixCache::new(self.minimum),
            common: CommonPrefixCache::default(),
            stopped: false,
        };
        let shared = Arc::new(Shared {
            fixed: self.fixed,
            state: Mutex::new(state),
            changed: Condvar::new(),
            attendant: self.attendant.map(|attendant| Mutex::new((0, attendant))),
        });
        let acceptor = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || accept(&listener, &shared))
        };
        ScriptedServer { address, shared, acceptor: Some(acceptor) }
    }
}

/// A model server that plays a script.
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl ScriptedServer {
    /// A server to be described.
    pub fn builder() -> ServerBuilder {
        ServerBuilder {
            fixed: Fixed {
                wire: WireFormat::Anthropic,
                window: 200_000,
                max_output: 32_000,
                model: "scripted-1".into(),
                framing: Framing::default(),
                has_model_info: true,
                owner: "testkit",
                may_overflow: false,
                knows_cache_edits: false,
                side_model: None,
            },
            source: Source::List(VecDeque::new()),
            canaries: Vec::new(),
            breaks: VecDeque::new(),
            minimum: 1024,
            side: VecDeque::new(),
            forks: Source::List(VecDeque::new()),
            agents: None,
            attendant: None,
        }
    }

    /// The base URL for a client: with `/v1` for OpenAI.
    pub fn url(&self) -> String {
        match self.shared.fixed.wire {
            WireFormat::Anthropic => format!("http://{}", self.address),
            WireFormat::OpenAi => format!("http://{}/v1", self.address),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The wire format it speaks.
    pub fn wire(&self) -> WireFormat {
        self.shared.fixed.wire
    }

    /// The name of its model.
    pub fn model(&self) -> &str {
        &self.shared.fixed.model
    }

    /// Adds a reply to the script.
    pub fn push(&self, reply: impl Into<Reply>) {
        lock(&self.shared.state).main.push(reply.into());
    }

    /// Adds a reply to a fork of the conversation.
    pub fn push_fork(&self, reply: impl Into<Reply>) {
        lock(&self.shared.state).forks.push(reply.into());
    }

    /// Adds a reply to a question on the side.
    pub fn push_side(&self, reply: impl Into<Reply>) {
        lock(&self.shared.state).side.push_back(reply.into());
    }

    /// Adds a text that no request from now on may contain.
    pub fn add_canary(&self, text: impl Into<String>) {
        lock(&self.shared.state).canaries.push(text.into());
    }

    /// One request from now on may break the prefix rule. One that was expected and never came is a
    /// failure too.
    pub fn expect_break(&self, why: impl Into<String>) {
        let expected = ExpectedBreak { why: why.into(), required: true };
        lock(&self.shared.state).breaks.push_back(expected);
    }

    /// Up to so many requests from now on may break the prefix rule: how many do depends on when background work ends.
    pub fn allow_breaks(&self, why: &str, most: usize) {
        let allowed = (0..most).map(|_| ExpectedBreak { why: why.to_owned(), required: false });
        lock(&self.shared.state).breaks.extend(allowed);
    }

    /// Moves the cache's clock, which otherwise stands still.
    pub fn advance(&self, by: Duration) {
        lock(&self.shared.state).now += by;
    }

    /// The requests to the model so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.shared.state).main.requests.clone()
    }

    /// The requests of agents so far.
    pub fn agent_requests(&self) -> Vec<RecordedRequest> {
        lock(&self.shared.state).agents.requests.clone()
    }

    /// Waits until agents have made at least so many requests; all of them.
    pub fn wait_for_agent_requests(&self, count: usize) -> Vec<RecordedRequest> {
        self.shared.wait_for(&format!("{count} requests of agents"), |state| {
            state.agents.requests.len() >= count
        });
        self.agent_requests()
    }

    /// The requests of its forks so far.
    pub fn fork_requests(&self) -> Vec<RecordedRequest> {
        lock(&self.shared.state).forks.requests.clone()
    }

    /// Waits until forks have made at least so many requests; all of them.
    pub fn wait_for_fork_requests(&self, count: usize) -> Vec<RecordedRequest> {
        let what = format!("{count} requests of forks");
        self.shared.wait_for(&what, |state| state.forks.requests.len() >= count);
        self.fork_requests()
    }

    /// The questions on the side so far.
    pub fn side_requests(&self) -> Vec<RecordedRequest> {
        lock(&self.shared.state).side_requests.clone()
    }

    /// Waits until there were at least so many questions on the side; all of them.
    pub fn wait_for_side_requests(&self, count: usize) -> Vec<RecordedRequest> {
        let what = format!("{count} questions on the side");
        self.shared.wait_for(&what, |state| state.side_requests.len() >= count);
        self.side_requests()
    }

    /// The only request.
    pub fn single_request(&self) -> RecordedRequest {
        let mut requests = self.requests();
        assert_eq!(requests.len(), 1, "not a single request");
        requests.remove(0)
    }

    /// Waits until there were at least so many requests; all of them.
    pub fn wait_for_requests(&self, count: usize) -> Vec<RecordedRequest> {
        let what = format!("{count} requests");
        self.shared.wait_for(&what, |state| state.main.requests.len() >= count);
        self.requests()
    }

    /// How often somebody asked about models (or sent any other GET).
    pub fn model_requests(&self) -> usize {
        lock(&self.shared.state).model_requests
    }

    /// What has gone wrong so far.
    pub fn failures(&self) -> Vec<String> {
        lock(&self.shared.state).failures.clone()
    }

    /// What [`ScriptedServer::finish`] would complain about now: the failures, the replies not asked
    /// for, the breaks that did not come.
    pub fn problems(&self) -> Vec<String> {
        let state = lock(&self.shared.state);
        let mut problems = state.failures.clone();
        for (left, what) in [(state.main.left(), "replies"), (state.forks.left(), "fork replies")] {
            if left > 0 {
                problems.push(format!("{left} {what} were not asked for"));
            }
        }
        if !state.side.is_empty() {
            problems.push(format!("{} side replies were not asked for", state.side.len()));
        }
        let unused =
            state.breaks.iter().filter(|expected| expected.required).map(|expected| &expected.why);
        problems.extend(unused.map(|why| format!("no request broke the prefix, expected: {why}")));
        problems
    }

    /// Stops the server and panics if anything went wrong.
    pub fn finish(mut self) {
        self.stop();
        let problems = self.problems();
        assert!(
            problems.is_empty(),
            "the scripted server saw {} problems:\n  - {}",
            problems.len(),
            problems.join("\n  - ")
        );
    }

    fn stop(&mut self) {
        lock(&self.shared.state).stopped = true;
        self.shared.changed.notify_all();
        let Some(acceptor) = self.acceptor.take() else { return };
        // Wakes the thread that waits for connections.
        drop(TcpStream::connect(self.address));
        drop(acceptor.join());
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Takes connections until the server is stopped, then ends those that are left.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let sockets = Sockets::default();
    let mut threads = Vec::new();
    for (number, stream) in listener.incoming().enumerate() {
        if shared.is_stopped() {
            break;
        }
        let Ok(stream) = stream else { continue };
        let (Ok(handle), Ok(connection)) = (stream.try_clone(), Connection::new(stream)) else {
            continue;
        };
        lock(&sockets).insert(number, handle);
        let (shared, sockets) = (Arc::clone(shared), Arc::clone(&sockets));
        threads.push(std::thread::spawn(move || {
            let served = catch_unwind(AssertUnwindSafe(|| serve(connection, number, &shared)));
            if served.is_err() {
                shared.fail(format!("the thread of connection {number} panicked"));
            }
            // An error means that the client went away, which is its right. Dropping the last handle
            // closes the socket.
            lock(&sockets).remove(&number);
        }));
    }
    for socket in lock(&sockets).values() {
        drop(socket.shutdown(Shutdown::Both));
    }
    for thread in threads {
        drop(thread.join());
    }
}
