//! Team memory while a session is open (T-8, T-15): a sync at its start, then whenever a file or the server changed.
//!
//! Invariant: nothing here delays a turn or changes a request that was sent; what came in is found by the next message.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use dormouse_base::{Project, Settings, Switches};
use dormouse_engine::{BackgroundTask, SessionMemory, TurnSnapshot};
use dormouse_memory::{MemoryFile, ScanCache, Store};
use dormouse_team::{NewsStream, SyncError, SyncReport, TeamSync};
use jiff::Timestamp;
use tokio::task::JoinSet;

use crate::message_catalog::msg;
use crate::wiring::team::JoinedTeam;
use crate::wiring::world::World;

/// How often the directory is looked at; a change is sent once it has been still for so long.
const DEBOUNCE: Duration = Duration::from_secs(2);
/// Looks at the directory between two conditional requests, where no news comes.
const LOOKS_WITHOUT_NEWS: u32 = 150;
/// Looks between two attempts to listen for news.
const LOOKS_WITHOUT_STREAM: u32 = 15;

/// Keeps the team's directory in sync while it exists.
pub(crate) struct TeamTask {
    notices: Arc<TeamNotices>,
    _running: JoinSet<()>,
}

/// What the user is to be told; passed on as soon as the session's memory is known.
#[derive(Default)]
struct TeamNotices {
    memory: OnceLock<Arc<SessionMemory>>,
    early: Mutex<Vec<String>>,
}

impl TeamNotices {
    fn add(&self, notice: String) {
        match self.memory.get() {
            Some(memory) => memory.notices().add(notice),
            None => self.early.lock().unwrap_or_else(PoisonError::into_inner).push(notice),
        }
    }

    fn pass_on(&self, memory: &Arc<SessionMemory>) {
        let memory = self.memory.get_or_init(|| Arc::clone(memory));
        let early = std::mem::take(&mut *self.early.lock().unwrap_or_else(PoisonError::into_inner));
        for notice in early {
            memory.notices().add(notice);
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
    ) -> Self {
        let notices = Arc::new(TeamNotices::default());
        let mut running = JoinSet::new();
        let (world, project) = (world.clone(), project.clone());
        let (settings, switches) = (settings.clone(), switches.clone());
        let told = Arc::clone(&notices);
        running.spawn(async move {
            match Box::pin(JoinedTeam::find(&world, &project, (&settings, &switches))).await {
                Ok(Some(team)) => Box::pin(keep_in_sync(&team, &told)).await,
                Ok(None) => {}
                Err(failure) => told.add(msg!("team-session-off", reason = failure.message())),
            }
        });
        Self { notices, _running: running }
    }
}

impl BackgroundTask for TeamTask {
    fn on_idle(&self, snapshot: &TurnSnapshot<'_>) {
        if let Some(memory) = snapshot.memory() {
            self.notices.pass_on(memory);
        }
    }

    fn on_open(&self, snapshot: &TurnSnapshot<'_>) {
        self.on_idle(snapshot);
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

async fn keep_in_sync(team: &JoinedTeam, notices: &TeamNotices) {
    let mut cache = ScanCache::default();
    let mut news = None;
    let mut is_told = false;
    loop {
        let before = listing(&team.store, &mut cache);
        let result = team.sync().await;
        let after = listing(&team.store, &mut cache);
        let synced = match &result {
            Ok(report) if report.brought_news() => after,
            Ok(_) | Err(_) => before,
        };
        match result {
            Ok(report) => {
                is_told = false;
                report_news(&report, notices);
            }
            Err(error) => {
                if !std::mem::replace(&mut is_told, true) {
                    notices.add(msg!("team-session-failed", reason = error.to_string()));
                }
                // A refusal that will not go away: no further tries until a file is removed (T-8).
                if matches!(&error, SyncError::Client(error) if error.is_lasting()) {
                    wait_for_removal(team, &mut cache, synced.len()).await;
                    continue;
                }
            }
        }
        wait_for_change(team, &mut cache, &synced, &mut news).await;
    }
}

fn report_news(report: &SyncReport, notices: &TeamNotices) {
    if report.brought_news() {
        let pulled = report.pulled.iter().map(|entry| format!("{} ({})", entry.name, entry.author));
        let removed = report.removed.iter().map(|(name, _)| format!("-{name}"));
        let names: Vec<String> = pulled.chain(removed).take(5).collect();
        let count = report.pulled.len() + report.removed.len();
        notices.add(msg!("team-session-news", count = count, names = names.join(", ")));
    }
    for held in &report.held_back {
        notices.add(msg!("team-held-back", file = held.file.clone(), reason = held.reason.clone()));
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
    cache: &mut ScanCache,
    synced: &Listing,
    news: &mut Option<NewsStream>,
) {
    let mut previous = synced.clone();
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
        if now != *synced && now == previous {
            return;
        }
        previous = now;
    }
}
