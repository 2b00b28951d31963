//! `dormouse`: a conversation, line by line.
//!
//! What is finished scrolls into the terminal's own history; below it stands the prompt, or one short
//! status while a turn runs. One task owns the terminal: the engine's events, questions about calls,
//! signals and what is typed all come to it.

mod agents;
mod answers;
mod beside;
mod calls;
mod commands;
mod compact;
mod diff;
mod dream;
mod editor;
mod ending;
mod history;
mod memory;
mod obey;
mod plan;
mod progress;
mod question;
mod screen;
mod signals;
mod skills;
mod status_line;
mod turn;
mod view;

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{names, nearest_name};
use dormouse_engine::{SessionEndReason, Surroundings};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::args::{Arguments, OutputFormat};
use crate::terminal::markdown::{Colour, Style};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::session_start::{self, Conversation};
use crate::wiring::trust::Untrusted;
use crate::wiring::world::World;

use crate::terminal::tty::Quiet;
use commands::{Meant, Name};
use editor::{Ask, Key, LineEditor, Typed};
use history::History;
use question::Asked;
use screen::{Looks, Screen, Status};
use signals::{Signals, Told};
use view::{View, ViewCell};

const CONNECTING: &str = "waiting for the model's server …";
const AGAIN: &str = "Ctrl-C again, or Ctrl-D, leaves";
/// How often it is looked whether something was done beside the conversation.
const TICK: Duration = Duration::from_millis(250);

/// The terminal, what is talked about, and what is typed.
struct Talk<'a> {
    arguments: &'a Arguments,
    world: &'a World,
    conversation: Conversation,
    view: ViewCell,
    editor: LineEditor,
    questions: UnboundedReceiver<Asked>,
    signals: Signals,
    history: History,
    /// Typed before a question came, and kept for the next prompt.
    typed_ahead: String,
    /// Restores the terminal.
    quiet: Option<Quiet>,
    /// The person was told that their command for the line above the prompt does not work.
    status_line_failed: bool,
}

/// Whether the conversation goes on.
enum Next {
    GoOn,
    Leave(Exit),
}

/// So many of something.
fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// What a person says.
enum Said {
    Text(String),
    Leave(Exit),
}

/// Talks until the person leaves.
pub(crate) async fn run(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    check_terminal(arguments)?;
    let (asker, questions) = question::channel();
    let ready = Box::pin(session_start::prepare(arguments, world, Untrusted::Ask));
    let ready = unless_soon(ready, || print::note(CONNECTING)).await?;
    let conversation = ready.open(arguments, world, Some(Arc::new(asker)))?;
    let history = History::of(world.home()?);
    let entries = history.entries().map_err(Failure::failed)?;
    let (looks, status) = abilities(arguments, world);
    let (folder, gate) = (conversation.project.folder.clone(), conversation.gate.clone());
    let view = View::new(Screen::new(looks, status), folder, gate);
    let cannot = |error| Failure::failed(anyhow::anyhow!("can not read the terminal: {error}"));
    let quiet = if is_dumb(world) { None } else { Some(Quiet::begin().map_err(cannot)?) };
    let editor = LineEditor::start(entries, skills::names(&conversation)).map_err(cannot)?;
    let talk = Talk {
        arguments,
        world,
        conversation,
        view: ViewCell::new(view),
        editor,
        questions,
        signals: Signals::listen()?,
        history,
        typed_ahead: String::new(),
        quiet,
        status_line_failed: false,
    };
    Box::pin(talk.run(arguments.prompt.join(" "))).await
}

/// Waits for something; says so where it takes more than a moment.
async fn unless_soon<T>(waiting: impl Future<Output = T>, say: impl FnOnce()) -> T {
    tokio::pin!(waiting);
    match tokio::time::timeout(progress::PATIENCE, &mut waiting).await {
        Ok(come) => come,
        Err(_) => {
            say();
            waiting.await
        }
    }
}

