//! Applies a compaction: the boundary in the transcript, the messages, the bytes, and what is restored.

use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_context::compact::{DropThinking, drop_thinking};
use dormouse_context::layers::is_cache_edit;
use dormouse_conversation::transcript::{CompactionBoundary, without_usage};
use dormouse_conversation::{Block, Message, MessageFlags, MessageHistory, Response, Usage};

use super::draft::CompactionDraft;
use super::policy::WindowPolicy;
use super::rebuilt_prefix::{CompactionBase, WindowUsage};
use super::request::CompactionRequest;
use super::restored::Restorer;
use crate::config::EngineConfig;
use crate::context_sources::announce_plan_mode;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::recall::RecallState;

impl Engine {
    /// Puts a draft in the place of the removed messages, with the notes of hooks.
    pub(super) async fn apply_compaction(
        &mut self,
        request: &CompactionRequest,
        draft: CompactionDraft,
        base: CompactionBase,
        before: &WindowUsage,
        notes: Vec<String>,
    ) -> Result<(), EngineError> {
        let flags = MessageFlags { meta: true, compact_summary: true, ..MessageFlags::default() };
        let summary = vec![Block::text(&draft.message)];
        let server = draft.server_block.clone().map(|block| server_message(&self.config, block));
        let mut head: Vec<Message> = server.into_iter().collect();
        head.push(self.conversation.new_user_message(summary, flags));
        let threshold = u64::from(WindowPolicy::of(&self.config).budget_ahead().auto_compact);
        // Half of the rest stays free, or the next response would make another compaction due.
        let room = threshold.saturating_sub(draft.tokens(&base)) / 2;
        let mut restorer = Restorer {
            config: &self.config,
            tool_state: &mut self.tool_state,
            session_tools: &self.session_tools,
            hooks: self.hooks.runner(),
        };
        let restored = restorer.blocks(room, notes).await;
        if !restored.is_empty() {
            let flags = MessageFlags { meta: true, attachment: true, ..MessageFlags::default() };
            head.push(self.conversation.new_user_message(restored, flags));
        }
        let (kept, thinking_dropped) = kept_messages(&draft.kept);
        let front = without_cache_edits(&draft.front);
        let front = front.iter().map(|message| (**message).clone());
        let messages: Vec<Message> = front.chain(head.clone()).chain(kept).collect();
        let view = messages.iter().map(|message| message.id).collect();
        let history = MessageHistory::from_messages(messages)?;
        let after = base.prefix.tokens()
            + history.messages().iter().map(|message| message.tokens()).sum::<u64>();
        let boundary = CompactionBoundary {
            trigger: request.trigger,
            pre_tokens: before.tokens,
            post_tokens: before.counted(after),
            method: draft.way.as_str().to_owned(),
            last_message: draft.dropped.last().map(|message| message.id),
            view,
            removed: Vec::new(),
            tools: self.config.tools.set.names().map(str::to_owned).collect(),
            fidelity: serde_json::value::to_raw_value(&draft.fidelity).ok(),
        };
        let origin = &self.config.model.origin;
        let transcript = &mut self.conversation.transcript;
        transcript.record_boundary(&boundary, &base.prefix, origin, &head)?;
        if !thinking_dropped.is_empty() {
            transcript.record_thinking_dropped(&thinking_dropped)?;
        }
        transcript.sync()?;
        self.compaction.compacted(draft.text);
        let prefix = base.startup.is_some().then_some(base.prefix);
        self.conversation.restart(prefix, history, "the conversation was compacted");
        if let Some(startup) = base.startup {
            self.config.tools.set = base.tools;
            self.startup = startup;
            if let Some(runner) = self.hooks.runner() {
                runner.instructions_loaded(self.startup.loaded());
            }
        }
        self.memory.recall = RecallState::default();
        announce_plan_mode(
            &self.config,
            &self.session_tools.plan,
            &mut self.conversation,
            &mut self.messages,
        )?;
        let snapshot = self.snapshot(false);
        let tasks = &self.config.extensions.background_tasks;
        for task in tasks {
            task.on_compacted(&snapshot);
        }
        Ok(())
    }
}

/// The message with the server's own summary: the first of the conversation from now on.
fn server_message(config: &EngineConfig, block: Block) -> Message {
    let id = MessageId::generate(&*config.services.ids);
    let response = Response {
        id: String::new(),
        model: config.model.name.clone(),
        stop_reason: None,
        // Its tokens were counted with the request for it.
        usage: Usage::default(),
        request_id: None,
    };
    let message = Message::assistant(id, config.services.clock.now(), vec![block], response);
    let flags = MessageFlags { meta: true, compact_summary: true, ..MessageFlags::default() };
    Message { flags, ..message }
}

/// Cache edits refer to messages that are removed, or will not be in the server's cache.
fn without_cache_edits(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    messages.iter().filter(|message| !is_cache_edit(message)).cloned().collect()
}

/// The kept messages as they are sent from now on: their usage is of another window, and their thinking is bound to
/// removed messages (C-25).
fn kept_messages(kept: &[Arc<Message>]) -> (Vec<Message>, Vec<MessageId>) {
    let (messages, changed) = drop_thinking(&without_cache_edits(kept), DropThinking::KeepPending);
    (messages.into_iter().map(without_usage).collect(), changed)
}
