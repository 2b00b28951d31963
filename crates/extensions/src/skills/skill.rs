//! One skill.

use std::path::{Path, PathBuf};

use dormouse_hooks::HookLayer;
use dormouse_permissions::PermissionRule;
use thiserror::Error;

use super::file::{DefinitionError, digest, read_definition};

/// Where a skill comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillOwner {
    /// The user's own, in every project.
    User,
    /// The project's: its author may be unknown to the user.
    Project,
    /// A plugin that the user has trusted.
    Plugin,
}

/// Who may call a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillCallers {
    /// The user and the model.
    Both,
    /// `disable-model-invocation`.
    User,
    /// `user-invocable: false`.
    Model,
    /// Both settings.
    Nobody,
}

impl SkillCallers {
    /// Whether the user can call it with `/name`.
    pub fn allow_user(self) -> bool {
        matches!(self, Self::Both | Self::User)
    }

    /// Whether the model can call it.
    pub fn allow_model(self) -> bool {
        matches!(self, Self::Both | Self::Model)
    }
}

/// A skill as defined by its file.
#[derive(Debug, Clone)]
pub struct Skill {
    /// The name of its folder.
    pub name: String,
    /// Its description in one line.
    pub description: String,
    /// The arguments it takes, in its own words.
    pub hint: Option<String>,
    /// Where it comes from.
    pub owner: SkillOwner,
    /// Who may call it.
    pub callers: SkillCallers,
    /// Tool calls that need no confirmation while it is in use.
    pub allowed: Vec<PermissionRule>,
    /// Hooks that run while it is in use.
    pub hooks: Option<HookLayer>,
    /// Parts of its file that have no effect.
    pub ignored: Vec<String>,
    /// Its `SKILL.md`.
    pub file: PathBuf,
    /// Names of its arguments, in order.
    pub(super) arguments: Vec<String>,
    /// The folder that its file must stay in.
    pub(super) root: Option<PathBuf>,
    /// Digest of the file when it was read.
    pub(super) digest: String,
}

/// Why a skill cannot be used.
#[derive(Debug, Error)]
pub enum SkillError {
    /// There is no skill with this name.
    #[error("no skill `{name}`{}; the skills are: {}", did_you_mean(suggestion.as_deref()), names.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// A similar name.
        suggestion: Option<String>,
        /// The names of all skills that the model can call.
        names: Vec<String>,
    },
    /// The model may not call it.
    #[error("only the user may call the skill `{name}`, with /{name}", name = .0)]
    UserOnly(String),
    /// Its file does not exist any more.
    #[error("{} no longer exists", .0.display())]
    Gone(PathBuf),
    /// Its file has changed since it was trusted.
    #[error("{} has changed since the {source_name} was trusted; restart to confirm the change", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// `project` or `plugin`.
        source_name: &'static str,
    },
    /// Its file cannot be read.
    #[error(transparent)]
    File(#[from] DefinitionError),
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

impl Skill {
    /// The folder with its other files.
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(&self.file)
    }

    /// The instructions in its file as it is now. Fails if the file of a project or plugin has changed.
    pub fn text(&self) -> Result<String, SkillError> {
        let text = read_definition(&self.file, self.root.as_deref())?
            .ok_or_else(|| SkillError::Gone(self.file.clone()))?;
        let trusted = match self.owner {
            SkillOwner::User => None,
            SkillOwner::Project => Some("project"),
            SkillOwner::Plugin => Some("plugin"),
        };
        if let Some(source_name) = trusted.filter(|_| digest(&text) != self.digest) {
            return Err(SkillError::Changed { path: self.file.clone(), source_name });
        }
        Ok(dormouse_frontmatter::parse(&text).body.trim().to_owned())
    }
}
