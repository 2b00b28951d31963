//! The tools that belong to one session, and what their calls leave behind. Which there are is decided when
//! it begins: a tool that came or went would change the prefix.

use std::sync::Arc;

use dormouse_conversation::transcript::Transcript;
use dormouse_extensions::skills::{SkillSession, SkillSessionParts};

use crate::EngineConfig;
use crate::plan::PlanState;

/// Where their calls lead.
pub(crate) struct SessionTools {
    pub(crate) plan: Arc<PlanState>,
    pub(crate) skills: Arc<SkillSession>,
}

impl SessionTools {
    /// Adds the tools of this session to those of the set-up.
    pub(crate) fn add_to(config: &mut EngineConfig, transcript: &Transcript) -> Self {
        let folder = transcript.session_folder().clone();
        let plan = PlanState::new(config.gate.clone(), config.confirmer.clone(), folder);
        let skills = SkillSession::new(SkillSessionParts {
            skills: Arc::clone(&config.skills),
            gate: config.gate.clone(),
            redactor: config.redactor.clone(),
            clock: Arc::clone(&config.clock),
            session: transcript.session(),
            max_chars: usize::try_from(config.budget.results.tool_chars).unwrap_or(usize::MAX),
        });
        // An agent hands in no plan: it has one to hand in only as a fork, of which the model was told.
        let plans = config.subagent.is_none() || config.tools.get(plan.tool().name()).is_some();
        let tools = plans.then(|| plan.tool()).into_iter().chain(skills.tool());
        config.tools = Arc::new(config.tools.as_ref().clone().with(tools));
        Self { plan, skills }
    }
}
