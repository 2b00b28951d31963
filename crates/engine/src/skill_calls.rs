//! Connects a conversation with its skills.

use dormouse_conversation::UsedSkill;
use dormouse_extensions::skills::{SkillCall, Skills, SkillsInUse};

use crate::{Engine, EngineError, EngineEvent};

impl Engine {
    /// The skills of this session.
    pub fn skills(&self) -> &Skills {
        &self.config.skills
    }

    /// The skills in use, with their texts as they were loaded.
    pub fn skills_in_use(&self) -> SkillsInUse {
        self.own.skills.in_use()
    }

    /// Sets the skills in use of a resumed session.
    pub(crate) fn restore_skills(&self, skills: Vec<UsedSkill>) {
        self.own.skills.restore(skills);
    }

    /// Loads the skill that the prompt calls with `/name`. The permissions of earlier skills end.
    pub(crate) fn load_called_skill(
        &self,
        prompt: &str,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Option<SkillCall> {
        self.own.skills.revoke_permissions();
        let call = self.own.skills.call_from_prompt(prompt)?;
        call.notices.iter().cloned().for_each(|notice| sink(EngineEvent::Notice(notice)));
        Some(call)
    }

    /// Starts using a called skill once its text is in the conversation.
    pub(crate) fn activate_skill(&mut self, call: Option<&SkillCall>) -> Result<(), EngineError> {
        if let Some(call) = call {
            self.own.skills.activate(call);
        }
        self.record_skills()
    }

    /// Writes skills used since the last call to the transcript.
    pub(crate) fn record_skills(&mut self) -> Result<(), EngineError> {
        while let Some(skill) = self.own.skills.next_unrecorded() {
            self.transcript.record_skill(&skill)?;
            self.own.skills.mark_recorded();
        }
        Ok(())
    }
}
