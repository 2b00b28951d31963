//! A compaction, done: the boundary in the transcript, the messages, the bytes, and what is put back.

use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_context::compact::without_thinking;
use dormouse_context::layers::is_cache_edit;
use dormouse_context::{Fragment, HookContext};
use dormouse_conversation::transcript::{CompactionBoundary, without_usage};
use dormouse_conversation::{Block, Message, MessageFlags, MessageHistory};
use dormouse_instructions::LoadOccasion;
use dormouse_model::RebuildReason;

use super::draft::{CompactionBase, CompactionDraft};
use super::{CompactionRequest, CompactionScope, WindowUsage};
use crate::prompt::build_prefix;
use crate::recall::RecallState;
use crate::startup_context::StartupContext;
use crate::{Engine, EngineError, EngineEvent, TurnSnapshot};
use dormouse_hooks::SessionSource;

impl Engine {
    /// What the conversation will stand on. Whoever keeps what is in front keeps it to the byte.
    pub(super) fn new_ground(&self, order: &CompactionRequest) -> CompactionBase {
        if matches!(order.span, CompactionScope::From(_)) {
            let tools = Arc::clone(&self.config.tools);
            return CompactionBase {
                prefix: Arc::clone(&self.prefix),
                tools,
                known: None,
                part: true,
            };
        }
        let mut config = self.config.clone();
        // An agent below a conversation keeps the tools that it was given.
        if config.subagent.is_none() {
            config.tools = config.tools_now();
        }
        let config = &config;
        let mut known = StartupContext::look(config, LoadOccasion::Compaction);
        // The person has read them when the session began.
        drop(known.take_warnings());
        let size = config.budget.prompt.size;
        let prefix = build_prefix(&self.around, &config.tools, size, &config.overrides, &known);
        let tools = Arc::clone(&config.tools);
        CompactionBase {
            prefix,
            tools,
            known: Some(known),
            part: order.span != CompactionScope::Whole,
        }
    }

    /// Puts a draft in the place of what goes, with what hooks said.
    pub(super) async fn install(
        &mut self,
        order: &CompactionRequest,
        draft: CompactionDraft,
        ground: CompactionBase,
        before: &WindowUsage,
        said: Vec<String>,
    ) -> Result<(), EngineError> {
        let mut head = vec![self.summary_message(&draft.message)];
        let restored = self.put_back(&draft, &ground, said).await;
        head.extend(restored);
        let (kept, unthought) = lasting(&without_cache_edits(&draft.kept));
        let front = without_cache_edits(&draft.front);
        let front: Vec<Message> = front.iter().map(|message| (**message).clone()).collect();
        let messages: Vec<Message> = front.into_iter().chain(head.clone()).chain(kept).collect();
        let view = messages.iter().map(|message| message.id).collect();
        let history = MessageHistory::from_messages(messages)?;
        let after = ground.prefix.tokens()
            + history.messages().iter().map(|message| message.tokens()).sum::<u64>();
        let boundary = CompactionBoundary {
            trigger: order.trigger,
            pre_tokens: before.tokens,
            post_tokens: before.counted(after),
            method: way_name(&draft),
            last_message: draft.dropped.last().map(|message| message.id),
            view,
            tools: self.tool_names(),
            fidelity: serde_json::value::to_raw_value(&draft.fidelity).ok(),
        };
        let origin = &self.config.origin;
        self.transcript.record_boundary(&boundary, &ground.prefix, origin, &head)?;
        if !unthought.is_empty() {
            self.transcript.record_thinking_dropped(&unthought)?;
        }
        self.transcript.sync()?;
        self.last_summary = Some(draft.text);
        self.stand_on(ground);
        self.history = history;
        self.freed_tokens = 0;
        self.forget_folds();
        self.rebuild_body("the conversation was compacted");
        self.recall = RecallState::default();
        // What was told about the mode is gone with the message that told it.
        self.tell_mode()?;
        let snapshot = TurnSnapshot::of(self, false);
        self.config.background_tasks.iter().for_each(|task| task.on_compacted(&snapshot));
        Ok(())
    }

