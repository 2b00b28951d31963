//! The demo's last scene: two people on two machines, and the server of their team.

use dormouse_base::{Dir, Settings, SettingsStack, Switches, find_project};
use dormouse_conversation::Block;
use dormouse_memory::{ChangeOrigin, Expected, MemoryFile, Store, StoreScope};
use dormouse_model::script::ScriptedTurn;
use dormouse_team::{
    DatabaseAddress, MembershipFile, NewToken, PersonName, PlainHttp, RepositoryName,
    ServerOptions, ServerUrl, TeamClient, TeamRole, TeamServer, TeamStore, TeamSync, TeamToken,
};
use tokio_util::sync::CancellationToken;

use crate::commands::team::report;
use crate::wiring::exit::Failure;
use crate::wiring::memory_directories::{DirectoryAccess, MemoryDirectories};
use crate::wiring::world::World;

use super::narration::{explain, line, show_excerpt};
use super::playback::play;
use super::sandbox::DemoSandbox;

const MEMORY: &str = "---\nname: CI runner\ndescription: which Docker the CI runner needs\ntype: project\n---\n\
    The CI runner needs Docker 24: the older one cannot mount the cache.\n";

/// What one member saves, the other's session recalls, with the author's name.
pub(super) async fn two_people(ana: &DemoSandbox, world: &World) -> Result<(), Failure> {
    line("Scene 9: a team");
    line("Ana and Ben have cloned the same repository. Their team runs a server of its own.");
    let ben = DemoSandbox::create(world)?;
    let database = DatabaseAddress::File(ana.root.join("team.db"));
    let store = TeamStore::open(&database).await.map_err(Failure::failed)?;
    let address = std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, 0));
    let server = TeamServer::bind(address, None).map_err(Failure::failed)?;
    let url = ServerUrl::parse(&server.url(), PlainHttp::LocalOnly).map_err(Failure::failed)?;
    let of_ana = Member::join(ana, &store, &url, "Ana").await?;
    let of_ben = Member::join(&ben, &store, &url, "Ben").await?;
    let stop = CancellationToken::new();
    let clock = std::sync::Arc::clone(&ana.world.clock);
    let options = ServerOptions::new(clock, std::sync::Arc::new(|_| {}));
    let scene = async {
        let shown = share(&of_ana, &of_ben, &ben).await;
        stop.cancel();
        shown
    };
    tokio::join!(server.serve(store, options, stop.clone()), scene).1
}

async fn share(ana: &Member, ben: &Member, home: &DemoSandbox) -> Result<(), Failure> {
    line("\nana> dormouse memory add \"CI runner\" --scope team …\n");
    let file = MemoryFile::new("ci-runner.md").map_err(Failure::failed)?;
    let by = ChangeOrigin::user("demo");
    ana.store.change(&by, |plan| plan.write(&file, MEMORY.as_bytes(), &Expected::Absent))?;
    for said in ana.sync().await? {
        line(&format!("  {said}"));
    }
    for said in ben.sync().await? {
        line(&format!("  Ben's session: {said}"));
    }
    let script = vec![ScriptedTurn::new().text("Docker 24, says Ana's note.")];
    let (engine, _) = play(home, script, "Which Docker does the CI runner need?").await?;
    let said = engine.conversation().messages().first().map(|message| message.blocks.clone());
    let shown = said.unwrap_or_default().iter().filter_map(Block::as_text).nth(1);
    show_excerpt(shown.unwrap_or_default().trim());
    explain(
        "What others wrote informs the model and never instructs it; nothing with a secret is sent.",
    );
    Ok(())
}

/// A person's computer, as their session syncs it.
struct Member {
    store: Store,
    client: TeamClient,
    membership: MembershipFile,
}

impl Member {
    async fn join(
        sandbox: &DemoSandbox,
        team: &TeamStore,
        url: &ServerUrl,
        name: &str,
    ) -> Result<Self, Failure> {
        let token = TeamToken::generate().map_err(Failure::failed)?;
        let person = PersonName::new(name).map_err(Failure::failed)?;
        let new = NewToken { hash: token.hash(), person, role: TeamRole::Write, repository: None };
        team.add_token(new, sandbox.world.clock.now(), None).await.map_err(Failure::failed)?;
        let repository = RepositoryName::new("host.example/demo/plan").map_err(Failure::failed)?;
        let client = TeamClient::new(url.clone(), token, repository).map_err(Failure::failed)?;
        let project = find_project(&sandbox.project())?;
        let switches = Switches::resolve(&SettingsStack::default(), &sandbox.world.environment);
        let set = (&Settings::default(), &switches.map_err(Failure::usage)?);
        let write = DirectoryAccess::Write(StoreScope::Team);
        let found = MemoryDirectories::find(&sandbox.world, &project, set, write).await?;
        let missing = || Failure::failed(anyhow::anyhow!("the demo has no team memory"));
        let store = found.open(found.of(StoreScope::Team).ok_or_else(missing)?)?;
        let membership = MembershipFile::new(Dir::create(sandbox.root.join("membership"))?);
        Ok(Self { store, client, membership })
    }

    async fn sync(&self) -> Result<Vec<String>, Failure> {
        let sync = TeamSync::new(&self.store, &self.client, &self.membership);
        Ok(report::lines(&sync.run().await.map_err(Failure::failed)?))
    }
}
