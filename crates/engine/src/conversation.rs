//! A conversation: its messages, the bytes sent of them, and its transcript.
//!
//! Invariants: a message of the history is in the transcript, or among the lines that are still to be written there;
//! bytes that were sent change only in an announced rebuild.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{Dir, MessageId, SessionId};
use dormouse_context::compact::user_text_in;
use dormouse_conversation::transcript::Transcript;
use dormouse_conversation::{
    Block, EnvironmentFacts, Message, MessageFlags, MessageHistory, Prefix, RequestOptions, Role,
    context_tokens,
};
use dormouse_model::{BreakDetector, CacheBreak, CacheTtl, Dialect, RebuildReason, SentRequest};

use crate::config::services::Services;
use crate::error::EngineError;
use crate::wire_state::{OutgoingRequest, WireState};

/// Stands in for a response that was lost with the process that waited for it.
pub(crate) const LOST_RESPONSE: &str = "[no answer: the run ended before one came]";

/// The messages of a session, their bytes and their transcript.
pub struct Conversation {
    pub(crate) transcript: Transcript,
    history: MessageHistory,
    wire: WireState,
    detector: BreakDetector,
    /// Lines that the disk refused: written before any other.
    unwritten: Vec<UnwrittenLine>,
    /// The facts about its surroundings that the model was last told.
    announced: EnvironmentFacts,
    /// Tokens that layers have freed since the last response, whose usage does not know of it.
    freed_tokens: u64,
    services: Services,
}

/// A line that the transcript lacks.
enum UnwrittenLine {
    /// The lines of this message do not count.
    Withdrawn(MessageId),
    /// This message of the history.
    Message(Arc<Message>),
}

/// A message of the user's that is still part of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserMessage {
    /// The message.
    pub message: MessageId,
    /// The user's text, without attachments.
    pub text: String,
}

impl Conversation {
    /// A conversation that continues after these messages, which are in the transcript already.
    pub(crate) fn new(
        transcript: Transcript,
        mut wire: WireState,
        history: MessageHistory,
        announced: Option<EnvironmentFacts>,
        services: Services,
    ) -> Self {
        wire.reserve(history.messages());
        history.messages().iter().for_each(|message| wire.append(message));
        Self {
            announced: announced.unwrap_or_else(|| wire.prefix().facts().clone()),
            transcript,
            history,
            wire,
            detector: BreakDetector::default(),
            unwritten: Vec::new(),
            freed_tokens: 0,
            services,
        }
    }

    /// The messages, with every call paired with its result.
    pub fn history(&self) -> &MessageHistory {
        &self.history
    }

    /// The messages.
    pub fn messages(&self) -> &[Arc<Message>] {
        self.history.messages()
    }

    /// What every request begins with.
    pub fn prefix(&self) -> &Arc<Prefix> {
        self.wire.prefix()
    }

    /// The session.
    pub fn session(&self) -> SessionId {
        self.transcript.session()
    }

    /// The folder of the session's own files.
    pub fn session_folder(&self) -> &Dir {
        self.transcript.session_folder()
    }

    /// The path of the transcript.
    pub fn transcript_path(&self) -> &Path {
        self.transcript.path()
    }

    /// The user's messages that are still part of the conversation, in order.
    pub fn user_messages(&self) -> Vec<UserMessage> {
        let user_message = |message: &Arc<Message>| {
            Some(UserMessage { message: message.id, text: user_text_in(message)? })
        };
        self.messages().iter().filter_map(user_message).collect()
    }

    /// The tokens that the conversation uses, by the server's last count where there is one.
    pub fn tokens_used(&self) -> u64 {
        let messages = self.messages().iter().map(AsRef::as_ref);
        context_tokens(self.prefix().tokens(), messages).total().saturating_sub(self.freed_tokens)
    }

    /// The tokens of the conversation, by this program's own estimate.
    pub(crate) fn estimated_tokens(&self) -> u64 {
        let messages = self.messages().iter().map(|message| message.tokens());
        self.prefix().tokens() + messages.sum::<u64>()
    }

    pub(crate) fn wire(&self) -> &WireState {
        &self.wire
    }

    pub(crate) fn announced(&self) -> &EnvironmentFacts {
        &self.announced
    }

    /// The facts as the model has been told them, written down for a resume.
    pub(crate) fn record_announced(&mut self, facts: EnvironmentFacts) -> Result<(), EngineError> {
        self.transcript.record_facts(&facts)?;
        self.announced = facts;
        Ok(())
    }

