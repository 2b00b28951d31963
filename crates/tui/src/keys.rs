//! Keys: what a terminal sends, as events. Bytes may arrive in any pieces.
//!
//! *Invariants:* no I/O, no clock; whatever arrives, each byte is looked at a bounded number of times and becomes a key, a part of a
//! paste, or nothing; answers to questions that nobody asked are skipped whole.

use std::collections::VecDeque;

use crate::suggestions::Suggestion;
use crate::unmarked_paste::UnmarkedPaste;

/// A key, or another kind of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalEvent {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The terminal has another size.
    Resized,
    /// The terminal got the focus, or lost it.
    Focus(bool),
    /// The attachments that fit a word, which were asked for earlier.
    Suggested(String, Vec<Suggestion>),
}

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyEvent {
    /// The key.
    pub code: KeyCode,
    /// What was held with it.
    pub modifiers: KeyModifiers,
}

impl KeyEvent {
    /// A key with modifiers.
    pub const fn new(code: KeyCode, modifiers: KeyModifiers) -> Self {
        Self { code, modifiers }
    }
}

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those on the keys")]
pub enum KeyCode {
    Char(char),
    Enter,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Esc,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
}

/// Modifiers, as terminals number them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyModifiers(u8);

impl KeyModifiers {
    /// None.
    pub const NONE: Self = Self(0);
    /// Shift, where the key itself does not say it.
    pub const SHIFT: Self = Self(1);
    /// Alt, or Esc before the key.
    pub const ALT: Self = Self(2);
    /// Control.
    pub const CONTROL: Self = Self(4);

    /// Whether all of these are held.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether none is held.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

const ESC: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";
/// A sequence that is longer is none.
const LONGEST_SEQUENCE: usize = 64;

/// Whether more bytes may follow at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MoreInput {
    Possible,
    /// The terminal has paused: an Esc is a key of its own.
    No,
}

/// What the beginning of the bytes is.
enum Parsed {
    /// It takes so many bytes, and is this; none for what is skipped.
    Event(usize, Option<KeyEvent>),
    /// The terminal got or lost the focus, in so many bytes.
    Focus(usize, bool),
    /// The mark before a paste, of so many bytes.
    PasteStart(usize),
    /// It goes on with bytes that have not arrived.
    Incomplete,
}

/// Turns bytes into events.
#[derive(Debug, Default)]
pub struct KeyParser {
    bytes: Vec<u8>,
    events: VecDeque<TerminalEvent>,
    /// In a paste: how many bytes were searched for its end.
    paste: Option<usize>,
    unmarked: UnmarkedPaste,
}

impl KeyParser {
    /// Takes the bytes of one read.
    pub fn feed(&mut self, bytes: &[u8]) {
        let is_in_sequence = self.paste.is_some() || !self.bytes.is_empty();
        let pasted = if is_in_sequence { None } else { self.unmarked.take(bytes) };
        if let Some(text) = pasted {
            self.events.push_back(TerminalEvent::Paste(text));
            return;
        }
        self.bytes.extend_from_slice(bytes);
        self.parse(MoreInput::Possible);
    }

    /// The terminal has paused: what was the beginning of a sequence is a key, and what comes next is typed.
    pub fn pause(&mut self) {
        self.unmarked.end();
        self.parse(MoreInput::No);
    }

    /// Whether a sequence has begun, so that a pause would tell what it is.
    pub fn is_undecided(&self) -> bool {
        self.paste.is_none() && (!self.bytes.is_empty() || self.unmarked.goes_on())
    }

    /// The next event.
    pub fn next_event(&mut self) -> Option<TerminalEvent> {
        self.events.pop_front()
    }

