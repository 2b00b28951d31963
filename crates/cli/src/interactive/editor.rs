//! Reading what a person types: the one door to the line editor.
//!
//! The editor blocks, so it lives on a thread of its own, which ends with the program: it can not be
//! woken while it reads. Questions have an editor apart, so that what was typed ahead of a question is
//! never taken for its answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};

use rustyline::completion::Completer;
use rustyline::config::{BellStyle, CompletionType};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{History as _, MemHistory};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, ConditionalEventHandler, Config, Context, Editor, Event, EventContext, EventHandler,
    ExternalPrinter as _, Helper, KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use tokio::sync::oneshot;

use super::commands::COMMANDS;
use super::history::MOST_ENTRIES;

/// What stands in front of what is typed, behind the mode where that is not the usual one.
const PROMPT: &str = "> ";
const QUESTION: &str = "allow? ";

/// After this long an escape is a key of its own, not the beginning of what another key sends: one that
/// was pressed during a turn would otherwise swallow the next letter.
const LONE_ESCAPE_MS: u16 = 500;

/// What is asked for.
#[derive(Debug)]
pub(crate) enum Ask {
    /// The next message; this much has been typed already.
    Message {
        typed: String,
        /// The mode, where it is to be seen.
        mode: Option<&'static str>,
    },
    /// The answer to a question.
    Answer,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-C, with something typed: that is thrown away.
    Discarded,
    /// Ctrl-C, with nothing typed.
    Interrupted,
    /// Ctrl-D, or the end of the terminal.
    End,
    /// A key of our own, with nothing typed.
    Key(Key),
    /// The terminal could not be read.
    Failed(String),
}

/// Keys that stand for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// Takes back the last change of memory.
    Undo,
    /// Says why memories were recalled.
    Why,
    /// Goes over to the next mode.
    Mode,
}

/// The editor's thread, from outside.
pub(crate) struct LineEditor {
    requests: mpsc::Sender<(Ask, oneshot::Sender<Typed>)>,
    /// Lines to be put above what is being typed.
    lines: mpsc::Sender<String>,
}

impl LineEditor {
    /// Starts it, with what was typed in earlier sessions, and the names of skills to complete.
    pub(crate) fn start(entries: Vec<String>, skills: Vec<String>) -> std::io::Result<Self> {
        let (requests, asked) = mpsc::channel();
        let (lines, to_print) = mpsc::channel();
        std::thread::Builder::new()
            .name("editor".to_owned())
            .spawn(move || serve(&asked, to_print, entries, &skills))?;
        Ok(Self { requests, lines })
    }

    /// Puts a line above what is being typed.
    pub(crate) fn print(&self, line: String) {
        // An editor that has stopped is told of by whoever reads from it.
        let _gone = self.lines.send(line);
    }

    /// Reads a line.
    pub(crate) async fn read(&self, ask: Ask) -> Typed {
        let (reply, typed) = oneshot::channel();
        let gone = || Typed::Failed("the line editor has stopped".to_owned());
        match self.requests.send((ask, reply)) {
            Ok(()) => typed.await.unwrap_or_else(|_| gone()),
            Err(_) => gone(),
        }
    }
}

type Lines = Editor<Continued, MemHistory>;

/// Prints lines above what is being typed, on a thread of its own, as long as anybody sends them.
fn print_lines(messages: &mut Lines, lines: mpsc::Receiver<String>) {
    // A terminal that can not be written to has told so already.
    let Ok(mut printer) = messages.create_external_printer() else { return };
    std::thread::spawn(move || {
        for line in lines {
            if printer.print(format!("{line}\n")).is_err() {
                return;
            }
        }
    });
}

fn serve(
    asked: &mpsc::Receiver<(Ask, oneshot::Sender<Typed>)>,
    to_print: mpsc::Receiver<String>,
    entries: Vec<String>,
    skills: &[String],
) {
    let keys = Keys { nothing_typed: Arc::new(AtomicBool::new(true)), pressed: Arc::default() };
    let editors = editor(&keys, skills).and_then(|mut messages| {
        for entry in entries {
            messages.history_mut().add_owned(entry)?;
        }
        print_lines(&mut messages, to_print);
        Ok((messages, editor(&keys, &[])?))
    });
    let mut editors = match editors {
        Ok(editors) => editors,
        Err(error) => {
            for (_, reply) in asked {
                // Who asked may have gone.
                let _gone = reply.send(Typed::Failed(error.to_string()));
            }
            return;
        }
    };
    for (ask, reply) in asked {
        keys.forget();
        let read = match ask {
            Ask::Message { typed, mode } => {
                let prompt = mode.map_or(PROMPT.to_owned(), |mode| format!("{mode} {PROMPT}"));
                let read = editors.0.readline_with_initial(&prompt, (&typed, ""));
                if let Ok(line) = &read
                    && !line.trim().is_empty()
                {
                    // The history is a help; without room in it nothing is lost.
                    let _kept = editors.0.add_history_entry(line.as_str());
                }
                read
            }
            Ask::Answer => editors.1.readline(QUESTION),
        };
        let _gone = reply.send(typed(read, &keys));
    }
}