    pub(crate) fn new_id(&self) -> MessageId {
        MessageId::generate(&*self.services.ids)
    }

    pub(crate) fn new_user_message(&self, blocks: Vec<Block>, flags: MessageFlags) -> Message {
        Message::user(self.new_id(), self.services.clock.now(), blocks, flags)
    }

    /// Appends a message of the program's to the transcript and the history.
    pub(crate) fn append_context(&mut self, blocks: Vec<Block>) -> Result<(), EngineError> {
        self.append_user(blocks, MessageFlags { meta: true, ..MessageFlags::default() })?;
        Ok(())
    }

    /// Appends a user message to the transcript and the history.
    pub(crate) fn append_user(
        &mut self,
        blocks: Vec<Block>,
        flags: MessageFlags,
    ) -> Result<Arc<Message>, EngineError> {
        let message = self.new_user_message(blocks, flags);
        self.transcript.record_message(&message)?;
        self.push(message)
    }

    /// Appends a note in the place of a response that did not come, so that roles alternate.
    pub(crate) fn append_closing(&mut self, note: &str) -> Result<(), EngineError> {
        let message = Message::synthetic_response(self.new_id(), self.services.clock.now(), note);
        self.transcript.record_message(&message)?;
        self.push(message)?;
        Ok(())
    }

    /// A message that is in the transcript already joins the history and the bytes to send.
    pub(crate) fn push(&mut self, message: Message) -> Result<Arc<Message>, EngineError> {
        let message = self.history.push(message)?;
        self.wire.append(&message);
        if message.response.as_ref().is_some_and(|response| response.usage.total() > 0) {
            self.freed_tokens = 0;
        }
        Ok(message)
    }

    /// After an error of the disk: closes what is open in memory, so that the conversation stays usable.
    pub(crate) fn close_after_error(&mut self) {
        let open = self.history.open_calls();
        let message = if !open.is_empty() {
            let results = open.iter().map(Block::interrupted).collect();
            self.new_user_message(results, MessageFlags::default())
        } else if self.history.last_role() == Some(Role::User) {
            Message::synthetic_response(self.new_id(), self.services.clock.now(), LOST_RESPONSE)
        } else {
            return;
        };
        // It answers exactly the open calls, or none: the push has no reason to fail.
        if let Ok(message) = self.history.push(message) {
            self.wire.append(&message);
            self.unwritten.push(UnwrittenLine::Message(message));
        }
    }

    /// Withdraws a message that is only partly written and not in the history. Whether it was such a message.
    pub(crate) fn withdraw(&mut self, message: MessageId) -> bool {
        let is_partial = self.messages().iter().rev().take(2).all(|known| known.id != message);
        if is_partial {
            self.unwritten.push(UnwrittenLine::Withdrawn(message));
        }
        is_partial
    }

    /// Writes the lines that the disk refused before.
    pub(crate) fn write_pending(&mut self) -> Result<(), EngineError> {
        while let Some(line) = self.unwritten.first() {
            match line {
                UnwrittenLine::Withdrawn(message) => self.transcript.record_withdrawn(*message)?,
                UnwrittenLine::Message(message) => self.transcript.record_message(message)?,
            }
            self.unwritten.remove(0);
        }
        Ok(())
    }

    pub(crate) fn next_request(&mut self) -> OutgoingRequest {
        self.wire.next_request(self.services.clock.elapsed())
    }

    /// The server has answered: the breakpoint of that request is in its cache.
    pub(crate) fn confirm_breakpoint(&mut self, breakpoint: Option<usize>) {
        self.wire.confirm(breakpoint);
    }

    /// Compares the usage of a response with what its request should have read from the cache. A response that broke
    /// off may have no usage.
    pub(crate) fn find_cache_break(
        &mut self,
        sent: &SentRequest,
        response: &Message,
    ) -> Option<CacheBreak> {
        let response = response.response.as_ref()?;
        if response.stop_reason.is_none() || response.usage.input_total() == 0 {
            return None;
        }
        let ttl = self.cache_ttl();
        self.detector.observe(sent, &response.usage, ttl)
    }

    /// An announced change of what the server has in its cache.
    pub(crate) fn announce_cache_change(&mut self, reason: &str) {
        self.detector.announce(RebuildReason::new(reason));
    }

    pub(crate) fn cache_ttl(&self) -> Duration {
        match self.wire.dialect().ttl {
            CacheTtl::FiveMinutes => Duration::from_mins(5),
            CacheTtl::OneHour => Duration::from_hours(1),
        }
    }

