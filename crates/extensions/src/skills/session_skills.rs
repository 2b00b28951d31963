//! The skills of a session.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use dormouse_base::nearest_name;

use super::skill::{Skill, SkillError, SkillOwner};

/// An invalid skill, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillProblem {
    /// The file or folder.
    pub path: PathBuf,
    /// The line, if the problem is in one.
    pub line: Option<u64>,
    /// The problem.
    pub problem: String,
}

impl fmt::Display for SkillProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": invalid skill: {}", self.problem)
    }
}

/// The skills of a session, by name.
#[derive(Debug, Clone, Default)]
pub struct Skills {
    by_name: BTreeMap<String, Skill>,
    problems: Vec<SkillProblem>,
    shadowed: Vec<Skill>,
}

impl Skills {
    pub(super) fn add(&mut self, skill: Skill) {
        match self.by_name.get(&skill.name) {
            Some(_) => self.shadowed.push(skill),
            None => drop(self.by_name.insert(skill.name.clone(), skill)),
        }
    }

    pub(super) fn report(&mut self, problem: SkillProblem) {
        self.problems.push(problem);
    }

    /// Adds more skills. Of two with one name the first is used.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        others.by_name.into_values().for_each(|skill| self.add(skill));
        self.shadowed.extend(others.shadowed);
        self.problems.extend(others.problems);
        self
    }

    /// The skill with this name.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.by_name.get(name)
    }

    /// All skills, by name.
    pub fn all(&self) -> impl Iterator<Item = &Skill> {
        self.by_name.values()
    }

    /// The skills that the model can call, by name.
    pub fn callable_by_model(&self) -> impl Iterator<Item = &Skill> {
        self.all().filter(|skill| skill.callers.allow_model())
    }

    /// Skills that are hidden by another one of the same name.
    pub fn shadowed(&self) -> &[Skill] {
        &self.shadowed
    }

    /// The error for a name that no skill has.
    pub fn unknown(&self, name: &str) -> SkillError {
        let names: Vec<String> = self.callable_by_model().map(|skill| skill.name.clone()).collect();
        let suggestion = nearest_name(name, names.iter().cloned());
        SkillError::Unknown { name: name.to_owned(), suggestion, names }
    }

    /// The instructions of the skill with this name.
    pub fn text_of(&self, name: &str) -> Result<String, SkillError> {
        self.get(name).ok_or_else(|| self.unknown(name))?.text()
    }

    /// Invalid skills.
    pub fn problems(&self) -> &[SkillProblem] {
        &self.problems
    }

    /// The skill that a prompt calls with `/name`, and its arguments. One of a plugin is also called without the plugin's
    /// name, unless another skill has that name.
    pub fn called<'l>(&self, prompt: &'l str) -> Option<(&Skill, &'l str)> {
        let line = prompt.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name = word.strip_prefix('/')?;
        let skill = self.get(name).or_else(|| self.of_a_plugin(name))?;
        skill.callers.allow_user().then_some((skill, rest.trim()))
    }

    /// The only skill of all plugins that has this name and that the user may call.
    fn of_a_plugin(&self, name: &str) -> Option<&Skill> {
        let mut named = self.all().filter(|skill| {
            let of_plugin = skill.owner == SkillOwner::Plugin && skill.callers.allow_user();
            of_plugin && skill.name.split_once(':').is_some_and(|(_, own)| own == name)
        });
        named.next().filter(|_| named.next().is_none())
    }

    /// What the trust prompt shows for each skill: what it allows, and a digest to notice changes. An object.
    pub fn trust_requests(&self) -> serde_json::Value {
        let request = |skill: &Skill| {
            let allowed: Vec<String> = skill.allowed.iter().map(ToString::to_string).collect();
            let mut request = serde_json::json!({
                "file": skill.file.display().to_string(),
                "description": skill.description,
                "allowed-tools": allowed,
                "digest": skill.digest,
            });
            if let (Some(hooks), Some(request)) = (&skill.hooks, request.as_object_mut()) {
                request.insert("hooks".to_owned(), hooks.to_json());
            }
            request
        };
        self.all().map(|skill| (skill.name.clone(), request(skill))).collect()
    }
}
