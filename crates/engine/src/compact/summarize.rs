//! A summary by the model (C-16, C-19): first in a fork of the conversation, so that the server's cache is read; where
//! that is too long or refused, of stripped messages, without the oldest rounds as far as needed.

use std::sync::Arc;

use dormouse_context::compact::{
    FROM_MARK, SummaryDirection, parse_summary, partial_prompt, plain_summary_prompt, retry_prompt,
    strip_messages, summary_prompt, without_oldest,
};
use dormouse_conversation::{Block, Budget, Message, MessageFlags, PromptSize, estimate_text};
use dormouse_model::ModelError;
use thiserror::Error;

use super::range::CompactionRange;
use super::rebuilt_prefix::WindowUsage;
use super::request::{CompactionRequest, CompactionScope};
use crate::conversation::Conversation;
use crate::fork::{ForkEnd, ForkGate, ForkOrder, ForkSource};

/// The purpose of the requests, in the figures.
const PURPOSE: &str = "auto_compact";
/// How often a request that is too long is made shorter.
const MOST_SHORTENINGS: usize = 3;
/// A model that calls a tool instead gets one more request.
const MOST_TURNS: u32 = 2;

/// Why there is no summary.
#[derive(Debug, Error)]
pub(super) enum SummaryRequestError {
    /// The request is too long by so many tokens, if that is known.
    #[error("even the newest part of the conversation is too long for it")]
    TooLong(Option<u64>),
    #[error("{0}")]
    NoSummary(String),
    #[error("its response only repeated itself")]
    Repeated,
    #[error(transparent)]
    Request(ModelError),
}

/// Asks the model for a summary.
pub(super) struct Summarizer<'a> {
    pub(super) conversation: &'a Conversation,
    pub(super) budget: &'a Budget,
    /// The conversation to fork from.
    pub(super) source: ForkSource,
}

