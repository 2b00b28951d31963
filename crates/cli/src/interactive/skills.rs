//! Skills, from the keyboard: which there are, and whether a line calls one.

use dormouse_engine::{Skill, SkillOwner};

use crate::wiring::session_start::Conversation;

use super::answers::{self, Rows};
use super::{Talk, commands};

/// Those that the person can call, to be completed.
pub(super) fn names(conversation: &Conversation) -> Vec<String> {
    let skills = conversation.engine.skills().all();
    skills.filter(|skill| is_called(skill)).map(|skill| skill.name.clone()).collect()
}

/// Whether `/name` calls it: a command of that name goes before.
fn is_called(skill: &Skill) -> bool {
    skill.callers.person() && !commands::is_command(&skill.name)
}

impl Talk<'_> {
    pub(super) fn calls_a_skill(&self, line: &str) -> bool {
        self.conversation.engine.skills().called(line).is_some()
    }

    /// Keys, commands, and the skills that can be called like commands.
    pub(super) fn help(&self) {
        let skills = self.conversation.engine.skills().all();
        let called = skills.filter(|skill| is_called(skill)).map(row);
        self.list(&answers::help().into_iter().chain(called).collect());
    }

    /// Carries out `/skills`.
    pub(super) fn skills(&self) {
        let skills = self.conversation.engine.skills();
        let rows: Rows =
            skills.all().map(described).chain(skills.hidden().iter().map(hidden)).collect();
        if rows.is_empty() {
            self.say("no skills yet: one is a folder with a SKILL.md, in ~/.dormouse/skills or .dormouse/skills");
        } else {
            self.list(&rows);
        }
        skills.problems().iter().for_each(|problem| self.say(&problem.to_string()));
    }
}

fn row(skill: &Skill) -> (String, String) {
    let hint = skill.hint.as_deref().unwrap_or_default();
    (format!("/{} {hint}", skill.name).trim_end().to_owned(), skill.description.clone())
}

/// All there is to say of it.
fn described(skill: &Skill) -> (String, String) {
    let mut marks = vec![match skill.owner {
        SkillOwner::Person => "yours".to_owned(),
        SkillOwner::Project => "the project's".to_owned(),
        SkillOwner::Plugin => "of a plugin".to_owned(),
    }];
    if !skill.callers.model() {
        marks.push("the model can not call it".to_owned());
    }
    if !skill.callers.person() {
        marks.push("only the model can call it".to_owned());
    } else if !is_called(skill) {
        marks.push(format!("/{} is a command, so only the model can call it", skill.name));
    }
    marks.extend(skill.allowed.first().map(|_| {
        let rules: Vec<String> = skill.allowed.iter().map(ToString::to_string).collect();
        format!("in use it allows {}", rules.join(", "))
    }));
    marks.extend(skill.ignored.iter().cloned());
    let (name, description) = row(skill);
    (name, format!("{description} ({}; {})", marks.join("; "), skill.folder().display()))
}

fn hidden(skill: &Skill) -> (String, String) {
    let text = format!("hidden by another of this name ({})", skill.folder().display());
    (format!("/{}", skill.name), text)
}
