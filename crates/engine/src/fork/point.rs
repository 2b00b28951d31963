//! Where subagents fork off: the conversation at a response that starts them.
//!
//! A fork continues it: the parent's prefix and messages, the whole response, and one opening message. Its tools are
//! the parent's, or the prefix would differ.

use std::sync::{Arc, PoisonError};

use dormouse_base::{AgentId, MessageId};
use dormouse_conversation::transcript::MessageHeader;
use dormouse_conversation::{Block, Message};
use dormouse_instructions::LoadOccasion;

use super::opening::{FORK_FLAGS, opening_blocks};
use crate::compact::CompactionState;
use crate::config::model_setup::CostRules;
use crate::config::{EngineConfig, ForkPoint, ForkPoints};
use crate::engine::{Engine, SessionStart};
use crate::error::EngineError;
use crate::jobs::Jobs;
use crate::session_tools::SessionTools;
use crate::startup_context::StartupContext;
use crate::subagent_session::SubagentSession;
use crate::surroundings::Surroundings;
use crate::tool_state::ToolState;

impl ForkPoints {
    /// For responses that call this tool.
    pub fn of_tool(tool: &'static str) -> Self {
        Self { tool, newest: Arc::default() }
    }

    /// The conversation at the last response that called the tool.
    pub fn newest(&self) -> Option<Arc<ForkPoint>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets it, if this response of the session starts subagents.
    pub(crate) fn update(&self, response: &Message, engine: &Engine) {
        let mut calls = response.blocks.iter().filter_map(Block::as_tool_use);
        if calls.any(|call| call.name == self.tool) {
            let point = Arc::new(ForkPoint::of(engine));
            *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(point);
        }
    }

    /// Forgets it.
    pub fn clear(&self) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl ForkPoint {
    fn of(engine: &Engine) -> Self {
        let session_folder = || engine.conversation.transcript.session_folder().clone();
        let above = engine.config.subagent.as_ref();
        Self {
            config: engine.config.clone(),
            conversation: engine.conversation.copy(),
            surroundings: engine.surroundings.clone(),
            read_cache: engine.tool_state.read_cache().clone(),
            session: engine.conversation.session(),
            session_folder: above.map_or_else(session_folder, |above| above.session_folder.clone()),
            jobs: engine.jobs.clone(),
            shared_cost: engine.spending.shared().clone(),
            left_usd: engine.spending.left_usd(),
        }
    }

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

    /// Goes on with a subagent that was interrupted.
    pub fn resume_subagent(
        &self,
        config: EngineConfig,
        subagent: &SubagentSession,
        surroundings: &Surroundings,
    ) -> Result<Engine, EngineError> {
        let mut config = self.with_limit(config);
        let opened = subagent.reopen(&config.services, surroundings)?;
        config.subagent = Some(subagent.clone());
        if let Some(memory) = &config.memory {
            memory.access.begin(subagent.session);
        }
        let (engine, _) = Engine::resume(config, opened, surroundings)?;
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
            startup: StartupContext::load(&config, LoadOccasion::Start),
            config,
            conversation,
            surroundings: self.surroundings.clone(),
            compaction,
            session_tools,
        };
        let mut engine = self.share_cost(start.into_engine());
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
