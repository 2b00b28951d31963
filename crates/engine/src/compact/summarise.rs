//! The model's summary (C-16, C-19): first as a copy of the conversation, so that the server's cache is read;
//! where that is too long or refused, in a stripped form, the oldest rounds left out as far as needed.

use std::sync::Arc;

use dormouse_context::compact::{
    FROM_MARK, SummaryDirection, parse_summary, partial_prompt, retry_prompt, strip_messages,
    summary_prompt, without_oldest,
};
use dormouse_conversation::{Block, Message, MessageFlags, estimate_text};
use dormouse_model::ModelError;

use super::range::CompactionRange;
use super::{CompactionRequest, CompactionScope};
use crate::Engine;
use crate::fork::{ForkEnd, ForkGate, ForkOrder, ForkSource};

/// What a summary is asked for as, in the figures.
const PURPOSE: &str = "auto_compact";
/// A request that is too long is made shorter so often.
const MOST_SHORTENINGS: usize = 3;
/// A model that calls a tool instead is told, and may answer once more.
const MOST_TURNS: u32 = 2;

/// Why there is no summary.
enum Failure {
    /// The request is too long by so many tokens, if known.
    TooLong(Option<u64>),
    /// Anything else.
    Other(String),
}

impl Engine {
    /// A summary of the messages that go; or why there is none.
    pub(super) async fn summarise(
        &self,
        order: &CompactionRequest,
        cut: CompactionRange,
    ) -> Result<String, String> {
        let room = self.config.budget.compaction.summary_tokens;
        let instructions = order.instructions.as_deref();
        let prompt = match order.span {
            CompactionScope::Whole => summary_prompt(instructions, room),
            CompactionScope::From(_) => partial_prompt(SummaryDirection::From, instructions, room),
            CompactionScope::UpTo(_) => partial_prompt(SummaryDirection::UpTo, instructions, room),
        };
        let mut gap = None;
        if let Some(seed) = self.copy_for(order, cut, &prompt) {
            match ask(seed, &prompt).await {
                Ok(text) => return Ok(text),
                Err(Failure::Other(why)) => return Err(why),
                Err(Failure::TooLong(known)) => gap = known,
            }
        }
        self.summarise_stripped(order, cut, &prompt, gap).await
    }

    /// The conversation as it stands, if a request of it and an answer fit into the window.
    fn copy_for(
        &self,
        order: &CompactionRequest,
        cut: CompactionRange,
        prompt: &str,
    ) -> Option<ForkSource> {
        let tokens = self.tokens_used() + u64::from(estimate_text(prompt));
        let fits = tokens + u64::from(self.config.budget.compaction.summary_tokens)
            <= u64::from(self.config.budget.window);
        let open = !self.history.open_calls().is_empty();
        if !fits || open {
            return None;
        }
        let seed = self.fork_source();
        match order.span {
            CompactionScope::Whole => Some(seed),
            CompactionScope::UpTo(_) => {
                let up_to = self.history.messages().get(..cut.to).unwrap_or_default();
                Some(seed.with_messages(up_to.iter().map(AsRef::as_ref)))
            }
            CompactionScope::From(_) => {
                let messages = self.with_mark(self.history.messages(), cut.from);
                Some(seed.with_messages(messages.iter().map(AsRef::as_ref)))
            }
        }
    }

    fn with_mark(&self, messages: &[Arc<Message>], at: usize) -> Vec<Arc<Message>> {
        let (before, after) = messages.split_at(at.min(messages.len()));
        let flags = MessageFlags { meta: true, ..MessageFlags::default() };
        let blocks = vec![Block::text(FROM_MARK)];
        let mark = Message::user(self.new_id(), self.config.clock.now(), blocks, flags);
        before.iter().cloned().chain([Arc::new(mark)]).chain(after.iter().cloned()).collect()
    }

    async fn summarise_stripped(
        &self,
        order: &CompactionRequest,
        cut: CompactionRange,
        prompt: &str,
        mut gap: Option<u64>,
    ) -> Result<String, String> {
        let all = self.history.messages();
        // What stands before a mark need not be seen again.
        let part = match order.span {
            CompactionScope::Whole | CompactionScope::UpTo(_) => {
                all.get(..cut.to).unwrap_or_default()
            }
            CompactionScope::From(_) => all.get(cut.from..).unwrap_or_default(),
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
            // What alone is larger than the window is not sent: a server that cuts would not say so.
            if self.needed(&messages, prompt) > u64::from(self.config.budget.window) {
                too_long = true;
                continue;
            }
            let seed = self.fork_source().with_messages(messages.iter().map(AsRef::as_ref));
            match ask(seed, prompt).await {
                Ok(text) => return Ok(text),
                Err(Failure::Other(why)) => return Err(why),
                Err(Failure::TooLong(known)) => (gap, too_long) = (known, true),
            }
        }
        Err("even the newest part of the conversation is too long for it".to_owned())
    }

    /// By how much messages are too long for a request that leaves room for its answer.
    fn gap(&self, messages: &[Arc<Message>], prompt: &str) -> Option<u64> {
        let budget = &self.config.budget;
        let needed = self.needed(messages, prompt) + u64::from(budget.compaction.summary_tokens);
        needed.checked_sub(u64::from(budget.window)).filter(|gap| *gap > 0)
    }

    /// What a request of these messages takes, as the server would count it.
    fn needed(&self, messages: &[Arc<Message>], prompt: &str) -> u64 {
        let tokens: u64 = messages.iter().map(|message| message.tokens()).sum();
        let estimated = self.prefix.tokens() + tokens + u64::from(estimate_text(prompt));
        self.fullness().counted(estimated)
    }
}

/// Asks for the summary; once more if the answer holds none.
async fn ask(seed: ForkSource, prompt: &str) -> Result<String, Failure> {
    match ask_once(seed.clone(), prompt.to_owned()).await {
        Err(Failure::Other(why)) if why.starts_with(NO_SUMMARY) => {
            ask_once(seed, format!("{prompt}\n\n{}", retry_prompt())).await
        }
        answered => answered,
    }
}

const NO_SUMMARY: &str = "its answer holds no summary";

async fn ask_once(seed: ForkSource, message: String) -> Result<String, Failure> {
    let gate = ForkGate::nothing();
    let order =
        ForkOrder { purpose: PURPOSE, message, gate, tools: Vec::new(), most_turns: MOST_TURNS };
    let report = seed.run(order, None).await;
    match report.end {
        ForkEnd::Completed | ForkEnd::Cut | ForkEnd::MaxTurns => parse_summary(&report.text)
            .map_err(|bad| Failure::Other(format!("{NO_SUMMARY}: {bad}"))),
        ForkEnd::Failed(ModelError::TooLong { used, limit, .. }) => {
            let gap = used.zip(limit).map(|(used, limit)| used.saturating_sub(limit));
            Err(Failure::TooLong(gap))
        }
        ForkEnd::Failed(ModelError::RequestTooLarge(_) | ModelError::ThinkingRefused(_)) => {
            Err(Failure::TooLong(None))
        }
        ForkEnd::Failed(error) => Err(Failure::Other(error.to_string())),
    }
}
