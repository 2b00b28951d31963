//! Carries out what the step decides: the network, the tools, the transcript, the clock.

mod calls;
mod event_sources;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::{FileAction, FileError, MessageId, fault};
use dormouse_context::{ContextAttachment, Fragment, HookContext, TurnShape, plan_breakpoints};
use dormouse_conversation::transcript::MessageHeader;
use dormouse_conversation::{
    Block, BlockKind, Message, MessageFlags, Response, Role, StopReason, ToolUse, ToolUseId,
};
use dormouse_model::{SentRequest, StreamEvent};
use tokio_util::sync::CancellationToken;

use crate::compact::{Recovery, Room};
use crate::meter::RequestMeter;
use crate::turn_state::{INTERRUPTED_MARK, TurnAction, TurnEvent, TurnState};
use crate::{Engine, EngineError, EngineEvent, TurnEnd, TurnReport};
pub(crate) use calls::without_secrets;
use dormouse_hooks::BatchCall;
use event_sources::{DriverEvent, EventSources, ResponseSource};

/// Runs a turn to its end.
pub(crate) async fn run(
    engine: &mut Engine,
    max_requests: Option<u32>,
    interrupt: &CancellationToken,
    sink: &mut (dyn FnMut(EngineEvent) + Send),
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
    let folds = driver.engine.config.compaction.collapse;
    let mut turn = TurnState::new(max_requests).paid_from(driver.engine.purse()).folding(folds);
    let mut events = VecDeque::from([TurnEvent::Begin]);
    loop {
        let happening = match events.pop_front() {
            Some(event) => DriverEvent::TurnEvent(event),
            None => driver.outside.next(interrupt, driver.engine, turn.retries()).await,
        };
        let event = match happening {
            DriverEvent::TurnEvent(event) => event,
            DriverEvent::Printed(lines) => {
                driver.pass_on_lines(lines);
                continue;
            }
            DriverEvent::Noticed => {
                driver.pass_on_notices();
                continue;
            }
        };
        driver.pass_on_notices();
        driver.meter.event(&event, driver.engine);
        if let TurnEvent::Stream(..) = &event
            && std::mem::take(&mut driver.awaits_answer)
        {
            (driver.sink)(EngineEvent::Answering);
        }
        if let TurnEvent::Stream(StreamEvent::Cleared(cleared), _) = &event {
            driver.engine.server_has_cleared(*cleared);
        }
        if let TurnEvent::ToolDone { .. } = &event {
            // Agents may have spent meanwhile.
            turn.pays_from(driver.engine.purse());
        }
        for effect in turn.step(event) {
            let next = match effect {
                TurnAction::Send => driver.prepare_and_send(interrupt).await?,
                TurnAction::Recovery(mend) => driver.mend(mend, interrupt).await?,
                TurnAction::CommitResults(blocks) => driver.end_round(blocks, interrupt).await?,
                effect => driver.perform(effect)?,
            };
            match next {
                Next::Go => {}
                Next::TurnEvent(event) => events.push_back(event),
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
    TurnEvent(TurnEvent),
    End(TurnEnd),
}

struct Driver<'e> {
    engine: &'e mut Engine,
    sink: &'e mut (dyn FnMut(EngineEvent) + Send),
    outside: EventSources,
    meter: RequestMeter,
    /// The message that is being answered into, and the one for its results.
    answer_id: MessageId,
    results_id: MessageId,
    sent: Option<SentRequest>,
    /// Where this request puts its newest cache breakpoint.
    breakpoint: Option<usize>,
    /// The model's last text.
    answer: String,
    /// The answer goes on in the next one.
    paused: bool,
    /// A request is out of which nothing has come back yet.
    awaits_answer: bool,
}

impl<'e> Driver<'e> {
    fn new(engine: &'e mut Engine, sink: &'e mut (dyn FnMut(EngineEvent) + Send)) -> Self {
        let (answer_id, results_id) = (engine.new_id(), engine.new_id());
        let (outside, meter) = (EventSources::default(), RequestMeter::new(engine));
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
            awaits_answer: false,
        }
    }

    /// What hooks and memory have to say to the person.
    fn pass_on_notices(&mut self) {
        for event in std::mem::take(&mut self.outside.asides) {
            (self.sink)(event);
        }
        if let Some(memory) = &self.engine.config.memory {
            let notices = memory.access.notices().take().into_iter();
            notices.for_each(|said| (self.sink)(EngineEvent::Remembered(said)));
        }
        if let Some(hooks) = &self.engine.hooks {
            let notices = hooks.take_notices().into_iter();
            notices.for_each(|said| (self.sink)(EngineEvent::Notice(said)));
        }
    }

    fn pass_on_lines(&mut self, lines: Vec<(ToolUseId, String)>) {
        for (id, line) in lines {
            (self.sink)(EngineEvent::ToolPrinted { id, line });
        }
    }

    fn perform(&mut self, effect: TurnAction) -> Result<Next, EngineError> {
        match effect {
            // The driver awaits these.
            TurnAction::Send | TurnAction::Recovery(_) | TurnAction::CommitResults(_) => {}
            TurnAction::Wait(delay) => {
                self.outside.timer = Some(Box::pin(tokio::time::sleep(delay)))
            }
            TurnAction::DropAnswer => self.outside.source = ResponseSource::Idle,
            TurnAction::RecordBlock(response, block) => self.record_block(response, &block)?,
            TurnAction::RecordWithdrawn => {
                self.engine.transcript.record_withdrawn(self.answer_id)?
            }
            TurnAction::StartTool(call) => self.start_tool(call),
            TurnAction::StopTools => self.outside.cancel_tools.cancel(),
            TurnAction::RecordResult(block) => self.record_result(&block)?,
            TurnAction::CommitAnswer(response, blocks) => self.commit_answer(response, blocks)?,
            TurnAction::CommitClosing(note) => self.commit_closing(note)?,
            TurnAction::Tell(told) => {
                (self.sink)(told.into_event(self.engine.config.retry.retries))
            }
            TurnAction::End(end) => return Ok(Next::End(end)),
        }
        Ok(Next::Go)
    }

    /// Sends the conversation, compacted first where that is due. Never if the window is full: a server may
    /// refuse that, or silently cut what it was sent.
    async fn prepare_and_send(
        &mut self,
        interrupt: &CancellationToken,
    ) -> Result<Next, EngineError> {
        Ok(match self.engine.make_room(interrupt, self.sink).await? {
            Room::Enough => self.send(),
            Room::None(error) => Next::TurnEvent(TurnEvent::Full(error)),
            Room::Interrupted => Next::TurnEvent(TurnEvent::Interrupt),
        })
    }

    async fn mend(
        &mut self,
        mend: Recovery,
        interrupt: &CancellationToken,
    ) -> Result<Next, EngineError> {
        let helped = self.engine.mend(mend, interrupt, self.sink).await?;
        let stopped = !helped && interrupt.is_cancelled();
        Ok(Next::TurnEvent(if stopped { TurnEvent::Interrupt } else { TurnEvent::Mended(helped) }))
    }

    /// Sends the conversation as it stands.
    fn send(&mut self) -> Next {
        let engine = &mut *self.engine;
        engine.requests += 1;
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
        self.awaits_answer = true;
        self.outside.source =
            ResponseSource::Opening(Box::pin(async move { model.send(bytes).await }));
        self.outside.cancel_tools = CancellationToken::new();
        Next::Go
    }

    fn record_block(&mut self, mut response: Response, block: &Block) -> Result<(), EngineError> {
        response.request_id.clone_from(&self.outside.request_id);
        let author = MessageHeader {
            message: self.answer_id,
            role: Role::Assistant,
            flags: MessageFlags::default(),
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

    fn commit_answer(
        &mut self,
        mut response: Response,
        blocks: Vec<Block>,
    ) -> Result<(), EngineError> {
        response.request_id = self.outside.request_id.take();
        let message =
            Message::assistant(self.answer_id, self.engine.config.clock.now(), blocks, response);
        self.engine.transcript.record_response_end(MessageHeader::of(&message))?;
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
        if message.response.as_ref().is_some_and(|response| response.usage.total() > 0) {
            self.engine.freed_tokens = 0;
        }
        if let Some(response) = &message.response {
            self.engine.turn_usd += self.engine.cost_usd(&response.usage).unwrap_or(0.0);
        }
        let calls = message.tool_calls().next().is_some();
        let message = self.engine.commit(message)?;
        self.engine.offer_branch(&message);
        (self.sink)(EngineEvent::Message(message));
        if !calls {
            self.engine.settle(true);
        }
        Ok(())
    }

    /// A round of calls is over: hooks look at it as a whole, and may end the turn with it.
    async fn end_round(
        &mut self,
        blocks: Vec<Block>,
        interrupt: &CancellationToken,
    ) -> Result<Next, EngineError> {
        let halt = tokio::select! {
            biased;
            () = interrupt.cancelled() => None,
            halt = self.ask_about_round(&blocks) => halt,
        };
        self.commit_results(blocks)?;
        Ok(halt.map_or(Next::Go, |why| Next::End(TurnEnd::Halted(why))))
    }

    /// Why the turn is to end with this round, if a hook says so.
    async fn ask_about_round(&mut self, blocks: &[Block]) -> Option<String> {
        let hooks = self.engine.hooks.clone()?;
        hooks.check_files();
        let tools = self.engine.caller().tools;
        let calls = self.engine.history.last()?;
        let calls: Vec<BatchCall<'_>> = calls
            .blocks
            .iter()
            .filter_map(Block::as_tool_use)
            .map(|call| BatchCall::new(call, &tools, blocks))
            .collect();
        let verdict = hooks.run_with_notices(hooks.tool_batch(&calls), self.sink).await;
        self.outside.notes.extend(verdict.notes);
        verdict.block.or(verdict.halt)
    }

    fn commit_results(&mut self, blocks: Vec<Block>) -> Result<(), EngineError> {
        let mut blocks = self.store_together(blocks)?;
        self.record_results(&blocks);
        self.engine.record_skills()?;
        let attached = self.instructions_of(&blocks);
        self.add_block(&mut blocks, attached)?;
        let notes = self.take_notes();
        self.add_block(&mut blocks, notes)?;
        let recalled = self.engine.recalled_meanwhile(self.sink);
        self.add_block(&mut blocks, recalled)?;
        if let Some((block, facts)) = self.engine.announced_since() {
            self.add_block(&mut blocks, Some(block))?;
            self.engine.transcript.record_facts(&facts)?;
            self.engine.told = facts;
        }
        let author = self.results_author();
        self.engine.add_arrivals(author, &mut blocks, self.sink)?;
        let message = Message::user(
            self.results_id,
            self.engine.config.clock.now(),
            blocks,
            MessageFlags::default(),
        );
        let message = self.engine.commit(message)?;
        self.engine.telling.clear();
        (self.sink)(EngineEvent::Message(message));
        self.engine.settle(false);
        Ok(())
    }

    /// What goes behind the results is written down when it is first sent.
    fn add_block(
        &mut self,
        blocks: &mut Vec<Block>,
        block: Option<Block>,
    ) -> Result<(), EngineError> {
        let Some(block) = block else { return Ok(()) };
        let author = self.results_author();
        self.engine.transcript.record_blocks(author, std::slice::from_ref(&block))?;
        blocks.push(block);
        Ok(())
    }

    /// What observers had to say.
    fn take_notes(&mut self) -> Option<Block> {
        let notes = std::mem::take(&mut self.outside.notes);
        (!notes.is_empty()).then(|| HookContext { notes }.to_block())
    }

    /// Memory is told what tools brought, and from where.
    fn record_results(&self, results: &[Block]) {
        let engine = &*self.engine;
        let calls = engine.history.last().map(|last| last.blocks.as_slice()).unwrap_or_default();
        if let Some(memory) = &engine.config.memory {
            memory.access.provenance().record_results(self.results_id, results, calls);
        }
    }

    /// Instructions that belong to the files which these results are about.
    fn instructions_of(&mut self, results: &[Block]) -> Option<Block> {
        let engine = &mut *self.engine;
        let calls = engine.history.last().map(|last| last.blocks.as_slice()).unwrap_or_default();
        let worked = |call: &ToolUse<'_>| {
            results.iter().any(|result| {
                !result.is_error()
                    && matches!(result.kind(), BlockKind::ToolResult { id } if id == call.id)
            })
        };
        let files: Vec<PathBuf> = calls
            .iter()
            .filter_map(Block::as_tool_use)
            .filter(worked)
            .filter_map(|call| engine.config.tools.get(call.name)?.file(call.input))
            .collect();
        let loaded: Vec<_> = files.iter().flat_map(|file| engine.known.touched(file)).collect();
        engine
            .known
            .take_warnings()
            .into_iter()
            .for_each(|said| (self.sink)(EngineEvent::Notice(said)));
        if loaded.is_empty() {
            return None;
        }
        if let Some(hooks) = &engine.hooks {
            hooks.instructions_loaded(&loaded);
        }
        Some(ContextAttachment { parts: engine.known.parts_of(&loaded) }.to_block())
    }

    fn results_author(&self) -> MessageHeader<'static> {
        let (role, flags) = (Role::User, MessageFlags::default());
        MessageHeader { message: self.results_id, role, flags, response: None }
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
        let message =
            Message::synthetic_response(self.engine.new_id(), self.engine.config.clock.now(), note);
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
