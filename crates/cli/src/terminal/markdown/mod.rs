//! Markdown for a terminal, as it streams.
//!
//! A pure state machine: text in, pieces to append out. Invariants: what was put out is never taken
//! back; the pieces are the same however the text was cut; no row is wider than the width; no control
//! character of the text gets through. A line of the text is a line on the terminal, as people who
//! write for terminals mean it.

mod flow;
mod inline;
mod opening;
mod style;
mod table;

use crate::terminal::width;
pub(crate) use flow::Flow;
use flow::Margin;
use inline::Inline;
use opening::{Fence, Kind, Line, Opening, opening};
pub(crate) use style::{Color, Piece, Style};

/// By how much code is indented.
const CODE_INDENT: &str = "  ";
/// In front of a quote.
const QUOTE: &str = "│ ";
/// The longest rule, in columns.
const RULE: usize = 40;

/// Past so many bytes a line's kind is told once it is whole: it is not looked at with every letter.
const LONGEST_MARKER: usize = 2_000;

/// What the current line belongs to.
#[derive(Debug, Default)]
enum Block {
    #[default]
    None,
    Fence(Fence),
    /// The lines of a table so far.
    Table(Vec<String>),
}

/// Whether an empty row goes in front of what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// Nothing has been put out yet: none.
    AtTheTop,
    Wanted,
    None,
}

/// Renders an answer as it comes.
#[derive(Debug)]
pub(crate) struct Renderer {
    flow: Flow,
    /// A line whose kind is not known yet.
    line: String,
    /// The text of a line whose kind is.
    running: Option<Inline>,
    block: Block,
    gap: Gap,
}

