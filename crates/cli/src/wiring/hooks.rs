//! The hooks in force, from every layer of settings and from plugins.

use dormouse_base::{SettingKey, SettingsSource, SettingsStack};
use dormouse_hooks::{HookLayer, HookOrigin, HookProblem, Hooks, InactiveReason};

use crate::wiring::exit::Failure;
use crate::wiring::plugins;
use crate::wiring::print;
use crate::wiring::settings::EffectiveSettings;
use crate::wiring::world::{World, is_bare};

/// The hooks in force; unusable ones are reported.
pub(crate) fn in_force(in_force: &EffectiveSettings, world: &World) -> Result<Hooks, Failure> {
    let (hooks, problems) = read(in_force, world)?;
    for problem in problems {
        print::note(&format!("warning: a hook will not run: {problem}"));
    }
    Ok(hooks)
}

pub(crate) fn read(
    in_force: &EffectiveSettings,
    world: &World,
) -> Result<(Hooks, Vec<HookProblem>), Failure> {
    let bare = is_bare(&world.environment)?;
    let extensions_inactive = extensions_inactive(in_force, bare);
    let of_plugins = plugins::hook_layers(&in_force.plugins, extensions_inactive);
    let (hooks, problems) = Hooks::read(layers(in_force, bare).chain(of_plugins));
    let files = SettingsSource::ALL.into_iter().filter_map(|source| {
        let file = in_force.places.file(source)?;
        Some((source, file))
    });
    Ok((hooks.watching(files.collect()).extensions_inactive(extensions_inactive), problems))
}

/// The hooks of each settings file, and whether they run.
fn layers(in_force: &EffectiveSettings, bare: bool) -> impl Iterator<Item = HookLayer> {
    in_force.stack.layers().iter().map(move |layer| {
        let inactive = if bare {
            Some(InactiveReason::Bare)
        } else if switched_off(&in_force.stack, layer.source) {
            Some(InactiveReason::Disabled)
        } else if is_managed_only(in_force) && layer.source != SettingsSource::Managed {
            Some(InactiveReason::ManagedOnly)
        } else if layer.withheld.needs_trust.get("hooks").is_some() {
            Some(InactiveReason::NotTrusted)
        } else {
            None
        };
        let origin = HookOrigin::Settings(layer.source);
        HookLayer::of_json(origin, &layer.path, &*layer.text).inactive(inactive)
    })
}

/// Why hooks of plugins, agents and skills do not run, where they do not.
fn extensions_inactive(in_force: &EffectiveSettings, bare: bool) -> Option<InactiveReason> {
    if bare {
        Some(InactiveReason::Bare)
    } else if switched_off(&in_force.stack, SettingsSource::User) {
        Some(InactiveReason::Disabled)
    } else if is_managed_only(in_force) {
        Some(InactiveReason::ManagedOnly)
    } else {
        None
    }
}

fn is_managed_only(in_force: &EffectiveSettings) -> bool {
    in_force.settings.allow_managed_hooks_only == Some(true)
}

/// Whether `disableAllHooks` reaches the hooks of a layer: a project turns off its own, a user all but the
/// organisation's, the organisation all.
fn switched_off(stack: &SettingsStack, of: SettingsSource) -> bool {
    let key = SettingKey::of(["disableAllHooks"]);
    let off = |source: SettingsSource| stack.value_from(source, &key) == Some(&true.into());
    let by_project = off(SettingsSource::Project) || off(SettingsSource::Local);
    let by_person = off(SettingsSource::User) || off(SettingsSource::CommandLine);
    off(SettingsSource::Managed)
        || (by_person && of != SettingsSource::Managed)
        || (by_project && of.is_project())
}
