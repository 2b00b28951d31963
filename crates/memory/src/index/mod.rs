//! `MEMORY.md`: one line per memory (M-5), and any other text by the user.
//!
//! All lines are kept as they are. Only lines that link to a memory are changed, and only if they are no longer
//! correct.

mod end;
mod line;
mod loaded;

pub(crate) use end::{IndexEnd, LineEnd, LinkHash};
pub use line::{IndexLink, LONGEST_LINE};
pub use loaded::{
    IndexFill, IndexLimits, LOADED_BYTES, LOADED_LINES, LoadPriority, LoadedIndex, fill, load,
};

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::names::fold;

/// The lines of an index. Unchanged lines are not copied: an index may have thousands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryIndex<'a> {
    lines: Vec<Line<'a>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line<'a> {
    /// The text with its line end.
    raw: Cow<'a, str>,
    /// The linked memory, in the form of [`fold`].
    leads_to: Option<Cow<'a, str>>,
}

/// The result of [`MemoryIndex::put`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexUpdate {
    /// The line was added.
    Added,
    /// The line was changed.
    Changed,
    /// The line was already correct.
    Same,
}

impl<'a> MemoryIndex<'a> {
    /// Splits a text into lines.
    pub fn parse(text: &'a str) -> Self {
        let mut shelter = Shelter::Open;
        let lines = text
            .split_inclusive('\n')
            .map(|raw| {
                let leads_to = if shelter.passes(raw) { line::file_in(raw) } else { None };
                Line { raw: Cow::Borrowed(raw), leads_to: leads_to.map(folded) }
            })
            .collect();
        Self { lines }
    }

    /// The text.
    pub fn to_text(&self) -> String {
        let length = self.lines.iter().map(|line| line.raw.len()).sum();
        let mut text = String::with_capacity(length);
        text.extend(self.lines.iter().map(|line| line.raw.as_ref()));
        text
    }

    /// The links, in order.
    pub fn links(&self) -> impl Iterator<Item = IndexLink> {
        self.lines.iter().filter_map(Line::link)
    }

    /// The link to a memory.
    pub fn find(&self, file: &str) -> Option<IndexLink> {
        let file = fold(file);
        self.lines.iter().find(|line| line.leads_to(&file)).and_then(Line::link)
    }

    /// The memories with a line, in the form of [`fold`].
    pub fn files(&self) -> BTreeSet<&str> {
        self.lines.iter().filter_map(|line| line.leads_to.as_deref()).collect()
    }

    /// Adds the line of a memory after the last one, or corrects it.
    pub fn put(&mut self, link: &IndexLink) -> IndexUpdate {
        let file = fold(&link.file);
        let mut own = self.lines.iter_mut().filter(|line| line.leads_to(&file));
        let Some(line) = own.next() else {
            self.add(link);
            return IndexUpdate::Added;
        };
        if line.link().is_some_and(|known| known.says(link)) {
            return IndexUpdate::Same;
        }
        *line = Line::new(link.render_like(&line.raw));
        IndexUpdate::Changed
    }

    /// Changes the file that a line links to; returns whether there was a line.
    pub fn relink(&mut self, from: &str, to: &str) -> bool {
        let from = fold(from);
        let Some(line) = self.lines.iter_mut().find(|line| line.leads_to(&from)) else {
            return false;
        };
        if let Some(link) = line.link() {
            let link = IndexLink { file: to.to_owned(), ..link };
            *line = Line::new(link.render_like(&line.raw));
        }
        true
    }

    /// Removes the lines of a memory.
    pub fn remove(&mut self, file: &str) -> bool {
        let file = fold(file);
        self.remove_where(|known| known == file) > 0
    }

    /// Removes the lines of all memories for which this is true, by folded name; returns their number.
    pub fn remove_where(&mut self, is_gone: impl Fn(&str) -> bool) -> usize {
        let before = self.lines.len();
        self.lines.retain(|line| !line.leads_to.as_deref().is_some_and(&is_gone));
        before - self.lines.len()
    }

    /// Keeps the first of several lines for one memory; returns the number of removed ones.
    pub fn remove_duplicates(&mut self) -> usize {
        let mut seen = BTreeSet::new();
        let before = self.lines.len();
        self.lines.retain(|line| match &line.leads_to {
            Some(file) => seen.insert(file.clone()),
            None => true,
        });
        before - self.lines.len()
    }

    fn add(&mut self, link: &IndexLink) {
        let end = if self.lines.first().is_some_and(|line| line.raw.ends_with("\r\n")) {
            "\r\n"
        } else {
            "\n"
        };
        let last = self.lines.iter().rposition(|line| line.leads_to.is_some());
        let at = last.map_or(self.lines.len(), |last| last + 1);
        if let Some(before) = at.checked_sub(1).and_then(|index| self.lines.get_mut(index))
            && !before.raw.ends_with('\n')
        {
            before.raw.to_mut().push_str(end);
        }
        self.lines.insert(at, Line::new(format!("{}{end}", link.render())));
    }
}

impl Line<'_> {
    fn new(raw: String) -> Self {
        let leads_to = line::file_in(&raw).map(|file| Cow::Owned(fold(&file).into_owned()));
        Self { raw: Cow::Owned(raw), leads_to }
    }

    fn leads_to(&self, folded: &str) -> bool {
        self.leads_to.as_deref() == Some(folded)
    }

    /// The linked memory, as written.
    fn file(&self) -> Option<Cow<'_, str>> {
        self.leads_to.as_ref().and_then(|_| line::file_in(&self.raw))
    }

    /// The link of the line; none in code and comments.
    fn link(&self) -> Option<IndexLink> {
        self.leads_to.as_ref().and_then(|_| IndexLink::parse(&self.raw))
    }
}

/// The folded form; borrowed if it is the same.
fn folded(file: Cow<'_, str>) -> Cow<'_, str> {
    match file {
        Cow::Borrowed(file) => fold(file),
        Cow::Owned(file) => Cow::Owned(fold(&file).into_owned()),
    }
}

/// Code blocks and comments: their lines are not links.
enum Shelter {
    Open,
    Fence(&'static str),
    Comment,
}

impl Shelter {
    /// Whether a line is outside of code and comments; continues with the next line.
    fn passes(&mut self, raw: &str) -> bool {
        let text = raw.trim_start();
        match self {
            Self::Fence(fence) => {
                if text.starts_with(*fence) {
                    *self = Self::Open;
                }
                false
            }
            Self::Comment => {
                if text.contains("-->") {
                    *self = Self::Open;
                }
                false
            }
            Self::Open => {
                if let Some(fence) =
                    ["```", "~~~"].into_iter().find(|fence| text.starts_with(fence))
                {
                    *self = Self::Fence(fence);
                } else if text.starts_with("<!--") && !text.contains("-->") {
                    *self = Self::Comment;
                }
                matches!(self, Self::Open)
            }
        }
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
