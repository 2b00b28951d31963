//! Team memory while a session is open (T-8, T-15): a sync at its start, then whenever a file or the server changed.
//!
//! Invariant: nothing here delays a turn or changes a request that was sent; what came in is found by the next message.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use dormouse_base::{Project, Settings, Switches};
use dormouse_engine::{BackgroundTask, JobEnd, JobStatus, Jobs, SessionMemory, TurnSnapshot};
use dormouse_hooks::{HookNotifier, PulledMemory, TeamSyncedEvent};
use dormouse_memory::{MemoryFile, ScanCache, Store};
use dormouse_team::{NewsStream, SyncError, SyncReport, TeamSync};
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::team::{JoinedTeam, layers_off};
use crate::wiring::team_membership::known_membership;
use crate::wiring::world::World;

/// How often the directory is looked at; a change is sent once it has been still for so long.
const DEBOUNCE: Duration = Duration::from_secs(2);
/// Looks at the directory between two conditional requests, where no news comes.
const LOOKS_WITHOUT_NEWS: u32 = 150;
/// Looks between two attempts to listen for news.
const LOOKS_WITHOUT_STREAM: u32 = 15;

/// The job that sends what a turn has changed.
pub(crate) const TEAM_SYNC: &str = "team_sync";

/// Keeps the team's directory in sync while it exists.
pub(crate) struct TeamTask {
    session: Arc<SessionTeam>,
    _running: JoinSet<()>,
}

/// A session and its team: what both the loop and the jobs know.
struct SessionTeam {
    /// None until the team is found; it stays none in a project without one.
    team: watch::Sender<Option<Arc<JoinedTeam>>>,
    /// Whether there is a membership, so that the team will be found.
    is_joined: bool,
    /// The files as they were after the last sync.
    synced: Mutex<Option<Listing>>,
    news: TeamNews,
}

/// What came in and went out. It reaches the user and the hooks as soon as the session is known.
#[derive(Default)]
struct TeamNews {
    told: OnceLock<(Arc<SessionMemory>, HookNotifier)>,
    early: Mutex<(Vec<String>, Vec<TeamSyncedEvent>)>,
}

impl TeamNews {
    fn add(&self, notice: String) {
        match self.told.get() {
            Some((memory, _)) => memory.notices().add(notice),
            None => self.early.lock().unwrap_or_else(PoisonError::into_inner).0.push(notice),
        }
    }

    fn fire(&self, event: TeamSyncedEvent) {
        match self.told.get() {
            Some((_, hooks)) => hooks.team_synced(&event),
            None => self.early.lock().unwrap_or_else(PoisonError::into_inner).1.push(event),
        }
    }

    fn pass_on(&self, snapshot: &TurnSnapshot<'_>) {
        let Some(memory) = snapshot.memory() else { return };
        self.told
            .get_or_init(|| (Arc::clone(memory), snapshot.fork_source().hook_notifier().clone()));
        let early = std::mem::take(&mut *self.early.lock().unwrap_or_else(PoisonError::into_inner));
        early.0.into_iter().for_each(|notice| self.add(notice));
        early.1.into_iter().for_each(|event| self.fire(event));
    }

    fn report(&self, team: &JoinedTeam, report: &SyncReport) {
        if report.brought_news() {
            let pulled = report.pulled.iter();
            let pulled = pulled.map(|entry| format!("{} ({})", entry.name, entry.author));
            let removed = report.removed.iter().map(|(name, _)| format!("-{name}"));
            let names: Vec<String> = pulled.chain(removed).take(5).collect();
            let count = report.pulled.len() + report.removed.len();
            self.add(msg!("team-session-news", count = count, names = names.join(", ")));
        }
        for held in &report.held_back {
            let (file, reason) = (held.file.clone(), held.reason.clone());
            self.add(msg!("team-held-back", file = file, reason = reason));
        }
        if let Some(off) = &report.switched_off {
            self.add(msg!("team-session-layers", layers = layers_off(off)));
        }
        self.report_to_hooks(team, report);
    }

    fn report_to_hooks(&self, team: &JoinedTeam, report: &SyncReport) {
        let pulled = report.pulled.iter().map(|entry| PulledMemory {
            memory: entry.name.to_string(),
            author: entry.author.to_string(),
        });
        let event = TeamSyncedEvent {
            repository: team.membership.repository.to_string(),
            pulled: pulled.collect(),
            removed: report.removed.iter().map(|(name, _)| name.to_string()).collect(),
            pushed: report.pushed.iter().chain(&report.proposed).map(ToString::to_string).collect(),
        };
        if !(event.pulled.is_empty() && event.removed.is_empty() && event.pushed.is_empty()) {
            self.fire(event);
        }
    }
}

impl TeamTask {
    /// Starts at once, in the background. Without a joined team it ends by itself.
    pub(crate) fn start(
        world: &World,
        project: &Project,
        settings: &Settings,
        switches: &Switches,
    ) -> Result<Self, Failure> {
        let session = Arc::new(SessionTeam {
            team: watch::Sender::new(None),
            is_joined: known_membership(project, world, settings)?.is_some(),
            synced: Mutex::default(),
            news: TeamNews::default(),
        });
        let mut running = JoinSet::new();
        let (world, project) = (world.clone(), project.clone());
        let (settings, switches) = (settings.clone(), switches.clone());
        let open = Arc::clone(&session);
        running.spawn(async move {
            match Box::pin(JoinedTeam::find(&world, &project, (&settings, &switches))).await {
                Ok(Some(team)) => {
                    let team = Arc::new(team);
                    open.team.send_replace(Some(Arc::clone(&team)));
                    Box::pin(keep_in_sync(&team, &open)).await;
                }
                Ok(None) => {}
                Err(failure) => open.news.add(msg!("team-session-off", reason = failure.message())),
            }
        });
        Ok(Self { session, _running: running })
    }

