//! Changes one settings file.
//!
//! Invariant: the new text is valid and adds no unknown keys; otherwise nothing is written.

use std::path::{Path, PathBuf};

use dormouse_base::{
    Dir, Project, RelPath, SettingKey, Settings, SettingsLayer, SettingsSource, TrustState,
    TrustStore, add_to_list, is_in_list, set_value, unset_value,
};
use dormouse_hooks::{HookLayer, HookOrigin, HookProblem, Hooks};

use dormouse_memory::MemoryGuard;
use dormouse_permissions::PermissionRule;
use serde_json::Value;

use crate::args::SettingsScope;
use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::git_exclude::keep_from_git;
use crate::wiring::permissions;
use crate::wiring::print;
use crate::wiring::settings::{self, EffectiveSettings};
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

/// The result of a change.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) file: PathBuf,
    /// Whether the file was changed.
    pub(crate) made: bool,
}

fn source_of(scope: SettingsScope) -> SettingsSource {
    match scope {
        SettingsScope::User => SettingsSource::User,
        SettingsScope::Project => SettingsSource::Project,
        SettingsScope::Local => SettingsSource::Local,
    }
}

/// The settings file of a `--scope`.
pub(crate) fn file_of(
    in_force: &EffectiveSettings,
    scope: SettingsScope,
) -> Result<PathBuf, Failure> {
    in_force.places.file(source_of(scope)).ok_or_else(|| {
        Failure::usage(anyhow::anyhow!(msg!("settings-no-project")))
            .hint(msg!("settings-no-project-hint"))
    })
}

/// Sets a key in a settings file.
pub(crate) async fn put_in(
    world: &World,
    key: &str,
    value: &str,
    scope: SettingsScope,
) -> Result<Change, Failure> {
    let text = Value::from(value).to_string();
    let path = SettingKey::parse(key);
    let edit = |old: &str| {
        // JSON where that is valid, else a string: `true` for a switch, `5` in a model name.
        let first = if serde_json::from_str::<Value>(value).is_ok() { value } else { &text };
        let changed = set_value(old, &path, first).map_err(Failure::usage)?;
        if Settings::parse("", changed.as_bytes()).is_ok() {
            return Ok(changed);
        }
        let as_string = set_value(old, &path, &text).map_err(Failure::usage)?;
        if Settings::parse("", as_string.as_bytes()).is_ok() {
            return Ok(as_string);
        }
        // The error is about the value as the user wrote it, which is in no file yet.
        if Settings::parse("", old.as_bytes()).is_ok()
            && let Err(error) = Settings::parse("", changed.as_bytes())
        {
            let text = msg!("config-invalid-value", key = key, problem = error.problem());
            return Err(Failure::usage(anyhow::anyhow!(text)).hint(msg!("config-unchanged")));
        }
        Ok(changed)
    };
    change(world, scope, edit).await
}

/// Removes a key from a settings file; a file without it stays unchanged.
pub(crate) async fn take_out(
    world: &World,
    key: &str,
    scope: SettingsScope,
) -> Result<Change, Failure> {
    change(world, scope, |old| unset_value(old, &SettingKey::parse(key)).map_err(Failure::usage))
        .await
}

/// Adds a permission rule to those that allow.
pub(crate) async fn allow(
    rule: &PermissionRule,
    scope: SettingsScope,
    world: &World,
) -> Result<Change, Failure> {
    let list = ["permissions", "allow"].map(str::to_owned);
    let edit = |old: &str| {
        let added = add_to_list(old, &list, &Value::from(rule.to_string()));
        Ok(added.map_err(Failure::usage)?.map_or_else(|| old.to_owned(), |added| added.text))
    };
    change(world, scope, edit).await
}

/// Changes a settings file.
async fn change(
    world: &World,
    scope: SettingsScope,
    edit: impl FnOnce(&str) -> Result<String, Failure>,
) -> Result<Change, Failure> {
    let project = current_project()?;
    let before = settings::load(world, None, &project, Untrusted::Pass)?;
    let (source, file) = (source_of(scope), file_of(&before, scope)?);
    let old = read(&file)?;
    let new = edit(&old)?;
    if new == old {
        return Ok(Change { file, made: false });
    }
    check(&file, &old, &new)?;
    check_meaning(source, &file, &new)?;
    let (folder, name) = parts(&file)?;
    Dir::create(folder)?.rewrite(&name, new.as_bytes())?;
    keep_trust(world, &project, &before, source)?;
    if source == SettingsSource::Local {
        keep_from_git(&file, &project, &world.environment).await;
    }
    Ok(Change { file, made: true })
}

/// The text of a file; empty if it does not exist.
fn read(file: &Path) -> Result<String, Failure> {
    let (folder, name) = parts(file)?;
    match Dir::open(folder).and_then(|dir| dir.read(&name)) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.is_not_found() => Ok(String::new()),
        Err(error) => Err(error.into()),
    }
}