    fn parse(&mut self, more: MoreInput) {
        let mut used = 0;
        loop {
            if let Some(searched) = self.paste {
                self.bytes.drain(..used);
                used = 0;
                let Some(end) = find(&self.bytes, PASTE_END, searched) else {
                    self.paste = Some(self.bytes.len().saturating_sub(PASTE_END.len()));
                    return;
                };
                let pasted: Vec<u8> = self.bytes.drain(..end + PASTE_END.len()).take(end).collect();
                let text = String::from_utf8_lossy(&pasted).into_owned();
                self.events.push_back(TerminalEvent::Paste(text));
                self.paste = None;
            }
            let rest = self.bytes.get(used..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            match parse_key(rest, more) {
                Parsed::Event(length, key) => {
                    used += length.max(1);
                    self.events.extend(key.map(TerminalEvent::Key));
                }
                Parsed::Focus(length, focus) => {
                    used += length;
                    self.events.push_back(TerminalEvent::Focus(focus));
                }
                Parsed::PasteStart(length) => {
                    used += length;
                    self.paste = Some(0);
                    self.unmarked.turn_off();
                }
                Parsed::Incomplete => break,
            }
        }
        self.bytes.drain(..used);
    }
}

fn find(bytes: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(wanted.len()).position(|window| window == wanted).map(|at| from + at)
}

const fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

fn parse_key(bytes: &[u8], more: MoreInput) -> Parsed {
    match bytes {
        [ESC] if more == MoreInput::Possible => Parsed::Incomplete,
        [ESC] | [ESC, ESC, ..] => Parsed::Event(1, Some(key(KeyCode::Esc))),
        [ESC, b'[', rest @ ..] => control_sequence(rest, more),
        [ESC, b'O', rest @ ..] => match rest {
            [letter, ..] => Parsed::Event(3, named(*letter, KeyModifiers::NONE)),
            [] if more == MoreInput::Possible => Parsed::Incomplete,
            [] => Parsed::Event(2, with_alt(Some(key(KeyCode::Char('O'))))),
        },
        [ESC, rest @ ..] => match parse_key(rest, more) {
            Parsed::Event(length, key) => Parsed::Event(length + 1, with_alt(key)),
            other => other,
        },
        [byte, ..] if *byte < 0x80 => Parsed::Event(1, Some(single(*byte))),
        _ => character(bytes, more),
    }
}

fn with_alt(key: Option<KeyEvent>) -> Option<KeyEvent> {
    key.map(|key| KeyEvent::new(key.code, key.modifiers.with(KeyModifiers::ALT)))
}

/// A byte of its own.
fn single(byte: u8) -> KeyEvent {
    let control =
        |letter: u8| KeyEvent::new(KeyCode::Char(char::from(letter)), KeyModifiers::CONTROL);
    match byte {
        b'\r' => key(KeyCode::Enter),
        b'\t' => key(KeyCode::Tab),
        0x7f => key(KeyCode::Backspace),
        0 => control(b' '),
        1..=0x1a => control(byte - 1 + b'a'),
        0x1c..=0x1f => control(byte + 0x40),
        byte => key(KeyCode::Char(char::from(byte))),
    }
}

/// A character of several bytes.
fn character(bytes: &[u8], more: MoreInput) -> Parsed {
    let length = match bytes.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => return Parsed::Event(1, None),
    };
    match bytes.get(..length) {
        Some(letter) => match std::str::from_utf8(letter).ok().and_then(|text| text.chars().next())
        {
            Some(letter) => Parsed::Event(length, Some(key(KeyCode::Char(letter)))),
            None => Parsed::Event(1, None),
        },
        None if more == MoreInput::Possible => Parsed::Incomplete,
        None => Parsed::Event(bytes.len(), None),
    }
}

/// A sequence after `ESC [`: numbers, and a letter that says what they mean.
fn control_sequence(bytes: &[u8], more: MoreInput) -> Parsed {
    let Some(end) = bytes.iter().position(|byte| !matches!(byte, 0x20..=0x3f)) else {
        return match more {
            MoreInput::Possible if bytes.len() < LONGEST_SEQUENCE => Parsed::Incomplete,
            _ => Parsed::Event(bytes.len() + 2, None),
        };
    };
    let last = bytes.get(end).copied().unwrap_or_default();
    let length = end + 3;
    // The console's function keys: `ESC [ [ A`.
    if last == b'[' {
        return Parsed::Event(length + usize::from(bytes.len() > end + 1), None);
    }
    // Not the end of a sequence: what has begun is cut off.
    if !matches!(last, 0x40..=0x7e) {
        return Parsed::Event(length - 1, None);
    }
    let text = bytes.get(..end).unwrap_or_default();
    let numbers: Vec<u32> = String::from_utf8_lossy(text)
        .split(';')
        .map(|number| number.split(':').next().and_then(|number| number.parse().ok()).unwrap_or(0))
        .collect();
    let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
    if end == 0 && matches!(last, b'I' | b'O') {
        return Parsed::Focus(length, last == b'I');
    }
    if (last, number(0)) == (b'~', 200) {
        return Parsed::PasteStart(length);
    }
    let event = match last {
        b'~' if number(0) == 27 => coded(number(2), modifiers(number(1))),
        b'~' => numbered(number(0), modifiers(number(1))),
        b'u' => coded(number(0), modifiers(number(1))),
        letter => named(letter, modifiers(number(1))),
    };
    Parsed::Event(length, event)
}

/// The modifiers of a sequence: one more than their bits.
fn modifiers(number: u32) -> KeyModifiers {
    KeyModifiers(u8::try_from(number.saturating_sub(1) & 7).unwrap_or(0))
}

fn named(letter: u8, modifiers: KeyModifiers) -> Option<KeyEvent> {
    let code = match letter {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'Z' => KeyCode::BackTab,
        b'M' => KeyCode::Enter,
        _ => return None,
    };
    Some(KeyEvent::new(code, modifiers))
}

fn numbered(number: u32, modifiers: KeyModifiers) -> Option<KeyEvent> {
    let code = match number {
        1 | 7 => KeyCode::Home,
        4 | 8 => KeyCode::End,
        3 => KeyCode::Delete,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        _ => return None,
    };
    Some(KeyEvent::new(code, modifiers))
}

/// A key by its character.
fn coded(number: u32, modifiers: KeyModifiers) -> Option<KeyEvent> {
    let code = match number {
        9 => KeyCode::Tab,
        13 => KeyCode::Enter,
        27 => KeyCode::Esc,
        127 => KeyCode::Backspace,
        number => KeyCode::Char(char::from_u32(number).filter(|letter| !letter.is_control())?),
    };
    Some(KeyEvent::new(code, modifiers))
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
