//! Carries out what the step decides: the network, the tools, the transcript, the clock.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{FileAction, FileError, MessageId, Redactor, fault};
use dormouse_context::{Fragment, HookNotes, TurnShape, plan_breakpoints};
use dormouse_conversation::transcript::Author;
use dormouse_conversation::{
    Block, Flags, Message, Response, ResultContent, Role, StopReason, ToolUseId, WindowState,
};
use dormouse_model::{Answering, ModelError, Sent, StreamEvent};
use dormouse_tools::{CallResult, ToolClass};
use futures_util::future::BoxFuture;
use tokio::task::{Id as TaskId, JoinError, JoinSet};
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;

use crate::meter::{CallMeter, Meter};
use crate::turn::{Call, Effect, Event, INTERRUPTED_MARK, Turn};
use crate::{Engine, EngineError, EngineEvent, TurnEnd, TurnReport};

/// Runs a turn to its end.
pub(crate) async fn run(
    engine: &mut Engine,
    max_requests: Option<u32>,
    interrupt: &CancellationToken,
    sink: &mut dyn FnMut(EngineEvent),
) -> Result<TurnReport, EngineError> {
    let mut driver = Driver::new(engine, sink);
    let result = drive(&mut driver, max_requests, interrupt).await;
    driver.meter.flush();
    if result.is_err() {
        let (answer, results) = (driver.answer_id, driver.results_id);
        driver.engine.withdraw(answer);
        driver.engine.withdraw(results);
    }
    result
}

async fn drive(
    driver: &mut Driver<'_>,
    max_requests: Option<u32>,
    interrupt: &CancellationToken,
) -> Result<TurnReport, EngineError> {
    let mut turn = Turn::new(max_requests).paid_from(driver.engine.purse());
    let mut events = VecDeque::from([Event::Begin]);
    loop {
        let event = match events.pop_front() {
            Some(event) => event,
            None => driver.outside.next(interrupt, driver.engine, turn.retries()).await,
        };
        driver.pass_on_notices();
        driver.meter.event(&event, driver.engine);
        for effect in turn.step(event) {
            match driver.perform(effect)? {
                Next::Go => {}
                Next::Event(event) => events.push_back(event),
                Next::End(end) => {
                    driver.outside.stop_tools().await;
                    let answer = std::mem::take(&mut driver.answer);
                    return Ok(TurnReport {
                        end,
                        answer,
                        requests: turn.requests(),
                        usage: turn.usage(),
                        cost_usd: driver.engine.cost_usd(&turn.usage()),
                    });
                }
            }
        }
    }
}

/// What follows from an effect.
enum Next {
    Go,
    Event(Event),
    End(TurnEnd),
}

struct Driver<'e> {
    engine: &'e mut Engine,
    sink: &'e mut dyn FnMut(EngineEvent),
    outside: Outside,
    meter: Meter,
    /// The message that is being answered into, and the one for its results.
    answer_id: MessageId,
    results_id: MessageId,
    sent: Option<Sent>,
    /// Where this request puts its newest cache breakpoint.
    breakpoint: Option<usize>,
    /// The model's last text.
    answer: String,
    /// The answer goes on in the next one.
    paused: bool,
}

impl<'e> Driver<'e> {
    fn new(engine: &'e mut Engine, sink: &'e mut dyn FnMut(EngineEvent)) -> Self {
        let (answer_id, results_id) = (engine.new_id(), engine.new_id());
        let (outside, meter) = (Outside::default(), Meter::new(engine));
        Self {
            engine,
            sink,
            outside,
            meter,
            answer_id,
            results_id,
            sent: None,
            breakpoint: None,
            answer: String::new(),
            paused: false,
        }
    }

    /// What hooks have to say to the person.
    fn pass_on_notices(&mut self) {
        if let Some(hooks) = &self.engine.hooks {
            let notices = hooks.take_notices().into_iter();
            notices.for_each(|said| (self.sink)(EngineEvent::Notice(said)));
        }
    }

