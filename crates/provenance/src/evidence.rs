//! What an extracted memory rests on (B-9, B-26, M-17): its quotations are looked up in the conversation.
//!
//! Invariants: a memory rests on messages that the user or the model wrote since the last run, and on nothing else;
//! memory itself is no source; what tools or pages brought is quarantined, even in other words.

use dormouse_base::MessageId;
use dormouse_memory::{MemoryText, MessageSource, Trust};

use crate::attribution::{AttributedText, Attribution};
use crate::check::{ProposedMemory, ProvenanceError};
use crate::known_claims::{KnownClaims, is_mostly_from, is_said_by, shares_words_with_quotes};
use crate::shingles::TellingRuns;
use crate::words::WordSequence;

/// Shorter quotations occur everywhere.
const LEAST_QUOTE_WORDS: usize = 2;
/// An identifier has at least this many characters.
const LEAST_IDENTIFIER_CHARS: usize = 4;
/// Bytes of a tool's output that are compared with proposals.
const COMPARED_BYTES: usize = 64 * 1024;

/// Whether proposals that echo memory are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EchoGuard {
    /// They are.
    On,
    /// Everything is accepted: for measuring the guard.
    Off,
}

/// A part of the conversation.
struct Part {
    message: MessageId,
    attribution: Attribution,
    words: WordSequence,
    text: String,
    /// Whether it belongs to the messages to look at.
    new: bool,
    /// Whether tools or pages had brought something in its turn before it.
    after_tools: bool,
}

/// The conversation that proposals are checked against.
pub struct ConversationEvidence {
    session: String,
    parts: Vec<Part>,
    known: KnownClaims,
    guard: EchoGuard,
}

/// What [`ConversationEvidence`] is made of.
pub struct EvidenceInput {
    /// The session that sources are recorded under.
    pub session: String,
    /// The conversation, in order.
    pub texts: Vec<AttributedText>,
    /// The messages to look at.
    pub new_messages: Vec<MessageId>,
    /// The texts in front of the conversation: system prompt, instruction files, the index.
    pub preceding: Vec<String>,
    /// The existing memories.
    pub memories: Vec<MemoryText>,
    /// Whether echoes are rejected.
    pub guard: EchoGuard,
}

impl ConversationEvidence {
    /// Prepares a conversation for comparison.
    pub fn new(input: EvidenceInput) -> Self {
        let EvidenceInput { session, texts, new_messages, preceding, memories, guard } = input;
        let mut after_tools = false;
        let mut parts = Vec::new();
        for AttributedText { message, attribution, text } in texts {
            match attribution {
                Attribution::User => after_tools = false,
                Attribution::Tool | Attribution::Outside => after_tools = true,
                Attribution::Model | Attribution::Program => {}
            }
            let words = WordSequence::of(&text);
            let new = new_messages.contains(&message);
            parts.push(Part { message, attribution, words, text, new, after_tools });
        }
        let inserted = parts.iter().filter(|part| part.attribution == Attribution::Program);
        let known = match guard {
            EchoGuard::On => {
                KnownClaims::new(memories, &preceding, inserted.map(|part| part.text.as_str()))
            }
            EchoGuard::Off => KnownClaims::new(Vec::new(), &[], std::iter::empty()),
        };
        let mut evidence = Self { session, parts, known, guard };
        evidence.add_preceding(preceding);
        evidence
    }

    /// The texts in front of the conversation are the program's as well.
    fn add_preceding(&mut self, preceding: Vec<String>) {
        let Some(first) = self.parts.first().map(|part| part.message) else { return };
        for text in preceding {
            self.parts.push(Part {
                message: first,
                attribution: Attribution::Program,
                words: WordSequence::of(&text),
                text,
                new: false,
                after_tools: false,
            });
        }
    }

