//! One turn: runs the engine, shows its events, asks for permissions, and stops on Ctrl-C.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use dormouse_engine::{EngineError, Steering, Surroundings, TurnContext, TurnReport};
use dormouse_permissions::{PermissionGate, PermissionRule};
use dormouse_tools::{ConfirmationReply, ConfirmationRequest};
use dormouse_tui::action::UserAction;
use dormouse_tui::interface::Interface;
use dormouse_tui::menu::MenuAnswer;
use dormouse_tui::style::{Color, Style};
use futures_util::future::LocalBoxFuture;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::args::SettingsScope;
use crate::message_catalog::msg;
use crate::terminal::tty;
use crate::wiring::editor::EditedCopy;
use crate::wiring::exit::Exit;
use crate::wiring::session_start::ActiveSession;
use crate::wiring::settings_file;
use crate::wiring::world::World;

use super::attention::SessionActivity;
use super::background;
use super::confirmation::{self, MenuReply, PendingConfirmation, RuleLifetime, is_shown_whole};
use super::form::{PendingStep, StepPlace};
use super::line_editor::{InputEvent, LineEditor, ReadRequest};
use super::live_screen::{FRAME, LiveScreen};
use super::session::{AfterInput, InteractiveSession};
use super::signals::{SignalAction, Signals};
use super::slash_commands::during_turn::{self, TurnSources};
use super::slash_commands::rows::next_mode;
use super::status_line::{self, StatusSources};
use super::terminal_input::TerminalInput;
use super::turn_end::{engine_error_lines, turn_end_lines};
use super::view::SharedView;

/// How often the elapsed time is updated.
const TICK: Duration = Duration::from_secs(1);

/// The name of the file that the user's pager shows: the ending tells it what it is.
const CHANGE: &str = "change.diff";

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
    forms: &'t mut UnboundedReceiver<PendingStep>,
    signals: &'t mut Signals,
    world: &'t World,
    gate: PermissionGate,
    status: StatusSources,
}

/// A permission prompt that is open.
struct OpenQuestion<'t> {
    request: ConfirmationRequest,
    /// The rule that the user has written, while they are asked for how long it holds.
    rule: Option<PermissionRule>,
    /// Whether the user has seen all that would change.
    is_seen: bool,
    reply: oneshot::Sender<ConfirmationReply>,
    /// The answer, where it is typed as a line; a menu has its answer among the keys.
    line: Option<LocalBoxFuture<'t, Answered>>,
}

/// Where the answer to an open question of a form goes.
type OpenStep = oneshot::Sender<MenuAnswer>;

/// Waits until nobody waits for the answer to a question any more.
async fn abandoned(step: Option<&mut OpenStep>) {
    match step {
        Some(step) => step.closed().await,
        None => std::future::pending().await,
    }
}

