//! What the user wants, after a key.

use crate::menu::MenuAnswer;

/// What the user wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserAction {
    /// Send a message or run a command. During a turn this is a command only; messages are queued.
    Submit(String),
    /// Send the queued messages with the next request of the running turn.
    Steer(Vec<String>),
    /// Take back the messages for the next request, where that was not sent yet.
    Unsteer,
    /// Stop the running turn.
    Interrupt,
    /// End the session.
    Leave,
    /// The answer to the open menu.
    Answer(MenuAnswer),
    /// Go back to an earlier message.
    Rewind,
    /// Stop the program until `fg`.
    Suspend,
    /// Edit the text in the user's editor.
    OpenEditor(String),
    /// Attach the picture in the clipboard.
    PasteImage,
    /// Show the whole output of the last tool call.
    ShowOutput,
    /// Show what the model thought last.
    ShowThinking,
    /// Undo the last change of memory.
    UndoMemory,
    /// Explain the last recall.
    ExplainRecall,
    /// Switch to the next permission mode.
    NextMode,
}
