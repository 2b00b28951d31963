//! Team memory while a session is open (T-8, T-15): a sync at its start, then whenever a file or the server changed.
//!
//! Invariant: nothing here delays a turn or changes a request that was sent; what came in is found by the next message.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use dormouse_base::{Project, Settings, Switches};
use dormouse_engine::{BackgroundTask, JobEnd, JobStatus, Jobs, SessionMemory, TurnSnapshot};
use dormouse_hooks::{HookNotifier, PulledMemory, TeamSyncedEvent};
use dormouse_memory::{MemoryFile, ScanCache, Scanned};
use dormouse_team::{NewsStream, SyncError, SyncReport, TeamSync};
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::folder_watch::FolderWatch;
use crate::wiring::team::{JoinedTeam, layers_off};
use crate::wiring::team_membership::known_membership;
use crate::wiring::world::World;

/// A change is sent once the directory has been still for so long. Where the system does not tell of changes, it is also
/// how often the directory is looked at.
const DEBOUNCE: Duration = Duration::from_secs(2);
/// How often the directory is looked at where the system tells of changes: an event may be lost.
const LOOK: Duration = Duration::from_secs(30);
/// Between two conditional requests, where no news comes.
const WITHOUT_NEWS: Duration = Duration::from_mins(5);
/// Between two attempts to listen for news.
const WITHOUT_STREAM: Duration = Duration::from_secs(30);

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
    /// What earlier looks at the directory have read.
    scanned: Mutex<ScanCache>,
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
            scanned: Mutex::default(),
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
            Some(team) => session.is_changed(&session.listing(team)),
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
            match session.sync(&team).await {
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

impl SessionTeam {
    fn listing(&self, team: &JoinedTeam) -> Listing {
        let mut cache = self.scanned.lock().unwrap_or_else(PoisonError::into_inner);
        // A directory that cannot be read is reported by the sync.
        let scan = team.store.scan(&mut cache).unwrap_or_default();
        let file = |memory: &Arc<Scanned>| (memory.file.clone(), memory.modified, memory.size);
        let mut files: Listing = scan.memories.iter().map(file).collect();
        files.sort();
        files
    }

    fn is_changed(&self, now: &Listing) -> bool {
        self.synced.lock().unwrap_or_else(PoisonError::into_inner).as_ref() != Some(now)
    }

    /// Pushes and pulls once, and says what came of it.
    async fn sync(&self, team: &JoinedTeam) -> Result<(), SyncError> {
        let before = self.listing(team);
        let result = team.sync().await;
        let synced = match &result {
            Ok(report) if report.brought_news() => self.listing(team),
            Ok(_) | Err(_) => before,
        };
        *self.synced.lock().unwrap_or_else(PoisonError::into_inner) = Some(synced);
        self.news.report(team, &result?);
        Ok(())
    }
}

async fn keep_in_sync(team: &JoinedTeam, session: &SessionTeam) {
    let mut change = NextChange {
        team,
        session,
        watch: FolderWatch::start(team.store.dir().path()),
        news: None,
    };
    let mut is_told = false;
    loop {
        match session.sync(team).await {
            Ok(()) => is_told = false,
            Err(error) => {
                if !std::mem::replace(&mut is_told, true) {
                    session.news.add(msg!("team-session-failed", reason = error.to_string()));
                }
                // A refusal that will not go away: no further tries until a file is removed (T-8).
                if matches!(&error, SyncError::Client(error) if error.is_lasting()) {
                    change.removal().await;
                    continue;
                }
            }
        }
        change.any().await;
    }
}

/// What is waited for between two syncs.
struct NextChange<'a> {
    team: &'a JoinedTeam,
    session: &'a SessionTeam,
    watch: FolderWatch,
    news: Option<NewsStream>,
}

impl NextChange<'_> {
    /// How often the directory is looked at.
    fn interval(&self) -> Duration {
        if self.watch.is_told() { LOOK } else { DEBOUNCE }
    }

    /// Waits until there are fewer files.
    async fn removal(&self) {
        let count = self.session.listing(self.team).len().max(1);
        while self.session.listing(self.team).len() >= count {
            tokio::select! {
                () = self.watch.changed() => {}
                () = tokio::time::sleep(self.interval()) => {}
            }
        }
    }

    /// Waits until the files have changed and are still again, until the server has a new version, or for five minutes.
    async fn any(&mut self) {
        let end = Instant::now() + WITHOUT_NEWS;
        let mut connect = Instant::now();
        while Instant::now() < end {
            let known = TeamSync::known_version(&self.team.file);
            if self.news.is_none() && Instant::now() >= connect {
                self.news = self.team.client.news(known.as_ref()).await.ok();
                connect = Instant::now() + WITHOUT_STREAM;
            }
            let interval = self.interval();
            let version = async {
                match self.news.as_mut() {
                    Some(stream) => stream.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                version = version => match version {
                    Some(version) if Some(&version) == known.as_ref() => {}
                    Some(_) => return,
                    None => self.news = None,
                },
                () = self.watch.changed() => {}
                () = tokio::time::sleep(interval) => {}
            }
            if self.session.is_changed(&self.session.listing(self.team)) {
                self.stillness().await;
                return;
            }
        }
    }

    /// Waits until nothing has changed for two seconds.
    async fn stillness(&self) {
        let mut before = self.session.listing(self.team);
        loop {
            tokio::time::sleep(DEBOUNCE).await;
            let now = self.session.listing(self.team);
            if now == before {
                return;
            }
            before = now;
        }
    }
}
