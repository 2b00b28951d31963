//! Where skills are called: by the model with the tool `Skill`, by the person with `/name`.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dormouse_base::{Clock, Redactor, SessionId, nearest_name};
use dormouse_context::{Fragment, InvokedSkill};
use dormouse_conversation::{Block, UsedSkill};
use dormouse_permissions::PermissionGate;
use dormouse_tools::{
    CallContext, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, ToolTraits,
    parse_input,
};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::fill::{Given, fill, within};
use super::{Skill, SkillOwner, Skills, SkillsInUse};
use crate::hooks::HookRunner;
use crate::{Engine, EngineConfig, EngineError, EngineEvent};

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed("Skill"),
    full: Cow::Borrowed(
        "Loads a skill: instructions of the person's or the project's for a certain task, to be followed as far as they bear on it.\n\n\
         - `skill` is one of the names in the section on skills; no other will do.\n\
         - `args` is what the skill is to be used on, as the person would type it behind `/name`.\n\
         - The answer is the skill's text and its folder. Read the files that the text names from there, when they are needed.\n\
         - What is loaded already, by you or by the person's `/name`, need not be loaded again.",
    ),
    short: Cow::Borrowed("Loads a skill: instructions for a certain task."),
    schema: Cow::Borrowed(concat!(
        r#"{"type":"object","properties":{"#,
        r#""skill":{"type":"string","description":"Its name."},"#,
        r#""args":{"type":"string","description":"Arguments, as typed behind its name."}"#,
        r#"},"required":["skill"],"additionalProperties":false}"#,
    )),
    class: ToolClass::ReadOnly,
    limit: ResultLimit::OwnBound,
    traits: ToolTraits::DEFAULT,
};

/// A skill that the person called, before it is in the conversation.
pub(crate) struct Called {
    /// What goes with the prompt.
    pub(crate) block: Block,
    /// Nothing, where it could not be loaded.
    loaded: Option<UsedSkill>,
}

/// What was used of late.
#[derive(Debug, Default)]
struct Used {
    in_use: SkillsInUse,
    /// What the transcript lacks.
    unwritten: Vec<UsedSkill>,
}

/// The skills of a session, and which of them are in use.
pub(crate) struct SkillDesk {
    skills: Arc<Skills>,
    gate: PermissionGate,
    redactor: Redactor,
    clock: Arc<dyn Clock>,
    session: SessionId,
    /// The longest text, in characters.
    room: usize,
    used: Mutex<Used>,
    /// Who runs the hooks of skills in use.
    hooks: OnceLock<Arc<HookRunner>>,
}

impl SkillDesk {
    pub(crate) fn new(config: &EngineConfig, session: SessionId) -> Arc<Self> {
        Arc::new(Self {
            skills: Arc::clone(&config.skills),
            gate: config.gate.clone(),
            redactor: config.redactor.clone(),
            clock: Arc::clone(&config.clock),
            session,
            room: usize::try_from(config.budget.results.tool_chars).unwrap_or(usize::MAX),
            used: Mutex::default(),
            hooks: OnceLock::new(),
        })
    }

    /// The tool that leads here; none where there is nothing for it to load.
    pub(crate) fn tool(self: &Arc<Self>) -> Option<Arc<dyn Tool>> {
        let any = self.skills.all().any(|skill| skill.callers.model());
        any.then(|| Arc::new(SkillTool(Arc::clone(self))) as Arc<dyn Tool>)
    }

