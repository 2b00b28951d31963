//! Carries out the actions of the step: the network, the tools, the transcript, the clock. It decides nothing.

mod calls;
mod event_sources;
mod progress;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use dormouse_base::{FileAction, FileError, MessageId, fault};
use dormouse_conversation::transcript::MessageHeader;
use dormouse_conversation::{Block, Message, MessageFlags, Response, Role, ToolUseId};
use dormouse_hooks::BatchCall;
use dormouse_memory::Trust;
use dormouse_model::SentRequest;
use tokio_util::sync::CancellationToken;

use crate::compact::RoomCheck;
use crate::context_sources::{attach_to_results, results_author};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::{EngineEvent, TurnEnd, TurnReport};
use crate::event_sink::TurnContext;
use crate::layers::Layers;
use crate::meter::RequestMeter;
use crate::notice::EngineNotice;
use crate::turn_state::{NextStep, Recovery, TurnAction, TurnEvent, TurnState};
use event_sources::{DriverEvent, EventSources, ResponseSource};

/// Runs the loop to its end.
pub(crate) async fn run(
    engine: &mut Engine,
    max_requests: Option<u32>,
    turn: &mut TurnContext<'_>,
) -> Result<TurnReport, EngineError> {
    let folds = engine.config.window.compaction.collapse;
    let account = engine.spending.turn_account();
    let repetition = engine.config.tools.ends_repetition;
    let size = engine.config.model.budget.prompt.size;
    let last = engine.conversation.history().last();
    let folder = &engine.config.project.folder;
    let next_step = NextStep::of_turn(size, last, folder, Path::is_file);
    // Another agent's words are not the user's.
    let next_step = next_step.filter(|_| repetition && !engine.config.is_subagent());
    let state = TurnState::new(max_requests)
        .with_account(account)
        .folding(folds)
        .noting_results(repetition, next_step);
    let mut driver = Driver::new(engine, turn);
    let result = driver.drive(state).await;
    driver.meter.flush();
    if result.is_err() {
        for message in [driver.response_id, driver.results_id] {
            if driver.engine.conversation.withdraw(message) {
                driver.engine.messages.requeue();
            }
        }
    }
    result
}

/// What follows from an action.
enum Next {
    Continue,
    Event(TurnEvent),
    End(TurnEnd),
}

struct Driver<'e, 't> {
    engine: &'e mut Engine,
    turn: &'e mut TurnContext<'t>,
    sources: EventSources,
    meter: RequestMeter,
    /// The message of the current response, and that of its results.
    response_id: MessageId,
    results_id: MessageId,
    sent: Option<SentRequest>,
    /// The newest cache breakpoint of the current request.
    breakpoint: Option<usize>,
}

impl<'e, 't> Driver<'e, 't> {
    fn new(engine: &'e mut Engine, turn: &'e mut TurnContext<'t>) -> Self {
        Self {
            response_id: engine.conversation.new_id(),
            results_id: engine.conversation.new_id(),
            sources: EventSources::default(),
            meter: RequestMeter::new(engine),
            engine,
            turn,
            sent: None,
            breakpoint: None,
        }
    }

    async fn drive(&mut self, mut state: TurnState) -> Result<TurnReport, EngineError> {
        let mut events = VecDeque::from([TurnEvent::Begin]);
        let interrupt = self.turn.interrupt();
        loop {
            let next = match events.pop_front() {
                Some(event) => DriverEvent::Event(event),
                None => self.sources.next(interrupt, self.engine, state.retries()).await,
            };
            let event = match next {
                DriverEvent::Event(event) => event,
                DriverEvent::Printed(lines) => {
                    self.pass_on_lines(lines);
                    continue;
                }
                DriverEvent::Noticed => {
                    self.pass_on_notices();
                    continue;
                }
            };
            self.pass_on_notices();
            self.meter.event(&event, self.engine);
            if let TurnEvent::ToolDone { .. } = &event {
                state.account().set_limit(self.engine.spending.limit_of_turn());
            }
            for action in state.step(event) {
                let oldest = self.oldest_message();
                let next = self.perform(action).await?;
                if self.oldest_message() != oldest {
                    state.forget_calls();
                }
                match next {
                    Next::Continue => {}
                    Next::Event(event) => events.push_back(event),
                    Next::End(end) => {
                        self.sources.stop_tools().await;
                        return Ok(TurnReport {
                            end,
                            answer: state.take_answer(),
                            requests: state.requests(),
                            usage: state.account().usage(),
                            cost_usd: state.account().cost_usd(),
                        });
                    }
                }
            }
        }
    }

    /// The oldest message that is still sent: another one after a compaction.
    fn oldest_message(&self) -> Option<MessageId> {
        self.engine.conversation.history().messages().first().map(|message| message.id)
    }

