//! `dormouse mcp`: the MCP server that offers memory to other agents. Standard output carries only the
//! protocol.

use std::sync::Arc;

use dormouse_base::{Dir, LayerSwitch, Project, Settings, Switches};
use dormouse_serve::ClientMemories;
use dormouse_serve::mcp::{AccessToken, HttpListener, MemoryServer, MemorySource, serve_stdio};

use crate::args::McpArguments;
use crate::message_catalog::msg;
use crate::wiring::embedder;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_session;
use crate::wiring::print;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

pub(crate) async fn run(arguments: &McpArguments, world: &World) -> Result<Exit, Failure> {
    let mut server = memory_server(world)?;
    if arguments.memory_tool && server.offers_memory() {
        server = server.with_memory_tool();
    }
    if arguments.http {
        return serve_http(server, arguments.port, world).await;
    }
    serve_stdio(server).await.map_err(Failure::failed)?;
    Ok(Exit::Done)
}

/// Serves until it is interrupted.
async fn serve_http(server: MemoryServer, port: u16, world: &World) -> Result<Exit, Failure> {
    let home = Dir::create(world.home()?)?;
    let token = AccessToken::load_or_create(&home, &*world.ids)?;
    let listener = HttpListener::on(port).await.map_err(Failure::failed)?;
    let file = home.path().join(AccessToken::file_name());
    print::note(&msg!("mcp-token-note", path = file.display().to_string()));
    print::data_line(&listener.url());
    tokio::select! {
        served = listener.serve(server, token) => match served {
            Ok(never) => match never {},
            Err(error) => Err(Failure::failed(error)),
        },
        _ = tokio::signal::ctrl_c() => Ok(Exit::Done),
    }
}

/// A server for this project's memory, or an empty one if memory is off.
fn memory_server(world: &World) -> Result<MemoryServer, Failure> {
    let project = current_project()?;
    let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
    if !in_force.switches.is_on(LayerSwitch::Memory) {
        return Ok(MemoryServer::off());
    }
    let opener = Arc::new(MemoryOpener {
        world: world.clone(),
        project,
        settings: in_force.settings,
        switches: in_force.switches,
    });
    Ok(MemoryServer::new(MemorySource::new(move || {
        let opener = Arc::clone(&opener);
        Box::pin(async move { opener.open().await.map_err(|failure| failure.message().into()) })
    })))
}

/// Opens the memories on the first request.
struct MemoryOpener {
    world: World,
    project: Project,
    settings: Settings,
    switches: Switches,
}

impl MemoryOpener {
    async fn open(&self) -> Result<ClientMemories, Failure> {
        let set = (&self.settings, &self.switches);
        let stores = memory_session::open(&self.world, &self.project, set).await??;
        let rules = memory_session::rules(
            &stores.iter(),
            &self.world,
            &self.switches,
            memory_session::saving(&self.switches),
        );
        let rules = rules.ok_or_else(|| {
            Failure::failed(anyhow::anyhow!(msg!("mcp-no-memory-folder")))
                .hint(msg!("mcp-no-memory-folder-hint"))
        })?;
        let cache = self.world.home()?.join("cache");
        let embedder = embedder::embedder_or_note(&self.settings, &self.world);
        let clock = Arc::clone(&self.world.clock);
        Ok(ClientMemories::new(stores, &cache, embedder, rules, clock))
    }
}
