//! The check that a memory passes before a background task saves it (M-17, B-9).

use dormouse_memory::{ChangeAuthor, MemoryFile, MessageSource, NewMemory, Scope};
use thiserror::Error;

/// A memory that a background task wants to save.
#[derive(Debug, Clone)]
pub struct ProposedMemory<'a> {
    /// The memory directory that it goes into.
    pub scope: Scope,
    /// Its contents.
    pub memory: &'a NewMemory,
    /// The existing memory that it changes.
    pub file: Option<&'a MemoryFile>,
    /// The memories that it replaces.
    pub supersedes: &'a [MemoryFile],
    /// The words that the writer says it rests on.
    pub quotes: &'a [String],
}

impl ProposedMemory<'_> {
    /// Description and body, as they are compared with other texts.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.memory.description, self.memory.body)
    }
}

/// Why a background task may not save or remove a memory. The model reads it and can try again.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProvenanceError {
    /// An extracted memory without quotations.
    #[error(
        "not saved: `quotes` must hold the words of the new messages that this rests on, verbatim"
    )]
    NoQuotes,
    /// A quotation that occurs everywhere.
    #[error(
        "not saved: the quotation “{0}” is too short to be found reliably; give the whole sentence"
    )]
    QuoteTooShort(String),
    /// A quotation that is in no message.
    #[error("not saved: “{0}” is not in this conversation, word for word")]
    QuoteNotFound(String),
    /// A quotation of memory itself.
    #[error("not saved: “{0}” only repeats a memory, a summary, notes or instructions")]
    Echo(String),
    /// A quotation from messages that an earlier run has looked at.
    #[error("not saved: “{0}” is older than the messages to look at now")]
    AlreadyReviewed(String),
    /// A quotation of tool output.
    #[error(
        "not saved: “{0}” comes from a tool's output alone; a memory rests on what the user or you wrote"
    )]
    ToolOutputOnly(String),
    /// A memory that only repeats another.
    #[error("not saved: {0} says this already; to add something new to it, give it as `file`")]
    RepeatsMemory(MemoryFile),
    /// A memory that only repeats one saved in this run.
    #[error("not saved: a memory that you have just saved says this already")]
    RepeatsSaved,
    /// A memory that only repeats what the program put into the conversation.
    #[error("not saved: a summary, notes or an instruction file says this already")]
    RepeatsContext,
    /// A dream's new memory without quotations.
    #[error(
        "a memory that replaces none needs `quotes`: words from the daily logs or from these sessions, verbatim. \
         To change or merge memories, give `file` or `supersedes`"
    )]
    NewWithoutQuotes,
    /// A dream's quotation that is in no message.
    #[error("`{0}` is not in the logs or sessions of this dream; quote verbatim, or leave it out")]
    NotInDream(String),
    /// A dream's quotation of another memory.
    #[error("a memory says `{0}` already; change that one with `file`")]
    QuotesMemory(String),
    /// A dream's memory with words of a page.
    #[error(
        "it repeats text from outside (the web, another server, a memory that the user has not confirmed); leave that out"
    )]
    FromOutside,
    /// A removal without a reason.
    #[error("{0} is not removed without a `reason`")]
    NoReason(MemoryFile),
    /// A dream's removal without a reason.
    #[error(
        "say in `reason` what shows that it no longer holds; to merge duplicates, use MemorySave with `supersedes`"
    )]
    NoReasonInDream,
}

impl ProvenanceError {
    /// A short name for figures and logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoQuotes | Self::QuoteTooShort(_) | Self::NewWithoutQuotes => "no_quote",
            Self::QuoteNotFound(_) | Self::NotInDream(_) => "nowhere",
            Self::Echo(_) | Self::QuotesMemory(_) => "echo",
            Self::AlreadyReviewed(_) => "seen",
            Self::ToolOutputOnly(_) => "tools_only",
            Self::RepeatsMemory(_) | Self::RepeatsSaved | Self::RepeatsContext => "duplicate",
            Self::FromOutside => "outside",
            Self::NoReason(_) | Self::NoReasonInDream => "no_reason",
        }
    }
}

/// Decides what a memory of a background task comes from, and whether it may be saved.
pub trait ProvenanceCheck: Send + Sync {
    /// The author that changes are recorded under.
    fn author(&self) -> ChangeAuthor;

    /// The messages that a memory comes from.
    fn sources(&self, proposed: &ProposedMemory<'_>)
    -> Result<Vec<MessageSource>, ProvenanceError>;

    /// Whether a memory may be removed for this reason.
    fn check_removal(&self, file: &MemoryFile, reason: Option<&str>)
    -> Result<(), ProvenanceError>;

    /// A memory was saved, or waits in the inbox.
    fn on_saved(&self, _proposed: &ProposedMemory<'_>) {}

    /// A memory of a draft was not saved or not removed.
    fn on_rejected(&self, _name: &str, _reason: &str) {}

    /// A memory of a draft was saved or removed.
    fn on_draft_changed(&self, _scope: Scope, _file: &MemoryFile) {}
}