/// What the keys that end the reading meant.
#[derive(Debug, Clone)]
struct Keys {
    nothing_typed: Arc<AtomicBool>,
    pressed: Arc<Mutex<Option<Key>>>,
}

impl Keys {
    fn forget(&self) {
        self.nothing_typed.store(true, Ordering::Relaxed);
        self.press(None);
    }

    fn press(&self, key: Option<Key>) {
        *self.pressed.lock().unwrap_or_else(PoisonError::into_inner) = key;
    }

    fn pressed(&self) -> Option<Key> {
        *self.pressed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn typed(read: rustyline::Result<String>, keys: &Keys) -> Typed {
    match (read, keys.pressed()) {
        (Ok(line), _) => Typed::Line(line.replace("\\\n", "\n")),
        (Err(ReadlineError::Interrupted), Some(key)) => Typed::Key(key),
        (Err(ReadlineError::Interrupted), None) if keys.nothing_typed.load(Ordering::Relaxed) => {
            Typed::Interrupted
        }
        (Err(ReadlineError::Interrupted), None) => Typed::Discarded,
        (Err(ReadlineError::Eof), _) => Typed::End,
        (Err(error), _) => Typed::Failed(error.to_string()),
    }
}

fn editor(keys: &Keys, skills: &[String]) -> rustyline::Result<Lines> {
    let config = Config::builder()
        .max_history_size(MOST_ENTRIES)?
        .bell_style(BellStyle::None)
        .keyseq_timeout(Some(LONE_ESCAPE_MS))
        .completion_type(CompletionType::List)
        .bracketed_paste(true)
        .build();
    let history = MemHistory::with_config(&config);
    let mut editor = Lines::with_history(config, history)?;
    editor.set_helper(Some(Continued { skills: skills.to_vec() }));
    let key = |code, modifiers| Event::from(KeyEvent(code, modifiers));
    editor.bind_sequence(key(KeyCode::Char('J'), Modifiers::CTRL), Cmd::Newline);
    editor.bind_sequence(key(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
    editor.bind_sequence(
        key(KeyCode::Char('C'), Modifiers::CTRL),
        EventHandler::Conditional(Box::new(Interrupt(keys.clone()))),
    );
    for (code, modifiers, means) in [
        (KeyCode::Char('u'), Modifiers::ALT, Key::Undo),
        (KeyCode::Char('r'), Modifiers::ALT, Key::Why),
        (KeyCode::BackTab, Modifiers::NONE, Key::Mode),
    ] {
        editor.bind_sequence(
            key(code, modifiers),
            EventHandler::Conditional(Box::new(Own(means, keys.clone()))),
        );
    }
    Ok(editor)
}

/// Sees whether anything was typed when Ctrl-C is pressed.
struct Interrupt(Keys);

impl ConditionalEventHandler for Interrupt {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        self.0.nothing_typed.store(context.line().is_empty(), Ordering::Relaxed);
        Some(Cmd::Interrupt)
    }
}

/// A key of ours at an empty prompt; with something typed it is the editor's own.
struct Own(Key, Keys);

impl ConditionalEventHandler for Own {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        context.line().is_empty().then(|| {
            self.1.press(Some(self.0));
            Cmd::Interrupt
        })
    }
}

/// A line that ends with a backslash goes on; Tab completes a command or a skill.
struct Continued {
    skills: Vec<String>,
}

impl Validator for Continued {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let goes_on = context.input().ends_with('\\');
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Helper for Continued {}
impl Completer for Continued {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..position).unwrap_or_default();
        let commands = COMMANDS.iter().map(|(_, name, ..)| *name);
        let names = commands.chain(self.skills.iter().map(String::as_str));
        let names = names.map(|name| format!("/{name}"));
        let fitting = names.filter(|name| typed.starts_with('/') && name.starts_with(typed));
        Ok((0, fitting.collect()))
    }
}
impl Hinter for Continued {
    type Hint = String;
}
impl Highlighter for Continued {}
