//! Reading the log, line by line: it may be large, and most of it may not be asked for.

use std::borrow::Cow;
use std::io::{BufRead, BufReader};
use std::path::Path;

use dormouse_base::{Dir, FileAction, FileError, SessionId};
use jiff::Timestamp;
use serde::Deserialize;

use super::Metric;
use super::months::{Month, months};

/// Which metrics are wanted.
#[derive(Debug, Clone, Default)]
pub struct MetricsFilter {
    /// Not those before this moment.
    pub since: Option<Timestamp>,
    /// Only those of a session.
    pub session: Option<SessionId>,
    /// Only those of a project, by the name of its folder.
    pub project: Option<String>,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricEntry {
    /// When it was written.
    pub at: Timestamp,
    /// Of which session.
    pub session: SessionId,
    /// Of which project, by the name of its folder.
    pub project: String,
    /// What it says.
    pub metric: Metric,
}

/// How many lines could not be read, by a crash or a hand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnreadableLines(pub u64);

/// What every line begins with.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    at: Cow<'a, str>,
    #[serde(borrow)]
    session: Cow<'a, str>,
    #[serde(borrow)]
    project: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

/// Reads the metrics that pass a filter, in the order in which they were written. A log that is not
/// there is an empty one.
pub fn read_metrics(
    folder: &Path,
    filter: &MetricsFilter,
    visit: &mut dyn FnMut(MetricEntry),
) -> Result<UnreadableLines, FileError> {
    let dir = match Dir::open(folder) {
        Ok(dir) => dir,
        Err(error) if error.is_not_found() => return Ok(UnreadableLines::default()),
        Err(error) => return Err(error),
    };
    let first = filter.since.map(Month::of);
    let mut unreadable = UnreadableLines::default();
    for month in months(&dir)? {
        if first.as_ref().is_none_or(|first| month >= *first) {
            unreadable.0 += read_month(&dir, &month, filter, visit)?;
        }
    }
    Ok(unreadable)
}

fn read_month(
    dir: &Dir,
    month: &Month,
    filter: &MetricsFilter,
    visit: &mut dyn FnMut(MetricEntry),
) -> Result<u64, FileError> {
    let path = month.file();
    let fail = |error| FileError::new(FileAction::Read, dir.path().join(path.as_path()), error);
    let mut reader = BufReader::with_capacity(256 * 1024, dir.open_file(&path)?);
    let (mut line, mut unreadable) = (Vec::new(), 0);
    while reader.read_until(b'\n', &mut line).map_err(fail)? > 0 {
        match read_line(&line, filter) {
            Ok(Some(entry)) => visit(entry),
            Ok(None) => {}
            Err(NotALine) => unreadable += 1,
        }
        line.clear();
    }
    Ok(unreadable)
}

/// It cannot be read.
struct NotALine;

/// A line of the log; none for one of another session, project or time, or an empty one.
fn read_line(line: &[u8], filter: &MetricsFilter) -> Result<Option<MetricEntry>, NotALine> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let head: Head<'_> = serde_json::from_slice(line).map_err(|_| NotALine)?;
    let at = head.at.parse().map_err(|_| NotALine)?;
    let session = head.session.parse().map_err(|_| NotALine)?;
    let asked = filter.since.is_none_or(|since| at >= since)
        && filter.session.is_none_or(|wanted| session == wanted)
        && filter.project.as_ref().is_none_or(|wanted| head.project == wanted.as_str());
    if !asked {
        return Ok(None);
    }
    let figure = Metric::read(&head.kind, line).map_err(|_| NotALine)?;
    Ok(Some(MetricEntry { at, session, project: head.project.into_owned(), metric: figure }))
}