    fn perform(&mut self, effect: Effect) -> Result<Next, EngineError> {
        match effect {
            Effect::Send => return Ok(self.send()),
            Effect::Wait(delay) => self.outside.timer = Some(Box::pin(tokio::time::sleep(delay))),
            Effect::DropAnswer => self.outside.source = Source::Idle,
            Effect::RecordBlock(response, block) => self.record_block(response, &block)?,
            Effect::RecordWithdrawn => self.engine.transcript.record_withdrawn(self.answer_id)?,
            Effect::StartTool(call) => self.start_tool(call),
            Effect::StopTools => self.outside.cancel_tools.cancel(),
            Effect::RecordResult(block) => self.record_result(&block)?,
            Effect::CommitAnswer(response, blocks) => self.commit_answer(response, blocks)?,
            Effect::CommitResults(blocks) => self.commit_results(blocks)?,
            Effect::CommitClosing(note) => self.commit_closing(note)?,
            Effect::Tell(told) => (self.sink)(told.into_event(self.engine.config.retry.retries)),
            Effect::End(end) => return Ok(Next::End(end)),
        }
        Ok(Next::Go)
    }

    /// Sends the conversation as it stands, unless the window is full: a server may refuse that, or
    /// silently cut what it was sent.
    fn send(&mut self) -> Next {
        let engine = &mut *self.engine;
        let used = engine.tokens_used();
        if WindowState::at(used, &engine.config.budget).blocking {
            let limit = Some(u64::from(engine.config.budget.window));
            let message = "the window is full, so the request was not sent".to_owned();
            return Next::Event(Event::Failed(
                ModelError::TooLong { used: Some(used), limit, message },
                None,
            ));
        }
        let shapes: Vec<TurnShape> = engine
            .body
            .turns()
            .iter()
            .map(|turn| TurnShape { role: turn.role, can_be_marked: turn.can_be_marked() })
            .collect();
        let marks = plan_breakpoints(&shapes, engine.last_breakpoint);
        let bytes = engine.body.render(&marks);
        self.sent = Some(engine.body.mark_sent(engine.config.clock.elapsed()));
        self.meter.sent(shapes.len());
        self.breakpoint = marks.last().copied();
        self.answer_id = engine.new_id();
        self.results_id = engine.new_id();
        let model = Arc::clone(&engine.config.model);
        self.outside.source = Source::Opening(Box::pin(async move { model.send(bytes).await }));
        self.outside.cancel_tools = CancellationToken::new();
        Next::Go
    }

    fn record_block(&mut self, mut response: Response, block: &Block) -> Result<(), EngineError> {
        response.request_id.clone_from(&self.outside.request_id);
        let author = Author {
            message: self.answer_id,
            role: Role::Assistant,
            flags: Flags::default(),
            response: Some(&response),
        };
        Ok(self.engine.transcript.record_blocks(author, std::slice::from_ref(block))?)
    }

    fn record_result(&mut self, block: &Block) -> Result<(), EngineError> {
        // A process that dies here leaves a call without its result behind.
        fault::point("engine.record_result")
            .map_err(|error| FileError::new(FileAction::Write, "fault", error))?;
        let author = self.results_author();
        Ok(self.engine.transcript.record_blocks(author, std::slice::from_ref(block))?)
    }

    fn start_tool(&mut self, call: Call) {
        let caller = self.engine.caller();
        let redactor = self.engine.config.redactor.clone();
        let store = self.engine.result_store();
        let bound = store.bound(&caller.tools, &call.name);
        let meter = CallMeter::start(self.engine, &call.name);
        let mut context = self.engine.call_context(self.outside.cancel_tools.clone());
        context.overflow = store.overflow(&call.id);
        if let Some(call) = call.block.as_tool_use() {
            (self.sink)(EngineEvent::ToolStarted {
                id: call.id.clone(),
                name: call.name.to_owned(),
                input: call.input.get().to_owned(),
            });
        }
        let id = call.id.clone();
        let task = self.outside.tools.spawn(async move {
            let Some(tool_use) = call.block.as_tool_use() else {
                return Done::of(Block::interrupted(&call.id));
            };
            let result = caller.run(tool_use, &context).await;
            let CallResult { content, spilled, is_error, verdict, notes, halt } = result;
            let kept = match &spilled {
                Some(spilled) => store.stored(spilled),
                None => store.keep(&call.id, bound, without_secrets(content, &redactor)),
            };
            meter.stop(verdict, is_error, kept.stored_bytes);
            let notes = notes.iter().map(|note| redactor.redact(note)).collect();
            Done { block: Block::tool_result(&call.id, &kept.content, is_error), notes, halt }
        });
        self.outside.calls.insert(task.id(), id);
    }

