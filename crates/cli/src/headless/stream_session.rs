//! A conversation of many turns over pipes (U-16): lines of JSON in, the events of `--output-format stream-json` out.
//!
//! Invariant: nothing on standard input allows more than the command line and the settings do. A mode that allows more is
//! refused, and a permission is given for the call that was shown.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::Dir;
use dormouse_engine::{EngineEvent, TaskOccasion, TurnReport};
use dormouse_hooks::SessionEndReason;
use dormouse_tools::Confirmer;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::Arguments;
use crate::wiring::attached_image;
use crate::wiring::background_tasks;
use crate::wiring::connect::other_model;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::piped_turn::run_turn;
use crate::wiring::print;
use crate::wiring::session_start::{self, ActiveSession, SessionChoice};
use crate::wiring::trust::Untrusted;
use crate::wiring::user_access::UserAccess;
use crate::wiring::world::World;

use super::output::{OutputPrinter, print_request_answer};
use super::run_ends::{begin, finish};
use super::stop_signals::StopSignals;
use super::stream_asker::StreamAsker;
use super::stream_input::{UserBlock, UserContent};
use super::stream_requests::{Queued, StreamRequests};

/// Holds the conversation until standard input ends.
pub(super) async fn run(
    arguments: &Arguments,
    choice: &SessionChoice,
    world: &World,
) -> Result<Exit, Failure> {
    let mut stop = StopSignals::listen()?;
    let asker = Arc::new(StreamAsker::new(Arc::clone(&world.ids)));
    let ready = session_start::prepare(arguments, choice, world, Untrusted::Tell).await?;
    let confirmer = Arc::clone(&asker) as Arc<dyn Confirmer>;
    let mut session = ready.open(arguments, world, UserAccess::asking(confirmer))?;
    session.set_up(arguments, &mut print::notice).await;
    let printer = begin(arguments, &session);
    let mut stream = StreamSession {
        requests: StreamRequests::new(asker, &session, arguments.prompt.join(" ")),
        printer: Mutex::new(printer),
        arguments,
        world,
        last: None,
    };
    session.engine.notify_tasks(TaskOccasion::Opened);
    let talked = stream.talk(&mut session, &mut stop).await;
    stream.end(&mut session).await;
    session.servers.close().await;
    talked?;
    stream.last.as_ref().map_or(Ok(Exit::Done), |report| finish(report, &session.key))
}

/// The conversation with the other program.
struct StreamSession<'a> {
    requests: StreamRequests,
    printer: Mutex<OutputPrinter>,
    arguments: &'a Arguments,
    world: &'a World,
    last: Option<TurnReport>,
}

fn lock(printer: &Mutex<OutputPrinter>) -> MutexGuard<'_, OutputPrinter> {
    printer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The prompt for a message. Its pictures are saved beside the transcript.
fn prompt(content: UserContent, folder: &Dir) -> Result<String, Failure> {
    let blocks = match content {
        UserContent::Text(text) => return Ok(text),
        UserContent::Blocks(blocks) => blocks,
    };
    let parts = blocks.into_iter().map(|block| match block {
        UserBlock::Text { text } => Ok(text),
        UserBlock::Image { source } => {
            attached_image::save(&source.media_type, &source.data, folder)
        }
    });
    Ok(parts.collect::<Result<Vec<_>, _>>()?.join("\n"))
}

impl StreamSession<'_> {
    /// Takes what comes, one turn after the other. A signal ends the turn and the conversation.
    async fn talk(
        &mut self,
        session: &mut ActiveSession,
        stop: &mut StopSignals,
    ) -> Result<(), Failure> {
        while let Some(next) = self.requests.next(&self.printer, stop).await {
            let prompt = match next {
                Queued::Message(content) => {
                    match prompt(content, session.engine.conversation().session_folder()) {
                        Ok(prompt) => prompt,
                        Err(failure) => {
                            lock(&self.printer).notice("invalid_input", failure.message());
                            continue;
                        }
                    }
                }
                Queued::Model { request_id, model } => {
                    self.switch_model(session, &request_id, &model).await;
                    continue;
                }
            };
            if self.turn(session, &prompt, stop).await? {
                break;
            }
        }
        Ok(())
    }

    /// Runs a turn; true if a signal ended it.
    async fn turn(
        &mut self,
        session: &mut ActiveSession,
        prompt: &str,
        stop: &mut StopSignals,
    ) -> Result<bool, Failure> {
        let (interrupt, start) = (CancellationToken::new(), self.world.clock.elapsed());
        let printer = &self.printer;
        let mut sink = |event: EngineEvent| lock(printer).event(&event);
        let (most, around) = (self.arguments.max_turns, (self.world, &interrupt));
        let mut turn = Box::pin(run_turn(session, prompt, most, around, &mut sink));
        let mut is_stopped = false;
        let report = loop {
            tokio::select! {
                report = &mut turn => break report?,
                () = self.requests.take_next(printer, &interrupt) => {}
                () = stop.next() => {
                    is_stopped = true;
                    interrupt.cancel();
                }
            }
        };
        drop(turn);
        // All that was spent so far, with subagents and background tasks.
        let report = TurnReport { cost_usd: session.engine.spending().spent().total(), ..report };
        lock(printer).end(&report, self.world.clock.elapsed().saturating_sub(start));
        self.last = Some(report);
        Ok(is_stopped)
    }

    async fn switch_model(&mut self, session: &mut ActiveSession, request_id: &str, name: &str) {
        let ActiveSession { engine, settings, switches, project, .. } = session;
        let place = (&*settings, &*switches, &*project);
        let other = other_model(name, place, self.world, engine.model().effort).await;
        let switched = other.and_then(|other| Ok(engine.switch_model(other)?));
        match switched {
            Ok(()) => {
                let model = engine.model().name.clone();
                print_request_answer(request_id, Ok(&json!({ "model": model })));
                self.requests.model_changed(&model);
                lock(&self.printer).model_changed(model);
            }
            Err(failure) => print_request_answer(request_id, Err(&failure.message())),
        }
    }

    async fn end(&mut self, session: &mut ActiveSession) {
        let engine = &mut session.engine;
        let mut sink = |event: EngineEvent| lock(&self.printer).event(&event);
        if self.arguments.wait {
            background_tasks::session_ends(engine);
            background_tasks::finish(engine, &mut sink).await;
        } else {
            background_tasks::finish_sending(engine).await;
        }
        engine.end(SessionEndReason::Other, &mut sink).await;
    }
}
