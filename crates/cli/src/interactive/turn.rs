//! One turn: runs the engine, shows its events, asks for permissions, and stops on Ctrl-C.

use std::time::Duration;

use dormouse_engine::{EngineError, Steering, Surroundings, TurnContext, TurnReport};
use dormouse_tools::ConfirmationReply;
use dormouse_tui::action::UserAction;
use dormouse_tui::interface::Interface;
use dormouse_tui::style::Style;
use futures_util::future::LocalBoxFuture;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::terminal::tty;
use crate::wiring::exit::Exit;
use crate::wiring::session_start::ActiveSession;

use super::confirmation::{self, PendingConfirmation};
use super::line_editor::{InputEvent, LineEditor, ReadRequest};
use super::live_screen::{FRAME, LiveScreen};
use super::session::{AfterInput, InteractiveSession};
use super::signals::{SignalAction, Signals};
use super::terminal_input::TerminalInput;
use super::turn_end::{engine_error_lines, turn_end_lines};
use super::view::SharedView;

/// How often the status is updated.
const TICK: Duration = Duration::from_millis(250);

/// The answer to a permission prompt.
enum Answered {
    ConfirmationReply(ConfirmationReply),
    Stop,
}

/// The terminal side of a running turn.
pub(super) struct TurnMonitor<'t> {
    pub(super) view: &'t SharedView,
    steering: &'t Steering,
    input: &'t mut TerminalInput,
    confirmations: &'t mut UnboundedReceiver<PendingConfirmation>,
    signals: &'t mut Signals,
}

/// A permission prompt that is open.
struct OpenQuestion<'t> {
    reply: oneshot::Sender<ConfirmationReply>,
    /// The answer, where it is typed as a line; a menu has its answer among the keys.
    line: Option<LocalBoxFuture<'t, Answered>>,
}

impl InteractiveSession<'_> {
    /// Sends a prompt and shows the turn.
    pub(super) async fn turn(&mut self, prompt: &str) -> AfterInput {
        self.view.borrow_mut().turn_started();
        let interrupt = CancellationToken::new();
        let (most, clock) = (self.arguments.max_turns, &*self.world.clock);
        let (session, monitor) = self.turn_monitor();
        let ActiveSession { engine, project, environment, .. } = session;
        let view = monitor.view;
        let mut sink = |event| view.borrow_mut().event(event);
        let mut context = TurnContext::new(&interrupt, &mut sink).with_steering(monitor.steering);
        let turn = async {
            // This takes a while in a large repository.
            let now = Surroundings::look(project, environment, clock).await;
            engine.run_turn(prompt, &now, most, &mut context).await
        };
        let (result, next) = monitor.run(turn, &interrupt).await;
        self.show_turn_end(&result);
        // What the turn did not take is sent next.
        let unsent = self.steering.take();
        self.view.borrow_mut().change(|interface| interface.queue_again(unsent));
        next
    }

    /// Splits off the terminal side, so that the conversation can run.
    pub(super) fn turn_monitor(&mut self) -> (&mut ActiveSession, TurnMonitor<'_>) {
        let monitor = TurnMonitor {
            view: &self.view,
            steering: &self.steering,
            input: &mut self.input,
            confirmations: &mut self.confirmations,
            signals: &mut self.signals,
        };
        (&mut self.session, monitor)
    }

    /// Shows how the turn ended, unless it completed.
    fn show_turn_end(&self, result: &Result<TurnReport, EngineError>) {
        let mut view = self.view.borrow_mut();
        view.turn_ended();
        let lines = match result {
            Ok(report) => turn_end_lines(&report.end, &self.session.key),
            Err(error) => engine_error_lines(error),
        };
        for (line, style) in lines {
            view.note(&line, style);
        }
        let window = self.session.engine.context_window().state;
        if window.warning {
            let left = window.percent_left;
            let text =
                format!("Context left until auto-compaction: {left} %. /compact does it now.");
            view.note(&text, Style::DIM);
        }
    }
}