    /// Sends what the turn has changed, without waiting until the directory is still: the program may be about to end.
    fn send_changes(&self, jobs: &Jobs) {
        let session = &self.session;
        let team = session.team.borrow().clone();
        let is_changed = match &team {
            Some(team) => session.is_changed(&listing(&team.store, &mut ScanCache::default())),
            None => session.is_joined,
        };
        if !is_changed || jobs.is_running(TEAM_SYNC) {
            return;
        }
        let session = Arc::clone(session);
        jobs.spawn(TEAM_SYNC, move |_| async move {
            let mut found = session.team.subscribe();
            let Ok(team) = found.wait_for(Option::is_some).await.map(|team| team.clone()) else {
                return JobEnd::of(JobStatus::Skipped);
            };
            let Some(team) = team else { return JobEnd::of(JobStatus::Skipped) };
            match session.sync(&team, &mut ScanCache::default()).await {
                Ok(()) => JobEnd::of(JobStatus::Completed),
                Err(error) => JobEnd::of(JobStatus::Failed(error.to_string())),
            }
        });
    }
}

impl BackgroundTask for TeamTask {
    fn on_idle(&self, snapshot: &TurnSnapshot<'_>) {
        self.session.news.pass_on(snapshot);
        if snapshot.is_turn_end() {
            self.send_changes(snapshot.jobs());
        }
    }

    fn on_open(&self, snapshot: &TurnSnapshot<'_>) {
        self.session.news.pass_on(snapshot);
    }
}

/// Names, times and sizes of the files: whether something changed, without reading it.
type Listing = Vec<(MemoryFile, Timestamp, u64)>;

fn listing(store: &Store, cache: &mut ScanCache) -> Listing {
    let scan = store.scan(cache).unwrap_or_default();
    let mut files: Listing = scan
        .memories
        .iter()
        .map(|memory| (memory.file.clone(), memory.modified, memory.size))
        .collect();
    files.sort();
    files
}

impl SessionTeam {
    fn is_changed(&self, now: &Listing) -> bool {
        self.synced.lock().unwrap_or_else(PoisonError::into_inner).as_ref() != Some(now)
    }

    /// Pushes and pulls once, and says what came of it.
    async fn sync(&self, team: &JoinedTeam, cache: &mut ScanCache) -> Result<(), SyncError> {
        let before = listing(&team.store, cache);
        let result = team.sync().await;
        let synced = match &result {
            Ok(report) if report.brought_news() => listing(&team.store, cache),
            Ok(_) | Err(_) => before,
        };
        *self.synced.lock().unwrap_or_else(PoisonError::into_inner) = Some(synced);
        self.news.report(team, &result?);
        Ok(())
    }
}

async fn keep_in_sync(team: &JoinedTeam, session: &SessionTeam) {
    let mut cache = ScanCache::default();
    let mut news = None;
    let mut is_told = false;
    loop {
        match session.sync(team, &mut cache).await {
            Ok(()) => is_told = false,
            Err(error) => {
                if !std::mem::replace(&mut is_told, true) {
                    session.news.add(msg!("team-session-failed", reason = error.to_string()));
                }
                // A refusal that will not go away: no further tries until a file is removed (T-8).
                if matches!(&error, SyncError::Client(error) if error.is_lasting()) {
                    let count = listing(&team.store, &mut cache).len();
                    wait_for_removal(team, &mut cache, count).await;
                    continue;
                }
            }
        }
        wait_for_change(team, session, &mut cache, &mut news).await;
    }
}

async fn wait_for_removal(team: &JoinedTeam, cache: &mut ScanCache, count: usize) {
    while listing(&team.store, cache).len() >= count.max(1) {
        tokio::time::sleep(DEBOUNCE).await;
    }
}

/// Waits until the files have changed and are still again, until the server has a new version, or for five minutes.
async fn wait_for_change(
    team: &JoinedTeam,
    session: &SessionTeam,
    cache: &mut ScanCache,
    news: &mut Option<NewsStream>,
) {
    let mut previous = None;
    for look in 0..LOOKS_WITHOUT_NEWS {
        let known = TeamSync::known_version(&team.file);
        if news.is_none() && look % LOOKS_WITHOUT_STREAM == 0 {
            *news = team.client.news(known.as_ref()).await.ok();
        }
        let version = async {
            match news.as_mut() {
                Some(stream) => stream.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            version = version => match version {
                Some(version) if Some(&version) == known.as_ref() => {}
                Some(_) => return,
                None => *news = None,
            },
            () = tokio::time::sleep(DEBOUNCE) => {}
        }
        let now = listing(&team.store, cache);
        if session.is_changed(&now) && previous.as_ref() == Some(&now) {
            return;
        }
        previous = Some(now);
    }
}
