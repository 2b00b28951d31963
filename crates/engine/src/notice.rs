//! What the user is told beside the conversation. The text is English, for logs and programs; the terminal says the notices that
//! people commonly see in the user's language.

use std::fmt;

/// A notice for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineNotice {
    /// A file or folder goes with the prompt.
    Attached {
        /// As the prompt names it.
        path: String,
    },
    /// A file that the prompt names could not be read.
    NotAttached {
        /// Which, and why.
        problem: String,
    },
    /// The prompt names more files than are attached.
    TooManyFiles {
        /// The most that are attached.
        most: usize,
    },
    /// Old tool results are not sent any more.
    ResultsCleared {
        /// How many.
        count: u64,
        /// About so many tokens less.
        tokens: u64,
    },
    /// Older messages are sent as a summary.
    MessagesCollapsed {
        /// How many.
        count: u64,
        /// About so many tokens less.
        tokens: u64,
    },
    /// The oldest messages are not sent any more.
    MessagesDropped {
        /// How many.
        count: u64,
        /// About so many tokens less.
        tokens: u64,
    },
    /// The server read less from its cache than expected.
    CacheBroken {
        /// Tokens that were read.
        read: u64,
        /// Tokens that were expected.
        expected: u64,
        /// Why, as far as it is known.
        cause: String,
    },
    /// A hook refused a compaction.
    CompactionRefused {
        /// Its reason.
        why: String,
    },
    /// A hook ended the turn.
    TurnEndedByHook {
        /// Its reason.
        why: String,
    },
    /// A Stop hook continued the turn too often.
    StopHookIgnored {
        /// How often.
        times: u32,
    },
    /// A hook in the background has a message for the model.
    BackgroundHook,
    /// A subagent has ended.
    AgentEnded {
        /// Its name.
        name: String,
        /// How it ended.
        end: AgentEnd,
        /// Its task.
        task: String,
    },
    /// The model's server searches the web.
    WebSearch {
        /// What for.
        query: String,
    },
    /// Pages that the model's server found.
    WebResults {
        /// Title and address of each.
        pages: Vec<(String, String)>,
    },
    /// Anything else, in words.
    Text(String),
}

/// How a subagent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentEnd {
    /// With a result.
    Done,
    /// With an error.
    Failed,
    /// Somebody stopped it.
    Stopped,
}

impl From<String> for EngineNotice {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for EngineNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attached { path } => write!(f, "attached {path}"),
            Self::NotAttached { problem } => write!(f, "not attached: {problem}"),
            Self::TooManyFiles { most } => write!(f, "only the first {most} files are attached"),
            Self::ResultsCleared { count, tokens } => write!(
                f,
                "{count} old tool results are left out from now on, which is cheaper (about {tokens} tokens less); the newest stay"
            ),
            Self::MessagesCollapsed { count, tokens } => write!(
                f,
                "{count} older messages are shown to the model as a summary from now on (about {tokens} tokens less); /expand restores them"
            ),
            Self::MessagesDropped { count, tokens } => write!(
                f,
                "The context window is filling up: the oldest {count} messages are left out from now on (about {tokens} tokens); the transcript keeps them"
            ),
            Self::CacheBroken { read, expected, cause } => write!(
                f,
                "The server read {read} tokens from its cache instead of {expected}: {cause}"
            ),
            Self::CompactionRefused { why } => write!(f, "A hook refused the compaction: {why}"),
            Self::TurnEndedByHook { why } => write!(f, "A hook ended the turn: {why}"),
            Self::StopHookIgnored { times } => write!(
                f,
                "A Stop hook continued the turn {times} times in a row; it is not asked again."
            ),
            Self::BackgroundHook => f.write_str("a background hook has a message for the model"),
            Self::AgentEnded { name, end, task } => {
                let how = match end {
                    AgentEnd::Done => "is done",
                    AgentEnd::Failed => "failed",
                    AgentEnd::Stopped => "was stopped",
                };
                write!(f, "agent {name} {how}: {task}")
            }
            Self::WebSearch { query } => write!(f, "searched the web: {query}"),
            Self::WebResults { pages } => {
                f.write_str("found on the web:")?;
                pages.iter().try_for_each(|(title, url)| write!(f, "\n  {title}: {url}"))
            }
            Self::Text(text) => f.write_str(text),
        }
    }
}