fn parts(file: &Path) -> Result<(&Path, RelPath), Failure> {
    let parts = file.parent().zip(file.file_name());
    let (folder, name) = parts.ok_or_else(|| {
        Failure::failed(anyhow::anyhow!("{} is not a settings file", file.display()))
    })?;
    Ok((folder, RelPath::new(name).map_err(Failure::failed)?))
}

/// Checks rules, hooks, and keys that a project may not set.
fn check_meaning(source: SettingsSource, file: &Path, new: &str) -> Result<(), Failure> {
    let nothing = |failure: Failure| failure.hint(msg!("nothing-was-changed-hint"));
    let layer = SettingsLayer::parse(source, file, new.as_bytes())
        .map_err(Failure::usage)
        .map_err(nothing)?;
    if let Some(key) = layer.withheld.forbidden.first() {
        let error = anyhow::anyhow!("`{key}` cannot be set by a project");
        return Err(nothing(Failure::usage(error)));
    }
    let (settings, _) = Settings::parse(file, new.as_bytes()).map_err(Failure::usage)?;
    permissions::rules(&settings.permissions).map_err(nothing)?;
    let layer = HookLayer::of_json(HookOrigin::Settings(source), file, new);
    match Hooks::read([layer]).1.into_iter().next() {
        None => Ok(()),
        // The place in the file is left out: the text was not written.
        Some(HookProblem { json_path, problem, .. }) => {
            Err(nothing(Failure::usage(anyhow::anyhow!("`{json_path}`: {problem}"))))
        }
    }
}

/// Keeps the trust of a project whose settings the user changes with this program.
fn keep_trust(
    world: &World,
    project: &Project,
    before: &EffectiveSettings,
    source: SettingsSource,
) -> Result<(), Failure> {
    if !source.is_project() {
        return Ok(());
    }
    let store = TrustStore::new(&world.home()?);
    let layers = before.places.read().map_err(Failure::usage)?;
    let stack =
        settings::stack(layers, &before.project_skills, &before.project_agents, &before.mcp_file);
    match (before.trust, store.state(project, &stack)) {
        (TrustState::Trusted, TrustState::Changed)
        | (TrustState::NotNeeded, TrustState::Undecided | TrustState::Changed) => {
            store.grant(project, &stack, world.clock.now())?;
            print::note(&msg!("trust-kept"));
        }
        _ => {}
    }
    Ok(())
}

fn check(file: &Path, old: &str, new: &str) -> Result<(), Failure> {
    let known =
        Settings::parse(file, old.as_bytes()).map(|(_, warnings)| warnings).unwrap_or_default();
    let (_, warnings) = Settings::parse(file, new.as_bytes())
        .map_err(|error| Failure::usage(error).hint(msg!("nothing-was-changed-hint")))?;
    let Some(unknown) = warnings.into_iter().find(|warning| !known.contains(warning)) else {
        return Ok(());
    };
    let failure = Failure::usage(anyhow::anyhow!(msg!("config-unknown", key = unknown.key)));
    let failure = match unknown.suggestion {
        Some(name) => failure.hint(msg!("did-you-mean", name = name)),
        None => failure,
    };
    Err(failure.hint(msg!("config-unknown-hint")))
}

/// Whether all lines of a guard are in its settings file, and the file is valid.
pub(crate) fn guard_is_installed(guard: &MemoryGuard) -> bool {
    let text = read(&guard.settings).unwrap_or_default();
    // Of a file that does not parse, no settings are in effect.
    Settings::parse(&guard.settings, text.as_bytes()).is_ok()
        && guard.lines.iter().all(|line| is_in_list(&text, &line.list, &line.value))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a file that somebody else wrote")]
mod tests {
    use dormouse_memory::{GuardLine, LineOrigin};
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_guard_needs_its_lines_in_a_valid_file() {
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("settings.json");
        let guard = MemoryGuard {
            memory: folder.path().join("no-npm.md"),
            name: "No npm".to_owned(),
            settings: settings.clone(),
            lines: vec![GuardLine {
                list: vec!["permissions".to_owned(), "deny".to_owned()],
                value: "Bash(npm:*)".into(),
                origin: LineOrigin::Ours,
            }],
            since: Timestamp::UNIX_EPOCH,
        };
        assert!(!guard_is_installed(&guard));
        for (text, is_installed) in [
            (r#"{"permissions":{"deny":["Bash(npm:*)"]}}"#, true),
            (r#"{"permissions":{"deny":[]}}"#, false),
            (r#"{"model":5,"permissions":{"deny":["Bash(npm:*)"]}}"#, false),
        ] {
            std::fs::write(&settings, text).unwrap();
            assert_eq!(guard_is_installed(&guard), is_installed, "{text}");
        }
    }
}