impl<'t> TurnMonitor<'t> {
    /// Runs a turn to its end.
    pub(super) async fn run<T>(
        mut self,
        turn: impl Future<Output = T>,
        interrupt: &CancellationToken,
    ) -> (T, AfterInput) {
        tokio::pin!(turn);
        // A caught panic may have restored the terminal.
        self.input.apply_modes(self.view);
        let (mut ticks, mut frames) = (interval(TICK), interval(FRAME));
        let mut next = AfterInput::Prompt;
        // One permission prompt at a time; others wait in the channel.
        let mut asking: Option<OpenQuestion<'t>> = None;
        loop {
            let free = asking.is_none();
            let line = async {
                match asking.as_mut().and_then(|question| question.line.as_mut()) {
                    Some(line) => line.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                result = &mut turn => return (result, next),
                action = self.signals.next() => {
                    if action == SignalAction::Terminate {
                        next = AfterInput::Leave(Exit::Interrupted);
                    }
                    self.handle_signal(action, interrupt);
                }
                answered = line => {
                    let reply = answered.reply(interrupt);
                    self.settle(asking.take(), reply);
                }
                Some(asked) = self.confirmations.recv(), if free => {
                    asking = Some(self.ask(asked));
                }
                event = self.input.turn_event() => match event {
                    Some(Ok(event)) => {
                        let action = self.view.borrow_mut().input(&event);
                        match action {
                            Some(UserAction::Answer(answer)) => {
                                self.settle(asking.take(), confirmation::chosen(answer));
                            }
                            Some(action) => self.handle(action, interrupt).await,
                            None => {}
                        }
                    }
                    // The terminal is closed.
                    Some(Err(_)) | None => {
                        interrupt.cancel();
                        next = AfterInput::Leave(Exit::Interrupted);
                        self.settle(asking.take(), ConfirmationReply::No { said: None });
                        return (turn.await, next);
                    }
                },
                _ = frames.tick() => drop(self.view.live(LiveScreen::frame)),
                _ = ticks.tick() => self.view.borrow_mut().tick(),
            }
        }
    }

    /// What a key does during a turn.
    async fn handle(&mut self, action: UserAction, interrupt: &CancellationToken) {
        match action {
            UserAction::Interrupt => self.handle_signal(SignalAction::Interrupt, interrupt),
            UserAction::Suspend => self.input.suspend(self.view).await,
            UserAction::ExplainRecall => self.view.borrow_mut().explain_recall(),
            UserAction::Steer(texts) => {
                self.view.borrow_mut().change(|interface| interface.set_steered(&texts));
                self.steering.send(texts);
            }
            // These wait for the end of the turn.
            UserAction::Submit(_)
            | UserAction::Leave
            | UserAction::Answer(_)
            | UserAction::Rewind
            | UserAction::OpenEditor(_)
            | UserAction::ShowOutput
            | UserAction::UndoMemory
            | UserAction::NextMode => {}
        }
    }

    fn handle_signal(&mut self, action: SignalAction, interrupt: &CancellationToken) {
        match action {
            SignalAction::Interrupt | SignalAction::Terminate => {
                interrupt.cancel();
                let mut view = self.view.borrow_mut();
                view.stopping();
                view.change(Interface::unqueue);
            }
            SignalAction::Resumed => self.input.take_back(self.view),
        }
    }

    fn ask(&mut self, asked: PendingConfirmation) -> OpenQuestion<'t> {
        let view = self.view;
        let line = match self.input {
            TerminalInput::Keys { .. } => None,
            TerminalInput::Lines { editor, typed_ahead, .. } => {
                typed_ahead.push_str(&tty::typed_ahead());
                let line: LocalBoxFuture<'t, Answered> =
                    Box::pin(answer_line(editor.clone(), view));
                Some(line)
            }
        };
        view.borrow_mut().ask(&asked.question);
        OpenQuestion { reply: asked.reply, line }
    }

    /// Closes a permission prompt and sends the answer to the call; the call may be gone.
    fn settle(&self, question: Option<OpenQuestion<'t>>, reply: ConfirmationReply) {
        self.view.borrow_mut().answered();
        if let Some(question) = question {
            let _gone = question.reply.send(reply);
        }
    }
}

/// Reads lines until one answers the permission prompt.
async fn answer_line(editor: LineEditor, view: &SharedView) -> Answered {
    loop {
        match editor.read(ReadRequest::Confirmation).await {
            InputEvent::Line(line) => match confirmation::reply(&line) {
                Some(reply) => return Answered::ConfirmationReply(reply),
                None => {
                    let mut view = view.borrow_mut();
                    view.row_ended();
                    view.note(
                        "Answer y, n or a. A reason after n is sent to the model.",
                        Style::DIM,
                    );
                }
            },
            InputEvent::Discarded
            | InputEvent::Shortcut(_)
            | InputEvent::Resumed
            | InputEvent::OpenEditor(_) => {
                view.borrow_mut().row_ended();
            }
            InputEvent::Interrupted
            | InputEvent::Terminated
            | InputEvent::End
            | InputEvent::Failed(_) => {
                return Answered::Stop;
            }
        }
    }
}

fn interval(period: Duration) -> tokio::time::Interval {
    let mut interval = tokio::time::interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

impl Answered {
    /// The reply to the call. A turn that is stopped has not run it.
    fn reply(self, interrupt: &CancellationToken) -> ConfirmationReply {
        match self {
            Self::ConfirmationReply(reply) => reply,
            Self::Stop => {
                interrupt.cancel();
                ConfirmationReply::No { said: None }
            }
        }
    }
}
