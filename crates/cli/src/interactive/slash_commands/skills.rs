//! Skills in interactive mode: `/skills`, and skills called like commands.

use dormouse_extensions::skills::{Skill, SkillOwner};
use dormouse_tui::suggestions::Suggestion;

use crate::interactive::view::SharedView;
use crate::message_catalog::msg;
use crate::wiring::session_start::ActiveSession;

use super::command_list::{COMMANDS, SlashCommand, is_command};
use super::rows::{self, Rows};

/// The skills and prompts of MCP servers that the user can call by `/name`.
pub(crate) fn names(session: &ActiveSession) -> Vec<String> {
    let skills = callable(session).map(|skill| skill.name.clone());
    skills.chain(session.servers.prompts().into_iter().map(|prompt| prompt.name)).collect()
}

/// The skills among them.
pub(crate) fn callable(session: &ActiveSession) -> impl Iterator<Item = &Skill> {
    session.engine.session_tools().skills().all().filter(|skill| is_callable(skill))
}

/// Commands, skills and prompts of MCP servers, as the composer suggests them.
pub(crate) fn suggestions(session: &ActiveSession) -> Vec<Suggestion> {
    let suggestion = |name: &str, description: &str| Suggestion {
        name: format!("/{name}"),
        description: description.to_owned(),
    };
    let skills = session.engine.session_tools().skills();
    let commands = COMMANDS
        .iter()
        .filter(|command| is_command(command.name) || skills.get(command.name).is_none())
        .map(|command| suggestion(command.name, &command.help()));
    let skills = skills.all().filter(|skill| is_callable(skill));
    let skills = skills.map(|skill| suggestion(&skill.name, &skill.description));
    let prompts = session.servers.prompts().into_iter();
    let prompts = prompts.map(|prompt| suggestion(&prompt.name, &prompt.description));
    commands.chain(skills).chain(prompts).collect()
}

/// Whether `/name` calls the skill: a command of the same name takes precedence.
fn is_callable(skill: &Skill) -> bool {
    skill.callers.allow_user() && !is_command(&skill.name)
}

/// Whether a line calls a skill or a prompt of an MCP server.
pub(crate) fn is_called_by(line: &str, session: &ActiveSession) -> bool {
    session.engine.session_tools().skills().called(line).is_some()
        || session.servers.called_prompt(line).is_some()
}

/// Whether the user or the project has a skill with the name of a command of ours. One of a plugin does not replace it.
pub(crate) fn has_own(command: SlashCommand, session: &ActiveSession) -> bool {
    let skills = session.engine.session_tools().skills();
    let mut rows = COMMANDS.iter().filter(|row| row.command == command);
    let own = rows.next().and_then(|row| skills.get(row.name));
    own.is_some_and(|skill| skill.callers.allow_user())
}

/// Runs `/help`: keys, commands, and what can be called like commands: skills and prompts of MCP servers.
pub(super) fn help(session: &ActiveSession, view: &SharedView) {
    let prompts = session.servers.prompts().into_iter().map(|prompt| {
        let name = format!("/{} {}", prompt.name, prompt.hint);
        (name.trim_end().to_owned(), prompt.description)
    });
    let callable = callable(session).map(row);
    view.list(&rows::help().into_iter().chain(callable).chain(prompts).collect());
}

/// All skills, with those that another one hides.
pub(crate) fn rows(session: &ActiveSession) -> Rows {
    let skills = session.engine.session_tools().skills();
    skills.all().map(detailed_row).chain(skills.shadowed().iter().map(hidden_row)).collect()
}

/// Runs `/skills`.
pub(super) fn list(session: &ActiveSession, view: &SharedView) {
    let skills = session.engine.session_tools().skills();
    let rows = rows(session);
    if rows.is_empty() {
        view.say(&msg!("skills-none"));
    } else {
        view.list(&rows);
    }
    skills.problems().iter().for_each(|problem| view.say(&problem.to_string()));
}

fn row(skill: &Skill) -> (String, String) {
    let hint = skill.hint.as_deref().unwrap_or_default();
    (format!("/{} {hint}", skill.name).trim_end().to_owned(), skill.description.clone())
}

fn detailed_row(skill: &Skill) -> (String, String) {
    let mut details = vec![match skill.owner {
        SkillOwner::User => "user skill".to_owned(),
        SkillOwner::Project => "project skill".to_owned(),
        SkillOwner::Plugin => "plugin skill".to_owned(),
    }];
    if !skill.callers.allow_model() {
        details.push("not available to the model".to_owned());
    }
    if !skill.callers.allow_user() {
        details.push("available to the model only".to_owned());
    } else if !is_callable(skill) {
        details.push(if skill.callers.allow_model() {
            msg!("skill-only-model", name = skill.name.as_str())
        } else {
            msg!("skill-hidden", name = skill.name.as_str())
        });
    }
    details.extend(skill.allowed.first().map(|_| {
        let rules: Vec<String> = skill.allowed.iter().map(ToString::to_string).collect();
        format!("allows {}", rules.join(", "))
    }));
    details.extend(skill.ignored.iter().cloned());
    let (name, description) = row(skill);
    (name, format!("{description} ({}; {})", details.join("; "), skill.folder().display()))
}

fn hidden_row(skill: &Skill) -> (String, String) {
    let text = format!("hidden by another skill of this name ({})", skill.folder().display());
    (format!("/{}", skill.name), text)
}
