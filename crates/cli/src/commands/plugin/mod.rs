//! `dormouse plugin`: installs, lists, trusts, enables and removes plugins (L-34).

mod list;
mod shown;

use std::io::IsTerminal;
use std::path::Path;

use dormouse_base::{Dir, RelPath};
use dormouse_extensions::plugins::{
    InstalledPlugin, PluginError, PluginSource, PluginStore, PluginTree, PluginTrust, fetch_plugin,
};

use crate::args::{InstallArguments, PluginCommand};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::plugins;
use crate::wiring::print;
use crate::wiring::world::World;

pub(crate) use list::rows;

pub(crate) async fn run(command: &PluginCommand, world: &World) -> Result<Exit, Failure> {
    let store = PluginStore::at(&world.home()?);
    match command {
        PluginCommand::Install(arguments) => install(arguments, &store, world).await?,
        PluginCommand::List { json } => list::run(&store, *json)?,
        PluginCommand::Trust { name, yes } => {
            let installed = store.get(name).map_err(failure)?;
            if installed.trust == PluginTrust::Trusted {
                print::data_line(&msg!("trust-already-given"));
                return Ok(Exit::Done);
            }
            shown::print_contents(&installed);
            if !decide_trust(&store, &installed, *yes)? {
                return Err(Failure::failed(anyhow::anyhow!(msg!("plugin-not-trusted")))
                    .hint(msg!("plugin-trust-yes-hint", name = name)));
            }
        }
        PluginCommand::Enable { name } => set_enabled(&store, name, true)?,
        PluginCommand::Disable { name } => set_enabled(&store, name, false)?,
        PluginCommand::Remove { name } => {
            store.remove(name).map_err(failure)?;
            print::data_line(&msg!("plugin-removed", name = name));
        }
    }
    Ok(Exit::Done)
}

fn set_enabled(store: &PluginStore, name: &str, enabled: bool) -> Result<(), Failure> {
    store.set_enabled(name, enabled).map_err(failure)?;
    print::data_line(&if enabled {
        msg!("plugin-enabled", name = name)
    } else {
        msg!("plugin-disabled", name = name)
    });
    let installed = store.get(name).map_err(failure)?;
    if enabled && !installed.in_use() {
        print::note(&format!("note: {}", plugins::why_not_used(&installed)));
    }
    Ok(())
}

async fn install(
    arguments: &InstallArguments,
    store: &PluginStore,
    world: &World,
) -> Result<(), Failure> {
    let here = std::env::current_dir().map_err(Failure::failed)?;
    let source = PluginSource::parse(&arguments.source, &here).map_err(failure)?;
    let tree = fetch_tree(&source, world).await?;
    let installed = store.install(&tree, &source, world.clock.now()).map_err(failure)?;
    print::data_line(&msg!(
        "plugin-installed",
        name = list::title(&installed),
        source = source.to_string()
    ));
    shown::print_contents(&installed);
    if installed.trust != PluginTrust::Trusted && !decide_trust(store, &installed, arguments.trust)?
    {
        print::note(&msg!("plugin-installed-untrusted", name = installed.plugin.name.as_str()));
    }
    Ok(())
}

/// Fetches a plugin into a temporary folder and reads it.
async fn fetch_tree(source: &PluginSource, world: &World) -> Result<PluginTree, Failure> {
    let home = Dir::create(world.home()?)?;
    let name = format!("tmp/plugin-{}", world.ids.next());
    let scratch = RelPath::new(Path::new(&name)).map_err(Failure::failed)?;
    let folder = home.create_folder(&scratch)?;
    let tree = fetch_plugin(source, folder.path(), &world.environment).await;
    home.remove_folder(&scratch)?;
    tree.map_err(failure)
}

/// Trusts the plugin with the user's consent, or without asking if `confirmed`. Returns whether it is trusted.
fn decide_trust(
    store: &PluginStore,
    installed: &InstalledPlugin,
    confirmed: bool,
) -> Result<bool, Failure> {
    if !confirmed {
        if !std::io::stdin().is_terminal() {
            return Ok(false);
        }
        print::note(&msg!("plugin-trust-confirm"));
        if !input::confirm() {
            return Ok(false);
        }
    }
    store.trust(installed.plugin.name.as_str(), &installed.digest).map_err(failure)?;
    print::data_line(&msg!("trust-given"));
    Ok(true)
}

fn failure(error: PluginError) -> Failure {
    let hint = match &error {
        PluginError::Unknown { .. } => Some(msg!("plugin-unknown-hint")),
        PluginError::Invalid(_) => Some(msg!("plugin-invalid-hint")),
        PluginError::File(error) => error.hint().map(ToOwned::to_owned),
        PluginError::NameTaken { .. }
        | PluginError::Fetch { .. }
        | PluginError::Changed(_)
        | PluginError::Busy(_) => None,
    };
    let failure = Failure::failed(error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
