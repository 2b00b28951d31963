//! The index as a session gets it (M-6): whole if it fits, else the lines that rank first, in the order of
//! the file, and a warning that says what is missing.

use super::{Line, MemoryIndex};

/// The most lines that are loaded.
pub const LOADED_LINES: usize = 200;
/// The most bytes that are loaded.
pub const LOADED_BYTES: usize = 25_000;
/// From this share of a limit on it is said, in percent.
const NEARLY_FULL: usize = 80;

/// What comes first when not everything fits, the first first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadPriority {
    /// Pinned by the person.
    Pinned,
    /// Written in the last 30 days.
    Written,
    /// Recalled in the last 30 days.
    Recalled,
    /// The rest, in the order of the file.
    Rest,
}

/// The loaded index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedIndex {
    /// The text for the model, without the warning.
    pub text: String,
    /// What is missing and what to do about it.
    pub warning: Option<String>,
    /// How many lines that link to a memory are missing.
    pub left_out: usize,
}

impl LoadedIndex {
    /// The text and, behind it, the warning.
    pub fn with_warning(&self) -> String {
        let Some(warning) = &self.warning else { return self.text.clone() };
        let gap = if self.text.ends_with('\n') { "\n" } else { "\n\n" };
        format!("{}{gap}{warning}\n", self.text)
    }
}

/// How full an index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexFill {
    /// Its lines.
    pub lines: usize,
    /// Its bytes.
    pub bytes: usize,
}

impl IndexFill {
    /// Whether it should be said: 80 % of a limit or more.
    pub fn is_nearly_full(self) -> bool {
        self.lines * 100 >= LOADED_LINES * NEARLY_FULL
            || self.bytes * 100 >= LOADED_BYTES * NEARLY_FULL
    }

    pub(crate) fn is_over(self) -> bool {
        self.lines > LOADED_LINES || self.bytes > LOADED_BYTES
    }
}

/// How full a text is.
pub fn fill(text: &str) -> IndexFill {
    IndexFill { lines: text.lines().count(), bytes: text.len() }
}

/// The index as it is loaded. `rank` says how a file ranks.
pub fn load(text: &str, rank: impl Fn(&str) -> LoadPriority) -> LoadedIndex {
    let size = fill(text);
    if !size.is_over() {
        return LoadedIndex { text: text.to_owned(), warning: None, left_out: 0 };
    }
    let index = MemoryIndex::parse(text);
    let mut order: Vec<(LoadPriority, usize)> =
        ranks(&index.lines, rank).into_iter().enumerate().map(|(at, rank)| (rank, at)).collect();
    order.sort();
    order.truncate(LOADED_LINES);
    let mut chosen = within_bytes(&index.lines, &order);
    chosen.sort_unstable();
    let text = shown(&index.lines, &chosen);
    let links = |line: &&Line<'_>| line.leads_to.is_some();
    let kept = chosen.iter().filter_map(|at| index.lines.get(*at)).filter(links).count();
    let left_out = index.lines.iter().filter(links).count() - kept;
    let warning = Some(warning(size, fill(&text), left_out));
    LoadedIndex { text, warning, left_out }
}

/// A line below a memory's own, set in, goes with it.
fn ranks(lines: &[Line<'_>], rank: impl Fn(&str) -> LoadPriority) -> Vec<LoadPriority> {
    let mut last = LoadPriority::Rest;
    let mut ranks = Vec::with_capacity(lines.len());
    for line in lines {
        last = match line.file() {
            Some(file) => rank(&file),
            None if line.raw.starts_with([' ', '\t']) && !line.raw.trim().is_empty() => last,
            None => LoadPriority::Rest,
        };
        ranks.push(last);
    }
    ranks
}

/// The lines that fit, the first in rank first. A line longer than all there is has no place, unless
/// there is nothing else.
fn within_bytes(lines: &[Line<'_>], order: &[(LoadPriority, usize)]) -> Vec<usize> {
    let mut chosen = Vec::new();
    let mut bytes = 0;
    for (_, at) in order {
        let length = lines.get(*at).map_or(0, |line| line.raw.len());
        if length > LOADED_BYTES {
            continue;
        }
        if bytes + length > LOADED_BYTES {
            break;
        }
        bytes += length;
        chosen.push(*at);
    }
    if chosen.is_empty() { order.iter().take(1).map(|(_, at)| *at).collect() } else { chosen }
}

fn shown(lines: &[Line<'_>], chosen: &[usize]) -> String {
    let mut text: String =
        chosen.iter().filter_map(|at| lines.get(*at)).map(|line| line.raw.as_ref()).collect();
    text.truncate(text.floor_char_boundary(LOADED_BYTES));
    text
}

fn warning(size: IndexFill, shown: IndexFill, left_out: usize) -> String {
    let mut over = Vec::new();
    if size.lines > LOADED_LINES {
        let by = size.lines - LOADED_LINES;
        over.push(format!(
            "it has {} lines, {by} more than the limit of {LOADED_LINES}",
            size.lines
        ));
    }
    if size.bytes > LOADED_BYTES {
        let by = size.bytes - LOADED_BYTES;
        over.push(format!(
            "it has {} bytes, {by} more than the limit of {LOADED_BYTES}",
            size.bytes
        ));
    }
    format!(
        "[The memory index is cut: {}. {} lines are shown (pinned, recently written and recently used \
         memories first); {left_out} memories are missing here, and are still found by searching memory. \
         To mend it: shorten lines to one short hook each, merge memories of one topic, and delete what \
         is outdated.]",
        over.join(", and "),
        shown.lines
    )
}