/// Talking needs somebody who reads and types.
fn check_terminal(arguments: &Arguments) -> Result<(), Failure> {
    let hint = "use -p: dormouse -p \"your question\"";
    if arguments.output_format != OutputFormat::Text {
        return Err(Failure::usage(anyhow::anyhow!("--output-format needs -p")).hint(hint));
    }
    let missing = match (std::io::stdin().is_terminal(), std::io::stdout().is_terminal()) {
        (true, true) => return Ok(()),
        (false, _) => "input",
        (true, false) => "output",
    };
    Err(Failure::usage(anyhow::anyhow!("talking needs a terminal, and standard {missing} is none"))
        .hint(hint))
}

/// A terminal that can do nothing but print, by its own word.
fn is_dumb(world: &World) -> bool {
    matches!(world.environment.get(names::TERM), None | Some("dumb"))
}

/// What the terminal and the person want of what is shown.
fn abilities(arguments: &Arguments, world: &World) -> (Looks, Status) {
    if arguments.plain || is_dumb(world) {
        (Looks::Bare, Status::Appended)
    } else if world.environment.get(names::NO_COLOR).is_some() {
        (Looks::Bare, Status::Rewritten)
    } else {
        (Looks::Styled, Status::Rewritten)
    }
}

impl Talk<'_> {
    async fn run(mut self, first: String) -> Result<Exit, Failure> {
        self.greet();
        let (arguments, view) = (self.arguments, &self.view);
        let mut sink = |event| view.borrow_mut().event(event);
        self.conversation.set_up(arguments, &mut sink).await;
        self.conversation.engine.opened();
        let mut first = Some(first).filter(|first| !first.trim().is_empty());
        loop {
            let said = match first.take() {
                Some(prompt) => {
                    self.view.borrow_mut().echo(&prompt);
                    Said::Text(prompt)
                }
                None => self.prompt().await,
            };
            let next = match said {
                Said::Leave(exit) => Next::Leave(exit),
                Said::Text(text) if text.trim().is_empty() => Next::GoOn,
                Said::Text(text) => self.heed(&text).await,
            };
            if let Next::Leave(exit) = next {
                self.part(exit).await;
                return Ok(exit);
            }
        }
    }

    fn greet(&self) {
        let Conversation { engine, project, .. } = &self.conversation;
        let mut view = self.view.borrow_mut();
        let user_home = self.world.environment.get(names::USER_HOME).map(Path::new);
        let folder = match user_home.and_then(|home| project.folder.strip_prefix(home).ok()) {
            Some(inside) => Path::new("~").join(inside).display().to_string(),
            None => project.folder.display().to_string(),
        };
        view.note(&format!("dormouse · {} · {folder}", engine.model_name()), Style::BOLD);
        let kept = engine.history().messages().len();
        let goes_on = if kept > 0 { "this session goes on · " } else { "" };
        view.note(&format!("{goes_on}/help for keys and commands, Ctrl-D to leave"), Style::DIM);
        drop(view);
        self.tell_what_waits();
    }

    /// The end of the session, for hooks and for the person.
    async fn part(&mut self, exit: Exit) {
        let reason = match exit {
            Exit::Done => SessionEndReason::PromptInputExit,
            _ => SessionEndReason::Other,
        };
        self.tell_who_is_ended();
        self.finish_what_is_under_way().await;
        let view = &self.view;
        let mut sink = |event| view.borrow_mut().event(event);
        self.conversation.engine.end(reason, &mut sink).await;
        self.conversation.servers.close().await;
        if !self.conversation.engine.history().messages().is_empty() {
            let text = "the session is kept: dormouse --continue goes on";
            self.view.borrow_mut().note(text, Style::DIM);
        }
    }

    fn say(&self, text: &str) {
        self.view.borrow_mut().note(text, Style::PLAIN);
    }

    fn list(&self, rows: &answers::Rows) {
        self.view.borrow_mut().table(rows);
    }

    fn complain(&self, failure: &Failure) {
        let mut view = self.view.borrow_mut();
        view.note(&format!("error: {}", failure.message()), Style::PLAIN.colour(Colour::Red));
        for hint in failure.hints() {
            view.note(hint, Style::DIM);
        }
    }

    /// Waits for something to be typed.
    async fn prompt(&mut self) -> Said {
        let mut interrupts = 0;
        loop {
            self.view.borrow_mut().before_prompt();
            self.status_line().await;
            let mode = answers::mode_word(self.conversation.gate.mode());
            let ask = Ask::Message { typed: std::mem::take(&mut self.typed_ahead), mode };
            let reading = self.editor.read(ask);
            tokio::pin!(reading);
            let mut ticks = tokio::time::interval(TICK);
            let typed = loop {
                tokio::select! {
                    typed = &mut reading => break typed,
                    _ = ticks.tick() => {
                        self.tell_what_was_remembered();
                        // The model hears of it with what is said next.
                        for said in self.conversation.engine.receive() {
                            self.editor.print(beside::arrived(&said));
                        }
                    }
                    told = self.signals.next() => match told {
                        Told::Leave => {
                            self.view.borrow_mut().typed();
                            return Said::Leave(Exit::Interrupted);
                        }
                        // The editor sees the key itself, but for a terminal that can only print.
                        Told::Interrupt if self.quiet.is_some() => {}
                        Told::Interrupt if interrupts > 0 => return Said::Leave(Exit::Done),
                        Told::Interrupt => {
                            interrupts += 1;
                            self.view.borrow_mut().note(AGAIN, Style::DIM);
                        }
                        Told::Back => {}
                    }
                }
            };
            self.view.borrow_mut().typed();
            match typed {
                Typed::Line(line) => return Said::Text(line),
                Typed::Key(Key::Why) => self.view.borrow_mut().explain_recall(),
                Typed::Key(Key::Mode) => self.next_mode(),
                Typed::Key(Key::Undo) => {
                    self.view.borrow_mut().echo(memory::UNDO);
                    return Said::Text(memory::UNDO.to_owned());
                }
                Typed::End => return Said::Leave(Exit::Done),
                Typed::Interrupted if interrupts > 0 => return Said::Leave(Exit::Done),
                Typed::Interrupted => {
                    interrupts += 1;
                    self.view.borrow_mut().note(AGAIN, Style::DIM);
                }
                Typed::Discarded => interrupts = 0,
                Typed::Failed(why) => {
                    let text = format!("error: can not read the terminal: {why}");
                    self.view.borrow_mut().note(&text, Style::PLAIN.colour(Colour::Red));
                    return Said::Leave(Exit::Failed);
                }
            }
        }
    }

    /// Does what was said: a command, or a turn.
    async fn heed(&mut self, text: &str) -> Next {
        if let Err(error) = self.history.add(text) {
            self.view.borrow_mut().note(&format!("not kept in the history: {error}"), Style::DIM);
        }
        match commands::parse(text) {
            None => return self.turn(text).await,
            Some(Meant::Unknown(..)) if self.calls_a_skill(text) => return self.turn(text).await,
            Some(Meant::Command(Name::Quit, _)) => return Next::Leave(Exit::Done),
            Some(Meant::Command(Name::Compact, rest)) => return self.compact(&rest).await,
            Some(Meant::Command(Name::Plan, rest)) => return self.plan(&rest).await,
            Some(Meant::Command(name, rest)) => self.command(name, &rest).await,
            Some(Meant::Unknown(name, command)) => {
                let skills = || skills::names(&self.conversation);
                let meant = command.or_else(|| nearest_name(&name, skills()));
                let meant = meant.map(|name| format!(" Did you mean /{name}?")).unwrap_or_default();
                self.say(&format!("There is no command /{name}.{meant} /help lists them all."));
            }
        }
        Next::GoOn
    }

    /// How the world is now.
    async fn look(&self) -> Surroundings {
        let Conversation { project, environment, .. } = &self.conversation;
        Surroundings::look(project, environment, &*self.world.clock).await
    }
}
