//! Skills (L-32): instructions for certain tasks, `skills/<name>/SKILL.md`, the person's and the project's.
//!
//! `place` says where they are, `file` reads one, `head` understands its frontmatter, `fill` puts arguments
//! in, `list` tells the model of them, `desk` is where they are called, by the model with the tool `Skill`
//! and by the person with `/name`.
//!
//! Invariants: a file that can not be used is reported and the others load. Of two with one name the
//! person's own counts. A project's skill is used as it was when it was trusted, or not at all. No command
//! in a skill's text is run by the program.

mod desk;
mod file;
mod fill;
mod head;
mod in_use;
mod list;
mod place;

#[cfg(test)]
mod skills_tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use dormouse_permissions::PermissionRule;

use crate::HookLayer;

pub(crate) use desk::SkillDesk;
pub use file::read as read_definition;
pub use in_use::SkillsInUse;
pub use list::lines_within;
pub(crate) use list::listing;
pub use place::SkillPlaces;

/// Whose a skill is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillOwner {
    /// The person's own, in every project.
    Person,
    /// The project's: whoever wrote it may be a stranger.
    Project,
    /// A plugin's, which the person has trusted.
    Plugin,
}

/// Who may call a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillCallers {
    /// The person and the model.
    Both,
    /// `disable-model-invocation`.
    Person,
    /// `user-invocable: false`.
    Model,
    /// Both of these.
    Nobody,
}

impl SkillCallers {
    /// Whether `/name` calls it.
    pub fn person(self) -> bool {
        matches!(self, Self::Both | Self::Person)
    }

    /// Whether the model is told of it.
    pub fn model(self) -> bool {
        matches!(self, Self::Both | Self::Model)
    }
}

/// A skill, as its file says.
#[derive(Debug, Clone)]
pub struct Skill {
    /// What it is called by: the name of its folder.
    pub name: String,
    /// What it is for, in one line.
    pub description: String,
    /// What arguments it takes, in its own words.
    pub hint: Option<String>,
    /// Whose it is.
    pub owner: SkillOwner,
    /// Who may call it.
    pub callers: SkillCallers,
    /// What its calls may do without a question while it is in use.
    pub allowed: Vec<PermissionRule>,
    /// Hooks that run while it is in use.
    pub hooks: Option<HookLayer>,
    /// What its file says that has no effect here.
    pub ignored: Vec<String>,
    /// Its `SKILL.md`, as it was found.
    pub file: PathBuf,
    /// Names for its arguments, in their order.
    arguments: Vec<String>,
    /// Where its file must not lead out of.
    within: Option<PathBuf>,
    /// Of the file as it was read.
    digest: String,
}

impl Skill {
    /// Where its other files are.
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(&self.file)
    }
}

/// A file that is no skill, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillProblem {
    /// The file or folder.
    pub path: PathBuf,
    /// The line, where it is about one.
    pub line: Option<u64>,
    /// What is wrong, and what to do.
    pub problem: String,
}

impl fmt::Display for SkillProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": this is no skill: {}", self.problem)
    }
}

/// The skills of a session, by name.
#[derive(Debug, Clone, Default)]
pub struct Skills {
    by_name: BTreeMap<String, Skill>,
    problems: Vec<SkillProblem>,
    hidden: Vec<Skill>,
}

impl Skills {
    fn add(&mut self, skill: Skill) {
        match self.by_name.get(&skill.name) {
            Some(_) => self.hidden.push(skill),
            None => drop(self.by_name.insert(skill.name.clone(), skill)),
        }
    }

    /// The same with others besides. Of two with one name the first counts.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        others.by_name.into_values().for_each(|skill| self.add(skill));
        self.hidden.extend(others.hidden);
        self.problems.extend(others.problems);
        self
    }

    /// The skill of that name.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.by_name.get(name)
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &Skill> {
        self.by_name.values()
    }

    /// Those that another of the same name stands in front of.
    pub fn hidden(&self) -> &[Skill] {
        &self.hidden
    }

    /// What the skill of that name says; else why it can not be used.
    pub fn text_of(&self, name: &str) -> Result<String, String> {
        self.get(name).ok_or_else(|| "there is no such skill".to_owned())?.text()
    }

    /// What could not be used.
    pub fn problems(&self) -> &[SkillProblem] {
        &self.problems
    }

    /// The skill that a line of the person's calls, and its arguments.
    pub fn called<'l>(&self, line: &'l str) -> Option<(&Skill, &'l str)> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let skill = self.get(word.strip_prefix('/')?)?;
        skill.callers.person().then_some((skill, rest.trim()))
    }

    /// What a project wants with them, to be shown before it is trusted: what each allows, and a digest, so
    /// that a change is noticed. An object; empty if there are none.
    pub fn wishes(&self) -> serde_json::Value {
        let wish = |skill: &Skill| {
            let allowed: Vec<String> = skill.allowed.iter().map(ToString::to_string).collect();
            let mut wish = serde_json::json!({
                "file": skill.file.display().to_string(),
                "description": skill.description,
                "allowed-tools": allowed,
                "digest": skill.digest,
            });
            if let (Some(hooks), Some(wish)) = (&skill.hooks, wish.as_object_mut()) {
                wish.insert("hooks".to_owned(), hooks.shown());
            }
            wish
        };
        self.all().map(|skill| (skill.name.clone(), wish(skill))).collect()
    }
}
