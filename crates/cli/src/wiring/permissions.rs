//! The permission gate of a run: mode and rules from the command line and the settings.

use std::path::PathBuf;

use dormouse_base::{DefaultMode, PermissionSettings, Project, names, nearest_name};
use dormouse_conversation::known_tools::{KNOWN_TOOLS, is_known};
use dormouse_permissions::{
    PermissionGate, PermissionMode, PermissionRule, PermissionRules, ReadingScope,
};

use crate::args::{Arguments, PermissionModeArgument};
use crate::wiring::exit::Failure;
use crate::wiring::print;
use crate::wiring::world::World;

/// The permission gate of a run.
pub(crate) fn gate(
    arguments: &Arguments,
    settings: &PermissionSettings,
) -> Result<PermissionGate, Failure> {
    let mode = mode(arguments.permission_mode, settings);
    let mut rules = rules(settings)?;
    rules.allow.extend(parse(&arguments.allowed_tools)?);
    rules.deny.extend(parse(&arguments.disallowed_tools)?);
    warn_about_unknown_tools(&rules);
    let folders = arguments.add_dir.iter().chain(&settings.additional_directories).cloned();
    Ok(PermissionGate::new(mode, rules).with_folders(folders))
}

/// Where reading needs no confirmation: the project, its memories and what the program keeps for it (L-37).
pub(crate) fn reading_scope(
    project: &Project,
    world: &World,
    memories: impl IntoIterator<Item = PathBuf>,
) -> Result<ReadingScope, Failure> {
    let home = world.home()?;
    let user_home = world.environment.get(names::USER_HOME).map(PathBuf::from);
    let of_project = [&project.folder, &project.root, &project.checkout].map(PathBuf::clone);
    let stored = home.join("projects").join(project.slug().as_str());
    let shared = ["memory", "skills", "plugins", "agents", "commands"].map(|name| home.join(name));
    let free = of_project.into_iter().chain([stored]).chain(shared).chain(memories);
    Ok(ReadingScope::new(user_home, free))
}

pub(crate) fn mode(
    argument: Option<PermissionModeArgument>,
    settings: &PermissionSettings,
) -> PermissionMode {
    match (argument, settings.default_mode) {
        (Some(mode), _) => mode.into(),
        (None, None | Some(DefaultMode::Default)) => PermissionMode::Default,
        (None, Some(DefaultMode::AcceptEdits)) => PermissionMode::AcceptEdits,
        (None, Some(DefaultMode::Plan)) => PermissionMode::Plan,
        (None, Some(DefaultMode::BypassPermissions)) => PermissionMode::Bypass,
    }
}

pub(crate) fn rules(settings: &PermissionSettings) -> Result<PermissionRules, Failure> {
    Ok(PermissionRules {
        allow: parse(&settings.allow)?,
        ask: parse(&settings.ask)?,
        deny: parse(&settings.deny)?,
    })
}

/// Warns about rules for unknown tools.
fn warn_about_unknown_tools(rules: &PermissionRules) {
    for rule in rules.allow.iter().chain(&rules.ask).chain(&rules.deny) {
        if is_known(rule.tool()) {
            continue;
        }
        let meant = nearest_name(rule.tool(), KNOWN_TOOLS.iter().map(|tool| tool.name.to_owned()));
        let meant = meant.map_or(String::new(), |name| format!(" (did you mean `{name}`?)"));
        print::note(&format!("warning: the rule `{rule}` names an unknown tool{meant}"));
    }
}

fn parse(texts: &[String]) -> Result<Vec<PermissionRule>, Failure> {
    texts.iter().map(|text| text.parse().map_err(Failure::usage)).collect()
}