    /// The time since the last response.
    pub(crate) fn idle_time(&self) -> Duration {
        let answered =
            |message: &&Arc<Message>| message.response.is_some() && !message.is_synthetic();
        let Some(last) = self.messages().iter().rev().find(answered) else {
            return Duration::ZERO;
        };
        let since = self.services.clock.now().duration_since(last.timestamp);
        Duration::try_from(since).unwrap_or_default()
    }

    /// Tokens that a layer has freed. An estimate of what is left knows them already; a server's count does not.
    pub(crate) fn add_freed_tokens(&mut self, tokens: u64) {
        let counted = self.messages().iter().any(|message| {
            message.response.as_ref().is_some_and(|response| response.usage.total() > 0)
        });
        if counted {
            self.freed_tokens += tokens;
        }
    }

    /// Replaces the messages with others that the transcript has already, and announces the new bytes.
    pub(crate) fn replace_history(&mut self, history: MessageHistory, reason: &str) {
        self.history = history;
        self.rebuild(reason);
    }

    /// The same with another prefix: a compaction. The server's earlier counts say nothing about it.
    pub(crate) fn restart(
        &mut self,
        prefix: Option<Arc<Prefix>>,
        history: MessageHistory,
        reason: &str,
    ) {
        if let Some(prefix) = prefix {
            self.announced = prefix.facts().clone();
            self.wire.set_prefix(prefix);
        }
        self.freed_tokens = 0;
        self.replace_history(history, reason);
    }

    /// Continues from an earlier point, with the prefix and the facts of that time.
    pub(crate) fn go_back(
        &mut self,
        prefix: Option<Arc<Prefix>>,
        history: MessageHistory,
        facts: Option<EnvironmentFacts>,
    ) {
        self.restart(prefix, history, "the user went back to an earlier message");
        if let Some(facts) = facts {
            self.announced = facts;
        }
    }

    /// Continues with another server or model, which has none of this in its cache.
    pub(crate) fn change_server(&mut self, dialect: Dialect, options: RequestOptions) {
        self.wire.set_server(dialect, options);
        self.rebuild("another model was chosen");
    }

    fn rebuild(&mut self, reason: &str) {
        let messages = self.history.messages().iter().map(AsRef::as_ref);
        self.wire.rebuild(reason, &mut self.detector, messages);
    }

    /// After a resume: what the earlier process sent is in the cache, unless that has expired.
    pub(crate) fn continue_cache(&mut self) {
        let last = self.messages().iter().rev().find(|message| message.response.is_some());
        let Some((timestamp, usage)) =
            last.and_then(|message| Some((message.timestamp, message.response.as_ref()?.usage)))
        else {
            return;
        };
        let since = self.services.clock.now().duration_since(timestamp);
        let age = Duration::try_from(since).unwrap_or_default();
        // A time before this process began cannot be expressed on its clock: whether the cache has expired is
        // decided by the age of the response.
        let is_cached = age < self.cache_ttl();
        let at = if is_cached { self.services.clock.elapsed() } else { Duration::default() };
        let Some(sent) = self.wire.mark_answered_as_sent(at) else { return };
        if is_cached {
            let cached =
                usage.cache_read_input_tokens.saturating_add(usage.cache_creation_input_tokens);
            self.detector.resume_from(sent, cached);
        }
    }

    /// A copy of messages and bytes, for a fork with a transcript of its own.
    pub(crate) fn copy(&self) -> ConversationCopy {
        ConversationCopy {
            wire: self.wire.clone(),
            history: self.history.clone(),
            announced: self.announced.clone(),
        }
    }
}

/// Messages and bytes of a conversation at one point, for a fork to continue from.
#[derive(Clone)]
pub(crate) struct ConversationCopy {
    pub(crate) wire: WireState,
    pub(crate) history: MessageHistory,
    pub(crate) announced: EnvironmentFacts,
}

impl ConversationCopy {
    /// Continues in another transcript, in which this message is written already. Forks of one response share all
    /// bytes in front of its last block.
    pub(crate) fn into_conversation(
        mut self,
        transcript: Transcript,
        opening: Message,
        services: Services,
    ) -> Result<Conversation, EngineError> {
        let message = self.history.push(opening)?;
        self.wire.append(&message);
        if let Some(last) = message.blocks.last() {
            self.wire.share_before(last);
        }
        Ok(Conversation {
            transcript,
            history: self.history,
            wire: self.wire,
            detector: BreakDetector::default(),
            unwritten: Vec::new(),
            announced: self.announced,
            freed_tokens: 0,
            services,
        })
    }
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
