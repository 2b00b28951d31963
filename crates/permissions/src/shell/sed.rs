//! `sed`, as far as its script only prints.
//!
//! Invariant: a script passes only if it is understood to its end and has none of the commands that
//! write a file, read one by name or run a program. Where versions of sed differ about the end of an
//! expression, it is refused.

use std::iter::Peekable;
use std::str::Chars;

use super::flags::{AllowedFlags, parse};
use super::reasons::{NotReadOnly, PatternRisk};
use super::scan::Word;

pub(super) fn check(program: &str, arguments: &[Word]) -> Result<(), NotReadOnly> {
    let flags = AllowedFlags {
        short: "nErsuze:",
        long: "quiet silent regexp-extended separate unbuffered null-data expression= sandbox version",
    };
    let parsed = parse(program, arguments, &flags)?;
    let expressions = parsed.values.iter().filter(|(flag, _)| matches!(*flag, "e" | "expression"));
    let mut scripts: Vec<&str> = expressions.map(|(_, script)| *script).collect();
    if scripts.is_empty() {
        match parsed.operands.first() {
            Some(word) if !word.pattern => scripts.push(&word.text),
            Some(word) => {
                let pattern = word.text.clone();
                return Err(PatternRisk::Script { pattern, program: program.to_owned() }.into());
            }
            None => return Err(NotReadOnly::NoScript(program.to_owned())),
        }
    }
    scripts.iter().try_for_each(|script| {
        Script { letters: script.chars().peekable() }
            .run()
            .ok_or_else(|| NotReadOnly::Script { program: "sed", script: (*script).to_owned() })
    })
}

struct Script<'a> {
    letters: Peekable<Chars<'a>>,
}

/// None everywhere: not understood.
impl Script<'_> {
    fn run(&mut self) -> Option<()> {
        loop {
            self.skip(|letter| matches!(letter, ' ' | '\t' | '\n' | ';' | '}'));
            if self.letters.peek().is_none() {
                return Some(());
            }
            self.addresses()?;
            self.command()?;
        }
    }

    fn skip(&mut self, which: impl Fn(char) -> bool) {
        while self.letters.next_if(|letter| which(*letter)).is_some() {}
    }

    fn blanks(&mut self) {
        self.skip(|letter| matches!(letter, ' ' | '\t'));
    }

    fn addresses(&mut self) -> Option<()> {
        if self.address()? {
            self.blanks();
            if self.letters.next_if_eq(&',').is_some() {
                self.blanks();
                _ = self.letters.next_if(|letter| matches!(letter, '+' | '~'));
                self.address()?.then_some(())?;
            }
        }
        self.skip(|letter| matches!(letter, ' ' | '\t' | '!'));
        Some(())
    }

    /// Whether there was one.
    fn address(&mut self) -> Option<bool> {
        match self.letters.peek()? {
            '0'..='9' => {
                self.skip(|letter| letter.is_ascii_digit());
                if self.letters.next_if_eq(&'~').is_some() {
                    self.skip(|letter| letter.is_ascii_digit());
                }
            }
            '$' => _ = self.letters.next(),
            '/' => {
                self.letters.next();
                self.expression('/')?;
                self.skip(|letter| matches!(letter, 'I' | 'M'));
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn command(&mut self) -> Option<()> {
        match self.letters.next()? {
            '{' => return Some(()),
            'p' | 'P' | '=' | 'd' | 'D' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' => {}
            'q' | 'Q' => {
                self.blanks();
                self.skip(|letter| letter.is_ascii_digit());
            }
            's' => {
                let delimiter = self.delimiter()?;
                self.expression(delimiter)?;
                self.replacement(delimiter)?;
                self.skip(|letter| {
                    letter.is_ascii_digit() || matches!(letter, 'g' | 'p' | 'i' | 'I')
                });
            }
            'y' => {
                let delimiter = self.delimiter()?;
                self.replacement(delimiter)?;
                self.replacement(delimiter)?;
            }
            _ => return None,
        }
        self.blanks();
        match self.letters.peek() {
            None | Some(';' | '\n' | '}') => Some(()),
            Some(_) => None,
        }
    }

    fn delimiter(&mut self) -> Option<char> {
        self.letters.next_if(|letter| "/|,#@:!%_~+".contains(*letter))
    }

    /// A regular expression up to its end. Some versions let a delimiter stand between brackets and
    /// some do not, so there it is refused.
    fn expression(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.letters.next()? {
                '\n' => return None,
                '\\' => _ = self.letters.next().filter(|letter| *letter != '\n')?,
                '[' if delimiter != '[' => self.brackets(delimiter)?,
                letter if letter == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    fn brackets(&mut self, delimiter: char) -> Option<()> {
        _ = self.letters.next_if_eq(&'^');
        _ = self.letters.next_if_eq(&']');
        loop {
            match self.letters.next()? {
                ']' => return Some(()),
                letter if letter == delimiter => return None,
                '\n' => return None,
                '[' => {
                    self.letters.next_if_eq(&':')?;
                    self.skip(|letter| letter.is_ascii_lowercase());
                    self.letters.next_if_eq(&':').filter(|_| delimiter != ':')?;
                    self.letters.next_if_eq(&']')?;
                }
                '\\' => _ = self.letters.next_if(char::is_ascii_alphanumeric)?,
                _ => {}
            }
        }
    }

    fn replacement(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.letters.next()? {
                '\n' => return None,
                '\\' => _ = self.letters.next().filter(|letter| *letter != '\n')?,
                letter if letter == delimiter => return Some(()),
                _ => {}
            }
        }
    }
}
