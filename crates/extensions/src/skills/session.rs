//! The skills of one session: calls by the model with the tool `Skill` and by the user with `/name`.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dormouse_base::{Clock, Redactor, SessionId};
use dormouse_context::{Fragment, InvokedSkill};
use dormouse_conversation::known_tools::SKILL;
use dormouse_conversation::{Block, UsedSkill};
use dormouse_hooks::HookRunner;
use dormouse_permissions::PermissionGate;
use dormouse_tools::{
    CallContext, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, parse_input,
};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::arguments::{SkillValues, insert_values, truncate};
use super::in_use::SkillsInUse;
use super::session_skills::Skills;
use super::skill::{Skill, SkillError, SkillOwner};

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(SKILL.name),
    full: Cow::Borrowed(
        "Loads a skill: instructions of the user or the project for a certain task, to be followed as far as they bear on it.\n\n\
         - `skill` is one of the names in the section on skills; no other will do.\n\
         - `args` is what the skill is to be used on, as the user would type it after `/name`.\n\
         - The answer is the skill's text and its folder. Read the files that the text names from there, when they are needed.\n\
         - What is loaded already, by you or by the user's `/name`, need not be loaded again.",
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
    traits: SKILL.traits,
};

/// A skill that the user's prompt calls.
#[derive(Debug, Clone)]
pub struct SkillCall {
    /// The text for the model.
    pub block: Block,
    /// Problems for the user to see.
    pub notices: Vec<String>,
    /// `None` if the skill could not be loaded.
    loaded: Option<UsedSkill>,
}

#[derive(Debug, Default)]
struct UsedSkills {
    in_use: SkillsInUse,
    /// Skills that are not in the transcript yet.
    unrecorded: Vec<UsedSkill>,
}

/// Everything a [`SkillSession`] needs.
pub struct SkillSessionParts {
    /// The skills.
    pub skills: Arc<Skills>,
    /// The permission gate, which skills can extend.
    pub gate: PermissionGate,
    /// Removes secrets from texts.
    pub redactor: Redactor,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The session's id.
    pub session: SessionId,
    /// The longest text of a skill, in characters.
    pub max_chars: usize,
}

/// The skills of a session, and which of them are in use.
pub struct SkillSession {
    parts: SkillSessionParts,
    used: Mutex<UsedSkills>,
    /// Runs the hooks of skills in use.
    hooks: OnceLock<Arc<HookRunner>>,
}

impl SkillSession {
    /// The skills of a new session.
    pub fn new(parts: SkillSessionParts) -> Arc<Self> {
        Arc::new(Self { parts, used: Mutex::default(), hooks: OnceLock::new() })
    }

    /// The tool `Skill`; `None` if the model can call no skill.
    pub fn tool(self: &Arc<Self>) -> Option<Arc<dyn Tool>> {
        let mut callable = self.parts.skills.callable_by_model();
        callable.next().map(|_| Arc::new(SkillTool(Arc::clone(self))) as Arc<dyn Tool>)
    }

    /// Sets who runs the hooks of skills in use.
    pub fn set_hooks(&self, hooks: &Arc<HookRunner>) {
        self.hooks.get_or_init(|| Arc::clone(hooks));
    }

    /// The skills in use, with their texts as they were loaded.
    pub fn in_use(&self) -> SkillsInUse {
        self.used().in_use.clone()
    }

    /// Sets the skills in use of a resumed session.
    pub fn restore(&self, skills: Vec<UsedSkill>) {
        self.used().in_use = SkillsInUse::of(skills);
    }

    /// Ends the permissions and hooks of skills in use: the user has sent a new prompt.
    pub fn revoke_permissions(&self) {
        self.parts.gate.clear_skill_rules();
        if let Some(hooks) = self.hooks.get() {
            hooks.remove_skill_hooks();
        }
    }

