//! Writing metrics: each is one line, whichever process writes it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{AppendError, Clock, Dir, SessionId, SharedAppendFile};
use jiff::Timestamp;
use serde::Serialize;

use super::Metric;
use super::months::{Month, months, remove_old};

/// The log, in the program's own folder. Cheap to clone; a write that fails is counted, not returned.
#[derive(Clone)]
pub struct MetricsLog(Option<Arc<Inner>>);

struct Inner {
    folder: PathBuf,
    clock: Arc<dyn Clock>,
    open: Mutex<Option<(Month, SharedAppendFile)>>,
    lost: AtomicU64,
    /// Why the first one was lost, until it has been told.
    untold: Mutex<Option<String>>,
}

impl fmt::Debug for MetricsLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FigureLog").field(&self.folder()).finish()
    }
}

impl MetricsLog {
    /// The log below the program's own folder. Nothing is made before the first figure.
    pub fn at(home: &Path, clock: Arc<dyn Clock>) -> Self {
        Self(Some(Arc::new(Inner {
            folder: Self::folder_in(home),
            clock,
            open: Mutex::new(None),
            lost: AtomicU64::new(0),
            untold: Mutex::new(None),
        })))
    }

    /// A log that keeps nothing.
    pub fn disabled() -> Self {
        Self(None)
    }

    /// Where the log of a home is.
    pub fn folder_in(home: &Path) -> PathBuf {
        home.join("figures")
    }

    fn folder(&self) -> Option<&Path> {
        self.0.as_ref().map(|inner| inner.folder.as_path())
    }

    /// A handle for the metrics of one session. `project` is the name of its folder.
    pub fn for_session(&self, session: SessionId, project: &str) -> SessionMetrics {
        SessionMetrics { log: self.clone(), session, project: Arc::from(project) }
    }

    /// How many metrics could not be written.
    pub fn lost(&self) -> u64 {
        self.0.as_ref().map_or(0, |inner| inner.lost.load(Ordering::Relaxed))
    }

    /// Why metrics are being lost, the first time this is asked after one was.
    pub fn take_problem(&self) -> Option<String> {
        hold(&self.0.as_ref()?.untold).take()
    }
}

/// Where the metrics of one session go.
#[derive(Debug, Clone)]
pub struct SessionMetrics {
    log: MetricsLog,
    session: SessionId,
    project: Arc<str>,
}

#[derive(Serialize)]
struct LineOut<'a> {
    at: String,
    session: SessionId,
    project: &'a str,
    #[serde(flatten)]
    figure: &'a Metric,
}

impl SessionMetrics {
    /// Writes a metric down. What cannot be written is counted and told once.
    pub fn record(&self, figure: &Metric) {
        let Some(inner) = &self.log.0 else { return };
        let now = inner.clock.now();
        let at = now.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        let line = LineOut { at, session: self.session, project: &self.project, figure };
        let written = serde_json::to_vec(&line)
            .map_err(|error| error.to_string())
            .and_then(|line| inner.write(now, &line).map_err(|error| error.to_string()));
        if let Err(problem) = written
            && inner.lost.fetch_add(1, Ordering::Relaxed) == 0
        {
            *hold(&inner.untold) = Some(problem);
        }
    }

    /// The log itself.
    pub fn log(&self) -> &MetricsLog {
        &self.log
    }
}

impl Inner {
    fn write(&self, now: Timestamp, line: &[u8]) -> Result<(), AppendError> {
        let month = Month::of(now);
        let mut open = hold(&self.open);
        match open.as_mut() {
            Some((of, file)) if *of == month => file.append(line),
            _ => {
                let mut file = self.begin(now, &month)?;
                let written = file.append(line);
                *open = Some((month, file));
                written
            }
        }
    }

    /// Opens a month's file. Whoever makes it removes those that are too old.
    fn begin(&self, now: Timestamp, month: &Month) -> Result<SharedAppendFile, AppendError> {
        let dir = Dir::create(&self.folder)?;
        if !months(&dir)?.contains(month) {
            remove_old(&dir, now)?;
        }
        Ok(SharedAppendFile::open(&dir, &month.file())?)
    }
}

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
