//! Renders streamed markdown for a terminal.
//!
//! A pure state machine from text to pieces to append. Invariants: printed output is never changed; the pieces do not
//! depend on how the text was split; no row is wider than the terminal; control characters are removed. A line break
//! in the text is a line break on the terminal.

mod flow;
mod inline;
mod line_start;
mod table;

use crate::highlight::{CodeToken, Highlighter};
use crate::style::{Attribute, Color, Piece, Style};
use crate::width;
pub use flow::Flow;
use flow::Margin;
use inline::Inline;
use line_start::{Fence, LineStart, LineState, MarkdownLine, line_start};

/// Indentation of code.
const CODE_INDENT: &str = "  ";
/// The margin of a quotation.
const QUOTE: &str = "│ ";
/// Maximum width of a horizontal rule.
const MAX_RULE: usize = 40;

/// A line that is longer, and whose kind is still uncertain, is parsed again only when it is complete.
const MAX_MARKER_BYTES: usize = 2_000;

/// The block that the current line belongs to.
#[derive(Debug, Default)]
enum Block {
    #[default]
    None,
    /// Code, with its colors where its language is known.
    Fence(Fence, Option<Highlighter>),
    /// The lines of the table so far.
    Table(Vec<String>),
}

/// Whether an empty row precedes the next output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// Nothing has been printed yet: no empty row.
    AtStart,
    Pending,
    None,
}

/// Renders a response while it streams.
#[derive(Debug)]
pub struct Renderer {
    flow: Flow,
    /// A line whose kind is not certain yet.
    line: String,
    /// The text of a line whose kind is known.
    running: Option<Inline>,
    block: Block,
    gap: Gap,
}

impl Renderer {
    /// For a terminal with this number of columns.
    pub fn new(columns: usize) -> Self {
        Self {
            flow: Flow::new(columns),
            line: String::new(),
            running: None,
            block: Block::None,
            gap: Gap::AtStart,
        }
    }

    /// Fits further output to a new width.
    pub fn set_width(&mut self, columns: usize) {
        self.flow.set_width(columns);
    }

