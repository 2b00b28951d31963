//! What a proposed memory rests on (B-9, B-26, M-17): its quotations are looked up in the conversation, and
//! source and trust are taken from where they are found, never from the word of whoever proposes.
//!
//! Invariants: a memory rests on messages that the person or the model wrote since the last run, and on nothing
//! else; what memory itself said is no source; and what tools or pages brought is quarantined, in whose words
//! soever it comes.

use std::fmt;

use dormouse_base::MessageId;
use dormouse_engine::{MemoryText, Said, Voice};
use dormouse_memory::{MemoryFile, MessageSource, Scope, Trust};

use super::already::{Already, bears_on, is_mostly_of, is_said_by};
use super::words::Words;

/// A quotation of fewer words is found everywhere and says nothing.
const LEAST_WORDS: usize = 2;
/// So many words in a row are no coincidence.
const RUN: usize = 8;
/// A name of something has so many characters at least.
const LEAST_NAME: usize = 4;

/// Why a proposal is dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Dropped {
    NoQuotes,
    TooShort(String),
    Nowhere(String),
    Echo(String),
    Seen(String),
    ToolsOnly(String),
    SaidBy(MemoryFile),
    SavedNow,
    SaidInConversation,
}

impl Dropped {
    /// A word for figures.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::NoQuotes | Self::TooShort(_) => "no_quote",
            Self::Nowhere(_) => "nowhere",
            Self::Echo(_) => "echo",
            Self::Seen(_) => "seen",
            Self::ToolsOnly(_) => "tools_only",
            Self::SaidBy(_) | Self::SavedNow | Self::SaidInConversation => "duplicate",
        }
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoQuotes => f.write_str(
                "not saved: `quotes` must hold the words of the new messages that this rests on, verbatim",
            ),
            Self::TooShort(quote) => {
                write!(f, "not saved: the quotation “{quote}” is too short to be found for sure")
            }
            Self::Nowhere(quote) => {
                write!(f, "not saved: nobody said “{quote}” in this conversation, word for word")
            }
            Self::Echo(quote) => write!(
                f,
                "not saved: “{quote}” is what memory, a summary, notes or instructions say, and no news"
            ),
            Self::Seen(quote) => write!(
                f,
                "not saved: “{quote}” was said before the messages that are to be looked at now"
            ),
            Self::ToolsOnly(quote) => write!(
                f,
                "not saved: “{quote}” comes from a tool's output alone; a memory rests on what the person or you said"
            ),
            Self::SaidBy(file) => write!(
                f,
                "not saved: {file} says this already; to add something new to it, give it as `file`"
            ),
            Self::SavedNow => {
                f.write_str("not saved: what you have just saved says this already")
            }
            Self::SaidInConversation => f.write_str(
                "not saved: a summary, notes or an instruction file says this already",
            ),
        }
    }
}

/// Whether what memory itself said is kept out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EchoGuard {
    On,
    /// For measuring what it is good for.
    Off,
}

/// A part of the conversation.
struct Part {
    message: MessageId,
    voice: Voice,
    words: Words,
    text: String,
    /// Whether it belongs to what is to be looked at.
    new: bool,
    /// Whether tools or pages had brought something in its turn before it.
    after_tools: bool,
}

/// All that proposals are held against.
pub(super) struct Evidence {
    session: String,
    parts: Vec<Part>,
    already: Already,
    guard: EchoGuard,
}

/// A proposal.
pub(super) struct Proposed<'a> {
    /// Its description and its text.
    pub(super) text: &'a str,
    /// Its text.
    pub(super) body: &'a str,
    pub(super) quotes: &'a [String],
    /// The memory that it is to change, and those that it takes the place of: that they say it is no news.
    pub(super) onto: Option<(Scope, &'a MemoryFile)>,
    pub(super) supersedes: &'a [MemoryFile],
}

impl Evidence {
    /// Of what was said, in its order; `is_new` says of a message whether it is to be looked at. `before` is what
    /// stood in front of the conversation: system text, instruction files, the index.
    pub(super) fn new(
        session: String,
        said: Vec<Said>,
        is_new: impl Fn(MessageId) -> bool,
        before: &[String],
        known: Vec<MemoryText>,
        guard: EchoGuard,
    ) -> Self {
        let mut after_tools = false;
        let mut parts = Vec::new();
        for said in said {
            match said.voice {
                Voice::Person => after_tools = false,
                Voice::Tool | Voice::Outside => after_tools = true,
                Voice::Model | Voice::Program => {}
            }
            parts.push(Part {
                message: said.message,
                voice: said.voice,
                words: Words::of(&said.text),
                new: is_new(said.message),
                after_tools,
                text: said.text,
            });
        }
        let ours = parts.iter().filter(|part| part.voice == Voice::Program);
        // Without the guard nobody asks what is known.
        let already = match guard {
            EchoGuard::On => Already::of(known, before, ours.map(|part| part.text.as_str())),
            EchoGuard::Off => Already::of(Vec::new(), &[], std::iter::empty()),
        };
        let mut evidence = Self { session, parts, already, guard };
        evidence.stand_before(before);
        evidence
    }

    /// What stood in front of the conversation is the program's word as well.
    fn stand_before(&mut self, before: &[String]) {
        let Some(first) = self.parts.first().map(|part| part.message) else { return };
        for text in before {
            self.parts.push(Part {
                message: first,
                voice: Voice::Program,
                words: Words::of(text),
                text: text.clone(),
                new: false,
                after_tools: false,
            });
        }
    }