    fn commit_answer(
        &mut self,
        mut response: Response,
        blocks: Vec<Block>,
    ) -> Result<(), EngineError> {
        response.request_id = self.outside.request_id.take();
        let message =
            Message::assistant(self.answer_id, self.engine.config.clock.now(), blocks, response);
        self.engine.transcript.record_response_end(Author::of(&message))?;
        let text = message.text();
        if !text.is_empty() {
            if !std::mem::take(&mut self.paused) {
                self.answer.clear();
            }
            self.answer.push_str(text.trim_end_matches(INTERRUPTED_MARK).trim_end());
        }
        self.paused = message.stopped_by(&StopReason::PauseTurn);
        // The server has it in its cache only now.
        self.engine.last_breakpoint = self.breakpoint.or(self.engine.last_breakpoint);
        self.look_for_break(&message);
        let message = self.engine.commit(message)?;
        (self.sink)(EngineEvent::Message(message));
        Ok(())
    }

    fn commit_results(&mut self, blocks: Vec<Block>) -> Result<(), EngineError> {
        let mut blocks = self.store_together(blocks)?;
        blocks.extend(self.take_notes()?);
        let message = Message::user(
            self.results_id,
            self.engine.config.clock.now(),
            blocks,
            Flags::default(),
        );
        let message = self.engine.commit(message)?;
        (self.sink)(EngineEvent::Message(message));
        Ok(())
    }

    /// What observers had to say, behind the results: written down when it is first sent.
    fn take_notes(&mut self) -> Result<Option<Block>, EngineError> {
        let notes = std::mem::take(&mut self.outside.notes);
        if notes.is_empty() {
            return Ok(None);
        }
        let block = HookNotes { notes }.to_block();
        self.engine
            .transcript
            .record_blocks(self.results_author(), std::slice::from_ref(&block))?;
        Ok(Some(block))
    }

    fn results_author(&self) -> Author<'static> {
        let (role, flags) = (Role::User, Flags::default());
        Author { message: self.results_id, role, flags, response: None }
    }

    /// Results that together are too long for one message: the largest are stored. That is decided now,
    /// before they are first sent, and written down.
    fn store_together(&mut self, mut blocks: Vec<Block>) -> Result<Vec<Block>, EngineError> {
        let store = self.engine.result_store();
        let tools = &self.engine.config.tools;
        let calls =
            self.engine.history.last().map(|last| last.blocks.as_slice()).unwrap_or_default();
        let bound = |id: &ToolUseId| {
            let name = calls
                .iter()
                .filter_map(Block::as_tool_use)
                .find(|call| call.id == id)
                .map(|call| call.name);
            store.bound(tools, name.unwrap_or_default())
        };
        let stored = store.keep_message(&blocks, bound);
        if stored.is_empty() {
            return Ok(blocks);
        }
        self.engine.transcript.record_stored(self.results_id, &stored)?;
        for block in stored {
            if let Some(old) = blocks.iter_mut().find(|old| old.kind() == block.kind()) {
                *old = block;
            }
        }
        Ok(blocks)
    }

    fn commit_closing(&mut self, note: &str) -> Result<(), EngineError> {
        let message = Message::closing(self.engine.new_id(), self.engine.config.clock.now(), note);
        self.engine.transcript.record_message(&message)?;
        self.engine.commit(message)?;
        Ok(())
    }

    fn look_for_break(&mut self, message: &Message) {
        let ttl = self.engine.cache_ttl();
        // An answer that broke off may have told no counters.
        if let (Some(sent), Some(response)) = (self.sent.take(), &message.response)
            && response.stop_reason.is_some()
            && response.usage.input_total() > 0
            && let Some(found) = self.engine.detector.observe(&sent, &response.usage, ttl)
        {
            self.meter.broke(&found);
            (self.sink)(EngineEvent::Notice(format!(
                "the server read {} tokens from its cache where {} were expected: {}",
                found.read, found.expected, found.cause
            )));
        }
    }
}

/// The key itself is no part of a result: it would go into the transcript.
fn without_secrets(content: ResultContent, redactor: &Redactor) -> ResultContent {
    match content {
        ResultContent::Text(text) => ResultContent::Text(redactor.redact(&text)),
        blocks @ ResultContent::Blocks(_) => blocks,
    }
}

