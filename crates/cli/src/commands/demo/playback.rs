//! Plays one prompt of a scene in a new session.

use dormouse_engine::{Engine, EngineEvent, TurnContext, TurnEnd, TurnReport};
use tokio_util::sync::CancellationToken;

use crate::wiring::exit::Failure;

use super::narration::{line, narrate};
use super::sandbox::{DemoModel, DemoSandbox, start_session};

/// Sends the prompt in a new session and prints what happens.
pub(super) async fn play(
    sandbox: &DemoSandbox,
    model: impl Into<DemoModel>,
    prompt: &str,
) -> Result<(Engine, TurnReport), Failure> {
    play_with(sandbox, model, prompt, &mut |event| narrate(&event)).await
}

/// Like [`play`], with another output.
pub(super) async fn play_with(
    sandbox: &DemoSandbox,
    model: impl Into<DemoModel>,
    prompt: &str,
    sink: &mut (dyn FnMut(EngineEvent) + Send),
) -> Result<(Engine, TurnReport), Failure> {
    line(&format!("\n> {prompt}\n"));
    let (mut engine, surroundings) = start_session(sandbox, model).await?;
    let interrupt = CancellationToken::new();
    let report = {
        let mut turn = TurnContext::new(&interrupt, sink);
        engine.run_turn(prompt, &surroundings, None, &mut turn).await?
    };
    if report.end != TurnEnd::Completed {
        return Err(Failure::failed(anyhow::anyhow!("the turn ended with {:?}", report.end)));
    }
    Ok((engine, report))
}