    /// Loads the skill that the prompt calls with `/name`.
    pub fn call_from_prompt(&self, prompt: &str) -> Option<SkillCall> {
        let (skill, arguments) = self.parts.skills.called(prompt)?;
        let ignored = skill.ignored.iter();
        let mut notices: Vec<String> =
            ignored.map(|what| format!("skill {}: {what}", skill.name)).collect();
        Some(match self.load(skill, arguments) {
            Ok(loaded) => {
                let UsedSkill { name, folder, text, .. } = loaded.clone();
                let block = InvokedSkill { name, folder, text }.to_block();
                SkillCall { block, notices, loaded: Some(loaded) }
            }
            Err(error) => {
                notices.push(format!("could not load the skill {}: {error}", skill.name));
                SkillCall { block: load_error(skill, &error), notices, loaded: None }
            }
        })
    }

    /// Starts using a skill that [`Self::call_from_prompt`] has loaded.
    pub fn activate(&self, call: &SkillCall) {
        if let Some(loaded) = &call.loaded {
            self.start_using(loaded);
        }
    }

    /// The first skill that is not in the transcript yet.
    pub fn next_unrecorded(&self) -> Option<UsedSkill> {
        self.used().unrecorded.first().cloned()
    }

    /// The first unrecorded skill is in the transcript now.
    pub fn mark_recorded(&self) {
        let mut used = self.used();
        if !used.unrecorded.is_empty() {
            used.unrecorded.remove(0);
        }
    }

    fn used(&self) -> MutexGuard<'_, UsedSkills> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a skill and inserts its arguments.
    fn load(&self, skill: &Skill, arguments: &str) -> Result<UsedSkill, SkillError> {
        let folder = skill.folder().display().to_string();
        let session = self.parts.session.to_string();
        let plugin = skill.root.as_ref().filter(|_| skill.owner == SkillOwner::Plugin);
        let plugin = plugin.map(|root| root.display().to_string());
        let values = SkillValues {
            arguments,
            names: &skill.arguments,
            folder: &folder,
            session: &session,
            plugin: plugin.as_deref(),
        };
        let text = insert_values(&skill.text()?, values);
        let text = truncate(text, self.parts.max_chars, &skill.file.display().to_string());
        let text = self.parts.redactor.redact(&text);
        Ok(UsedSkill { name: skill.name.clone(), folder, text, at: self.parts.clock.now() })
    }

    /// Grants the permissions of a skill, adds its hooks, and keeps its text for compaction.
    fn start_using(&self, loaded: &UsedSkill) {
        if let Some(skill) = self.parts.skills.get(&loaded.name) {
            self.parts.gate.add_skill_rules(skill.allowed.iter().cloned());
            if let (Some(hooks), Some(layer)) = (self.hooks.get(), &skill.hooks) {
                hooks.add_skill_hooks(layer.clone());
            }
        }
        let mut used = self.used();
        used.in_use.add(loaded.clone());
        used.unrecorded.push(loaded.clone());
    }

    fn call_from_model(&self, name: &str, arguments: &str) -> Result<UsedSkill, SkillError> {
        let name = name.trim().trim_start_matches('/');
        let skills = &self.parts.skills;
        let skill = skills.get(name).ok_or_else(|| skills.unknown(name))?;
        if !skill.callers.allow_model() {
            return Err(SkillError::UserOnly(name.to_owned()));
        }
        let loaded = self.load(skill, arguments)?;
        self.start_using(&loaded);
        Ok(loaded)
    }
}

/// Tells the model not to guess the instructions.
fn load_error(skill: &Skill, error: &SkillError) -> Block {
    let text =
        format!("[It could not be loaded: {error}. Tell the user, and do nothing in its place.]");
    let folder = skill.folder().display().to_string();
    InvokedSkill { name: skill.name.clone(), folder, text }.to_block()
}

/// The tool `Skill`.
struct SkillTool(Arc<SkillSession>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SkillInput {
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
            let SkillInput { skill, args } = parse_input(input)?;
            let loaded = self
                .0
                .call_from_model(&skill, args.as_deref().unwrap_or_default())
                .map_err(|error| ToolError::Failed { message: error.to_string() })?;
            let UsedSkill { name, folder, text, .. } = loaded;
            Ok(ToolOutput::text(format!(
                "The skill `{name}`. Its folder is {folder}; files that it names are there. It says:\n\n{text}"
            )))
        })
    }
}
