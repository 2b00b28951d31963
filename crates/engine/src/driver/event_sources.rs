//! Everything that can make something happen while a turn runs: the answer, the tools, the clock, the
//! person.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::time::Duration;

use dormouse_conversation::{Block, ResultContent, ToolUseId};
use dormouse_model::{ModelError, ResponseStream, StreamEvent};
use dormouse_tools::ToolClass;
use futures_util::future::BoxFuture;
use tokio::task::{Id as TaskId, JoinError, JoinSet};
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;

use super::calls::{FinishedCall, ProgressLines};
use crate::turn_state::TurnEvent;
use crate::{Engine, EngineEvent};

/// Where the answer comes from.
#[derive(Default)]
pub(super) enum ResponseSource {
    #[default]
    Idle,
    Opening(BoxFuture<'static, Result<ResponseStream, ModelError>>),
    Open(Box<ResponseStream>),
}

/// Everything that can make something happen.
#[derive(Default)]
pub(super) struct EventSources {
    pub(super) source: ResponseSource,
    pub(super) timer: Option<Pin<Box<Sleep>>>,
    pub(super) tools: JoinSet<FinishedCall>,
    /// Which call a task carries out.
    pub(super) calls: BTreeMap<TaskId, ToolUseId>,
    pub(super) cancel_tools: CancellationToken,
    /// What observers have to say beside the results that are coming in.
    pub(super) notes: Vec<String>,
    pub(super) request_id: Option<String>,
    /// What the person should know of calls that have ended.
    pub(super) asides: Vec<EngineEvent>,
    /// What running calls print.
    pub(super) lines: ProgressLines,
    interrupted: bool,
}

/// Something that happened.
pub(super) enum DriverEvent {
    /// Something the step has to know.
    TurnEvent(TurnEvent),
    /// Running calls have printed these lines.
    Printed(Vec<(ToolUseId, String)>),
    /// Hooks have something to say to the person.
    Noticed,
}

/// A command that is asked to end gets this long to do so, then it is ended.
const STOP_PATIENCE: Duration = Duration::from_secs(4);

impl EventSources {
    /// A task that ended: its result, or, if it was lost, that it was.
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
            FinishedCall::of(Block::tool_result(&id, &text, true))
        });
        self.notes.extend(notes);
        self.asides.extend(events);
        Some(TurnEvent::ToolDone { id, block, halt })
    }

    /// Lets tools that were told to stop do so in order.
    pub(super) async fn stop_tools(&mut self) {
        self.cancel_tools.cancel();
        let all = async { while self.tools.join_next().await.is_some() {} };
        // Those that do not are ended when the set is dropped.
        let _patience = tokio::time::timeout(STOP_PATIENCE, all).await;
    }

    /// Waits for the next thing to happen.
    pub(super) async fn next(
        &mut self,
        interrupt: &CancellationToken,
        engine: &Engine,
        retries: u32,
    ) -> DriverEvent {
        loop {
            let event = tokio::select! {
                biased;
                // What is finished counts, even when the person has had enough.
                Some(joined) = self.tools.join_next_with_id() => self.tool_done(joined),
                () = interrupt.cancelled(), if !self.interrupted => {
                    self.interrupted = true;
                    Some(TurnEvent::Interrupt)
                }
                step = read(&mut self.source, &mut self.request_id) => Some(match step {
                    Ok(event) => {
                        let class = class_of(&event, engine);
                        TurnEvent::Stream(event, class)
                    }
                    Err(error) => {
                        let delay = engine.config.retry.delay(&error, retries, chance(engine));
                        TurnEvent::Failed(error, delay)
                    }
                }),
                () = wait(self.timer.as_mut()) => {
                    self.timer = None;
                    Some(TurnEvent::Retry)
                }
                printed = self.lines.next() => return DriverEvent::Printed(printed),
                () = noticed(engine) => return DriverEvent::Noticed,
            };
            if let Some(event) = event {
                return DriverEvent::TurnEvent(event);
            }
        }
    }
}

/// The next step of the answer; never, where none is coming.
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
                        "the stream ended before the answer did".to_owned(),
                    ))
                });
            }
        }
    }
}

/// Hooks have something to say to the person; never, where there are none.
async fn noticed(engine: &Engine) {
    match &engine.hooks {
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
