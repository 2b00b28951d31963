//! `dormouse ui`: the viewer in a browser (U-13). It needs no model and no API key.

use std::path::Path;

use dormouse_base::{Dir, FileError, Project, ProjectSlug, names};
use dormouse_conversation::metrics::MetricsLog;
use dormouse_engine::SessionFolder;
use dormouse_team::TeamClient;
use dormouse_web::{
    SessionProfile, SessionProfiler, TranscriptSource, ViewerError, ViewerMode, ViewerServer,
    ViewerSources, ViewerStore,
};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::UiArguments;
use crate::message_catalog::msg;
use crate::wiring::browser::{BrowserStart, open_browser};
use crate::wiring::embedder;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_stores::{OpenedStores, ScopedStore};
use crate::wiring::print;
use crate::wiring::session_lookup::metrics_project;
use crate::wiring::session_profile::{ProfileAssumptions, ProfiledSession};
use crate::wiring::settings;
use crate::wiring::team::JoinedTeam;
use crate::wiring::team_membership::membership;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::World;

pub(crate) async fn run(arguments: &UiArguments, world: &World) -> Result<Exit, Failure> {
    let server = ViewerServer::bind(arguments.port, &*world.ids).await.map_err(Failure::failed)?;
    let url = server.entry_url();
    let sources = sources(world).await?;
    let mode = if arguments.read_only { ViewerMode::ReadOnly } else { ViewerMode::Editing };
    print::data_line(&url);
    print::note(&msg!("ui-running"));
    if !arguments.no_open && open_browser(&url, &world.environment) == BrowserStart::Failed {
        print::note(&msg!("ui-open-it"));
    }
    let mut ended = signal(SignalKind::terminate()).map_err(|error| {
        Failure::failed(anyhow::anyhow!(msg!("signals-failed", error = error.to_string())))
    })?;
    tokio::select! {
        never = server.serve(sources, mode) => match never {},
        _ = tokio::signal::ctrl_c() => Ok(Exit::Done),
        _ = ended.recv() => Ok(Exit::Done),
    }
}

/// What the viewer shows: the memories, sessions and figures of this project.
async fn sources(world: &World) -> Result<ViewerSources, Failure> {
    let embedder = |settings: &_| Ok(embedder::embedder_or_note(settings, world));
    let OpenedStores { list, reachable, directories, project } =
        OpenedStores::open(world, None, embedder).await?;
    let stores = list.into_iter().map(|ScopedStore { scope, store }| ViewerStore { scope, store });
    let home = world.home()?;
    Ok(ViewerSources {
        stores: stores.collect(),
        memories: reachable,
        sessions: session_sources(&home, &project, world)?,
        metrics: MetricsLog::folder_in(&home),
        project_key: metrics_project(&home)?,
        project: Dir::open(&project.checkout)?,
        clock: std::sync::Arc::clone(&world.clock),
        profiler: Box::new(SettingsProfiler(world.clone())),
        // Most projects have no team: that is known without looking for its directories again.
        team: match membership(&directories) {
            Some(_) => team(&project, world).await,
            None => None,
        },
    })
}

/// The client of the project's team. Without one that works, the rest of the viewer is worth showing.
async fn team(project: &Project, world: &World) -> Option<TeamClient> {
    let in_force = settings::load(world, None, project, Untrusted::Pass).ok()?;
    let set = (&in_force.settings, &in_force.switches);
    match JoinedTeam::find(world, project, set).await {
        Ok(joined) => joined.map(|joined| joined.client),
        Err(failure) => {
            print::note(&msg!("note-line", text = failure.message()));
            None
        }
    }
}

/// The folders of transcripts: the program's own, and Claude Code's of the same project.
fn session_sources(
    home: &Path,
    project: &Project,
    world: &World,
) -> Result<Vec<TranscriptSource>, FileError> {
    let mut sources = Vec::new();
    if let Some(folder) = SessionFolder::existing(home, project)? {
        sources.push(TranscriptSource { name: "dormouse", folder: folder.dir().clone() });
    }
    let slug = ProjectSlug::of(&project.folder);
    let claude = world
        .environment
        .path(names::USER_HOME)
        .map(|home| home.join(".claude/projects").join(slug.as_str()));
    match claude.map(|path| Dir::open(&path)) {
        Some(Ok(folder)) => sources.push(TranscriptSource { name: "claude", folder }),
        Some(Err(error)) if !error.is_not_found() => return Err(error),
        Some(Err(_)) | None => {}
    }
    Ok(sources)
}

/// Profiles sessions with the prices and the window of the settings.
struct SettingsProfiler(World);

impl SessionProfiler for SettingsProfiler {
    fn profile(&self, transcript: &Path) -> Result<SessionProfile, ViewerError> {
        let assumptions = ProfileAssumptions::default();
        let profiled = ProfiledSession::of_transcript(transcript.to_owned(), assumptions, &self.0);
        profiled
            .map(ProfiledSession::into_page)
            .map_err(|failure| ViewerError::Profile(failure.message()))
    }
}