impl InteractiveSession<'_> {
    /// Sends a prompt and shows the turn.
    pub(super) async fn turn(&mut self, prompt: &str) -> AfterInput {
        background::make_way(&self.session, &self.view).await;
        self.view.borrow_mut().turn_started();
        let interrupt = CancellationToken::new();
        let (most, world) = (self.arguments.max_turns, self.world);
        let (session, monitor) = self.turn_monitor();
        let ActiveSession { engine, project, environment, .. } = session;
        let view = monitor.view;
        let mut sink = |event| view.event(event);
        let mut context = TurnContext::new(&interrupt, &mut sink).with_steering(monitor.steering);
        let turn = async {
            // This takes a while in a large repository.
            let now =
                Surroundings::look(project, environment, &*world.clock, &world.deadlines).await;
            engine.run_turn(prompt, &now, most, &mut context).await
        };
        let (result, next) = monitor.run(turn, &interrupt).await;
        self.show_turn_end(&result);
        self.queue_unsent();
        next
    }

    /// Messages that the turn did not take are sent next.
    pub(super) fn queue_unsent(&mut self) {
        let unsent = self.steering.take();
        self.view.borrow_mut().change(|interface| interface.queue_again(unsent));
    }

    /// Splits off the terminal side, so that the conversation can run.
    pub(super) fn turn_monitor(&mut self) -> (&mut ActiveSession, TurnMonitor<'_>) {
        let monitor = TurnMonitor {
            view: &self.view,
            steering: &self.steering,
            input: &mut self.input,
            confirmations: &mut self.confirmations,
            forms: &mut self.forms,
            signals: &mut self.signals,
            world: self.world,
            gate: self.session.gate.clone(),
            status: StatusSources::of(&self.session),
        };
        (&mut self.session, monitor)
    }

    /// Shows how the turn ended, unless it completed.
    fn show_turn_end(&self, result: &Result<TurnReport, EngineError>) {
        // Drawn together with the composer that waits again.
        status_line::refresh(&self.session, &self.view);
        let mut view = self.view.borrow_mut();
        view.turn_ended();
        let lines = match result {
            Ok(report) => turn_end_lines(&report.end, &self.session.key),
            Err(error) => engine_error_lines(error),
        };
        for (line, style) in lines {
            view.note(&line, style);
        }
        let window = self.session.engine.account().status.state;
        if window.warning {
            let left = window.percent_left;
            view.note(&msg!("context-left", percent = left), Style::DIM);
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
        let view = self.view;
        let mut next = AfterInput::Prompt;
        // One permission prompt at a time; others wait in the channel.
        let mut asking: Option<OpenQuestion<'t>> = None;
        let mut form: Option<OpenStep> = None;
        loop {
            let free = asking.is_none() && form.is_none();
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
                        next = AfterInput::leave(Exit::Interrupted);
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
                Some(step) = self.forms.recv(), if free => form = self.ask_step(step),
                () = abandoned(form.as_mut()) => self.settle_step(form.take(), None),
                event = self.input.turn_event() => match event {
                    Some(Ok(event)) => {
                        let action = self.view.live(|live| live.event(&event)).flatten();
                        match action {
                            Some(UserAction::Answer(answer)) => {
                                if form.is_some() {
                                    self.settle_step(form.take(), Some(answer));
                                } else if let Some(open) = asking.take() {
                                    asking = self.answer_menu(open, answer).await;
                                }
                            }
                            Some(action) => self.handle(action, interrupt).await,
                            None => {}
                        }
                    }
                    // The terminal is closed.
                    Some(Err(_)) | None => {
                        interrupt.cancel();
                        next = AfterInput::leave(Exit::Interrupted);
                        self.settle(asking.take(), ConfirmationReply::No { said: None });
                        return (turn.await, next);
                    }
                },
                () = frame_due(view, &mut frames) => self.frame(),
                _ = ticks.tick() => self.tick(),
            }
        }
    }

    /// Draws what has changed.
    fn frame(&self) {
        let mut view = self.view.borrow_mut();
        if view.account.take_new() {
            self.status.show(&mut view);
        }
        view.live().map(LiveScreen::frame);
    }

    /// Updates progress and status.
    fn tick(&self) {
        let mut view = self.view.borrow_mut();
        self.status.show(&mut view);
        view.tick();
    }

    /// A command of the user: run at once, or queued until the turn is over.
    fn command(&self, text: String) {
        if !during_turn::is_at_once(&text) {
            return self.view.borrow_mut().change(|interface| interface.queue(text));
        }
        let sources = TurnSources {
            view: self.view,
            gate: &self.gate,
            tasks: &self.status.tasks,
            now: self.world.clock.now(),
        };
        during_turn::run(&sources, &text);
    }

    /// What a key does during a turn.
    async fn handle(&mut self, action: UserAction, interrupt: &CancellationToken) {
        match action {
            UserAction::Interrupt => self.handle_signal(SignalAction::Interrupt, interrupt),
            UserAction::Suspend => {
                self.input.suspend(self.view).await;
                self.signals.skip_resumed().await;
            }
            UserAction::ExplainRecall => self.view.borrow_mut().explain_recall(),
            UserAction::NextMode => {
                self.gate.set_mode(next_mode(self.gate.mode()));
                self.view.borrow_mut().tick();
            }
            UserAction::Steer(texts) => {
                self.view.borrow_mut().change(|interface| interface.set_steered(&texts));
                self.steering.send(texts);
            }
            UserAction::Unsteer => {
                let texts = self.steering.take();
                self.view.borrow_mut().change(|interface| {
                    interface.queue_again(texts);
                    interface.unqueue();
                });
            }
            UserAction::Submit(text) => self.command(text),
            // These wait for the end of the turn.
            UserAction::Leave
            | UserAction::Answer(_)
            | UserAction::Rewind
            | UserAction::OpenEditor(_)
            | UserAction::PasteImage
            | UserAction::ShowOutput
            | UserAction::ShowThinking
            | UserAction::UndoMemory => {}
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
        let mut shown = view.borrow_mut();
        self.status.show(&mut shown);
        shown.ask(&asked.question);
        drop(shown);
        let PendingConfirmation { question, reply } = asked;
        // Lines are printed whole.
        let is_seen = line.is_some() || question.change.as_ref().is_none_or(is_shown_whole);
        OpenQuestion { request: question, rule: None, is_seen, reply, line }
    }

    /// Shows a question of a form; none where it cannot be shown.
    fn ask_step(&mut self, step: PendingStep) -> Option<OpenStep> {
        let PendingStep { text, choices, place, reply } = step;
        let mut view = self.view.borrow_mut();
        view.note(&text, Style::PLAIN);
        let Some(live) = view.live() else {
            view.note(&msg!("form-plain"), Style::DIM);
            let _gone = reply.send(MenuAnswer::Cancelled);
            return None;
        };
        match place {
            StepPlace::First => live.ask(choices),
            StepPlace::Next => live.ask_next(choices),
        }
        live.set_activity(SessionActivity::Asking);
        Some(reply)
    }

    /// Closes a question of a form and sends the answer; whoever asked may be gone.
    fn settle_step(&self, step: Option<OpenStep>, answer: Option<MenuAnswer>) {
        self.view.borrow_mut().answered(None);
        if let (Some(step), Some(answer)) = (step, answer) {
            let _gone = step.send(answer);
        }
    }

    /// Takes an answer of a menu. The question stays open where another answer is needed.
    async fn answer_menu(
        &mut self,
        mut open: OpenQuestion<'t>,
        answer: MenuAnswer,
    ) -> Option<OpenQuestion<'t>> {
        let view = self.view;
        if let Some(rule) = open.rule.take() {
            let Some(lifetime) = confirmation::chosen_lifetime(&answer) else {
                view.borrow_mut().ask_again(&open.request);
                return Some(open);
            };
            self.settle(Some(open), ConfirmationReply::Rule(rule.clone()));
            if let RuleLifetime::Saved(scope) = lifetime {
                self.save(&rule, scope).await;
            }
            return None;
        }
        let chosen = {
            let shown = view.borrow_mut();
            confirmation::chosen(&open.request, &shown.folder, answer)
        };
        let is_no = matches!(chosen, MenuReply::Reply(ConfirmationReply::No { .. }));
        if chosen == MenuReply::View || (!open.is_seen && !is_no) {
            // A change is not confirmed unseen.
            self.view_change(&open.request).await;
            open.is_seen = true;
            view.borrow_mut().ask_again(&open.request);
            return Some(open);
        }
        let rule = match chosen {
            MenuReply::Reply(reply) => {
                self.settle(Some(open), reply);
                return None;
            }
            MenuReply::Rule(rule) => rule,
            MenuReply::View => return Some(open),
        };
        match rule.parse::<PermissionRule>() {
            Ok(rule) => {
                view.live(|live| live.ask_next(confirmation::lifetime_choices(&rule)));
                open.rule = Some(rule);
            }
            Err(error) => {
                let mut view = view.borrow_mut();
                view.note(&error.to_string(), Style::PLAIN.color(Color::Red));
                let (choices, at) = confirmation::choices_with(&open.request, &view.folder, &rule);
                view.change(|interface| interface.ask_editing(choices, at));
            }
        }
        Some(open)
    }

    /// Shows all that a call would change in the user's pager.
    async fn view_change(&mut self, request: &ConfirmationRequest) {
        let Some(change) = &request.change else { return };
        let world = self.world;
        let text = confirmation::whole_change(change);
        let show = async { EditedCopy::create(world, CHANGE, &text)?.show(world) };
        if let Err(failure) = self.input.lend_screen(self.view, show).await {
            self.view.failure(&failure);
            // Without a pager it is shown here, however long it is.
            self.view.borrow_mut().note(&text, Style::PLAIN);
        }
    }

    /// Saves a rule in the settings.
    async fn save(&mut self, rule: &PermissionRule, scope: SettingsScope) {
        let saving = settings_file::allow(rule, scope, self.world);
        let saved = self.input.lend(self.view, saving).await;
        match saved {
            Ok(change) => {
                let file = change.file.display().to_string();
                let text = msg!("rule-saved", rule = rule.to_string(), file = file);
                self.view.borrow_mut().note(&text, Style::DIM);
            }
            Err(failure) => self.view.failure(&failure),
        }
    }

    /// Closes a permission prompt and sends the answer to the call; the call may be gone.
    fn settle(&self, question: Option<OpenQuestion<'t>>, reply: ConfirmationReply) {
        self.view.borrow_mut().answered(question.as_ref().map(|question| &question.request));
        if let Some(question) = question {
            let _gone = question.reply.send(reply);
        }
    }
}

/// Reads lines until one answers the permission prompt.
async fn answer_line(editor: LineEditor, view: &SharedView) -> Answered {
    loop {
        match editor.read(ReadRequest::Confirmation).await {
            InputEvent::Action(UserAction::Submit(line)) => match confirmation::reply(&line) {
                Some(reply) => return Answered::ConfirmationReply(reply),
                None => {
                    let mut view = view.borrow_mut();
                    view.row_ended();
                    view.note(&msg!("choices-line-again"), Style::DIM);
                }
            },
            InputEvent::Interrupted
            | InputEvent::Terminated
            | InputEvent::Action(UserAction::Leave)
            | InputEvent::Failed(_) => return Answered::Stop,
            InputEvent::Discarded | InputEvent::Resumed | InputEvent::Action(_) => {
                view.borrow_mut().row_ended();
            }
        }
    }
}

/// Waits until something is to be drawn, and the last frame is long enough ago. What changes the view also wakes the task that
/// waits here, so nothing wakes up for a frame that would draw nothing.
async fn frame_due(view: &SharedView, frames: &mut tokio::time::Interval) {
    poll_fn(
        |context| {
            if view.wants_frame() { frames.poll_tick(context).map(drop) } else { Poll::Pending }
        },
    )
    .await;
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
