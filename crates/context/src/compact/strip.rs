//! Messages made smaller for a request that was too long (C-16, C-19, C-21, C-25).
//!
//! Invariant: no function here parts a call from its result, and none leaves a message without a block.

use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_conversation::{Block, BlockKind, Message, ResultContent, is_reminder};
use serde::Deserialize;

use super::rounds::rounds;

/// How much more than the gap is dropped, as a part of it: estimates err.
const MARGIN_PART: u64 = 10;
/// The part of the rounds that goes when nobody knows how much is too much.
const UNKNOWN_PART: usize = 5;
/// What stands where a reminder stood: what it held is put in again after a compaction.
const REMINDER_GONE: &str = "[a reminder of the program stood here]";

/// The messages for a summary request that cannot be sent as they are: pictures and documents as
/// markers, in results too; no thinking; no reminders, for they will be put in again.
pub fn strip_messages(messages: &[Arc<Message>]) -> Vec<Message> {
    let mut gone = Vec::new();
    messages
        .iter()
        .map(|message| with_blocks(message, |block| strip_block(block, &mut gone)))
        .collect()
}

/// Which pictures and documents are taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaRange {
    /// The largest one: as a rule a server refuses a request because of it alone.
    Largest,
    /// All.
    All,
}

/// The messages without pictures and documents, and what was taken out.
pub fn without_media(messages: &[Arc<Message>], range: MediaRange) -> (Vec<Message>, Vec<String>) {
    let mut gone = Vec::new();
    let largest = messages.iter().flat_map(|message| &message.blocks).map(largest_media).max();
    let mut goes = |block: &Block, gone: &[String]| match range {
        MediaRange::All => true,
        MediaRange::Largest => gone.is_empty() && Some(block.raw().len()) == largest,
    };
    let messages = messages
        .iter()
        .map(|message| {
            with_blocks(message, |block| Some(without_media_in(block, &mut gone, &mut goes)))
        })
        .collect();
    (messages, gone)
}

/// The bytes of the largest picture or document in a block.
fn largest_media(block: &Block) -> usize {
    match block.result_content() {
        Some(ResultContent::Blocks(blocks)) => blocks.iter().map(largest_media).max().unwrap_or(0),
        _ if is_media(block) => block.raw().len(),
        _ => 0,
    }
}

/// The message without its thinking; none if it has none.
fn without_thinking(message: &Message) -> Option<Message> {
    message
        .blocks
        .iter()
        .any(is_thinking)
        .then(|| with_blocks(message, |block| (!is_thinking(block)).then(|| block.clone())))
}

/// Which thinking is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropThinking {
    /// All but that of a pending call, whose results are about to be sent: servers want it back (C-25).
    KeepPending,
    /// All.
    All,
}

/// The messages without thinking, and which of them had any.
pub fn drop_thinking(
    messages: &[Arc<Message>],
    which: DropThinking,
) -> (Vec<Message>, Vec<MessageId>) {
    let results = messages.last().is_some_and(|last| last.tool_results().next().is_some());
    let keeps = results && which == DropThinking::KeepPending;
    let pending = if keeps { messages.len().checked_sub(2) } else { None };
    let mut changed = Vec::new();
    let kept = messages
        .iter()
        .enumerate()
        .map(|(index, message)| match without_thinking(message) {
            Some(bare) if Some(index) != pending => {
                changed.push(message.id);
                bare
            }
            _ => (**message).clone(),
        })
        .collect();
    (kept, changed)
}

/// The messages without their oldest rounds: as many as close the gap, and a little more; a fifth of them
/// if the gap is not known. At least one goes and at least one stays; of a single round nothing goes.
/// The first that stays may be the model's: the caller puts something of the user in front.
pub fn without_oldest(messages: &[Arc<Message>], gap: Option<u64>) -> Vec<Arc<Message>> {
    let rounds = rounds(messages);
    let most = rounds.len().saturating_sub(1);
    let wanted = match gap {
        None => rounds.len().div_ceil(UNKNOWN_PART),
        Some(gap) => {
            let goal = gap.saturating_add(gap / MARGIN_PART);
            let mut freed: u64 = 0;
            rounds
                .iter()
                .take_while(|round| {
                    let more = freed < goal;
                    freed = freed.saturating_add(round.tokens);
                    more
                })
                .count()
        }
    };
    let from = rounds.get(wanted.max(1).min(most)).map_or(0, |round| round.range.start);
    messages.get(from..).unwrap_or_default().to_vec()
}

/// The message with other blocks. One that has none left says so: servers refuse it empty.
fn with_blocks(message: &Message, mut change: impl FnMut(&Block) -> Option<Block>) -> Message {
    let mut blocks: Vec<Block> = message.blocks.iter().filter_map(&mut change).collect();
    if blocks.is_empty() {
        blocks.push(Block::text("[nothing of this message is left]"));
    }
    Message { blocks, ..message.clone() }
}

fn strip_block(block: &Block, gone: &mut Vec<String>) -> Option<Block> {
    if is_thinking(block) {
        return None;
    }
    if block.as_text().is_some_and(|text| is_reminder(text.trim_start())) {
        return Some(Block::text(REMINDER_GONE));
    }
    Some(without_media_in(block, gone, &mut |_, _| true))
}

fn is_thinking(block: &Block) -> bool {
    matches!(block.kind(), BlockKind::Thinking | BlockKind::RedactedThinking)
}

