//! Takes a line apart into simple commands of plain words.
//!
//! Invariant: whatever bash would expand, substitute, redirect or group is an error here; what comes
//! out is exactly the words bash would run, but for unquoted patterns, which are marked as such.

use std::ops::Range;

use super::syntax::UnsupportedSyntax;

/// One word, with its quotes resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Where it stands in the line.
    pub(crate) range: Range<usize>,
    /// Nothing in it was quoted or escaped.
    pub(crate) bare: bool,
    /// It has an unquoted `*`, `?` or `[`, so it may stand for several names.
    pub(crate) pattern: bool,
    /// It begins with one, so those names may begin with `-`.
    pub(crate) open_start: bool,
}

/// A command of a line that was understood: a program with its arguments, as bash would run them, and which of them are
/// patterns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellCommand {
    pub(crate) words: Vec<Word>,
    /// The harmless redirections, as places in the line.
    pub(crate) redirects: Vec<Range<usize>>,
}

/// The redirections that neither read nor write a file.
const HARMLESS_REDIRECTS: [&str; 4] = ["2>/dev/null", ">/dev/null", "2>&1", "</dev/null"];

pub(super) fn scan(line: &str) -> Result<Vec<ShellCommand>, UnsupportedSyntax> {
    if let Some(letter) = line.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(UnsupportedSyntax::ControlCharacter(letter));
    }
    let mut scanner =
        Scanner { line, at: 0, commands: Vec::new(), current: ShellCommand::default() };
    scanner.run()?;
    Ok(scanner.commands)
}

/// What must follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Command,
    Anything,
}

struct Scanner<'a> {
    line: &'a str,
    at: usize,
    commands: Vec<ShellCommand>,
    current: ShellCommand,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        self.line.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn run(&mut self) -> Result<(), UnsupportedSyntax> {
        let mut expect = Expect::Command;
        while let Some(letter) = self.peek() {
            match letter {
                ' ' | '\t' => _ = self.next(),
                '\n' | ';' | '|' | '&' => expect = self.operator(expect)?,
                _ => {
                    self.redirect_or_word()?;
                    expect = Expect::Anything;
                }
            }
        }
        if expect == Expect::Command {
            return Err(UnsupportedSyntax::NoCommandAtEnd);
        }
        self.finish_command();
        Ok(())
    }

    fn finish_command(&mut self) {
        let command = std::mem::take(&mut self.current);
        if !command.words.is_empty() {
            self.commands.push(command);
        }
    }

    fn operator(&mut self, expect: Expect) -> Result<Expect, UnsupportedSyntax> {
        if self.take("\n") {
            self.finish_command();
            return Ok(expect);
        }
        for operator in ["|&", ";;"] {
            if self.take(operator) {
                return Err(UnsupportedSyntax::Operator(operator.to_owned()));
            }
        }
        if self.take("&>") {
            return Err(UnsupportedSyntax::OutputRedirect("&>"));
        }
        if self.current.words.is_empty() {
            return Err(UnsupportedSyntax::NoCommandBeforeOperator);
        }
        self.finish_command();
        if self.take("&&") || self.take("||") || self.take("|") {
            return Ok(Expect::Command);
        }
        if self.take(";") {
            return Ok(Expect::Anything);
        }
        Err(UnsupportedSyntax::Background)
    }

    fn redirect_or_word(&mut self) -> Result<(), UnsupportedSyntax> {
        let start = self.at;
        for redirect in HARMLESS_REDIRECTS {
            if !self.current.words.is_empty() && self.take(redirect) {
                if self.peek().is_none_or(ends_word) {
                    self.current.redirects.push(start..self.at);
                    return Ok(());
                }
                self.at = start;
            }
        }
        let word = self.word()?;
        self.current.words.push(word);
        Ok(())
    }

    fn word(&mut self) -> Result<Word, UnsupportedSyntax> {
        let start = self.at;
        let mut word = Word {
            text: String::new(),
            range: start..start,
            bare: true,
            pattern: false,
            open_start: false,
        };
        while let Some(letter) = self.peek().filter(|letter| !ends_word(*letter)) {
            self.at += letter.len_utf8();
            match letter {
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => self.escaped(&mut word)?,
                '{' => self.braces(&mut word)?,
                '*' | '?' | '[' => {
                    word.pattern = true;
                    word.open_start |= word.text.is_empty();
                    word.text.push(letter);
                }
                '#' if self.at == start + 1 => return Err(UnsupportedSyntax::Comment),
                _ => word.text.push(plain(letter)?),
            }
        }
        word.range = start..self.at;
        if word.text == "[" {
            (word.pattern, word.open_start) = (false, false);
        }
        Ok(word)
    }

    fn single_quoted(&mut self, word: &mut Word) -> Result<(), UnsupportedSyntax> {
        word.bare = false;
        loop {
            match self.next().ok_or(UnsupportedSyntax::OpenQuote('\''))? {
                '\'' => return Ok(()),
                letter => word.text.push(letter),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), UnsupportedSyntax> {
        word.bare = false;
        loop {
            match self.next().ok_or(UnsupportedSyntax::OpenQuote('"'))? {
                '"' => return Ok(()),
                letter @ ('$' | '`') => return Err(UnsupportedSyntax::Substitution(letter)),
                '\\' => match self.peek() {
                    Some('\n') | None => return Err(UnsupportedSyntax::TrailingBackslash),
                    Some(letter @ ('$' | '`' | '"' | '\\')) => {
                        self.at += 1;
                        word.text.push(letter);
                    }
                    Some(_) => word.text.push('\\'),
                },
                letter => word.text.push(letter),
            }
        }
    }

    fn escaped(&mut self, word: &mut Word) -> Result<(), UnsupportedSyntax> {
        word.bare = false;
        match self.next() {
            None | Some('\n') => Err(UnsupportedSyntax::TrailingBackslash),
            Some(letter) => {
                word.text.push(letter);
                Ok(())
            }
        }
    }

    /// `HEAD@{1}` is plain text; with a comma or two dots it would be several words.
    fn braces(&mut self, word: &mut Word) -> Result<(), UnsupportedSyntax> {
        let (inside, _) = self.rest().split_once('}').ok_or(UnsupportedSyntax::Braces)?;
        let plain = inside.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if word.text.is_empty() || inside.is_empty() || !plain {
            return Err(UnsupportedSyntax::Braces);
        }
        let inside = inside.to_owned();
        self.at += inside.len() + 1;
        word.text.push('{');
        word.text.push_str(&inside);
        word.text.push('}');
        Ok(())
    }
}

fn ends_word(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | ';' | '|' | '&')
}

/// A letter outside quotes that means nothing but itself.
fn plain(letter: char) -> Result<char, UnsupportedSyntax> {
    match letter {
        '$' | '`' => Err(UnsupportedSyntax::Substitution(letter)),
        '>' => Err(UnsupportedSyntax::OutputRedirect(">")),
        '<' => Err(UnsupportedSyntax::InputRedirect),
        '(' | ')' => Err(UnsupportedSyntax::Group(letter)),
        '}' => Err(UnsupportedSyntax::Operator("}".to_owned())),
        _ if letter.is_ascii() => Ok(letter),
        _ if letter.is_whitespace() || has_blank_byte(letter) => {
            Err(UnsupportedSyntax::ForeignBlank(letter))
        }
        _ => Ok(letter),
    }
}

/// In a locale of single bytes bash may take a part of the letter for a blank.
fn has_blank_byte(letter: char) -> bool {
    letter.encode_utf8(&mut [0; 4]).bytes().any(|byte| matches!(byte, 0x85 | 0xa0))
}
