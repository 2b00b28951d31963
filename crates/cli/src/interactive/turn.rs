//! One turn: the engine runs, what happens is shown, questions are put, Ctrl-C stops it.

use std::time::Duration;

use dormouse_engine::{EngineError, Surroundings, TurnReport};
use dormouse_tools::{Question, Reply};
use futures_util::future::LocalBoxFuture;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::terminal::markdown::Style;
use crate::wiring::exit::Exit;
use crate::wiring::session_start::Conversation;

use super::editor::{Ask, LineEditor, Typed};
use super::question::{self, Asked};
use super::signals::{Signals, Told};
use super::view::ViewCell;
use super::{Next, Talk, ending};
use crate::terminal::tty::{self, Quiet};

/// How often it is looked whether there is something to say.
const TICK: Duration = Duration::from_millis(250);

/// The answer to a question, and whether the turn goes on.
enum Answered {
    Reply(Reply),
    Stop,
}

/// What a turn is attended with.
pub(super) struct Attendant<'t> {
    pub(super) view: &'t ViewCell,
    editor: &'t LineEditor,
    questions: &'t mut UnboundedReceiver<Asked>,
    signals: &'t mut Signals,
    typed_ahead: &'t mut String,
    quiet: Option<&'t Quiet>,
}

impl Talk<'_> {
    /// Says something to the model and shows what comes of it.
    pub(super) async fn turn(&mut self, prompt: &str) -> Next {
        self.view.borrow_mut().turn_begins();
        let interrupt = CancellationToken::new();
        let (most, clock) = (self.arguments.max_turns, &*self.world.clock);
        let (conversation, attendant) = self.attended();
        let Conversation { engine, project, environment, .. } = conversation;
        let view = attendant.view;
        let mut sink = |event| view.borrow_mut().event(event);
        let turn = async {
            // Looking around takes a while in a large repository.
            let now = Surroundings::look(project, environment, clock).await;
            engine.run_turn(prompt, &now, most, &interrupt, &mut sink).await
        };
        let (result, next) = attendant.attend(turn, &interrupt).await;
        self.ended(&result);
        next
    }

    /// The conversation, and what a turn of it is attended with.
    pub(super) fn attended(&mut self) -> (&mut Conversation, Attendant<'_>) {
        let attendant = Attendant {
            view: &self.view,
            editor: &self.editor,
            questions: &mut self.questions,
            signals: &mut self.signals,
            typed_ahead: &mut self.typed_ahead,
            quiet: self.quiet.as_ref(),
        };
        (&mut self.conversation, attendant)
    }

    /// Says how the turn ended, where that is not plain to see.
    fn ended(&self, result: &Result<TurnReport, EngineError>) {
        let mut view = self.view.borrow_mut();
        view.turn_ended();
        let lines = match result {
            Ok(report) => ending::of_turn(&report.end, &self.conversation.key),
            Err(error) => ending::of_error(error),
        };
        for (line, style) in lines {
            view.note(&line, style);
        }
        let window = self.conversation.engine.window_state();
        if window.warning {
            let left = window.percent_left;
            let text = format!(
                "{left} % of the window is left until it is compacted; /compact does it now"
            );
            view.note(&text, Style::DIM);
        }
    }
}

impl Attendant<'_> {
    /// Runs a turn to its end.
    pub(super) async fn attend<T>(
        mut self,
        turn: impl Future<Output = T>,
        interrupt: &CancellationToken,
    ) -> (T, Next) {
        tokio::pin!(turn);
        // A panic that was caught may have left the terminal as it was before.
        self.heed(Told::Back, interrupt);
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut next = Next::GoOn;
        // One question at a time; the others wait in the channel.
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
                told = self.signals.next() => {
                    if told == Told::Leave {
                        next = Next::Leave(Exit::Interrupted);
                    }
                    self.heed(told, interrupt);
                }
                answered = answer => {
                    self.view.borrow_mut().answered();
                    if let Some((_, reply)) = asking.take() {
                        settle(answered, reply, interrupt);
                    }
                }
                Some(asked) = self.questions.recv(), if free => {
                    self.typed_ahead.push_str(&tty::typed_ahead());
                    let answer = ask(self.editor, self.view, asked.question);
                    asking = Some((Box::pin(answer), asked.reply));
                }
                _ = ticks.tick() => self.view.borrow_mut().tick(),
            }
        }
    }

    fn heed(&mut self, told: Told, interrupt: &CancellationToken) {
        match told {
            Told::Interrupt | Told::Leave => {
                interrupt.cancel();
                self.view.borrow_mut().stopping();
            }
            Told::Back => {
                if let Some(Err(error)) = self.quiet.map(Quiet::again) {
                    let text = format!("can not set up the terminal: {error}");
                    self.view.borrow_mut().note(&text, Style::DIM);
                }
            }
        }
    }
}

/// Puts a question until it is answered.
async fn ask(editor: &LineEditor, view: &ViewCell, question: Question) -> Answered {
    view.borrow_mut().ask(&question);
    loop {
        match editor.read(Ask::Answer).await {
            Typed::Line(line) => match question::reply(&line) {
                Some(reply) => return Answered::Reply(reply),
                None => {
                    let mut view = view.borrow_mut();
                    view.typed();
                    view.note("y, n or a; n and a reason tells the model why", Style::DIM);
                }
            },
            Typed::Discarded | Typed::Key(_) => view.borrow_mut().typed(),
            Typed::Interrupted | Typed::End | Typed::Failed(_) => return Answered::Stop,
        }
    }
}

/// Hands the answer on. A call that has gone meanwhile needs none.
fn settle(
    answered: Answered,
    reply: tokio::sync::oneshot::Sender<Reply>,
    interrupt: &CancellationToken,
) {
    let said = match answered {
        Answered::Reply(said) => said,
        Answered::Stop => {
            interrupt.cancel();
            Reply::No { said: None }
        }
    };
    let _gone = reply.send(said);
}
