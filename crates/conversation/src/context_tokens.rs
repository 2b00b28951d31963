//! The size of a conversation in tokens: the server's count as far as it goes, an estimate for the rest.

use crate::message::Message;

/// How full the window is, and how much of that is an estimate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCount {
    /// Counted by the server, with the last response.
    pub counted: u64,
    /// Estimated, for what was added since.
    pub estimated: u64,
}

impl TokenCount {
    /// Both together.
    pub fn total(self) -> u64 {
        self.counted.saturating_add(self.estimated)
    }
}

/// The tokens a conversation uses: the last response's usage, plus an estimate for the messages added
/// since. Before the first response everything is estimated, `prefix` (system prompt and tools) too.
pub fn context_tokens<'a>(
    prefix: u64,
    messages: impl DoubleEndedIterator<Item = &'a Message>,
) -> TokenCount {
    let mut estimated: u64 = 0;
    for message in messages.rev() {
        let counted = message.response.as_ref().map_or(0, |response| response.usage.total());
        // A response's own blocks are in its usage; results that came while it streamed stand in the
        // message behind it, and so were added above.
        if counted > 0 {
            return TokenCount { counted, estimated };
        }
        estimated = estimated.saturating_add(message.tokens());
    }
    TokenCount { counted: 0, estimated: estimated.saturating_add(prefix) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Block, MEDIA_TOKENS, ResultContent, ToolUseId};
    use crate::message::{MessageFlags, Response};
    use crate::tokens::{estimate_json, estimate_text};
    use crate::usage::Usage;
    use dormouse_base::{IdSource, MessageId, SeededIds, SystemClock};
    use std::sync::Arc;

    fn id(ids: &dyn IdSource) -> MessageId {
        MessageId::generate(ids)
    }

    #[test]
    fn estimates() {
        assert_eq!(estimate_text("12345"), 2);
        assert_eq!(estimate_json("12345"), 3);
        assert_eq!(Block::image("image/png", &"A".repeat(1_000_000)).tokens(), MEDIA_TOKENS);
        let result = ResultContent::Blocks(vec![
            Block::text(&"x".repeat(380)),
            Block::image("image/png", "A"),
        ]);
        let result = Block::tool_result(&ToolUseId::new("t"), &result, false);
        assert!((2_090..2_110).contains(&result.tokens()), "{}", result.tokens());
    }

    #[test]
    fn the_last_response_counts_and_what_came_after_is_estimated() {
        let ids = SeededIds::new(Arc::new(SystemClock::default()), 1);
        let now = "2026-11-15T08:00:00Z".parse().unwrap();
        let user = |text: &str| {
            Message::user(id(&ids), now, vec![Block::text(text)], MessageFlags::default())
        };
        let usage = Usage {
            input_tokens: 10,
            cache_read_input_tokens: 100,
            output_tokens: 5,
            ..Usage::default()
        };
        let response = Response {
            id: "m".into(),
            model: "x".into(),
            stop_reason: None,
            usage,
            request_id: None,
        };
        let answer =
            Message::assistant(id(&ids), now, vec![Block::text("a long answer")], response);
        let first = user("hello");
        assert_eq!(
            context_tokens(50, [&first].into_iter()),
            TokenCount { counted: 0, estimated: 50 + first.tokens() }
        );
        let since = user(&"x".repeat(400));
        let count = context_tokens(50, [&first, &answer, &since].into_iter());
        assert_eq!(count, TokenCount { counted: 115, estimated: since.tokens() });
        assert_eq!(count.total(), 115 + since.tokens());
    }
}