    /// The messages that a proposal comes from, or why it is dropped.
    pub(super) fn weigh(&self, proposed: &Proposed<'_>) -> Result<Vec<MessageSource>, Dropped> {
        if self.guard == EchoGuard::Off {
            return Ok(self.last_word());
        }
        if proposed.quotes.is_empty() {
            return Err(Dropped::NoQuotes);
        }
        let mut sources = Vec::new();
        for quote in proposed.quotes {
            let source = self.look_up(quote)?;
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        let typed = self.typed_in(&sources);
        self.already.look(proposed, &typed)?;
        if self.is_borrowed(proposed, &sources, &typed) {
            for source in &mut sources {
                source.trust = Trust::Outside;
            }
        }
        Ok(sources)
    }

    /// What the person typed in these messages.
    fn typed_in(&self, sources: &[MessageSource]) -> String {
        let is_source = |part: &&Part| {
            let message = part.message.to_string();
            sources.iter().any(|source| source.message == message)
        };
        let typed = self.voiced(&[Voice::Person]).filter(is_source);
        typed.map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// A proposal was saved: whoever proposes it again is told so.
    pub(super) fn saved(&self, proposed: &Proposed<'_>) {
        self.already.keep(proposed);
    }

    /// Where the guard is off, everything is what the person said last.
    fn last_word(&self) -> Vec<MessageSource> {
        let typed = self.parts.iter().rev().find(|part| part.voice == Voice::Person);
        typed.map(|part| self.source(part, Trust::Typed)).into_iter().collect()
    }

    fn source(&self, part: &Part, trust: Trust) -> MessageSource {
        let (session, message) = (self.session.clone(), part.message.to_string());
        MessageSource { session, message, trust }
    }

    /// The message that said it. What the person typed is theirs, whoever said it before.
    fn look_up(&self, quote: &str) -> Result<MessageSource, Dropped> {
        let words = Words::of(quote);
        if words.count() < LEAST_WORDS {
            return Err(Dropped::TooShort(quote.to_owned()));
        }
        let saying = |voice: Voice, new: bool| {
            let said = |part: &&Part| {
                part.voice == voice && part.new >= new && part.words.contains(&words)
            };
            self.parts.iter().find(said)
        };
        if let Some(part) = saying(Voice::Person, true) {
            return Ok(self.source(part, Trust::Typed));
        }
        if saying(Voice::Program, false).is_some() {
            return Err(Dropped::Echo(quote.to_owned()));
        }
        let brought = saying(Voice::Outside, false).or_else(|| saying(Voice::Tool, false));
        if let Some(part) = saying(Voice::Model, true) {
            // In a turn in which tools brought something, the model's words may be theirs.
            let theirs = brought.is_some() || part.after_tools;
            return Ok(self.source(part, if theirs { Trust::Outside } else { Trust::Concluded }));
        }
        if saying(Voice::Person, false).or_else(|| saying(Voice::Model, false)).is_some() {
            return Err(Dropped::Seen(quote.to_owned()));
        }
        match brought {
            Some(_) => Err(Dropped::ToolsOnly(quote.to_owned())),
            None => Err(Dropped::Nowhere(quote.to_owned())),
        }
    }

    /// Whether a text says what tools or pages said, and the person did not: in its words, with its names, or in
    /// other words. Where the quotation is the person's but the text has nothing of it, or more of a page, it is
    /// from there as well. `said` is what the person typed in the messages that it rests on.
    fn is_borrowed(&self, proposed: &Proposed<'_>, sources: &[MessageSource], said: &str) -> bool {
        let brought: Vec<&Part> = self.voiced(&[Voice::Tool, Voice::Outside]).collect();
        if brought.is_empty() {
            return false;
        }
        let words = Words::of(proposed.text);
        let said_by =
            |parts: &[&Part], words: &Words| parts.iter().any(|part| part.words.contains(words));
        let typed: Vec<&Part> = self.voiced(&[Voice::Person]).collect();
        let theirs = |words: &Words| said_by(&brought, words) && !said_by(&typed, words);
        if words.runs(RUN).iter().any(theirs) {
            return true;
        }
        if names(proposed.text).any(|name| theirs(&Words::of(name))) {
            return true;
        }
        if is_said_by(proposed, said) {
            return false;
        }
        if brought.iter().any(|part| is_said_by(proposed, beginning(&part.text))) {
            return true;
        }
        let from_person = sources.iter().any(|source| source.trust == Trust::Typed);
        let outside = self.voiced(&[Voice::Outside]).map(|part| part.text.as_str());
        from_person
            && self.after_tools(sources)
            && (!bears_on(proposed) || is_mostly_of(proposed, outside, said))
    }

    fn voiced(&self, voices: &[Voice]) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| voices.contains(&part.voice))
    }

    /// Whether tools have brought anything since the person said this.
    fn after_tools(&self, sources: &[MessageSource]) -> bool {
        let said =
            |part: &Part| sources.iter().any(|source| source.message == part.message.to_string());
        let from = self.parts.iter().position(said).unwrap_or_default();
        self.parts.iter().skip(from).any(|part| matches!(part.voice, Voice::Tool | Voice::Outside))
    }
}

/// So much of what a tool brought is compared with proposals, in bytes.
const COMPARED: usize = 64 * 1024;

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(COMPARED)).unwrap_or(text)
}

/// Words that name something: an address, a path, an identifier, a number.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let trim = |c: char| !c.is_alphanumeric();
    let is_name = |word: &&str| {
        let odd = |c: char| c.is_ascii_digit() || matches!(c, '.' | '/' | '_' | '@' | ':' | '\\');
        let long = word.chars().count() >= LEAST_NAME;
        // Two capital letters inside a word, as in `parseFoo`, make one too.
        let mixed = word.chars().skip(1).any(|c| c.is_ascii_uppercase())
            && word.chars().any(|c| c.is_ascii_lowercase());
        long && (word.chars().any(odd) || mixed)
    };
    text.split_whitespace().map(move |word| word.trim_matches(trim)).filter(is_name)
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
