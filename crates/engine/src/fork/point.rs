//! Where subagents fork off: the conversation at a response that starts them.
//!
//! A fork continues it: the parent's prefix and messages, the whole response, and one opening message. Its tools are
//! the parent's, or the prefix would differ.

use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{AgentId, Dir, MessageId, SessionId};
use dormouse_conversation::transcript::MessageHeader;
use dormouse_conversation::{Block, Message};
use dormouse_instructions::LoadOccasion;
use dormouse_tools::ReadCache;

use super::opening::{FORK_FLAGS, opening_blocks};
use crate::compact::CompactionState;
use crate::config::EngineConfig;
use crate::conversation::ConversationCopy;
use crate::engine::{Engine, SessionStart};
use crate::error::EngineError;
use crate::jobs::Jobs;
use crate::model_setup::CostRules;
use crate::session_tools::SessionTools;
use crate::spending::SharedCost;
use crate::startup_context::StartupContext;
use crate::subagent_session::SubagentSession;
use crate::surroundings::Surroundings;
use crate::tool_state::ToolState;

/// The newest fork point of a conversation, if its last response started subagents. Clones share it.
#[derive(Clone)]
pub struct ForkPoints {
    tool: &'static str,
    newest: Arc<Mutex<Option<Arc<ForkPoint>>>>,
}

impl ForkPoints {
    /// For responses that call this tool.
    pub fn of_tool(tool: &'static str) -> Self {
        Self { tool, newest: Arc::default() }
    }

    /// The conversation at the last response that called the tool.
    pub fn newest(&self) -> Option<Arc<ForkPoint>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets it.
    pub fn clear(&self) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A conversation at a response whose calls are about to run.
pub struct ForkPoint {
    config: EngineConfig,
    conversation: ConversationCopy,
    surroundings: Surroundings,
    read_cache: ReadCache,
    session: SessionId,
    session_folder: Dir,
    jobs: Jobs,
    shared_cost: SharedCost,
    left_usd: Option<f64>,
}

impl Engine {
    /// Sets the fork point, if this response starts subagents.
    pub(crate) fn set_fork_point(&self, response: &Message) {
        let Some(points) = &self.config.extensions.fork_points else { return };
        let mut calls = response.blocks.iter().filter_map(Block::as_tool_use);
        if !calls.any(|call| call.name == points.tool) {
            return;
        }
        let session_folder = || self.conversation.transcript.session_folder().clone();
        let above = self.config.subagent.as_ref();
        let point = ForkPoint {
            config: self.config.clone(),
            conversation: self.conversation.copy(),
            surroundings: self.surroundings.clone(),
            read_cache: self.tool_state.read_cache().clone(),
            session: self.conversation.session(),
            session_folder: above.map_or_else(session_folder, |above| above.session_folder.clone()),
            jobs: self.jobs.clone(),
            shared_cost: self.spending.shared().clone(),
            left_usd: self.spending.left_usd(),
        };
        *points.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(point));
    }
}

impl ForkPoint {
    /// The configuration of the conversation above.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// The surroundings at the user's last prompt.
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// The background jobs of the conversation above.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Which subagent the conversation above is, if it is one.
    pub fn subagent(&self) -> Option<&SubagentSession> {
        self.config.subagent.as_ref()
    }

    /// The session of a subagent below it.
    pub fn subagent_below(&self, agent: AgentId, agent_type: &str) -> SubagentSession {
        SubagentSession {
            agent,
            agent_type: agent_type.to_owned(),
            depth: self.subagent().map_or(0, |above| above.depth).saturating_add(1),
            session: self.session,
            session_folder: self.session_folder.clone(),
        }
    }

    /// Begins a subagent without messages.
    pub fn begin_empty(
        &self,
        config: EngineConfig,
        subagent: &SubagentSession,
        surroundings: &Surroundings,
    ) -> Result<Engine, EngineError> {
        let engine = Engine::begin_subagent(self.with_limit(config), subagent, surroundings)?;
        Ok(self.share_cost(engine))
    }

    /// Begins a fork: this conversation, and then `task`.
    pub fn begin_fork(
        &self,
        config: EngineConfig,
        subagent: &SubagentSession,
        task: &str,
    ) -> Result<Engine, EngineError> {
        let mut config = self.with_limit(config);
        let mut transcript = subagent.create_transcript(&config.services, &self.surroundings)?;
        config.subagent = Some(subagent.clone());
        let session_tools = SessionTools::add_to(&mut config, &transcript);
        let opening = self.opening(task);
        transcript.record_blocks(MessageHeader::of(&opening), &opening.blocks)?;
        let compaction = CompactionState::of_task(&opening, task, transcript.lines());
        let services = config.services.clone();
        let conversation =
            self.conversation.clone().into_conversation(transcript, opening, services)?;
        let start = SessionStart {
            conversation,
            startup: StartupContext::load(&config, LoadOccasion::Start),
            surroundings: self.surroundings.clone(),
            compaction,
            session_tools,
        };
        let mut engine = self.share_cost(Engine::assemble(config, start));
        engine.tool_state = ToolState::with_read_cache(self.read_cache.clone());
        Ok(engine)
    }

    /// What is left of the cost limit is shared by all subagents.
    fn with_limit(&self, config: EngineConfig) -> EngineConfig {
        let cost = CostRules { max_usd: self.left_usd, ..config.cost };
        EngineConfig { cost, ..config }
    }

    fn share_cost(&self, mut engine: Engine) -> Engine {
        engine.spending.share(self.shared_cost.clone());
        engine.connect_hook_model();
        engine
    }

    fn opening(&self, task: &str) -> Message {
        let services = &self.config.services;
        let blocks = opening_blocks(&self.conversation.history.open_calls(), task);
        let id = MessageId::generate(&*services.ids);
        Message::user(id, services.clock.now(), blocks, FORK_FLAGS)
    }
}