    /// Adds text; returns the pieces that can be printed.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        for c in dormouse_base::printable(&text.replace('\r', "")).chars() {
            self.add(c);
        }
        if let Some(running) = &mut self.running {
            running.advance(&mut |c, style| self.flow.put(c, style));
        }
        self.flow.take()
    }

    /// Returns the rest, at the end of the text.
    pub fn finish(&mut self) -> Vec<Piece> {
        if self.running.is_some() || !self.line.is_empty() {
            self.add('\n');
        }
        self.end_table();
        self.block = Block::None;
        self.gap = Gap::AtStart;
        self.flow.take()
    }

    fn add(&mut self, c: char) {
        match (&mut self.running, c) {
            (Some(_), '\n') => self.end_running(),
            (Some(running), c) => running.add(c),
            (None, '\n') => {
                let line = std::mem::take(&mut self.line);
                self.complete_line(&line);
            }
            (None, c) => {
                self.line.push(c);
                self.try_start_line();
            }
        }
    }

    fn end_running(&mut self) {
        if let Some(running) = self.running.take() {
            running.finish(&mut |c, style| self.flow.put(c, style));
            self.flow.end_row();
        }
    }

    /// Starts to print a line before it is complete, if its kind is certain.
    fn try_start_line(&mut self) {
        if matches!(self.block, Block::Fence(..)) || self.line.len() > MAX_MARKER_BYTES {
            return;
        }
        let Some(start) = line_start(&self.line, LineState::Partial) else { return };
        self.line.clear();
        self.start_line(start);
    }

    fn complete_line(&mut self, line: &str) {
        if let Block::Fence(fence, highlighter) = &mut self.block {
            let code = fence.strip(line);
            if fence.is_closed_by(code) {
                self.block = Block::None;
            } else {
                let style = code_style(fence, code);
                let code = expanded(code);
                let margin = margin(fence.quotes, fence.indent, CODE_INDENT);
                let tokens = match highlighter {
                    Some(highlighter) => highlighter.line(&code),
                    None => vec![(code.as_str(), CodeToken::Plain)],
                };
                self.code(margin, &tokens, style);
            }
            return;
        }
        if let Some(start) = line_start(line, LineState::Complete) {
            self.start_line(start);
            self.end_running();
        }
    }

    fn code(&mut self, margin: Margin, tokens: &[(&str, CodeToken)], style: Style) {
        self.write_gap();
        self.flow.begin(margin.clone(), margin);
        for (text, token) in tokens {
            self.flow.put_verbatim(text, token.style(style));
        }
        self.flow.end_row();
    }

    /// Starts a line of its kind.
    fn start_line(&mut self, start: LineStart) {
        if start.kind == MarkdownLine::TableRow {
            self.row(start.text);
            return;
        }
        self.end_table();
        let LineStart { quotes, indent, kind, text } = start;
        match kind {
            MarkdownLine::Blank if quotes == 0 => self.request_gap(),
            MarkdownLine::Heading(level) => {
                self.request_gap();
                let style =
                    if level == 1 { Style::BOLD.with(Attribute::Underlined) } else { Style::BOLD };
                self.start_text(margin(quotes, 0, ""), margin(quotes, 0, ""), &text, style);
                // A heading is complete when it is parsed.
                self.end_running();
                self.request_gap();
            }
            MarkdownLine::Blank | MarkdownLine::Text => {
                let margin = margin(quotes, indent, "");
                self.start_text(margin.clone(), margin, &text, quote_style(quotes));
            }
            MarkdownLine::Bullet => self.item(quotes, indent, "•", &text),
            MarkdownLine::Numbered(number) => self.item(quotes, indent, &number, &text),
            MarkdownLine::Rule => {
                self.write_gap();
                let columns = MAX_RULE.min(self.flow.width() / 2);
                self.flow.begin(margin(quotes, 0, ""), Margin::new());
                self.flow.put_verbatim(&"─".repeat(columns), Style::DIM);
                self.flow.end_row();
            }
            MarkdownLine::Fence(fence) => {
                let highlighter = Highlighter::new(&fence.language);
                self.block = Block::Fence(fence, highlighter);
            }
            MarkdownLine::TableRow => {}
        }
    }

    fn item(&mut self, quotes: usize, indent: usize, marker: &str, text: &str) {
        let hang = " ".repeat(width::of(marker) + 1);
        let first = margin(quotes, indent, &format!("{marker} "));
        self.start_text(first, margin(quotes, indent, &hang), text, quote_style(quotes));
    }

    fn start_text(&mut self, first: Margin, rest: Margin, text: &str, style: Style) {
        self.write_gap();
        self.flow.begin(first, rest);
        let mut running = Inline::new(style);
        text.chars().for_each(|c| running.add(c));
        self.running = Some(running);
    }

    fn row(&mut self, line: String) {
        match &mut self.block {
            Block::Table(lines) => lines.push(line),
            Block::None | Block::Fence(..) => self.block = Block::Table(vec![line]),
        }
    }

    fn end_table(&mut self) {
        let Block::Table(lines) = &mut self.block else { return };
        let lines = std::mem::take(lines);
        self.block = Block::None;
        self.write_gap();
        match table::render(&lines, self.flow.width()) {
            Some(pieces) => self.flow.append_rows(pieces),
            None => {
                for line in lines {
                    self.start_text(Margin::new(), Margin::new(), &line, Style::PLAIN);
                    self.end_running();
                }
            }
        }
    }

    fn request_gap(&mut self) {
        if self.gap != Gap::AtStart {
            self.gap = Gap::Pending;
        }
    }

    fn write_gap(&mut self) {
        if self.gap == Gap::Pending {
            self.flow.end_row();
        }
        self.gap = Gap::None;
    }
}

/// The margin of a row: quote marks, indentation, marker.
fn margin(quotes: usize, indent: usize, marker: &str) -> Margin {
    let mut margin = vec![(QUOTE.repeat(quotes), Style::DIM)];
    margin.push((" ".repeat(indent), Style::PLAIN));
    margin.push((marker.to_owned(), Style::PLAIN));
    margin
}

fn quote_style(quotes: usize) -> Style {
    if quotes > 0 { Style::PLAIN.with(Attribute::Italic) } else { Style::PLAIN }
}

/// Replaces tabs by spaces up to the next multiple of four columns.
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

/// Colors the lines of a diff.
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