    async fn perform(&mut self, action: TurnAction) -> Result<Next, EngineError> {
        match action {
            TurnAction::Send => return self.make_room_and_send().await,
            TurnAction::Recover(recovery) => return self.recover(recovery).await,
            TurnAction::CommitResults(blocks) => return self.commit_results(blocks).await,
            TurnAction::End(end) => return Ok(Next::End(end)),
            TurnAction::Wait(delay) => {
                self.sources.timer = Some(Box::pin(tokio::time::sleep(delay)));
            }
            TurnAction::DropResponse => self.sources.response = ResponseSource::Idle,
            TurnAction::RecordBlock(response, block) => self.record_block(response, &block)?,
            TurnAction::RecordWithdrawn => {
                self.engine.conversation.transcript.record_withdrawn(self.response_id)?;
            }
            TurnAction::RecordCleared(cleared) => {
                let engine = &mut *self.engine;
                let answer = self.response_id;
                Layers::new(&engine.config, &mut engine.conversation, &engine.figures)
                    .record_cleared(answer, cleared)?;
            }
            TurnAction::StartTool(call) => self.start_tool(call),
            TurnAction::StopTools => self.sources.cancel_tools.cancel(),
            TurnAction::RecordResult(block) => self.record_result(&block)?,
            TurnAction::CommitResponse(response, blocks) => {
                self.commit_response(response, blocks)?;
            }
            TurnAction::CommitClosing(note) => self.engine.conversation.append_closing(note)?,
            TurnAction::NotifyIdle { turn_end } => {
                let snapshot = self.engine.snapshot(turn_end);
                let tasks = &self.engine.config.extensions.background_tasks;
                for task in tasks {
                    task.on_idle(&snapshot);
                }
            }
            TurnAction::Emit(output) => {
                self.turn.emit(output.into_event(self.engine.config.retry.retries));
            }
        }
        Ok(Next::Continue)
    }

    /// Passes on what hooks and memory have for the user.
    fn pass_on_notices(&mut self) {
        for event in std::mem::take(&mut self.sources.call_events) {
            self.turn.emit(event);
        }
        for notice in self.engine.take_memory_notices() {
            self.turn.emit(EngineEvent::Remembered(notice));
        }
        self.engine.hooks.pass_on_notices(self.turn.sink());
    }

    fn pass_on_lines(&mut self, lines: Vec<(ToolUseId, String)>) {
        for (id, line) in lines {
            self.turn.emit(EngineEvent::ToolPrinted { id, line });
        }
    }

    async fn make_room_and_send(&mut self) -> Result<Next, EngineError> {
        Ok(match self.engine.make_room(self.turn).await? {
            RoomCheck::Enough => self.send(),
            RoomCheck::None(error) => Next::Event(TurnEvent::WindowFull(error)),
            RoomCheck::Interrupted => Next::Event(TurnEvent::Interrupt),
        })
    }

    async fn recover(&mut self, recovery: Recovery) -> Result<Next, EngineError> {
        let helped = self.engine.recover(recovery, self.turn).await?;
        let interrupted = self.turn.is_interrupted();
        Ok(Next::Event(TurnEvent::Recovered { helped, interrupted }))
    }

    fn send(&mut self) -> Next {
        let engine = &mut *self.engine;
        engine.spending.count_request();
        let request = engine.conversation.next_request();
        self.meter.sent(request.messages);
        self.sent = Some(request.sent);
        self.breakpoint = request.breakpoint;
        self.response_id = engine.conversation.new_id();
        self.results_id = engine.conversation.new_id();
        let model = Arc::clone(&engine.config.model.client);
        let bytes = request.bytes;
        self.sources.response =
            ResponseSource::Opening(Box::pin(async move { model.send(bytes).await }));
        self.sources.cancel_tools = CancellationToken::new();
        Next::Continue
    }

    fn record_block(&mut self, mut response: Response, block: &Block) -> Result<(), EngineError> {
        response.request_id.clone_from(&self.sources.request_id);
        let author = MessageHeader {
            message: self.response_id,
            role: Role::Assistant,
            flags: MessageFlags::default(),
            response: Some(&response),
        };
        let transcript = &mut self.engine.conversation.transcript;
        Ok(transcript.record_blocks(author, std::slice::from_ref(block))?)
    }

    fn record_result(&mut self, block: &Block) -> Result<(), EngineError> {
        // A process that dies here leaves a call without its result behind.
        fault::point("engine.record_result")
            .map_err(|error| FileError::new(FileAction::Write, "fault", error))?;
        let author = results_author(self.results_id);
        let transcript = &mut self.engine.conversation.transcript;
        Ok(transcript.record_blocks(author, std::slice::from_ref(block))?)
    }