    /// The messages that a proposal comes from.
    pub fn sources(
        &self,
        proposed: &ProposedMemory<'_>,
    ) -> Result<Vec<MessageSource>, ProvenanceError> {
        if self.guard == EchoGuard::Off {
            return Ok(self.last_user_message());
        }
        if proposed.quotes.is_empty() {
            return Err(ProvenanceError::NoQuotes);
        }
        let mut sources = Vec::new();
        for quote in proposed.quotes {
            let source = self.find_quote(quote)?;
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        let typed = self.typed_in(&sources);
        self.known.check_new(proposed, &typed)?;
        if self.is_borrowed(proposed, &sources, &typed) {
            for source in &mut sources {
                source.trust = Trust::Outside;
            }
        }
        Ok(sources)
    }

    /// A proposal was saved: proposing it again fails.
    pub fn add_saved(&self, proposed: &ProposedMemory<'_>) {
        self.known.add_saved(proposed);
    }

    /// What the user typed in these messages.
    fn typed_in(&self, sources: &[MessageSource]) -> String {
        let is_source = |part: &&Part| {
            let message = part.message.to_string();
            sources.iter().any(|source| source.message == message)
        };
        let typed = self.attributed_to(&[Attribution::User]).filter(is_source);
        typed.map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Without the guard, everything counts as the user's last message.
    fn last_user_message(&self) -> Vec<MessageSource> {
        let typed = self.parts.iter().rev().find(|part| part.attribution == Attribution::User);
        typed.map(|part| self.source(part, Trust::Typed)).into_iter().collect()
    }

    fn source(&self, part: &Part, trust: Trust) -> MessageSource {
        let message = part.message.to_string();
        MessageSource { session: self.session.clone(), message, trust }
    }

    /// The message that a quotation is from. What the user typed is theirs, whoever wrote it before.
    fn find_quote(&self, quote: &str) -> Result<MessageSource, ProvenanceError> {
        let words = WordSequence::of(quote);
        if words.count() < LEAST_QUOTE_WORDS {
            return Err(ProvenanceError::QuoteTooShort(quote.to_owned()));
        }
        let first = |attribution: Attribution, only_new: bool| {
            let matches = |part: &&Part| {
                part.attribution == attribution
                    && (part.new || !only_new)
                    && part.words.contains(&words)
            };
            self.parts.iter().find(matches)
        };
        if let Some(part) = first(Attribution::User, true) {
            return Ok(self.source(part, Trust::Typed));
        }
        if first(Attribution::Program, false).is_some() {
            return Err(ProvenanceError::Echo(quote.to_owned()));
        }
        let brought =
            first(Attribution::Outside, false).or_else(|| first(Attribution::Tool, false));
        if let Some(part) = first(Attribution::Model, true) {
            // After tool output in the same turn, the model's words may be the tool's.
            let outside = brought.is_some() || part.after_tools;
            return Ok(self.source(part, if outside { Trust::Outside } else { Trust::Concluded }));
        }
        let old = first(Attribution::User, false).or_else(|| first(Attribution::Model, false));
        if old.is_some() {
            return Err(ProvenanceError::AlreadyReviewed(quote.to_owned()));
        }
        match brought {
            Some(_) => Err(ProvenanceError::ToolOutputOnly(quote.to_owned())),
            None => Err(ProvenanceError::QuoteNotFound(quote.to_owned())),
        }
    }

    /// Whether a proposal says what tools or pages said and the user did not: in the same words, with the same
    /// identifiers, or in other words. Also where the quotation is the user's but the proposal has nothing of it, or
    /// more of a page. `typed` is the user's text in the messages that the proposal rests on.
    fn is_borrowed(
        &self,
        proposed: &ProposedMemory<'_>,
        sources: &[MessageSource],
        typed: &str,
    ) -> bool {
        let brought: Vec<&Part> =
            self.attributed_to(&[Attribution::Tool, Attribution::Outside]).collect();
        if brought.is_empty() {
            return false;
        }
        let text = proposed.text();
        let by_user: Vec<&Part> = self.attributed_to(&[Attribution::User]).collect();
        let mut runs = TellingRuns::of(&text);
        for part in &by_user {
            runs.remove_those_in(&part.words);
        }
        if brought.iter().any(|part| runs.are_in(&part.words)) {
            return true;
        }
        let has_brought_identifier = identifiers(&text).any(|identifier| {
            let words = WordSequence::of(identifier);
            let contains = |parts: &[&Part]| parts.iter().any(|part| part.words.contains(&words));
            contains(&brought) && !contains(&by_user)
        });
        if has_brought_identifier {
            return true;
        }
        if is_said_by(proposed, typed) {
            return false;
        }
        if brought.iter().any(|part| is_said_by(proposed, compared_part(&part.text))) {
            return true;
        }
        let from_user = sources.iter().any(|source| source.trust == Trust::Typed);
        let outside = self.attributed_to(&[Attribution::Outside]).map(|part| part.text.as_str());
        from_user
            && self.tools_ran_since(sources)
            && (!shares_words_with_quotes(proposed) || is_mostly_from(proposed, outside, typed))
    }

    fn attributed_to(&self, attributions: &[Attribution]) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| attributions.contains(&part.attribution))
    }

    /// Whether tools have brought anything since the first of these messages.
    fn tools_ran_since(&self, sources: &[MessageSource]) -> bool {
        let is_source =
            |part: &Part| sources.iter().any(|source| source.message == part.message.to_string());
        let first = self.parts.iter().position(is_source).unwrap_or_default();
        let is_tool =
            |part: &Part| matches!(part.attribution, Attribution::Tool | Attribution::Outside);
        self.parts.iter().skip(first).any(is_tool)
    }
}

fn compared_part(text: &str) -> &str {
    text.get(..text.floor_char_boundary(COMPARED_BYTES)).unwrap_or(text)
}

/// Addresses, paths, identifiers and numbers.
pub(crate) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_identifier = |word: &&str| {
        let marks = |c: char| c.is_ascii_digit() || matches!(c, '.' | '/' | '_' | '@' | ':' | '\\');
        let long = word.chars().count() >= LEAST_IDENTIFIER_CHARS;
        // An upper-case letter inside a word with lower-case ones, as in `parseFoo`.
        let mixed_case = word.chars().skip(1).any(|c| c.is_ascii_uppercase())
            && word.chars().any(|c| c.is_ascii_lowercase());
        long && (word.chars().any(marks) || mixed_case)
    };
    let trimmed =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    trimmed.filter(is_identifier)
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
