//! Keyboard input through the line editor.
//!
//! The editor blocks, so it runs on its own thread, which ends with the program: a blocked read cannot be canceled.
//! Permission prompts have a separate editor, so that keys typed before a prompt appeared never answer it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_tui::action::UserAction;
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

use super::prompt_history::MOST_ENTRIES;
use super::slash_commands::command_list::COMMANDS;

/// The prompt; the label of a non-default mode goes before it.
const PROMPT: &str = "> ";
const CONFIRMATION_PROMPT: &str = "allow? ";

/// After this long an escape is a key of its own, not the start of a sequence. An Escape pressed during a turn would
/// otherwise swallow the next character.
const LONE_ESCAPE_MS: u16 = 500;

/// What to read.
#[derive(Debug)]
pub(crate) enum ReadRequest {
    /// The next message, with the text typed already.
    Message {
        typed: String,
        /// The label of a non-default permission mode.
        mode: Option<&'static str>,
    },
    /// The answer to a permission prompt.
    Confirmation,
}

/// The result of a read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputEvent {
    /// What the user wants.
    Action(UserAction),
    /// Ctrl-C with text in the prompt, which is discarded.
    Discarded,
    /// Ctrl-C at an empty prompt.
    Interrupted,
    /// The program was asked to end.
    Terminated,
    /// The program was stopped, and the shell continues it.
    Resumed,
    /// The terminal could not be read.
    Failed(String),
}

/// A handle of the editor thread.
#[derive(Clone)]
pub(crate) struct LineEditor {
    requests: mpsc::Sender<(ReadRequest, oneshot::Sender<InputEvent>)>,
    /// Lines to print above the prompt.
    lines: mpsc::Sender<String>,
}

impl LineEditor {
    /// Starts the thread. `entries` is the prompt history, `skills` the names to complete.
    pub(crate) fn start(entries: Vec<String>, skills: Vec<String>) -> std::io::Result<Self> {
        let (requests, asked) = mpsc::channel();
        let (lines, to_print) = mpsc::channel();
        std::thread::Builder::new()
            .name("editor".to_owned())
            .spawn(move || serve(&asked, to_print, entries, &skills))?;
        Ok(Self { requests, lines })
    }

    /// Prints a line above the prompt.
    pub(crate) fn print(&self, line: String) {
        // A stopped editor is reported by the next read.
        let _gone = self.lines.send(line);
    }

    /// Reads a line.
    pub(crate) async fn read(&self, ask: ReadRequest) -> InputEvent {
        let (reply, typed) = oneshot::channel();
        let gone = || InputEvent::Failed("the line editor has stopped".to_owned());
        match self.requests.send((ask, reply)) {
            Ok(()) => typed.await.unwrap_or_else(|_| gone()),
            Err(_) => gone(),
        }
    }
}

type PromptEditor = Editor<PromptHelper, MemHistory>;

/// Prints lines above the prompt, on a separate thread.
fn print_lines(messages: &mut PromptEditor, lines: mpsc::Receiver<String>) {
    // Problems of the terminal are reported by reads.
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
    asked: &mpsc::Receiver<(ReadRequest, oneshot::Sender<InputEvent>)>,
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
                // The reader may be gone.
                let _gone = reply.send(InputEvent::Failed(error.to_string()));
            }
            return;
        }
    };
    for (ask, reply) in asked {
        keys.forget();
        let read = match ask {
            ReadRequest::Message { typed, mode } => {
                let prompt = mode.map_or(PROMPT.to_owned(), |mode| format!("{mode} {PROMPT}"));
                let read = editors.0.readline_with_initial(&prompt, (&typed, ""));
                if let Ok(line) = &read
                    && !line.trim().is_empty()
                {
                    // The prompt history is only a convenience.
                    let _kept = editors.0.add_history_entry(line.as_str());
                }
                read
            }
            ReadRequest::Confirmation => editors.1.readline(CONFIRMATION_PROMPT),
        };
        let _gone = reply.send(typed(read, &keys));
    }
}

