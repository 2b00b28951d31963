//! The sources of events while a turn runs: the response, the calls, the timer, the user.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::IdSource;
use dormouse_conversation::{Block, ResultContent, ToolUseId};
use dormouse_hooks::HookRunner;
use dormouse_model::{ModelError, ResponseStream, StreamEvent};
use dormouse_tools::{ToolClass, ToolSet};
use futures_util::future::BoxFuture;
use tokio::task::{Id as TaskId, JoinError, JoinSet};
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;

use super::progress::ProgressLines;
use crate::engine::Engine;
use crate::event::EngineEvent;
use crate::turn_state::TurnEvent;

/// The response that is coming in.
#[derive(Default)]
pub(super) enum ResponseSource {
    #[default]
    Idle,
    Opening(BoxFuture<'static, Result<ResponseStream, ModelError>>),
    Open(Box<ResponseStream>),
}

/// All sources of events.
#[derive(Default)]
pub(super) struct EventSources {
    pub(super) response: ResponseSource,
    pub(super) timer: Option<Pin<Box<Sleep>>>,
    pub(super) tools: JoinSet<FinishedCall>,
    /// The call of each task.
    pub(super) calls: BTreeMap<TaskId, ToolUseId>,
    pub(super) cancel_tools: CancellationToken,
    /// Notes of observers that go with the results.
    pub(super) notes: Vec<String>,
    pub(super) request_id: Option<String>,
    /// Events about calls that have ended.
    pub(super) call_events: Vec<EngineEvent>,
    /// Output of running calls.
    pub(super) lines: ProgressLines,
    interrupted: bool,
}

/// Something for the driver to handle.
pub(super) enum DriverEvent {
    /// An event for the step.
    Event(TurnEvent),
    /// Output lines of running calls.
    Printed(Vec<(ToolUseId, String)>),
    /// Hooks have a notice for the user.
    Noticed,
}

/// A call that has ended.
pub(super) struct FinishedCall {
    /// Its result.
    pub(super) block: Block,
    /// Notes of observers for the model.
    pub(super) notes: Vec<String>,
    /// Why an observer asks for the turn to end.
    pub(super) halt: Option<String>,
    /// Events about it.
    pub(super) events: Vec<EngineEvent>,
}

impl FinishedCall {
    pub(super) fn new(block: Block) -> Self {
        Self { block, notes: Vec::new(), halt: None, events: Vec::new() }
    }
}

/// How long commands may take to end by themselves after an interrupt.
const STOP_PATIENCE: Duration = Duration::from_secs(4);

impl EventSources {
    /// The event of a task that ended, also if it panicked.
    fn tool_done(
        &mut self,
        joined: Result<(TaskId, FinishedCall), JoinError>,
    ) -> Option<TurnEvent> {
        let (task, done) = match joined {
            Ok((task, done)) => (task, Some(done)),
            Err(error) => (error.id(), None),
        };
        let id = self.calls.remove(&task)?;
        let FinishedCall { block, notes, halt, events } = done.unwrap_or_else(|| {
            let text = ResultContent::Text("the tool failed inside Dormouse".to_owned());
            FinishedCall::new(Block::tool_result(&id, &text, true))
        });
        self.notes.extend(notes);
        self.call_events.extend(events);
        Some(TurnEvent::ToolDone { id, block, halt })
    }

    /// Lets cancelled calls end in order.
    pub(super) async fn stop_tools(&mut self) {
        self.cancel_tools.cancel();
        let all = async { while self.tools.join_next().await.is_some() {} };
        // The others are ended when the set is dropped.
        let _patience = tokio::time::timeout(STOP_PATIENCE, all).await;
    }

    /// Waits for the next event.
    pub(super) async fn next(
        &mut self,
        interrupt: &CancellationToken,
        engine: &Engine,
        retries: u32,
    ) -> DriverEvent {
        loop {
            let event = tokio::select! {
                biased;
                // A finished call counts, even if the user has interrupted.
                Some(joined) = self.tools.join_next_with_id() => self.tool_done(joined),
                () = interrupt.cancelled(), if !self.interrupted => {
                    self.interrupted = true;
                    Some(TurnEvent::Interrupt)
                }
                step = read(&mut self.response, &mut self.request_id) => Some(match step {
                    Ok(event) => {
                        let class = class_of(&event, &engine.config.tools.set);
                        TurnEvent::Stream(event, class)
                    }
                    Err(error) => {
                        let delay = engine.config.retry.delay(&error, retries, chance(&*engine.config.services.ids));
                        TurnEvent::Failed(error, delay)
                    }
                }),
                () = wait(self.timer.as_mut()) => {
                    self.timer = None;
                    Some(TurnEvent::Retry)
                }
                printed = self.lines.next() => return DriverEvent::Printed(printed),
                () = noticed(engine.hooks.runner()) => return DriverEvent::Noticed,
            };
            if let Some(event) = event {
                return DriverEvent::Event(event);
            }
        }
    }
}

/// The next step of the response; pending where none is coming.
async fn read(
    source: &mut ResponseSource,
    request_id: &mut Option<String>,
) -> Result<StreamEvent, ModelError> {
    loop {
        match source {
            ResponseSource::Idle => std::future::pending::<()>().await,
            ResponseSource::Opening(opening) => {
                let answering = opening.await?;
                *request_id = answering.request_id().map(str::to_owned);
                *source = ResponseSource::Open(Box::new(answering));
            }
            ResponseSource::Open(answering) => {
                return answering.next().await.unwrap_or_else(|| {
                    Err(ModelError::BrokenStream(
                        "the stream ended before the response did".to_owned(),
                    ))
                });
            }
        }
    }
}

/// Waits for a notice of hooks; pending without hooks.
async fn noticed(hooks: Option<&Arc<HookRunner>>) {
    match hooks {
        Some(hooks) => hooks.notice_ready().await,
        None => std::future::pending().await,
    }
}

async fn wait(timer: Option<&mut Pin<Box<Sleep>>>) {
    match timer {
        Some(timer) => timer.await,
        None => std::future::pending().await,
    }
}

/// How a call is scheduled. An unknown tool runs nothing, so it can run in parallel.
fn class_of(event: &StreamEvent, tools: &ToolSet) -> Option<ToolClass> {
    let StreamEvent::Block(block) = event else { return None };
    let call = block.as_tool_use()?;
    Some(
        tools
            .get(call.name)
            .map_or(ToolClass::ReadOnly, |tool| tool.class(&tools.repaired(call).input)),
    )
}

/// A number from 0 to 1.
fn chance(ids: &dyn IdSource) -> f64 {
    let random = ids.next().as_u128() % 1_000;
    Duration::from_millis(u64::try_from(random).unwrap_or(0)).as_secs_f64()
}
