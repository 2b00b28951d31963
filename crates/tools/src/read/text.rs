//! Lines of a text with their numbers, streamed.
//!
//! Invariant: memory is bounded by what is shown, not by the file or its longest line; whatever is cut
//! or left out is said, with how to see it.

use std::fmt::Write as _;
use std::io::{self, BufRead};
use std::path::Path;

use dormouse_conversation::estimate_text;
use tokio_util::sync::CancellationToken;

use crate::blocking::check;
use crate::capture::count_chars;
use crate::{ReadExtent, ToolError};

/// The most characters shown of a line.
const LINE_CHARS: usize = 2_000;
/// The most bytes kept of a line: a character has at most four; a line end and a byte-order mark come on
/// top.
const LINE_BYTES: usize = LINE_CHARS * 4 + 8;
/// Tokens kept free for the notes at the end.
const NOTE_TOKENS: u32 = 100;
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Which lines to show, and how many tokens they may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineWindow {
    /// The first line, from 1.
    pub(super) first: u64,
    pub(super) lines: u64,
    pub(super) tokens: u32,
}

/// What is shown.
#[derive(Debug)]
pub(super) struct Shown {
    numbered: String,
    stop: Stop,
    last: u64,
    lossy: bool,
    pub(super) extent: ReadExtent,
    /// The lines without their numbers, with their line ends.
    pub(super) content: String,
}

/// Why no more lines follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    End,
    Lines,
    Tokens,
}

impl Shown {
    /// The text for the model.
    pub(super) fn report(&self, window: LineWindow) -> String {
        let mut text = self.numbered.clone();
        if self.last == 0 {
            text.push_str("[the file is empty]\n");
        }
        let (last, next) = (self.last, self.last.saturating_add(1));
        // Writing to a string cannot fail.
        let _ = match self.stop {
            Stop::End => Ok(()),
            Stop::Lines => writeln!(
                text,
                "[stopped after line {last}; the file goes on: read on with offset {next}]"
            ),
            Stop::Tokens => writeln!(
                text,
                "[stopped after line {last}, because one read shows at most {} tokens; the file \
                 goes on: read on with offset {next}]",
                window.tokens
            ),
        };
        if self.lossy {
            text.push_str("[not all of it is UTF-8: bytes that are not show as \u{fffd}]\n");
        }
        text
    }
}

/// Shows the lines of the window.
pub(super) fn show(
    path: &Path,
    reader: &mut impl BufRead,
    window: LineWindow,
    cancel: &CancellationToken,
) -> Result<Shown, ToolError> {
    let mut lines = Lines { path, reader, cancel, last: 0 };
    while lines.last + 1 < window.first {
        if lines.next(Keep::Nothing)?.is_none() {
            return Err(past_the_end(path, window.first, lines.last));
        }
    }
    let mut page = Page::new(window);
    while page.stop.is_none() {
        let Some(line) = lines.next(Keep::Beginning)? else {
            page.stop = Some(Stop::End);
            break;
        };
        page.push(lines.last, &line);
        if page.stop.is_none() && lines.last - window.first + 1 >= window.lines {
            page.stop = Some(Stop::Lines);
        }
    }
    if page.last == 0 && window.first > 1 {
        return Err(past_the_end(path, window.first, lines.last));
    }
    // Whoever stops at the very end has seen all there is.
    if page.last == lines.last && lines.at_end()? {
        page.stop = Some(Stop::End);
    }
    Ok(page.shown())
}

fn past_the_end(path: &Path, first: u64, lines: u64) -> ToolError {
    let reason = match lines {
        0 => format!("is empty, so there is nothing from line {first} on"),
        _ => format!("ends with line {lines}, so there is nothing from line {first} on"),
    };
    ToolError::Refused { path: path.to_owned(), reason }
}

/// The lines shown so far.
struct Page {
    window: LineWindow,
    numbered: String,
    content: String,
    tokens: u32,
    last: u64,
    stop: Option<Stop>,
    exact: bool,
    lossy: bool,
}

impl Page {
    fn new(window: LineWindow) -> Self {
        Self {
            window,
            numbered: String::new(),
            content: String::new(),
            tokens: window.tokens.min(NOTE_TOKENS),
            last: 0,
            stop: None,
            exact: true,
            lossy: false,
        }
    }