/// The block with markers where pictures and documents stood.
fn without_media_in(
    block: &Block,
    gone: &mut Vec<String>,
    goes: &mut impl FnMut(&Block, &[String]) -> bool,
) -> Block {
    match block.kind() {
        BlockKind::Image | BlockKind::Document if goes(block, gone) => {
            let what = describe(block);
            let marker = Block::text(&format!("[{what} stood here]"));
            gone.push(what);
            marker
        }
        BlockKind::ToolResult { id } => match block.result_content() {
            Some(ResultContent::Blocks(blocks)) if blocks.iter().any(is_media) => {
                let blocks =
                    blocks.iter().map(|block| without_media_in(block, gone, goes)).collect();
                Block::tool_result(id, &ResultContent::Blocks(blocks), block.is_error())
            }
            _ => block.clone(),
        },
        BlockKind::Image
        | BlockKind::Document
        | BlockKind::Text
        | BlockKind::Thinking
        | BlockKind::RedactedThinking
        | BlockKind::ToolUse { .. }
        | BlockKind::Other(_) => block.clone(),
    }
}

fn is_media(block: &Block) -> bool {
    matches!(block.kind(), BlockKind::Image | BlockKind::Document)
}

/// What can be said of a picture or a document without showing it.
fn describe(block: &Block) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Source {
        media_type: Option<String>,
        url: Option<String>,
        data: Option<String>,
    }
    let source: Source = block
        .field("source")
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let what = if *block.kind() == BlockKind::Image { "a picture" } else { "a document" };
    let mut parts = vec![what.to_owned()];
    parts.extend(block.string_field("title").map(|title| format!("\"{title}\"")));
    parts.extend(source.media_type);
    parts.extend(source.url);
    parts.extend(source.data.map(|data| format!("{} bytes", data.len() / 4 * 3)));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::testing::{assistant, of_model, of_user, results, user};
    use dormouse_conversation::{MessageFlags, ToolUseId, pairing_violations};
    use proptest::prelude::*;

    fn thinking() -> Block {
        Block::from_json(r#"{"type":"thinking","thinking":"hm","signature":"x"}"#).unwrap()
    }

    fn document() -> Block {
        Block::from_json(r#"{"type":"document","title":"Plan","source":{"type":"url","url":"https://a.example/p.pdf"}}"#).unwrap()
    }

    fn texts(message: &Message) -> Vec<String> {
        message.blocks.iter().filter_map(Block::as_text).collect()
    }

    #[test]
    fn media_and_thinking_go_and_are_named() {
        let picture = ResultContent::Blocks(vec![
            Block::text("shot"),
            Block::image("image/png", &"A".repeat(400)),
        ]);
        let messages = [
            of_user(
                vec![
                    Block::text("<system-reminder>rules</system-reminder>"),
                    Block::text("see"),
                    document(),
                ],
                MessageFlags::default(),
            ),
            of_model(vec![thinking(), crate::compact::testing::call_of("1", "Read", "{}")]),
            of_user(
                vec![Block::tool_result(&ToolUseId::new("1"), &picture, true)],
                MessageFlags::default(),
            ),
            of_model(vec![thinking()]),
        ];
        let less = strip_messages(&messages);
        assert_eq!(
            texts(&less[0]),
            [REMINDER_GONE, "see", "[a document, \"Plan\", https://a.example/p.pdf stood here]"]
        );
        assert_eq!(less[1].blocks.len(), 1);
        assert!(less[2].blocks[0].is_error());
        assert!(
            less[2].blocks[0].raw().contains("[a picture, image/png, 300 bytes stood here]"),
            "{less:?}"
        );
        assert_eq!(less[3].blocks.len(), 1, "no message is empty");
        let (less, gone) = without_media(&messages, MediaRange::All);
        assert_eq!(
            gone,
            ["a document, \"Plan\", https://a.example/p.pdf", "a picture, image/png, 300 bytes"]
        );
        assert_eq!(less[1], *messages[1]);
        assert!(without_thinking(&messages[1]).is_some_and(|message| message.blocks.len() == 1));
        assert!(without_thinking(&messages[0]).is_none());
    }

    fn turns(count: usize) -> Vec<Arc<Message>> {
        let turn = |n: usize| {
            let id = n.to_string();
            [
                user(&"x".repeat(360)),
                assistant(&[], &[&id]),
                results(&[(&id, "ok")]),
                assistant(&["y"], &[]),
            ]
        };
        (0..count).flat_map(turn).collect()
    }

    #[test]
    fn oldest_rounds_go() {
        let messages = turns(10);
        let left = |gap| without_oldest(&messages, gap).len();
        assert_eq!(left(None), 32, "a fifth of 20 rounds");
        assert_eq!(left(Some(0)), 37, "at least one");
        assert_eq!(left(Some(150)), 33, "enough, and a little more");
        assert_eq!(left(Some(u64::MAX)), 1, "never all");
        let one = [user("x"), assistant(&["y"], &[])];
        assert_eq!(without_oldest(&one, None).len(), 2, "a single round stays");
        assert!(without_oldest(&[], Some(5)).is_empty());
    }

    proptest! {
        #[test]
        fn pairs_stay_whole(count in 0_usize..8, gap in prop::option::of(0_u64..3_000)) {
            let messages = turns(count);
            let left = without_oldest(&messages, gap);
            prop_assert!(pairing_violations(left.iter().map(AsRef::as_ref)).is_empty());
            prop_assert!(left.len() < messages.len() || count == 0);
            let less = strip_messages(&messages);
            prop_assert!(pairing_violations(&less).is_empty());
        }
    }
}
