//! A turn for another program at the end of a pipe: an editor, or a program that speaks stream-json.

use dormouse_engine::{EngineError, EngineEvent, Surroundings, TurnContext, TurnReport};
use tokio_util::sync::CancellationToken;

use crate::wiring::background_tasks;
use crate::wiring::session_start::ActiveSession;
use crate::wiring::world::World;

/// Sends a prompt and works until the model is done. What memory has to say by then is among the events.
pub(crate) async fn run_turn(
    session: &mut ActiveSession,
    prompt: &str,
    max_requests: Option<u32>,
    (world, interrupt): (&World, &CancellationToken),
    sink: &mut (dyn FnMut(EngineEvent) + Send),
) -> Result<TurnReport, EngineError> {
    background_tasks::make_way(&session.engine).await;
    let ActiveSession { engine, project, environment, .. } = session;
    let now = Surroundings::look(project, environment, &*world.clock, &world.deadlines).await;
    let mut context = TurnContext::new(interrupt, &mut *sink);
    let report = engine.run_turn(prompt, &now, max_requests, &mut context).await;
    engine.take_memory_notices().into_iter().for_each(|said| sink(EngineEvent::Remembered(said)));
    report
}