    /// These run the hooks of skills in use.
    pub(crate) fn lend_hooks_to(&self, hooks: &Arc<HookRunner>) {
        self.hooks.get_or_init(|| Arc::clone(hooks));
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a skill and fills it in.
    fn load(&self, skill: &Skill, arguments: &str) -> Result<UsedSkill, String> {
        let (folder, session) = (skill.folder().display().to_string(), self.session.to_string());
        let root = skill.within.as_ref().filter(|_| skill.owner == SkillOwner::Plugin);
        let root = root.map(|root| root.display().to_string());
        let given = Given {
            arguments,
            names: &skill.arguments,
            folder: &folder,
            session: &session,
            plugin: root.as_deref(),
        };
        let text = fill(&skill.text()?, given);
        let text = within(text, self.room, &skill.file.display().to_string());
        let text = self.redactor.redact(&text);
        Ok(UsedSkill { name: skill.name.clone(), folder, text, at: self.clock.now() })
    }

    /// A skill is followed from now on: what it allows counts, and it is kept aside.
    fn take_into_use(&self, loaded: &UsedSkill) {
        if let Some(skill) = self.skills.get(&loaded.name) {
            self.gate.add_skill_rules(skill.allowed.iter().cloned());
            if let (Some(hooks), Some(layer)) = (self.hooks.get(), &skill.hooks) {
                hooks.lend(layer.clone());
            }
        }
        let mut used = self.used();
        used.in_use.add(loaded.clone());
        used.unwritten.push(loaded.clone());
    }

    /// What the model asked for by name.
    fn for_model(&self, name: &str, arguments: &str) -> Result<UsedSkill, String> {
        let name = name.trim().trim_start_matches('/');
        let callable = || self.skills.all().filter(|skill| skill.callers.model());
        let Some(skill) = self.skills.get(name) else {
            let names = || callable().map(|skill| skill.name.clone());
            let meant = nearest_name(name, names());
            let meant = meant.map_or(String::new(), |name| format!(" (did you mean `{name}`?)"));
            let names: Vec<String> = names().collect();
            return Err(format!(
                "there is no skill `{name}`{meant}; the skills are: {}",
                names.join(", ")
            ));
        };
        if !skill.callers.model() {
            return Err(format!("only the person may call the skill `{name}`, with /{name}"));
        }
        let loaded = self.load(skill, arguments)?;
        self.take_into_use(&loaded);
        Ok(loaded)
    }
}

/// The tool. See the module.
struct SkillTool(Arc<SkillDesk>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    skill: String,
    #[serde(default)]
    args: Option<String>,
}

impl Tool for SkillTool {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Input { skill, args } = parse_input(input)?;
            let loaded = self
                .0
                .for_model(&skill, args.as_deref().unwrap_or_default())
                .map_err(|message| ToolError::Failed { message })?;
            let UsedSkill { name, folder, text, .. } = loaded;
            Ok(ToolOutput::text(format!(
                "The skill `{name}`. Its folder is {folder}; files that it names are there. It says:\n\n{text}"
            )))
        })
    }
}

impl Engine {
    /// The skills there are in this session.
    pub fn skills(&self) -> &Skills {
        &self.config.skills
    }

    /// Those in use, with their text as it was used.
    pub fn skills_in_use(&self) -> SkillsInUse {
        self.own.skills.used().in_use.clone()
    }

    /// A session goes on: these were in use.
    pub(crate) fn take_up_skills(&self, skills: Vec<UsedSkill>) {
        self.own.skills.used().in_use = SkillsInUse::of(skills);
    }

    /// The skill that the prompt calls by `/name`. What an earlier one allowed ends here, for the person
    /// speaks again.
    pub(crate) fn skill_called(
        &self,
        prompt: &str,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Option<Called> {
        let desk = &self.own.skills;
        desk.gate.clear_skill_rules();
        if let Some(hooks) = desk.hooks.get() {
            hooks.take_back();
        }
        let (skill, arguments) = desk.skills.called(prompt)?;
        let mut say = |text: String| sink(EngineEvent::Notice(text));
        skill.ignored.iter().for_each(|what| say(format!("skill {}: {what}", skill.name)));
        Some(match desk.load(skill, arguments) {
            Ok(loaded) => {
                let UsedSkill { name, folder, text, .. } = loaded.clone();
                Called {
                    block: InvokedSkill { name, folder, text }.to_block(),
                    loaded: Some(loaded),
                }
            }
            Err(why) => {
                say(format!("the skill {} was not loaded: {why}", skill.name));
                Called { block: not_loaded(skill, &why), loaded: None }
            }
        })
    }

    /// The skill that was called stands in the conversation now.
    pub(crate) fn use_called(&mut self, called: Option<Called>) -> Result<(), EngineError> {
        if let Some(loaded) = called.and_then(|called| called.loaded) {
            self.own.skills.take_into_use(&loaded);
        }
        self.write_down_skills()
    }

    /// Writes down which skills were used since the last time.
    pub(crate) fn write_down_skills(&mut self) -> Result<(), EngineError> {
        let desk = Arc::clone(&self.own.skills);
        loop {
            let Some(skill) = desk.used().unwritten.first().cloned() else { return Ok(()) };
            self.transcript.record_skill(&skill)?;
            desk.used().unwritten.remove(0);
        }
    }
}

/// The model is not to guess what it would have said.
fn not_loaded(skill: &Skill, why: &str) -> Block {
    let text =
        format!("[It could not be loaded: {why}. Tell the person, and do nothing in its place.]");
    let folder = skill.folder().display().to_string();
    InvokedSkill { name: skill.name.clone(), folder, text }.to_block()
}
