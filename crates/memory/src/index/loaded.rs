//! The index as a session gets it (M-6): complete if it fits, otherwise the highest-ranking lines in file order, with a
//! warning about the missing ones.

use super::{Line, MemoryIndex};

/// Maximum number of loaded lines.
pub const LOADED_LINES: usize = 200;
/// Maximum number of loaded bytes.
pub const LOADED_BYTES: usize = 25_000;
/// Maximum size of an index that is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexLimits {
    /// Number of lines.
    pub lines: usize,
    /// Size in bytes.
    pub bytes: usize,
}

impl IndexLimits {
    /// For a large context window.
    pub const FULL: Self = Self { lines: LOADED_LINES, bytes: LOADED_BYTES };
    /// For a small context window.
    pub const SMALL: Self = Self { lines: 40, bytes: 2_048 };
}

/// Share of a limit from which it is reported, in percent.
const NEARLY_FULL: usize = 80;

/// The rank of a memory if not all of the index fits, the highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadPriority {
    /// Pinned by the user.
    Pinned,
    /// Written in the last 30 days.
    Written,
    /// Recalled in the last 30 days.
    Recalled,
    /// All others, in file order.
    Rest,
}

/// The loaded index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedIndex {
    /// The text for the model, without the warning.
    pub text: String,
    /// What is missing, and what to do about it.
    pub warning: Option<String>,
    /// Number of missing lines that link to a memory.
    pub left_out: usize,
}

impl LoadedIndex {
    /// The text, followed by the warning.
    pub fn with_warning(&self) -> String {
        let Some(warning) = &self.warning else { return self.text.clone() };
        let gap = if self.text.ends_with('\n') { "\n" } else { "\n\n" };
        format!("{}{gap}{warning}\n", self.text)
    }
}

/// How full an index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexFill {
    /// Number of lines.
    pub lines: usize,
    /// Size in bytes.
    pub bytes: usize,
}

impl IndexFill {
    /// Whether to report it: 80 % of a limit or more.
    pub fn is_nearly_full(self) -> bool {
        self.lines * 100 >= LOADED_LINES * NEARLY_FULL
            || self.bytes * 100 >= LOADED_BYTES * NEARLY_FULL
    }

    pub(crate) fn is_over(self, limits: IndexLimits) -> bool {
        self.lines > limits.lines || self.bytes > limits.bytes
    }
}

/// How full a text is.
pub fn fill(text: &str) -> IndexFill {
    IndexFill { lines: text.lines().count(), bytes: text.len() }
}

/// The index as it is loaded. `rank` gives the rank of a file.
pub fn load(text: &str, limits: IndexLimits, rank: impl Fn(&str) -> LoadPriority) -> LoadedIndex {
    let size = fill(text);
    if !size.is_over(limits) {
        return LoadedIndex { text: text.to_owned(), warning: None, left_out: 0 };
    }
    let index = MemoryIndex::parse(text);
    let mut order: Vec<(LoadPriority, usize)> =
        ranks(&index.lines, rank).into_iter().enumerate().map(|(at, rank)| (rank, at)).collect();
    order.sort();
    order.truncate(limits.lines);
    let mut chosen = within_bytes(&index.lines, &order, limits.bytes);
    chosen.sort_unstable();
    let text = shown(&index.lines, &chosen, limits.bytes);
    let links = |line: &&Line<'_>| line.leads_to.is_some();
    let kept = chosen.iter().filter_map(|at| index.lines.get(*at)).filter(links).count();
    let left_out = index.lines.iter().filter(links).count() - kept;
    let warning = Some(match limits {
        IndexLimits::FULL => warning(size, fill(&text), left_out),
        _ => format!("[{left_out} more memories; search memory to find them]"),
    });
    LoadedIndex { text, warning, left_out }
}

/// An indented line below that of a memory belongs to it.
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

/// The lines that fit, by rank. A line that is too long for the limit is skipped, unless there is no other.
fn within_bytes(lines: &[Line<'_>], order: &[(LoadPriority, usize)], most: usize) -> Vec<usize> {
    let mut chosen = Vec::new();
    let mut bytes = 0;
    for (_, at) in order {
        let length = lines.get(*at).map_or(0, |line| line.raw.len());
        if length > most {
            continue;
        }
        if bytes + length > most {
            break;
        }
        bytes += length;
        chosen.push(*at);
    }
    if chosen.is_empty() { order.iter().take(1).map(|(_, at)| *at).collect() } else { chosen }
}

fn shown(lines: &[Line<'_>], chosen: &[usize], most: usize) -> String {
    let mut text: String =
        chosen.iter().filter_map(|at| lines.get(*at)).map(|line| line.raw.as_ref()).collect();
    text.truncate(text.floor_char_boundary(most));
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
         To fix it: shorten lines to one short hook each, merge memories of one topic, and delete what \
         is outdated.]",
        over.join(", and "),
        shown.lines
    )
}
