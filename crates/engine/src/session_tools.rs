//! The tools that belong to one session, and what their calls leave behind. They are fixed when the session begins:
//! another tool would change the prefix.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_base::{Environment, names};
use dormouse_conversation::PromptSize;
use dormouse_conversation::known_tools::EXIT_PLAN;
use dormouse_conversation::transcript::{Transcript, TranscriptError};
use dormouse_extensions::skills::{
    SkillCall, SkillSession, SkillSessionParts, Skills, SkillsInUse,
};
use dormouse_permissions::PermissionMode;

use crate::config::EngineConfig;
use crate::event::EngineEvent;
use crate::event_sink::EventSink;
use crate::plan::PlanState;
use crate::submitted_plan::SubmittedPlan;

/// The folder for temporary files of a project's sessions, made if it is not there; none where there is no such folder of
/// this user alone. Its name is always the same, so that the first message is too.
fn scratch_folder(environment: &Environment, project: &Path) -> Option<PathBuf> {
    let temporary = environment.path(names::TMPDIR).unwrap_or_else(|| PathBuf::from("/tmp"));
    let name = blake3::hash(project.as_os_str().as_encoded_bytes()).to_hex();
    let folder = temporary.join(format!("dormouse-{:.16}", name.as_str()));
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return None,
        Ok(()) | Err(_) => {}
    }
    // Others can make a folder of this name as well. One that only its owner can enter, and that can be read, is ours.
    let metadata = folder.symlink_metadata().ok()?;
    let is_private = metadata.is_dir() && metadata.mode() & 0o777 == 0o700;
    (is_private && folder.read_dir().is_ok()).then_some(folder)
}

/// The state of the session's own tools.
pub struct SessionTools {
    pub(crate) plan: Arc<PlanState>,
    pub(crate) skills: Arc<SkillSession>,
    all_skills: Arc<Skills>,
}

impl SessionTools {
    /// Adds the tools of this session to those of the configuration.
    pub(crate) fn add_to(config: &mut EngineConfig, transcript: &Transcript) -> Self {
        if config.overrides.session.is_some() {
            config.tools.scratch =
                scratch_folder(&config.tools.environment, &config.project.folder);
            if let Some(scratch) = &config.tools.scratch {
                config.tools.gate.allow_scratch(scratch.clone());
            }
        }
        let tools = &mut config.tools;
        let folder = transcript.session_folder().clone();
        let plan = PlanState::new(tools.gate.clone(), tools.confirmer.clone(), folder);
        // A subagent submits no plan. A fork has the tool because its prefix lists it.
        let has_plan = config.subagent.is_none() || tools.set.get(plan.tool().name()).is_some();
        let skills = SkillSession::new(SkillSessionParts {
            skills: Arc::clone(&config.extensions.skills),
            gate: config.tools.gate.clone(),
            redactor: config.tools.redactor.clone(),
            clock: Arc::clone(&config.services.clock),
            session: transcript.session(),
            max_chars: usize::try_from(config.model.budget.results.tool_chars)
                .unwrap_or(usize::MAX),
        });
        let own = has_plan.then(|| plan.tool()).into_iter().chain(skills.tool());
        let set = config.tools.set.as_ref().clone().with(own);
        // Whoever begins with a plan hands it in.
        let is_planning = config.tools.gate.mode() == PermissionMode::Plan;
        let plan_tool = is_planning.then_some(EXIT_PLAN.name);
        config.tools.set = Arc::new(match config.model.budget.prompt.size {
            PromptSize::Full => set.announcing_rare_tools(plan_tool.as_slice()),
            PromptSize::Short => {
                let plan_tool = plan_tool.map(str::to_owned);
                let kept: Vec<String> =
                    config.tools.small_window.iter().cloned().chain(plan_tool).collect();
                set.for_small_window(&kept)
            }
        });
        Self { plan, skills, all_skills: Arc::clone(&config.extensions.skills) }
    }

    /// The plan that was submitted last in this session.
    pub fn plan(&self) -> Option<SubmittedPlan> {
        self.plan.submitted()
    }

    /// The skills of this session.
    pub fn skills(&self) -> &Skills {
        &self.all_skills
    }

    /// The skills in use, with their text as it was used.
    pub fn skills_in_use(&self) -> SkillsInUse {
        self.skills.in_use()
    }

    /// Loads the skill that the prompt calls with `/name`. The permissions of earlier skills end.
    pub(crate) fn load_called_skill(
        &self,
        prompt: &str,
        sink: &mut EventSink<'_>,
    ) -> Option<SkillCall> {
        self.skills.revoke_permissions();
        let call = self.skills.call_from_prompt(prompt)?;
        call.notices.iter().cloned().for_each(|notice| sink(EngineEvent::Notice(notice.into())));
        Some(call)
    }

    /// Writes skills used since the last call to the transcript.
    pub(crate) fn record_skills(&self, transcript: &mut Transcript) -> Result<(), TranscriptError> {
        while let Some(skill) = self.skills.next_unrecorded() {
            transcript.record_skill(&skill)?;
            self.skills.mark_recorded();
        }
        Ok(())
    }
}