    /// Adds a line, unless it does not fit; the first always does, cut if need be.
    fn push(&mut self, number: u64, line: &Line) {
        let room = self.window.tokens.saturating_sub(self.tokens);
        let mut chars = LINE_CHARS;
        let (mut text, mut shown) = line.numbered(number, chars);
        while self.last == 0 && chars > 1 && estimate_text(&text) > room {
            chars /= 2;
            (text, shown) = line.numbered(number, chars);
        }
        let tokens = estimate_text(&text);
        if tokens > room && self.last > 0 {
            self.stop = Some(Stop::Tokens);
            return;
        }
        self.tokens = self.tokens.saturating_add(tokens);
        self.numbered.push_str(&text);
        self.last = number;
        self.lossy |= shown.lossy;
        self.exact &= !shown.lossy && !shown.cut;
        let bytes = if shown.cut { shown.text.as_bytes() } else { &line.bytes };
        self.content.push_str(&String::from_utf8_lossy(bytes));
    }

    fn shown(self) -> Shown {
        let stop = self.stop.unwrap_or(Stop::End);
        let whole = self.exact && stop == Stop::End && self.window.first == 1;
        Shown {
            numbered: self.numbered,
            stop,
            last: self.last,
            lossy: self.lossy,
            extent: if whole { ReadExtent::Whole } else { ReadExtent::Part },
            content: self.content,
        }
    }
}

/// A line, as far as it is kept.
#[derive(Debug, Default)]
struct Line {
    /// Its beginning, with its line end if it is short enough.
    bytes: Vec<u8>,
    /// Characters in all of it.
    chars: usize,
    /// Bytes in all of it.
    length: usize,
}

/// What is shown of a line.
struct ShownLine {
    text: String,
    cut: bool,
    lossy: bool,
}

impl Line {
    fn numbered(&self, number: u64, max_chars: usize) -> (String, ShownLine) {
        let shown = self.decode(number, max_chars);
        let mut text = format!("{number:>6}\t{}", shown.text);
        if shown.cut {
            let count = shown.text.chars().count();
            let _ = write!(text, " [line cut: {count} of {} characters shown]", self.chars);
        }
        text.push('\n');
        (text, shown)
    }

    fn decode(&self, number: u64, max_chars: usize) -> ShownLine {
        let bytes = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let mut shown = ShownLine { text: String::new(), cut: false, lossy: false };
        let mut left = max_chars;
        for chunk in bytes.utf8_chunks() {
            let valid = chunk.valid();
            let valid = if number == 1 && shown.text.is_empty() {
                valid.strip_prefix(BYTE_ORDER_MARK).unwrap_or(valid)
            } else {
                valid
            };
            let end = valid.char_indices().nth(left).map(|(index, _)| index);
            shown.text.push_str(end.and_then(|end| valid.get(..end)).unwrap_or(valid));
            shown.cut |= end.is_some();
            left -= left.min(valid.chars().count());
            if !chunk.invalid().is_empty() {
                if left == 0 {
                    shown.cut = true;
                    break;
                }
                shown.text.push(char::REPLACEMENT_CHARACTER);
                shown.lossy = true;
                left -= 1;
            }
        }
        // The kept bytes hold the most characters a line shows, and one that was split by the end of
        // them lies behind those.
        shown.cut |= self.length > self.bytes.len();
        shown
    }
}

/// What of a line to hold on to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Nothing,
    Beginning,
}

/// Lines of a reader, one by one.
struct Lines<'a, R> {
    path: &'a Path,
    reader: &'a mut R,
    cancel: &'a CancellationToken,
    /// The number of the line read last.
    last: u64,
}

impl<R: BufRead> Lines<'_, R> {
    fn next(&mut self, keep: Keep) -> Result<Option<Line>, ToolError> {
        let mut line = Line::default();
        loop {
            check(self.cancel)?;
            let buffer =
                fill(self.reader).map_err(|source| ToolError::unreadable(self.path, source))?;
            if buffer.is_empty() {
                break;
            }
            let newline = buffer.iter().position(|byte| *byte == b'\n');
            let count = newline.map_or(buffer.len(), |newline| newline + 1);
            let piece = buffer.get(..count).unwrap_or_default();
            line.length += count;
            if keep == Keep::Beginning {
                let room = LINE_BYTES.saturating_sub(line.bytes.len()).min(count);
                line.bytes.extend_from_slice(piece.get(..room).unwrap_or_default());
                line.chars += count_chars(piece) - usize::from(newline.is_some());
            }
            self.reader.consume(count);
            if newline.is_some() {
                break;
            }
        }
        if line.length == 0 {
            return Ok(None);
        }
        self.last += 1;
        Ok(Some(line))
    }

    fn at_end(&mut self) -> Result<bool, ToolError> {
        let buffer =
            fill(self.reader).map_err(|source| ToolError::unreadable(self.path, source))?;
        Ok(buffer.is_empty())
    }
}

/// `fill_buf` that goes on after a signal.
fn fill<R: BufRead>(reader: &mut R) -> io::Result<&[u8]> {
    loop {
        match reader.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // Filled by now: this one only hands it out. The borrow checker wants the two apart.
    reader.fill_buf()
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
