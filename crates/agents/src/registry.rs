//! The subagent registry of a session: agent definitions, memories and runs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use dormouse_base::{Clock, Dir, IdSource};
use dormouse_conversation::PromptSize;
use dormouse_conversation::known_tools::AGENT;
use dormouse_engine::{
    AnnouncedFact, Announcer, MentionedAgentMemory, ModelSetup, PromptPosition, SessionMemory,
    SmallModel,
};
use dormouse_tools::ToolSet;
use futures_util::future::BoxFuture;
use thiserror::Error;

use crate::agent_list::{agent_list, interrupted_list};
use crate::definition::{AgentDefinitions, AgentFolders};
use crate::memory::AgentMemories;
use crate::messages::{Mailboxes, MessageRouter};
use crate::run_record::interrupted_runs;
use crate::runs::{SubagentRun, SubagentRuns};

const HEADING: &str = "Agents";
const INTERRUPTED: &str = "Interrupted agents";

/// Connects to a model by name.
pub trait ModelResolver: Send + Sync {
    /// Returns the model setup for a name.
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<ModelSetup, ModelUnavailableError>>;
}

/// A model that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot use model {name}: {reason}")]
pub struct ModelUnavailableError {
    /// The model.
    pub name: String,
    /// The reason.
    pub reason: String,
}

/// The position of the list of agents in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentListPosition {
    /// In a message, so that it can change during a session.
    Message,
    /// In the tool's description.
    Description,
}

/// The dependencies of a registry.
pub struct SubagentSetup {
    /// Loads all definitions.
    pub load: Box<dyn Fn() -> AgentDefinitions + Send + Sync>,
    /// The folders of definitions, to detect changes.
    pub folders: Option<AgentFolders>,
    /// Connects to other models.
    pub models: Arc<dyn ModelResolver>,
    /// The memories of agents; `None` if memory is off.
    pub memories: Option<AgentMemories>,
    /// The small model.
    pub small: Option<SmallModel>,
    /// The interval of progress summaries; `None` for no summaries.
    pub progress_every: Option<Duration>,
    /// The most requests of each subagent; a definition may set fewer.
    pub max_turns: Option<u32>,
    /// The home folder of the program.
    pub home: PathBuf,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of new ids.
    pub ids: Arc<dyn IdSource>,
    /// The position of the list of agents in the request.
    pub list_in: AgentListPosition,
    /// Message routing within and between processes.
    pub routing: MessageRouting,
}

/// Message routing within and between processes.
#[derive(Clone)]
pub struct MessageRouting {
    /// The agents of this process.
    pub router: MessageRouter,
    /// The agents of other processes in this project.
    pub mailboxes: Mailboxes,
}

/// The agent definitions and subagent runs of a session.
pub struct SubagentRegistry {
    pub(crate) setup: SubagentSetup,
    loaded: Mutex<LoadedDefinitions>,
    pub(crate) runs: SubagentRuns,
    /// Limits progress summaries to one at a time.
    pub(crate) summarizing: tokio::sync::Semaphore,
}

type Stamp = Vec<(PathBuf, Option<SystemTime>, u64)>;

struct LoadedDefinitions {
    agents: Arc<AgentDefinitions>,
    stamp: Stamp,
}

impl SubagentRegistry {
    /// Loads the definitions.
    pub fn new(setup: SubagentSetup) -> Arc<Self> {
        let loaded = LoadedDefinitions { agents: Arc::new((setup.load)()), stamp: stamp(&setup) };
        Arc::new(Self {
            loaded: Mutex::new(loaded),
            setup,
            runs: SubagentRuns::default(),
            summarizing: tokio::sync::Semaphore::new(1),
        })
    }

    /// Returns the definitions, reloaded if a file has changed.
    pub fn agents(&self) -> Arc<AgentDefinitions> {
        let now = stamp(&self.setup);
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.stamp != now {
            *loaded = LoadedDefinitions { agents: Arc::new((self.setup.load)()), stamp: now };
        }
        Arc::clone(&loaded.agents)
    }

    /// Returns the running and finished subagents.
    pub fn runs(&self) -> &SubagentRuns {
        &self.runs
    }

    /// Lists the runs of a resumed session that were interrupted, and returns them.
    pub fn find_interrupted(&self, session: &Dir) -> Vec<SubagentRun> {
        let found = interrupted_runs(session);
        found.iter().cloned().for_each(|run| self.runs.add(run));
        found
    }

    /// Returns the memories of agents; `None` if memory is off.
    pub fn memories(&self) -> Option<&AgentMemories> {
        self.setup.memories.as_ref()
    }
}

impl MentionedAgentMemory for SubagentRegistry {
    /// Finds an agent mentioned as `@agent-name` or `@name`.
    fn memory_of(&self, message: &str) -> Option<Arc<SessionMemory>> {
        let agents = self.agents();
        let trimmed =
            |word: &str| word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
        let mut names = message.split_whitespace().filter_map(|word| word.strip_prefix('@'));
        let agent = names.find_map(|word| {
            let word = trimmed(word);
            let short = word.strip_prefix("agent-");
            short.and_then(|name| agents.get(name)).or_else(|| agents.get(&word)).cloned()
        })?;
        self.memories()?.existing(agent.memory?, &agent.name)
    }
}

fn stamp(setup: &SubagentSetup) -> Stamp {
    setup.folders.as_ref().map(AgentFolders::stamp).unwrap_or_default()
}

impl Announcer for SubagentRegistry {
    fn announced(&self, tools: &ToolSet, size: PromptSize) -> Vec<AnnouncedFact> {
        let is_offered = tools.get(AGENT.name).is_some();
        if !is_offered {
            return Vec::new();
        }
        let mut facts = Vec::new();
        if self.setup.list_in != AgentListPosition::Description {
            let (fact, text) = (HEADING.to_owned(), agent_list(&self.agents(), size));
            facts.push(AnnouncedFact { fact, text, place: PromptPosition::First });
        }
        let interrupted = self.runs.interrupted();
        if !interrupted.is_empty() {
            let (fact, text) = (INTERRUPTED.to_owned(), interrupted_list(&interrupted));
            facts.push(AnnouncedFact { fact, text, place: PromptPosition::First });
        }
        facts
    }
}
