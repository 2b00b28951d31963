//! `dormouse plugin`: install, list, trust, switch, remove (L-34). What plugins bring goes to a conversation by `wire`.

mod list;
mod shown;

use std::io::IsTerminal;
use std::path::Path;

use dormouse_base::{Dir, RelPath};
use dormouse_engine::plugins::{
    Installed, PluginError, PluginSource, PluginStore, PluginTrust, Tree, fetch,
};

use crate::args::{InstallArguments, PluginCommand};
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
            if installed.trust == PluginTrust::Given {
                print::data_line("already trusted, as it is now");
                return Ok(Exit::Done);
            }
            shown::tell(&installed);
            if !settle_trust(&store, &installed, *yes)? {
                return Err(Failure::failed(anyhow::anyhow!("not trusted")).hint(format!(
                    "`dormouse plugin trust {name} --yes` trusts what is listed above"
                )));
            }
        }
        PluginCommand::Enable { name } => switch(&store, name, true)?,
        PluginCommand::Disable { name } => switch(&store, name, false)?,
        PluginCommand::Remove { name } => {
            store.remove(name).map_err(failure)?;
            print::data_line(&format!("{name} is removed"));
        }
    }
    Ok(Exit::Done)
}

fn switch(store: &PluginStore, name: &str, enabled: bool) -> Result<(), Failure> {
    store.set_enabled(name, enabled).map_err(failure)?;
    print::data_line(&format!("{name} is {}", if enabled { "on" } else { "off" }));
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
    let source = PluginSource::of(&arguments.source, &here).map_err(failure)?;
    let tree = get(&source, world).await?;
    let installed = store.install(&tree, &source, world.clock.now()).map_err(failure)?;
    print::data_line(&format!("{} is installed from {source}", list::title(&installed)));
    shown::tell(&installed);
    if installed.trust != PluginTrust::Given && !settle_trust(store, &installed, arguments.trust)? {
        let name = &installed.plugin.name;
        print::note(&format!(
            "Not trusted: nothing of it is used. `dormouse plugin trust {name}` asks again, `dormouse plugin remove {name}` removes it."
        ));
    }
    Ok(())
}

/// Gets it, by way of a folder that is gone afterwards.
async fn get(source: &PluginSource, world: &World) -> Result<Tree, Failure> {
    let home = Dir::create(world.home()?)?;
    let name = format!("tmp/plugin-{}", world.ids.next());
    let scratch = RelPath::new(Path::new(&name)).map_err(Failure::failed)?;
    let folder = home.create_folder(&scratch)?;
    let tree = fetch(source, folder.path(), &world.environment).await;
    home.remove_folder(&scratch)?;
    tree.map_err(failure)
}

/// Trusts it if that was said or if the person says so; whether it is trusted.
fn settle_trust(store: &PluginStore, installed: &Installed, said: bool) -> Result<bool, Failure> {
    if !said {
        if !std::io::stdin().is_terminal() {
            return Ok(false);
        }
        print::note("Trust this plugin with it? Say yes only if you know who wrote it. [y/N]");
        if !input::says_yes() {
            return Ok(false);
        }
    }
    store.trust(installed.plugin.name.as_str(), &installed.digest).map_err(failure)?;
    print::data_line("trusted");
    Ok(true)
}

fn failure(error: PluginError) -> Failure {
    let hint = match &error {
        PluginError::Unknown { .. } => Some("`dormouse plugin list` lists them"),
        PluginError::NoPlugin(_) => Some("mend it, then install it again"),
        PluginError::File(error) => error.hint(),
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
