//! What may be left out of a view, and how the messages that stand for left-out ones are recognized.

use std::ops::Range;
use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_conversation::{Block, Message, Role};

use crate::compact::{Round, rounds};

/// How the marker of a snip begins.
pub(super) const SNIP_MARK: &str = "<left-out messages=\"";
/// How a folded span begins.
pub(super) const FOLD_MARK: &str = "<folded from=\"";

/// A text block that begins so, up to the text: as the program writes it, and as a transcript keeps it.
const TEXT_BLOCK: &str = r#"{"type":"text","text":""#;

/// Whether a message is the marker that a snip left.
pub fn is_snip_marker(message: &Message) -> bool {
    is_made(message, SNIP_MARK)
}

/// Whether a message stands for a folded span.
pub fn is_fold(message: &Message) -> bool {
    is_made(message, FOLD_MARK)
}

/// The first and the last message of the span that a message stands for; none if it stands for none.
pub fn folded_span(message: &Message) -> Option<(MessageId, MessageId)> {
    let text = message.blocks.first().filter(|_| is_fold(message))?.as_text()?;
    let (from, rest) = text.strip_prefix(FOLD_MARK)?.split_once("\" to=\"")?;
    let (to, _) = rest.split_once('"')?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

/// Whether the program made a message that begins with a mark. The block is not parsed: every look at a
/// conversation asks this of every fold in it.
fn is_made(message: &Message, mark: &str) -> bool {
    let [block] = message.blocks.as_slice() else { return false };
    let begins = |raw: &str| {
        let text = raw.strip_prefix(TEXT_BLOCK);
        // The quotation mark that ends the mark is escaped in JSON.
        text.is_some_and(|text| text.starts_with(mark.trim_end_matches('"')))
    };
    message.role == Role::User && message.flags.meta && begins(block.raw())
}

/// The rounds that a layer may leave out, in order: whole rounds in front of the protected tail, without
/// summaries and folds. Rounds with one of those between them do not touch.
pub(super) fn free_rounds(messages: &[Arc<Message>]) -> Vec<Round> {
    let end = protected_from(messages);
    let mut free = Vec::new();
    let mut from = 0;
    let folds = messages.iter().enumerate().filter(|(_, message)| is_fold(message));
    for at in folds.map(|(index, _)| index).chain([messages.len()]) {
        // A fold begins and ends what is beside it: no round reaches across.
        let piece = messages.get(from..at).unwrap_or_default();
        free.extend(
            rounds(piece)
                .into_iter()
                .filter(|round| !holds_summary(piece, &round.range))
                .map(|round| moved(&round, from))
                .filter(|round| round.range.end <= end),
        );
        from = at + 1;
    }
    free
}

/// The last message of the model: it and what follows is protected.
fn protected_from(messages: &[Arc<Message>]) -> usize {
    messages.iter().rposition(|message| message.role == Role::Assistant).unwrap_or(0)
}

fn holds_summary(messages: &[Arc<Message>], range: &Range<usize>) -> bool {
    of(messages, range).iter().any(|message| message.flags.compact_summary)
}

fn moved(round: &Round, by: usize) -> Round {
    Round { range: round.range.start + by..round.range.end + by, tokens: round.tokens }
}

/// The messages of a range.
pub(super) fn of<'a>(messages: &'a [Arc<Message>], range: &Range<usize>) -> &'a [Arc<Message>] {
    messages.get(range.clone()).unwrap_or_default()
}

/// Their ids.
pub(super) fn ids_of(messages: &[Arc<Message>], range: &Range<usize>) -> Vec<MessageId> {
    of(messages, range).iter().map(|message| message.id).collect()
}

/// What a text takes as a message of its own, estimated.
pub(super) fn tokens_of_text(text: &str) -> u64 {
    u64::from(Block::text(text).tokens())
}

/// A share of a number of tokens.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share between 0 and 1 of a window that fits in 32 bits"
)]
pub(super) fn share_of(tokens: u32, share: f64) -> u64 {
    (f64::from(tokens) * share.clamp(0.0, 1.0)) as u64
}
