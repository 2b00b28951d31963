//! How a conversation comes by its hooks.

use std::sync::{Arc, Mutex};

use dormouse_conversation::metrics::SessionMetrics;
use dormouse_conversation::transcript::Transcript;

use super::{HookAgent, HookRunner, HookSession, Hooks, Judge, Place, RunnerParts};
use crate::fork::SharedCost;
use crate::{Engine, EngineConfig, SmallModel};

impl Engine {
    /// Hooks that ask a model ask the one of the conversation.
    pub(crate) fn seat_hooks(&self) {
        let Some(hooks) = &self.hooks else { return };
        let main = SmallModel {
            model: Arc::clone(&self.config.model),
            name: self.config.model_name.clone(),
            dialect: self.config.dialect.clone(),
        };
        hooks.seat(main, self.empty_fork_source());
    }

    /// The hooks of the session, those of skills in use among them.
    pub fn hooks(&self) -> Arc<Hooks> {
        self.hooks.as_ref().map_or_else(|| Arc::clone(&self.config.hooks), |hooks| hooks.hooks())
    }
}

/// Who runs the hooks of a session, if there are any.
pub(crate) fn hook_runner(
    config: &EngineConfig,
    transcript: &Transcript,
    figures: &SessionMetrics,
    spent: &SharedCost,
) -> Option<Arc<HookRunner>> {
    if config.hooks.is_empty() && config.skills.all().all(|skill| skill.hooks.is_none()) {
        return None;
    }
    let environment = &config.environment;
    let (folder, checkout) = (&config.project.folder, &config.project.checkout);
    let parts = RunnerParts {
        session: hook_session(config, transcript),
        place: Place::new(folder, checkout, environment, config.reaper.clone()),
        judge: Judge {
            seat: Mutex::default(),
            small: config.small.clone(),
            clock: Arc::clone(&config.clock),
            ids: Arc::clone(&config.ids),
            figures: figures.clone(),
            prices: config.prices.clone(),
            spent: spent.clone(),
        },
        tools: Arc::clone(&config.tools),
        gate: config.gate.clone(),
        redactor: config.redactor.clone(),
        ids: Arc::clone(&config.ids),
    };
    Some(Arc::new(HookRunner::new(Arc::clone(&config.hooks), parts)))
}

/// What hooks are told of the session. An agent's transcript is beside the session's.
fn hook_session(config: &EngineConfig, transcript: &Transcript) -> HookSession {
    let (id, own_folder) = (transcript.session(), transcript.session_folder().clone());
    let path = transcript.path().to_owned();
    match &config.subagent {
        None => HookSession { id, transcript: path, own_folder, agent: None },
        Some(side) => {
            let of_session = side.session_folder.path().with_extension("jsonl");
            let agent = HookAgent {
                id: side.agent.to_string(),
                kind: side.agent_type.clone(),
                transcript: path,
            };
            HookSession { id: side.session, transcript: of_session, own_folder, agent: Some(agent) }
        }
    }
}