    fn stand_on(&mut self, ground: CompactionBase) {
        let Some(known) = ground.known else { return };
        self.told = ground.prefix.facts().clone();
        self.prefix = ground.prefix;
        self.config.tools = ground.tools;
        self.known = known;
        if let Some(hooks) = &self.hooks {
            hooks.instructions_loaded(self.known.loaded());
        }
    }

    /// What is sent is written anew, and the break is announced.
    pub(crate) fn rebuild_body(&mut self, why: &str) {
        let options = self.config.request_options();
        self.body.rebuild(
            RebuildReason::new(why),
            &mut self.detector,
            self.config.dialect.clone(),
            &self.prefix,
            &options,
            self.history.messages().iter().map(AsRef::as_ref),
        );
        self.last_breakpoint = None;
    }

    fn summary_message(&self, text: &str) -> Message {
        let flags = MessageFlags { meta: true, compact_summary: true, ..MessageFlags::default() };
        Message::user(self.new_id(), self.config.clock.now(), vec![Block::text(text)], flags)
    }

    /// Hooks are told that the session goes on; what they say goes with what is put back.
    pub(super) async fn session_goes_on(
        &self,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Vec<String> {
        let Some(hooks) = self.hooks.clone() else { return Vec::new() };
        let started = hooks.session_start(SessionSource::Compact, &self.config.model_name);
        hooks.run_with_notices(started, sink).await.notes
    }

    /// What was in use, in one message; none if nothing was.
    async fn put_back(
        &mut self,
        draft: &CompactionDraft,
        ground: &CompactionBase,
        said: Vec<String>,
    ) -> Option<Message> {
        let threshold = u64::from(self.budget_ahead().auto_compact);
        // Half of what is left stays free, or the window would be due again with the next answer.
        let mut room = threshold.saturating_sub(draft.tokens(ground)) / 2;
        let mut blocks: Vec<Block> = Vec::new();
        let mut take = |block: Option<Block>, room: &mut u64| {
            let fits = block.filter(|block| u64::from(block.tokens()) <= *room);
            if let Some(block) = fits {
                *room -= u64::from(block.tokens());
                blocks.push(block);
            }
        };
        take((!said.is_empty()).then(|| HookContext { notes: said }.to_block()), &mut room);
        take(self.restored_tasks(room), &mut room);
        take(self.restored_plan(room), &mut room);
        take(self.restored_skills(room), &mut room);
        let files = self.restored_files(room).await;
        take(files, &mut room);
        if blocks.is_empty() {
            return None;
        }
        let flags = MessageFlags { meta: true, attachment: true, ..MessageFlags::default() };
        Some(Message::user(self.new_id(), self.config.clock.now(), blocks, flags))
    }
}

/// Deletions in the server's cache name what is gone, or will not be in it any more.
fn without_cache_edits(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    messages.iter().filter(|message| !is_cache_edit(message)).cloned().collect()
}

/// The messages that stay, as they are sent from now on: their counters are of another window, and their
/// thinking is bound to messages that are gone (C-25). That of a call whose results are about to be sent
/// stays: the server wants it back.
fn lasting(kept: &[Arc<Message>]) -> (Vec<Message>, Vec<MessageId>) {
    let pending = kept.last().is_some_and(|last| last.tool_results().next().is_some());
    let asking = if pending { kept.len().checked_sub(2) } else { None };
    let mut unthought = Vec::new();
    let messages = kept
        .iter()
        .enumerate()
        .map(|(place, message)| match without_thinking(message) {
            Some(bare) if Some(place) != asking => {
                unthought.push(message.id);
                without_usage(bare)
            }
            _ => without_usage((**message).clone()),
        })
        .collect();
    (messages, unthought)
}

fn way_name(draft: &CompactionDraft) -> String {
    serde_json::to_value(draft.way)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
