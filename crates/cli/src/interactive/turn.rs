//! One turn: runs the engine, shows its events, asks for permissions, and stops on Ctrl-C.

use std::time::Duration;

use dormouse_engine::{EngineError, Surroundings, TurnContext, TurnReport};
use dormouse_tools::{ConfirmationReply, ConfirmationRequest};
use futures_util::future::LocalBoxFuture;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::wiring::exit::Exit;
use crate::wiring::session_start::ActiveSession;
use dormouse_tui::style::Style;

use super::confirmation::{self, PendingConfirmation};
use super::line_editor::{InputEvent, LineEditor, ReadRequest};
use super::session::{AfterInput, InteractiveSession};
use super::signals::{SignalAction, Signals};
use super::turn_end::{engine_error_lines, turn_end_lines};
use super::view::SharedView;
use crate::terminal::tty::{self, NoEcho};

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
    editor: &'t LineEditor,
    confirmations: &'t mut UnboundedReceiver<PendingConfirmation>,
    signals: &'t mut Signals,
    typed_ahead: &'t mut String,
    no_echo: Option<&'t NoEcho>,
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
        let mut context = TurnContext::new(&interrupt, &mut sink);
        let turn = async {
            // This takes a while in a large repository.
            let now = Surroundings::look(project, environment, clock).await;
            engine.run_turn(prompt, &now, most, &mut context).await
        };
        let (result, next) = monitor.run(turn, &interrupt).await;
        self.show_turn_end(&result);
        next
    }

    /// Splits off the terminal side, so that the conversation can run.
    pub(super) fn turn_monitor(&mut self) -> (&mut ActiveSession, TurnMonitor<'_>) {
        let monitor = TurnMonitor {
            view: &self.view,
            editor: &self.editor,
            confirmations: &mut self.confirmations,
            signals: &mut self.signals,
            typed_ahead: &mut self.typed_ahead,
            no_echo: self.no_echo.as_ref(),
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

impl TurnMonitor<'_> {
    /// Runs a turn to its end.
    pub(super) async fn run<T>(
        mut self,
        turn: impl Future<Output = T>,
        interrupt: &CancellationToken,
    ) -> (T, AfterInput) {
        tokio::pin!(turn);
        // A caught panic may have restored the terminal.
        self.handle_signal(SignalAction::Resumed, interrupt);
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut next = AfterInput::Prompt;
        // One permission prompt at a time; others wait in the channel.
        let mut asking: Option<(LocalBoxFuture<'_, Answered>, _)> = None;
        loop {
            let free = asking.is_none();
            let answer = async {
                match &mut asking {
                    Some((answer, _)) => answer.as_mut().await,
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
                answered = answer => {
                    self.view.borrow_mut().answered();
                    if let Some((_, reply)) = asking.take() {
                        settle(answered, reply, interrupt);
                    }
                }
                Some(asked) = self.confirmations.recv(), if free => {
                    self.typed_ahead.push_str(&tty::typed_ahead());
                    let answer = ask(self.editor, self.view, asked.question);
                    asking = Some((Box::pin(answer), asked.reply));
                }
                _ = ticks.tick() => self.view.borrow_mut().tick(),
            }
        }
    }

    fn handle_signal(&mut self, action: SignalAction, interrupt: &CancellationToken) {
        match action {
            SignalAction::Interrupt | SignalAction::Terminate => {
                interrupt.cancel();
                self.view.borrow_mut().stopping();
            }
            SignalAction::Resumed => {
                if let Some(Err(error)) = self.no_echo.map(NoEcho::reapply) {
                    let text = format!("cannot set up the terminal: {error}");
                    self.view.borrow_mut().note(&text, Style::DIM);
                }
            }
        }
    }
}

/// Repeats a permission prompt until it is answered.
async fn ask(editor: &LineEditor, view: &SharedView, question: ConfirmationRequest) -> Answered {
    view.borrow_mut().ask(&question);
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
            InputEvent::Discarded | InputEvent::Shortcut(_) => view.borrow_mut().row_ended(),
            InputEvent::Interrupted | InputEvent::End | InputEvent::Failed(_) => {
                return Answered::Stop;
            }
        }
    }
}

/// Sends the answer to the call; the call may be gone.
fn settle(
    answered: Answered,
    reply: tokio::sync::oneshot::Sender<ConfirmationReply>,
    interrupt: &CancellationToken,
) {
    let said = match answered {
        Answered::ConfirmationReply(said) => said,
        Answered::Stop => {
            interrupt.cancel();
            ConfirmationReply::No { said: None }
        }
    };
    let _gone = reply.send(said);
}
