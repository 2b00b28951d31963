//! What all agents of a session have in common: which there are, where they keep what outlasts them, who is running.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use dormouse_base::{Clock, IdSource};
use dormouse_conversation::PromptSize;
use dormouse_engine::{
    AnnouncedFact, Announcer, MentionedAgentMemory, ModelSetup, PromptPosition, SessionMemory,
    SmallModel,
};
use dormouse_tools::ToolSet;
use futures_util::future::BoxFuture;

use crate::agent_list::agent_list;
use crate::memory::AgentMemories;
use crate::messages::{Mailboxes, MessageRouter};
use crate::runs::SubagentRuns;
use crate::{AgentDefinitions, AgentFolders};

/// The heading of the list of agents.
const HEADING: &str = "Agents";

/// Finds a model by its name.
pub trait ModelResolver: Send + Sync {
    /// The model; else why there is none.
    fn named<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<ModelSetup, String>>;
}

/// Where the list of agents is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentListPosition {
    /// In a message, so that it can change.
    Message,
    /// In the tool's description.
    Description,
}

/// What agents need from outside.
pub struct SubagentSetup {
    /// Reads all definitions, as they are now.
    pub load: Box<dyn Fn() -> AgentDefinitions + Send + Sync>,
    /// Where definitions are, to see whether one has changed.
    pub folders: Option<AgentFolders>,
    /// Other models.
    pub models: Arc<dyn ModelResolver>,
    /// Where agents' memories are; none where memory is off.
    pub memories: Option<AgentMemories>,
    /// A model for small questions.
    pub small: Option<SmallModel>,
    /// How often it is said what an agent is doing; never without.
    pub progress_every: Option<Duration>,
    /// The program's folder.
    pub home: PathBuf,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New ids.
    pub ids: Arc<dyn IdSource>,
    /// Where the list of agents is told.
    pub list_in: AgentListPosition,
    /// How agents write to each other, and to other processes.
    pub routing: MessageRouting,
}

/// The ways of messages.
#[derive(Clone)]
pub struct MessageRouting {
    /// The agents of this process.
    pub router: MessageRouter,
    /// Those of others, in this project.
    pub mailboxes: Mailboxes,
}

/// All agents of a session.
pub struct SubagentRegistry {
    pub(crate) setup: SubagentSetup,
    known: Mutex<Known>,
    pub(crate) runs: SubagentRuns,
    /// Held while somebody asks what an agent is doing: never two at a time.
    pub(crate) summarizing: tokio::sync::Semaphore,
}

type Stamp = Vec<(PathBuf, Option<SystemTime>, u64)>;

struct Known {
    agents: Arc<AgentDefinitions>,
    stamp: Stamp,
}

impl SubagentRegistry {
    /// Reads the definitions.
    pub fn new(setup: SubagentSetup) -> Arc<Self> {
        let known = Known { agents: Arc::new((setup.load)()), stamp: stamp(&setup) };
        Arc::new(Self {
            known: Mutex::new(known),
            setup,
            runs: SubagentRuns::default(),
            summarizing: tokio::sync::Semaphore::new(1),
        })
    }

    /// The agents there are; read again if a file has changed.
    pub fn agents(&self) -> Arc<AgentDefinitions> {
        let now = stamp(&self.setup);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.stamp != now {
            *known = Known { agents: Arc::new((self.setup.load)()), stamp: now };
        }
        Arc::clone(&known.agents)
    }

    /// Those that run, and those that ran.
    pub fn runs(&self) -> &SubagentRuns {
        &self.runs
    }

    /// AgentDefinitions' memories; none where memory is off.
    pub fn memories(&self) -> Option<&AgentMemories> {
        self.setup.memories.as_ref()
    }
}

impl MentionedAgentMemory for SubagentRegistry {
    /// `@agent-name`, or `@name`.
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
    fn announced(&self, _: &ToolSet, size: PromptSize) -> Vec<AnnouncedFact> {
        if self.setup.list_in == AgentListPosition::Description {
            return Vec::new();
        }
        let text = agent_list(&self.agents(), size);
        vec![AnnouncedFact { fact: HEADING.to_owned(), text, place: PromptPosition::First }]
    }
}