impl Renderer {
    /// For a terminal of so many columns.
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            flow: Flow::new(columns),
            line: String::new(),
            running: None,
            block: Block::None,
            gap: Gap::AtTheTop,
        }
    }

    /// The terminal has changed its width: what is still to come is fitted to it.
    pub(crate) fn set_width(&mut self, columns: usize) {
        self.flow.set_width(columns);
    }

    /// Takes more text; gives what can be put out by now.
    pub(crate) fn push(&mut self, text: &str) -> Vec<Piece> {
        for c in dormouse_base::printable(&text.replace('\r', "")).chars() {
            self.letter(c);
        }
        if let Some(running) = &mut self.running {
            running.advance(&mut |c, style| self.flow.put(c, style));
        }
        self.flow.take()
    }

    /// Puts out the rest: the text has ended.
    pub(crate) fn finish(&mut self) -> Vec<Piece> {
        if self.running.is_some() || !self.line.is_empty() {
            self.letter('\n');
        }
        self.end_table();
        self.block = Block::None;
        self.gap = Gap::AtTheTop;
        self.flow.take()
    }

    fn letter(&mut self, c: char) {
        match (&mut self.running, c) {
            (Some(_), '\n') => self.end_running(),
            (Some(running), c) => running.add(c),
            (None, '\n') => {
                let line = std::mem::take(&mut self.line);
                self.whole_line(&line);
            }
            (None, c) => {
                self.line.push(c);
                self.try_opening();
            }
        }
    }

    fn end_running(&mut self) {
        if let Some(running) = self.running.take() {
            running.finish(&mut |c, style| self.flow.put(c, style));
            self.flow.end_row();
        }
    }

    /// Begins to put out a line before it is whole, where what has come tells what it is.
    fn try_opening(&mut self) {
        if matches!(self.block, Block::Fence(_)) || self.line.len() > LONGEST_MARKER {
            return;
        }
        let Some(opening) = opening(&self.line, Line::Begun) else { return };
        self.line.clear();
        self.open(opening);
    }

    fn whole_line(&mut self, line: &str) {
        if let Block::Fence(fence) = &self.block {
            let code = fence.strip(line);
            if fence.is_closed_by(code) {
                self.block = Block::None;
            } else {
                let (code, style) = (expanded(code), code_style(fence, code));
                let margin = margin(fence.quotes, fence.indent, CODE_INDENT);
                self.code(margin, &code, style);
            }
            return;
        }
        if let Some(opening) = opening(line, Line::Whole) {
            self.open(opening);
            self.end_running();
        }
    }

    fn code(&mut self, margin: Margin, code: &str, style: Style) {
        self.close_gap();
        self.flow.begin(margin.clone(), margin);
        self.flow.put_verbatim(code, style);
        self.flow.end_row();
    }

    /// Begins a line of this kind.
    fn open(&mut self, opening: Opening) {
        if opening.kind == Kind::Row {
            self.row(opening.text);
            return;
        }
        self.end_table();
        let Opening { quotes, indent, kind, text } = opening;
        match kind {
            Kind::Blank if quotes == 0 => self.want_gap(),
            Kind::Heading(level) => {
                self.want_gap();
                let style = if level == 1 { Style::BOLD.underlined() } else { Style::BOLD };
                self.run(margin(quotes, 0, ""), margin(quotes, 0, ""), &text, style);
                // Its row ends here: a heading comes whole.
                self.end_running();
                self.want_gap();
            }
            Kind::Blank | Kind::Text => {
                let margin = margin(quotes, indent, "");
                self.run(margin.clone(), margin, &text, quote_style(quotes));
            }
            Kind::Bullet => self.item(quotes, indent, "•", &text),
            Kind::Numbered(number) => self.item(quotes, indent, &number, &text),
            Kind::Rule => {
                self.close_gap();
                let columns = RULE.min(self.flow.width() / 2);
                self.flow.begin(margin(quotes, 0, ""), Margin::new());
                self.flow.put_verbatim(&"─".repeat(columns), Style::DIM);
                self.flow.end_row();
            }
            Kind::Fence(fence) => self.block = Block::Fence(fence),
            Kind::Row => {}
        }
    }

    fn item(&mut self, quotes: usize, indent: usize, marker: &str, text: &str) {
        let hang = " ".repeat(width::of(marker) + 1);
        let first = margin(quotes, indent, &format!("{marker} "));
        self.run(first, margin(quotes, indent, &hang), text, quote_style(quotes));
    }

    fn run(&mut self, first: Margin, rest: Margin, text: &str, style: Style) {
        self.close_gap();
        self.flow.begin(first, rest);
        let mut running = Inline::new(style);
        text.chars().for_each(|c| running.add(c));
        self.running = Some(running);
    }

    fn row(&mut self, line: String) {
        match &mut self.block {
            Block::Table(lines) => lines.push(line),
            Block::None | Block::Fence(_) => self.block = Block::Table(vec![line]),
        }
    }

    fn end_table(&mut self) {
        let Block::Table(lines) = &mut self.block else { return };
        let lines = std::mem::take(lines);
        self.block = Block::None;
        self.close_gap();
        match table::render(&lines, self.flow.width()) {
            Some(pieces) => self.flow.append_rows(pieces),
            None => {
                for line in lines {
                    self.run(Margin::new(), Margin::new(), &line, Style::PLAIN);
                    self.end_running();
                }
            }
        }
    }

    fn want_gap(&mut self) {
        if self.gap != Gap::AtTheTop {
            self.gap = Gap::Wanted;
        }
    }

    fn close_gap(&mut self) {
        if self.gap == Gap::Wanted {
            self.flow.end_row();
        }
        self.gap = Gap::None;
    }
}

/// What stands in front of a row.
fn margin(quotes: usize, indent: usize, marker: &str) -> Margin {
    let mut margin = vec![(QUOTE.repeat(quotes), Style::DIM)];
    margin.push((" ".repeat(indent), Style::PLAIN));
    margin.push((marker.to_owned(), Style::PLAIN));
    margin
}

fn quote_style(quotes: usize) -> Style {
    if quotes > 0 { Style::PLAIN.italic() } else { Style::PLAIN }
}

/// Tabs as blanks, up to the next multiple of four.
fn expanded(code: &str) -> String {
    let mut out = String::new();
    for c in code.chars() {
        if c == '\t' {
            let columns = width::of(&out);
            out.push_str(&" ".repeat(4 - columns % 4));
        } else {
            out.push(c);
        }
    }
    out
}

/// Lines of a diff say what they do.
fn code_style(fence: &Fence, code: &str) -> Style {
    match (fence.language.as_str(), code.chars().next()) {
        ("diff" | "patch", Some('+')) => Style::PLAIN.color(Color::Green),
        ("diff" | "patch", Some('-')) => Style::PLAIN.color(Color::Red),
        ("diff" | "patch", Some('@')) => Style::PLAIN.color(Color::Cyan),
        _ => Style::PLAIN,
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