/// The key that ended the last read.
#[derive(Debug, Clone)]
struct Keys {
    nothing_typed: Arc<AtomicBool>,
    pressed: Arc<Mutex<Option<UserAction>>>,
}

impl Keys {
    fn forget(&self) {
        self.nothing_typed.store(true, Ordering::Relaxed);
        self.press(None);
    }

    fn press(&self, key: Option<UserAction>) {
        *self.pressed.lock().unwrap_or_else(PoisonError::into_inner) = key;
    }

    fn pressed(&self) -> Option<UserAction> {
        self.pressed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn typed(read: rustyline::Result<String>, keys: &Keys) -> InputEvent {
    match (read, keys.pressed()) {
        (Ok(line), _) => InputEvent::Action(UserAction::Submit(line.replace("\\\n", "\n"))),
        (Err(ReadlineError::Interrupted), Some(action)) => InputEvent::Action(action),
        (Err(ReadlineError::Interrupted), None) if keys.nothing_typed.load(Ordering::Relaxed) => {
            InputEvent::Interrupted
        }
        (Err(ReadlineError::Interrupted), None) => InputEvent::Discarded,
        (Err(ReadlineError::Eof), _) => InputEvent::Action(UserAction::Leave),
        (Err(error), _) => InputEvent::Failed(error.to_string()),
    }
}

fn editor(keys: &Keys, skills: &[String]) -> rustyline::Result<PromptEditor> {
    let config = Config::builder()
        .max_history_size(MOST_ENTRIES)?
        .bell_style(BellStyle::None)
        .keyseq_timeout(Some(LONE_ESCAPE_MS))
        .completion_type(CompletionType::List)
        .bracketed_paste(true)
        .build();
    let history = MemHistory::with_config(&config);
    let mut editor = PromptEditor::with_history(config, history)?;
    editor.set_helper(Some(PromptHelper { skills: skills.to_vec() }));
    let key = |code, modifiers| Event::from(KeyEvent(code, modifiers));
    editor.bind_sequence(key(KeyCode::Char('J'), Modifiers::CTRL), Cmd::Newline);
    editor.bind_sequence(key(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
    editor.bind_sequence(
        key(KeyCode::Char('C'), Modifiers::CTRL),
        EventHandler::Conditional(Box::new(Interrupt(keys.clone()))),
    );
    for (code, modifiers, means) in [
        (KeyCode::Char('u'), Modifiers::ALT, UserAction::UndoMemory),
        (KeyCode::Char('r'), Modifiers::ALT, UserAction::ExplainRecall),
        (KeyCode::BackTab, Modifiers::NONE, UserAction::NextMode),
    ] {
        editor.bind_sequence(
            key(code, modifiers),
            EventHandler::Conditional(Box::new(Shortcut(means, keys.clone()))),
        );
    }
    Ok(editor)
}

/// Records whether the prompt is empty when Ctrl-C is pressed.
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

/// A shortcut key at an empty prompt; otherwise the key keeps its meaning in the editor.
struct Shortcut(UserAction, Keys);

impl ConditionalEventHandler for Shortcut {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        context.line().is_empty().then(|| {
            self.1.press(Some(self.0.clone()));
            Cmd::Interrupt
        })
    }
}

/// A line that ends with a backslash continues; Tab completes commands and skills.
struct PromptHelper {
    skills: Vec<String>,
}

impl Validator for PromptHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let goes_on = context.input().ends_with('\\');
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Helper for PromptHelper {}
impl Completer for PromptHelper {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = line.get(..position).unwrap_or_default();
        let commands = COMMANDS.iter().map(|command| command.name);
        let names = commands.chain(self.skills.iter().map(String::as_str));
        let names = names.map(|name| format!("/{name}"));
        let fitting = names.filter(|name| typed.starts_with('/') && name.starts_with(typed));
        Ok((0, fitting.collect()))
    }
}
impl Hinter for PromptHelper {
    type Hint = String;
}
impl Highlighter for PromptHelper {}
