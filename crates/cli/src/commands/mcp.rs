//! `dormouse mcp`: memory for other agents. Standard output carries the protocol and nothing else.

use std::sync::Arc;

use dormouse_base::{Dir, Project, Settings, Switches};
use dormouse_serve::ClientMemories;
use dormouse_serve::mcp::{AccessToken, HttpListener, MemoryServer, MemorySource, serve_stdio};

use crate::args::McpArguments;
use crate::wiring::embedder;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_session;
use crate::wiring::print;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

pub(crate) async fn run(arguments: &McpArguments, world: &World) -> Result<Exit, Failure> {
    let mut server = server(world)?;
    if arguments.memory_tool && server.offers_memory() {
        server = server.with_memory_tool();
    }
    if arguments.http {
        return serve_http(server, arguments.port, world).await;
    }
    serve_stdio(server).await.map_err(Failure::failed)?;
    Ok(Exit::Done)
}

/// Serves until somebody ends it.
async fn serve_http(server: MemoryServer, port: u16, world: &World) -> Result<Exit, Failure> {
    let home = Dir::create(world.home()?)?;
    let token = AccessToken::kept_in(&home, &*world.ids)?;
    let door = HttpListener::on(port).await.map_err(Failure::failed)?;
    let file = home.path().join(AccessToken::file_name());
    print::note(&format!(
        "clients send the token in {}: Authorization: Bearer TOKEN",
        file.display()
    ));
    print::data_line(&door.url());
    tokio::select! {
        served = door.serve(server, token) => match served {
            Ok(never) => match never {},
            Err(error) => Err(Failure::failed(error)),
        },
        _ = tokio::signal::ctrl_c() => Ok(Exit::Done),
    }
}

/// What is served: this project's memory, unless memory is off.
fn server(world: &World) -> Result<MemoryServer, Failure> {
    let project = current_project()?;
    let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
    if !in_force.switches.is_on("memory") {
        return Ok(MemoryServer::off());
    }
    let (settings, switches) = (in_force.settings, in_force.switches);
    let place = Arc::new(Place { world: world.clone(), project, settings, switches });
    Ok(MemoryServer::new(MemorySource::new(move || {
        let place = Arc::clone(&place);
        Box::pin(async move { place.open().await.map_err(|failure| failure.message()) })
    })))
}

/// Where the memories are, for the time when somebody asks for them.
struct Place {
    world: World,
    project: Project,
    settings: Settings,
    switches: Switches,
}

impl Place {
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
            Failure::failed(anyhow::anyhow!("this project has no folder for memory"))
                .hint("`dormouse memory path` says where memory is")
        })?;
        let cache = self.world.home()?.join("cache");
        let memories = ClientMemories::new(stores, &cache, rules, Arc::clone(&self.world.clock));
        Ok(match embedder::welcome(&self.settings, &self.world) {
            Some(embedder) => memories.with_embedder(embedder),
            None => memories,
        })
    }
}
