//! Where agents branch off: the conversation as it stands when an answer that starts them is complete.
//!
//! A fork continues it: the parent's prefix and messages, the answer whole, one user message with the same placeholder
//! for every call of that answer, and behind that the one text that differs. So forks of one answer share all bytes up
//! to that text, with each other and with the parent. A fork's tools are the parent's, or the prefix would differ.

use std::sync::{Arc, Mutex, PoisonError};

use dormouse_conversation::transcript::MessageHeader;
use dormouse_conversation::{
    Block, EnvironmentFacts, Message, MessageFlags, MessageHistory, Prefix, ResultContent,
};
use dormouse_instructions::LoadOccasion;
use dormouse_tools::ReadCache;

use crate::compact::UserMessages;
use crate::engine::ConversationStart;
use crate::fork::{FORK_TAG, SharedCost};
use crate::jobs::Jobs;
use crate::layers::CollapseState;
use crate::session_tools::SessionTools;
use crate::startup_context::StartupContext;
use crate::{Engine, EngineConfig, EngineError, SubagentSession, Surroundings, subagent_session};

/// What stands in a fork in place of the result of every call that its parent's last answer made.
const PLACEHOLDER: &str =
    "Started; its result goes to the conversation that this one was forked from.";

/// Where agents branch off next: filled by a conversation, emptied when that is over. Clones are the same place.
#[derive(Clone)]
pub struct ForkPoints {
    tool: &'static str,
    newest: Arc<Mutex<Option<Arc<ForkPoint>>>>,
}

impl ForkPoints {
    /// For answers that call this tool.
    pub fn of_tool(tool: &'static str) -> Self {
        Self { tool, newest: Arc::default() }
    }

    /// The conversation as it stood when an answer last called the tool.
    pub fn newest(&self) -> Option<Arc<ForkPoint>> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets go of it.
    pub fn clear(&self) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn put(&self, branch: ForkPoint) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(branch));
    }
}

/// A conversation as it stands with an answer whose calls are about to run.
pub struct ForkPoint {
    config: EngineConfig,
    prefix: Arc<Prefix>,
    history: MessageHistory,
    told: EnvironmentFacts,
    around: Surroundings,
    last_breakpoint: Option<usize>,
    read_cache: ReadCache,
    session: dormouse_base::SessionId,
    session_folder: dormouse_base::Dir,
    jobs: Jobs,
    spent: SharedCost,
    left_usd: Option<f64>,
}

impl Engine {
    /// An answer that starts agents is complete: this is where they branch off.
    pub(crate) fn offer_branch(&self, answer: &Message) {
        let Some(branches) = &self.config.fork_points else { return };
        let mut calls = answer.blocks.iter().filter_map(Block::as_tool_use);
        if !calls.any(|call| call.name == branches.tool) {
            return;
        }
        let side = self.config.subagent.as_ref();
        let own = || self.transcript.session_folder().clone();
        let config = &self.config;
        branches.put(ForkPoint {
            config: config.clone(),
            prefix: Arc::clone(&self.prefix),
            history: self.history.clone(),
            told: self.told.clone(),
            around: self.around.clone(),
            last_breakpoint: self.last_breakpoint,
            read_cache: self.read_cache.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            session: self.transcript.session(),
            session_folder: side.map_or_else(own, |side| side.session_folder.clone()),
            jobs: self.jobs.clone(),
            spent: self.forks_spent.clone(),
            left_usd: config.max_cost_usd.map(|most| most - self.spent_usd - self.turn_usd),
        });
    }
}

impl ForkPoint {
    /// The set-up of the conversation above.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// How the world was when the person last spoke.
    pub fn surroundings(&self) -> &Surroundings {
        &self.around
    }

    /// What runs beside the conversation above.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Whose side chain the conversation above is, if it is one.
    pub fn side(&self) -> Option<&SubagentSession> {
        self.config.subagent.as_ref()
    }

    /// A side chain below it.
    pub fn side_below(&self, agent: dormouse_base::AgentId, agent_type: &str) -> SubagentSession {
        SubagentSession {
            agent,
            agent_type: agent_type.to_owned(),
            depth: self.side().map_or(0, |side| side.depth).saturating_add(1),
            session: self.session,
            session_folder: self.session_folder.clone(),
        }
    }

    /// Begins an agent with nothing of this conversation in it.
    pub fn fresh(
        &self,
        config: EngineConfig,
        side: &SubagentSession,
        surroundings: &Surroundings,
    ) -> Result<Engine, EngineError> {
        let mut engine = Engine::begin_side(self.paid(config), side, surroundings)?;
        engine.forks_spent = self.spent.clone();
        engine.connect_hook_model();
        Ok(engine)
    }

    /// Begins a fork: all of this conversation, and then `order`.
    pub fn fork(
        &self,
        config: EngineConfig,
        side: &SubagentSession,
        order: &str,
    ) -> Result<Engine, EngineError> {
        let mut config = self.paid(config);
        let mut transcript = subagent_session::create(&config, side, &self.around)?;
        config.subagent = Some(side.clone());
        let own = SessionTools::add_to(&mut config, &transcript);
        let mut history = self.history.clone();
        let opening = self.opening(&config, order);
        transcript.record_blocks(MessageHeader::of(&opening), &opening.blocks)?;
        let said = UserMessages::order(&opening, order, transcript.lines());
        let order_block = opening.blocks.last().cloned();
        history.push(opening)?;
        let begun = ConversationStart {
            prefix: Arc::clone(&self.prefix),
            known: StartupContext::look(&config, LoadOccasion::Start),
            history,
            told: Some(self.told.clone()),
            around: self.around.clone(),
            said,
            folding: CollapseState::default(),
            own,
        };
        let mut engine = Engine::assemble(config, transcript, begun);
        engine.last_breakpoint = self.last_breakpoint;
        if let Some(order) = &order_block {
            engine.body.share_before(order);
        }
        engine.forks_spent = self.spent.clone();
        engine.connect_hook_model();
        engine.read_cache = Arc::new(Mutex::new(self.read_cache.clone()));
        Ok(engine)
    }

    /// What is left to spend is shared by all that branch off.
    fn paid(&self, config: EngineConfig) -> EngineConfig {
        EngineConfig { max_cost_usd: self.left_usd, ..config }
    }

    /// The one message of a fork's own: a placeholder for every call, then what it is to do.
    fn opening(&self, config: &EngineConfig, order: &str) -> Message {
        let placeholder = ResultContent::Text(PLACEHOLDER.to_owned());
        let open = self.history.open_calls();
        let mut blocks: Vec<Block> =
            open.iter().map(|id| Block::tool_result(id, &placeholder, false)).collect();
        blocks.push(Block::text(&format!("{FORK_TAG}\n{order}")));
        let flags = MessageFlags { meta: true, side_chain: true, ..MessageFlags::default() };
        let id = dormouse_base::MessageId::generate(&*config.ids);
        Message::user(id, config.clock.now(), blocks, flags)
    }
}