    fn commit_response(
        &mut self,
        mut response: Response,
        blocks: Vec<Block>,
    ) -> Result<(), EngineError> {
        response.request_id = self.sources.request_id.take();
        let usage = response.usage;
        let now = self.engine.config.services.clock.now();
        let message = Message::assistant(self.response_id, now, blocks, response);
        let engine = &mut *self.engine;
        engine.conversation.transcript.record_response_end(MessageHeader::of(&message))?;
        engine.conversation.confirm_breakpoint(self.breakpoint);
        let cache_break =
            self.sent.take().and_then(|sent| engine.conversation.find_cache_break(&sent, &message));
        if let Some(found) = cache_break {
            self.meter.broke(&found);
            self.turn.notice(EngineNotice::CacheBroken {
                read: found.read,
                expected: found.expected,
                cause: found.cause.to_string(),
            });
        }
        engine.spending.count_response(&usage);
        let message = engine.conversation.push(message)?;
        engine.memory.observe(&message, &engine.config);
        if let Some(points) = &engine.config.extensions.fork_points {
            points.update(&message, engine);
        }
        self.turn.emit(EngineEvent::Message(message));
        self.turn.emit(EngineEvent::Counted(Box::new(self.engine.account())));
        Ok(())
    }

    /// Adds results and their attachments to the history. A hook may ask for the turn to end with them.
    async fn commit_results(&mut self, blocks: Vec<Block>) -> Result<Next, EngineError> {
        let interrupt = self.turn.interrupt();
        let halt = tokio::select! {
            biased;
            () = interrupt.cancelled() => None,
            halt = self.check_round(&blocks) => halt,
        };
        let blocks = self.store_together(blocks)?;
        let engine = &mut *self.engine;
        if let Some(memory) = &engine.config.memory {
            let calls = engine.conversation.history().last();
            let calls = calls.map(|last| last.blocks.as_slice()).unwrap_or_default();
            memory.access.provenance().record_results(self.results_id, &blocks, calls);
        }
        engine.session_tools.record_skills(&mut engine.conversation.transcript)?;
        let notes = std::mem::take(&mut self.sources.notes);
        let author = results_author(self.results_id);
        let blocks = attach_to_results(engine, author, blocks, &notes, self.turn.sink()).await?;
        let now = engine.config.services.clock.now();
        let message = Message::user(self.results_id, now, blocks, MessageFlags::default());
        let message = engine.conversation.push(message)?;
        engine.messages.confirm();
        self.turn.emit(EngineEvent::Message(message));
        // Where the turn ends here, the user's messages begin the next one.
        if halt.is_none() && !self.turn.is_interrupted() {
            self.commit_steering()?;
        }
        Ok(Next::Event(TurnEvent::RoundCommitted { halt }))
    }

    /// Adds the messages that the user has sent meanwhile. They are the user's words, unlike what follows results.
    fn commit_steering(&mut self) -> Result<(), EngineError> {
        for text in self.turn.steered() {
            let blocks = vec![Block::text(&text)];
            let engine = &mut *self.engine;
            let message = engine.conversation.append_user(blocks, MessageFlags::default())?;
            if let Some(memory) = &engine.config.memory {
                memory.access.provenance().record(message.id, Trust::Typed, &text);
            }
            self.turn.emit(EngineEvent::Message(message));
            self.turn.emit(EngineEvent::Steered(text));
        }
        Ok(())
    }

    /// Runs the hooks of a round of calls. The reason to end the turn, if a hook gives one.
    async fn check_round(&mut self, blocks: &[Block]) -> Option<String> {
        let runner = self.engine.hooks.runner().cloned()?;
        runner.check_files();
        let tools = &self.engine.config.tools.set;
        let calls: Vec<BatchCall<'_>> = self
            .engine
            .conversation
            .history()
            .last()?
            .blocks
            .iter()
            .filter_map(Block::as_tool_use)
            .map(|call| BatchCall::new(call, tools, blocks))
            .collect();
        let verdict = runner.run_with_notices(runner.tool_batch(&calls), self.turn.sink()).await;
        self.sources.notes.extend(verdict.notes);
        verdict.block.or(verdict.halt)
    }

    /// Stores the largest of results that together are too long for one message, before they are first sent.
    fn store_together(&mut self, mut blocks: Vec<Block>) -> Result<Vec<Block>, EngineError> {
        let engine = &mut *self.engine;
        let store = engine.config.result_store(&engine.conversation, &engine.figures);
        let tools = &engine.config.tools.set;
        let calls = engine.conversation.history().last();
        let calls = calls.map(|last| last.blocks.as_slice()).unwrap_or_default();
        let bound = |id: &ToolUseId| {
            let mut calls = calls.iter().filter_map(Block::as_tool_use);
            let name = calls.find(|call| call.id == id).map(|call| call.name);
            store.bound(tools, name.unwrap_or_default())
        };
        let stored = store.keep_message(&blocks, bound);
        if stored.is_empty() {
            return Ok(blocks);
        }
        engine.conversation.transcript.record_stored(self.results_id, &stored)?;
        for block in stored {
            if let Some(old) = blocks.iter_mut().find(|old| old.kind() == block.kind()) {
                *old = block;
            }
        }
        Ok(blocks)
    }
}
