//! `dormouse mcp login` and `logout`: the user's login at a remote server.

use dormouse_mcp_client::{LoginPrompt, ServerSpec, log_in, log_out};

use crate::args::Arguments;
use crate::message_catalog::msg;
use crate::wiring::browser::open_browser;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::mcp_servers::{read, tokens};
use crate::wiring::print;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

pub(super) async fn login(
    name: &str,
    arguments: &Arguments,
    world: &World,
) -> Result<Exit, Failure> {
    let spec = find(name, arguments, world)?;
    let open = |address: &str| {
        print::note(&msg!("mcp-login-open", name = name));
        print::data_line(address);
        open_browser(address, &world.environment);
    };
    let prompt = LoginPrompt { open: &open, done: msg!("mcp-login-page") };
    let issuer =
        log_in(&spec, &tokens(&world.home()?, &world.clock), prompt).await.map_err(|error| {
            Failure::failed(anyhow::anyhow!(msg!(
                "mcp-login-failed",
                name = name,
                reason = error.to_string()
            )))
        })?;
    print::note(&msg!("mcp-logged-in", name = name, issuer = issuer));
    Ok(Exit::Done)
}

pub(super) async fn logout(
    name: &str,
    arguments: &Arguments,
    world: &World,
) -> Result<Exit, Failure> {
    let spec = find(name, arguments, world)?;
    // What is stored here is removed in any case.
    let ended = log_out(&spec, &tokens(&world.home()?, &world.clock)).await.map_err(|error| {
        Failure::failed(anyhow::anyhow!(msg!(
            "mcp-logout-failed",
            name = name,
            reason = error.to_string()
        )))
    })?;
    print::note(&if ended {
        msg!("mcp-logged-out", name = name)
    } else {
        msg!("mcp-not-logged-in", name = name)
    });
    Ok(Exit::Done)
}

fn find(name: &str, arguments: &Arguments, world: &World) -> Result<ServerSpec, Failure> {
    let in_force = settings::load(world, None, &current_project()?, Untrusted::Tell)?;
    let read = read(&arguments.mcp_config, &in_force, world)?;
    let found = read.servers.into_iter().find(|spec| spec.name == name);
    found.ok_or_else(|| {
        Failure::usage(anyhow::anyhow!(msg!("mcp-unknown", name = name)))
            .hint(msg!("mcp-list-hint"))
    })
}