/// Where the answer comes from.
#[derive(Default)]
enum Source {
    #[default]
    Idle,
    Opening(BoxFuture<'static, Result<Answering, ModelError>>),
    Open(Box<Answering>),
}

/// What a tool's task gives.
struct Done {
    /// The result.
    block: Block,
    /// What observers say besides.
    notes: Vec<String>,
    /// Why an observer wants the turn to end.
    halt: Option<String>,
}

impl Done {
    fn of(block: Block) -> Self {
        Self { block, notes: Vec::new(), halt: None }
    }
}

/// Everything that can make something happen.
#[derive(Default)]
struct Outside {
    source: Source,
    timer: Option<Pin<Box<Sleep>>>,
    tools: JoinSet<Done>,
    /// Which call a task carries out.
    calls: BTreeMap<TaskId, ToolUseId>,
    cancel_tools: CancellationToken,
    /// What observers have to say beside the results that are coming in.
    notes: Vec<String>,
    request_id: Option<String>,
    interrupted: bool,
}

/// A command that is asked to end gets this long to do so, then it is ended.
const STOP_PATIENCE: Duration = Duration::from_secs(4);

impl Outside {
    /// A task that ended: its result, or, if it was lost, that it was.
    fn tool_done(&mut self, joined: Result<(TaskId, Done), JoinError>) -> Option<Event> {
        let (task, done) = match joined {
            Ok((task, done)) => (task, Some(done)),
            Err(error) => (error.id(), None),
        };
        let id = self.calls.remove(&task)?;
        let Done { block, notes, halt } = done.unwrap_or_else(|| {
            let text = ResultContent::Text("the tool failed inside Dormouse".to_owned());
            Done::of(Block::tool_result(&id, &text, true))
        });
        self.notes.extend(notes);
        Some(Event::ToolDone { id, block, halt })
    }

    /// Lets tools that were told to stop do so in order.
    async fn stop_tools(&mut self) {
        self.cancel_tools.cancel();
        let all = async { while self.tools.join_next().await.is_some() {} };
        // Those that do not are ended when the set is dropped.
        let _patience = tokio::time::timeout(STOP_PATIENCE, all).await;
    }

    /// Waits for the next event.
    async fn next(
        &mut self,
        interrupt: &CancellationToken,
        engine: &Engine,
        retries: u32,
    ) -> Event {
        loop {
            let event = tokio::select! {
                biased;
                // What is finished counts, even when the person has had enough.
                Some(joined) = self.tools.join_next_with_id() => self.tool_done(joined),
                () = interrupt.cancelled(), if !self.interrupted => {
                    self.interrupted = true;
                    Some(Event::Interrupt)
                }
                step = read(&mut self.source, &mut self.request_id) => Some(match step {
                    Ok(event) => {
                        let class = class_of(&event, engine);
                        Event::Stream(event, class)
                    }
                    Err(error) => {
                        let delay = engine.config.retry.delay(&error, retries, chance(engine));
                        Event::Failed(error, delay)
                    }
                }),
                () = wait(self.timer.as_mut()) => {
                    self.timer = None;
                    Some(Event::Retry)
                }
            };
            if let Some(event) = event {
                return event;
            }
        }
    }
}

/// The next step of the answer; never, where none is coming.
async fn read(
    source: &mut Source,
    request_id: &mut Option<String>,
) -> Result<StreamEvent, ModelError> {
    loop {
        match source {
            Source::Idle => std::future::pending::<()>().await,
            Source::Opening(opening) => {
                let answering = opening.await?;
                *request_id = answering.request_id().map(str::to_owned);
                *source = Source::Open(Box::new(answering));
            }
            Source::Open(answering) => {
                return answering.next().await.unwrap_or_else(|| {
                    Err(ModelError::BrokenStream(
                        "the stream ended before the answer did".to_owned(),
                    ))
                });
            }
        }
    }
}

async fn wait(timer: Option<&mut Pin<Box<Sleep>>>) {
    match timer {
        Some(timer) => timer.await,
        None => std::future::pending().await,
    }
}

/// How a call is scheduled. One that will be refused runs nothing, and so can run beside anything.
fn class_of(event: &StreamEvent, engine: &Engine) -> Option<ToolClass> {
    let StreamEvent::Block(block) = event else { return None };
    let call = block.as_tool_use()?;
    Some(engine.config.tools.get(call.name).map_or(ToolClass::ReadOnly, |tool| tool.class()))
}

/// A number from 0 to 1.
fn chance(engine: &Engine) -> f64 {
    let random = engine.config.ids.next().as_u128() % 1_000;
    Duration::from_millis(u64::try_from(random).unwrap_or(0)).as_secs_f64()
}
