//! `MEMORY.md`: one line a memory (M-5), and whatever else a person puts there.
//!
//! The text is kept line by line as it is. Only lines that link to a memory are ever changed, and of
//! those only the ones that are no longer true.

mod line;
mod loaded;

pub use line::{LONGEST_LINE, Link};
pub use loaded::{Fill, LOADED_BYTES, LOADED_LINES, Loaded, Rank, fill, load};

use crate::names::fold;

/// The index, taken apart into lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// With its line end.
    raw: String,
    link: Option<Link>,
}

/// What putting a line did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// There was none.
    Added,
    /// There was one that said something else.
    Changed,
    /// It was true already.
    Same,
}

impl Index {
    /// Takes a text apart.
    pub fn parse(text: &str) -> Self {
        let mut shelter = Shelter::Open;
        let lines = text
            .split_inclusive('\n')
            .map(|raw| {
                let link = if shelter.passes(raw) { Link::parse(raw) } else { None };
                Line { raw: raw.to_owned(), link }
            })
            .collect();
        Self { lines }
    }

    /// The text.
    pub fn to_text(&self) -> String {
        self.lines.iter().map(|line| line.raw.as_str()).collect()
    }

    /// The links, in the order of the file.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.lines.iter().filter_map(|line| line.link.as_ref())
    }

    /// The link to a memory.
    pub fn find(&self, file: &str) -> Option<&Link> {
        let file = fold(file);
        self.links().find(|link| fold(&link.file) == file)
    }

    /// Makes the line of a memory true: adds it behind the last one, or changes what it says.
    pub fn put(&mut self, link: &Link) -> Put {
        let file = fold(&link.file).into_owned();
        let mut own = self.lines.iter_mut().filter(|line| line.leads_to(&file));
        let Some(line) = own.next() else {
            self.add(link);
            return Put::Added;
        };
        if line.link.as_ref().is_some_and(|known| known.says(link)) {
            return Put::Same;
        }
        *line = Line::new(link.render_like(&line.raw));
        Put::Changed
    }

    /// Lets the line of a memory lead to another file; says whether there was one.
    pub fn relink(&mut self, from: &str, to: &str) -> bool {
        let from = fold(from).into_owned();
        let Some(line) = self.lines.iter_mut().find(|line| line.leads_to(&from)) else {
            return false;
        };
        if let Some(link) = &line.link {
            let link = Link { file: to.to_owned(), ..link.clone() };
            *line = Line::new(link.render_like(&line.raw));
        }
        true
    }

    /// Takes the lines of a memory out.
    pub fn remove(&mut self, file: &str) -> bool {
        let file = fold(file).into_owned();
        let before = self.lines.len();
        self.lines.retain(|line| !line.leads_to(&file));
        self.lines.len() != before
    }

    /// Keeps the first of several lines for one memory; says how many it took out.
    pub fn remove_duplicates(&mut self) -> usize {
        let mut seen = std::collections::BTreeSet::new();
        let before = self.lines.len();
        self.lines.retain(|line| match &line.link {
            Some(link) => seen.insert(fold(&link.file).into_owned()),
            None => true,
        });
        before - self.lines.len()
    }

    fn add(&mut self, link: &Link) {
        let end = if self.lines.first().is_some_and(|line| line.raw.ends_with("\r\n")) {
            "\r\n"
        } else {
            "\n"
        };
        let last = self.lines.iter().rposition(|line| line.link.is_some());
        let at = last.map_or(self.lines.len(), |last| last + 1);
        if let Some(before) = at.checked_sub(1).and_then(|index| self.lines.get_mut(index))
            && !before.raw.ends_with('\n')
        {
            before.raw.push_str(end);
        }
        self.lines.insert(at, Line::new(format!("{}{end}", link.render())));
    }
}

impl Line {
    fn new(raw: String) -> Self {
        let link = Link::parse(&raw);
        Self { raw, link }
    }

    fn leads_to(&self, folded: &str) -> bool {
        self.link.as_ref().is_some_and(|link| fold(&link.file) == folded)
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
