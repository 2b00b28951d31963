//! `MEMORY.md`: one line a memory (M-5), and whatever else a person puts there.
//!
//! The text is kept line by line as it is. Only lines that link to a memory are ever changed, and of
//! those only the ones that are no longer true.

mod line;
mod loaded;

pub use line::{IndexLink, LONGEST_LINE};
pub use loaded::{IndexFill, LOADED_BYTES, LOADED_LINES, LoadPriority, LoadedIndex, fill, load};

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::names::fold;

/// The index, taken apart into lines. What is not changed is not copied: an index may have thousands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryIndex<'a> {
    lines: Vec<Line<'a>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line<'a> {
    /// With its line end.
    raw: Cow<'a, str>,
    /// The memory that it leads to, as [`fold`] gives it.
    leads_to: Option<Cow<'a, str>>,
}

/// What putting a line did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexUpdate {
    /// There was none.
    Added,
    /// There was one that said something else.
    Changed,
    /// It was true already.
    Same,
}

impl<'a> MemoryIndex<'a> {
    /// Takes a text apart.
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

    /// The links, in the order of the file.
    pub fn links(&self) -> impl Iterator<Item = IndexLink> {
        self.lines.iter().filter_map(Line::link)
    }

    /// The link to a memory.
    pub fn find(&self, file: &str) -> Option<IndexLink> {
        let file = fold(file);
        self.lines.iter().find(|line| line.leads_to(&file)).and_then(Line::link)
    }

    /// The memories that have a line, as [`fold`] gives their names.
    pub fn files(&self) -> BTreeSet<&str> {
        self.lines.iter().filter_map(|line| line.leads_to.as_deref()).collect()
    }

    /// Makes the line of a memory true: adds it behind the last one, or changes what it says.
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

    /// Lets the line of a memory lead to another file; says whether there was one.
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

    /// Takes the lines of a memory out.
    pub fn remove(&mut self, file: &str) -> bool {
        let file = fold(file);
        self.remove_where(|known| known == file) > 0
    }

    /// Takes out the lines of all memories of which this is true, by their folded names; says how many.
    pub fn remove_where(&mut self, is_gone: impl Fn(&str) -> bool) -> usize {
        let before = self.lines.len();
        self.lines.retain(|line| !line.leads_to.as_deref().is_some_and(&is_gone));
        before - self.lines.len()
    }

    /// Keeps the first of several lines for one memory; says how many it took out.
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

    /// The memory that it leads to, as it is written.
    fn file(&self) -> Option<Cow<'_, str>> {
        self.leads_to.as_ref().and_then(|_| line::file_in(&self.raw))
    }

    /// What it says; only a line that stands in the open says something.
    fn link(&self) -> Option<IndexLink> {
        self.leads_to.as_ref().and_then(|_| IndexLink::parse(&self.raw))
    }
}

/// The folded form, without a copy where it is the same.
fn folded(file: Cow<'_, str>) -> Cow<'_, str> {
    match file {
        Cow::Borrowed(file) => fold(file),
        Cow::Owned(file) => Cow::Owned(fold(&file).into_owned()),
    }
}

/// Code and comments: what looks like a line there is none.
enum Shelter {
    Open,
    Fence(&'static str),
    Comment,
}

impl Shelter {
    /// Whether a line stands in the open; moves on to the next.
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