impl Summarizer<'_> {
    /// A summary of the messages in the range.
    pub(super) async fn summarize(
        &self,
        request: &CompactionRequest,
        range: CompactionRange,
    ) -> Result<String, SummaryRequestError> {
        let room = self.budget.compaction.summary_tokens;
        let instructions = request.instructions.as_deref();
        let prompt = match request.scope {
            CompactionScope::Whole if self.is_small() => plain_summary_prompt(instructions, room),
            CompactionScope::Whole => summary_prompt(instructions, room),
            CompactionScope::From(_) => partial_prompt(SummaryDirection::From, instructions, room),
            CompactionScope::UpTo(_) => partial_prompt(SummaryDirection::UpTo, instructions, room),
        };
        let mut gap = None;
        if let Some(source) = self.fork_for(request, range, &prompt) {
            match ask(source, &prompt).await {
                Ok(text) => return Ok(text),
                Err(SummaryRequestError::TooLong(known)) => gap = known,
                Err(error) => return Err(error),
            }
        }
        self.summarize_stripped(request, range, &prompt, gap).await
    }

    /// Whether the window is so small that a draft would fill it.
    fn is_small(&self) -> bool {
        self.budget.prompt.size == PromptSize::Short
    }

    /// The conversation to fork from. In a small window a summary ends where it has no more room.
    fn capped_source(&self) -> ForkSource {
        let longest = self.is_small().then_some(self.budget.compaction.summary_tokens);
        self.source.clone().with_longest_answer(longest)
    }

    /// A fork of the conversation, if its request and the response fit into the window.
    fn fork_for(
        &self,
        request: &CompactionRequest,
        range: CompactionRange,
        prompt: &str,
    ) -> Option<ForkSource> {
        let tokens = self.conversation.tokens_used() + u64::from(estimate_text(prompt));
        let fits = tokens + u64::from(self.budget.compaction.summary_tokens)
            <= u64::from(self.budget.window);
        let open = !self.conversation.history().open_calls().is_empty();
        if !fits || open {
            return None;
        }
        let source = self.capped_source();
        match request.scope {
            CompactionScope::Whole => Some(source),
            CompactionScope::UpTo(_) => {
                let up_to = self.conversation.messages().get(..range.to).unwrap_or_default();
                Some(source.with_messages(up_to.iter().map(AsRef::as_ref)))
            }
            CompactionScope::From(_) => {
                let messages = self.with_mark(self.conversation.messages(), range.from);
                Some(source.with_messages(messages.iter().map(AsRef::as_ref)))
            }
        }
    }

    fn with_mark(&self, messages: &[Arc<Message>], at: usize) -> Vec<Arc<Message>> {
        let (before, after) = messages.split_at(at.min(messages.len()));
        let flags = MessageFlags { meta: true, ..MessageFlags::default() };
        let blocks = vec![Block::text(FROM_MARK)];
        let mark = self.conversation.new_user_message(blocks, flags);
        before.iter().cloned().chain([Arc::new(mark)]).chain(after.iter().cloned()).collect()
    }

    async fn summarize_stripped(
        &self,
        request: &CompactionRequest,
        range: CompactionRange,
        prompt: &str,
        mut gap: Option<u64>,
    ) -> Result<String, SummaryRequestError> {
        let all = self.conversation.messages();
        // The messages before the mark stay: the summary need not see them.
        let part = match request.scope {
            CompactionScope::Whole | CompactionScope::UpTo(_) => {
                all.get(..range.to).unwrap_or_default()
            }
            CompactionScope::From(_) => all.get(range.from..).unwrap_or_default(),
        };
        let mut messages: Vec<Arc<Message>> =
            strip_messages(part).into_iter().map(Arc::new).collect();
        let mut too_long = gap.is_some();
        for _ in 0..=MOST_SHORTENINGS {
            let estimated = self.gap(&messages, prompt);
            let known = estimated.max(gap.take().filter(|_| estimated.is_some()));
            if known.is_some() || too_long {
                messages = without_oldest(&messages, known);
            }
            // A request larger than the window is not sent: a server that truncates would not say so.
            if self.needed(&messages, prompt) > u64::from(self.budget.window) {
                too_long = true;
                continue;
            }
            let source = self.capped_source().with_messages(messages.iter().map(AsRef::as_ref));
            match ask(source, prompt).await {
                Ok(text) => return Ok(text),
                Err(SummaryRequestError::TooLong(known)) => {
                    gap = known;
                    too_long = true;
                }
                Err(error) => return Err(error),
            }
        }
        Err(SummaryRequestError::TooLong(None))
    }

    /// By how much messages are too long for a request that leaves room for its response.
    fn gap(&self, messages: &[Arc<Message>], prompt: &str) -> Option<u64> {
        let budget = &self.budget;
        let needed = self.needed(messages, prompt) + u64::from(budget.compaction.summary_tokens);
        needed.checked_sub(u64::from(budget.window)).filter(|gap| *gap > 0)
    }

    /// The tokens of a request with these messages, scaled to the server's count.
    fn needed(&self, messages: &[Arc<Message>], prompt: &str) -> u64 {
        let tokens: u64 = messages.iter().map(|message| message.tokens()).sum();
        let estimated =
            self.conversation.prefix().tokens() + tokens + u64::from(estimate_text(prompt));
        WindowUsage::of(self.conversation).counted(estimated)
    }
}

/// Asks for the summary; once more if the response holds none.
async fn ask(source: ForkSource, prompt: &str) -> Result<String, SummaryRequestError> {
    match ask_once(source.clone(), prompt.to_owned()).await {
        Err(SummaryRequestError::NoSummary(_)) => {
            ask_once(source, format!("{prompt}\n\n{}", retry_prompt())).await
        }
        answered => answered,
    }
}

async fn ask_once(source: ForkSource, message: String) -> Result<String, SummaryRequestError> {
    let gate = ForkGate::nothing();
    let order = ForkOrder {
        purpose: PURPOSE,
        message,
        gate,
        tools: Vec::new(),
        most_turns: MOST_TURNS,
        ends_after_changes: false,
    };
    let report = source.run(order, None).await;
    match report.end {
        ForkEnd::Completed | ForkEnd::Cut | ForkEnd::MaxTurns => parse_summary(&report.text)
            .map_err(|bad| SummaryRequestError::NoSummary(bad.to_string())),
        ForkEnd::Repeated => Err(SummaryRequestError::Repeated),
        ForkEnd::Failed(ModelError::TooLong { used, limit, .. }) => {
            let gap = used.zip(limit).map(|(used, limit)| used.saturating_sub(limit));
            Err(SummaryRequestError::TooLong(gap))
        }
        ForkEnd::Failed(ModelError::RequestTooLarge(_) | ModelError::ThinkingRefused(_)) => {
            Err(SummaryRequestError::TooLong(None))
        }
        ForkEnd::Failed(error) => Err(SummaryRequestError::Request(error)),
    }
}
